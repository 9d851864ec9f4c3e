//! The HTTP server and the page.

#[cfg(all(feature = "cli", feature = "serve"))]
mod browser;
#[path = "../optional/mod.rs"]
mod optional;
mod page;
mod page_access;
mod page_analysis;
mod page_defects;
mod page_features;
mod page_isolation;
mod page_moves;
mod page_puzzles;
mod page_shell;
mod serve;
mod serve_api;
mod serve_faults;
mod serve_study;
#[cfg(all(feature = "cli", feature = "serve"))]
mod serving;
#[cfg(unix)]
#[path = "../signals/mod.rs"]
mod signals;
mod site;
mod site_export;
mod site_offline;
mod site_threads;
#[cfg(all(feature = "cli", feature = "serve"))]
mod sites;
mod time;
