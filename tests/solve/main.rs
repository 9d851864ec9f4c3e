//! Searching above the tables: solving, bound tables, evaluation networks, checkpoints.

mod bounds;
mod bounds_cli;
mod damaged;
mod deepening;
mod line;
mod networks;
mod signature;
mod solve;
mod solve_bounds;
mod state;
mod train;
mod values;
