//! Whole boards: the tables of the papers, openings, exported scores.

mod complexity;
mod export;
mod graph;
mod opening;
mod published;

use kalah::game::StartPosition;

fn start(pits: usize, seeds: u32) -> StartPosition {
    StartPosition { pits, seeds }
}

/// Limit of positions. Larger boards are left out without optimization, which makes tests about fifty times slower.
const fn at_most(optimised: u64) -> u64 {
    if cfg!(debug_assertions) { optimised / 50 } else { optimised }
}
