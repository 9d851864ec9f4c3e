//! The HTTP server, and the page in one browser.
#![cfg(all(feature = "cli", feature = "serve"))]

mod page;
mod safety;
mod serve;
mod serve_api;
mod serve_faults;
mod serve_study;
mod setup;
mod time;
