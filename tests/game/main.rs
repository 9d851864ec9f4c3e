//! The rules of the game, positions and their notation.

mod board;
mod notation;
mod rules;
