//! The rules of the game, positions, and how they are written.

mod board;
mod notation;
mod rules;
#[path = "../small_boards/mod.rs"]
mod small_boards;
