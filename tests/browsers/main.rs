//! The page and the static site in real browsers.
#![cfg(all(feature = "cli", feature = "serve"))]

mod page;
mod page_access;
mod page_analysis;
mod page_games;
mod page_moves;
mod page_puzzles;
mod page_shell;
mod site;
mod site_export;
mod site_loading;
mod site_offline;
mod sites;
