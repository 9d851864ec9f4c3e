//! Whole boards: the tables of the papers, openings, exported scores.

mod complexity;
mod export;
mod graph;
mod opening;
mod published;
#[path = "../reference/mod.rs"]
mod reference;
#[cfg(unix)]
#[path = "../signals/mod.rs"]
mod signals;
#[cfg(feature = "cli")]
#[path = "../small_boards/mod.rs"]
mod small_boards;
