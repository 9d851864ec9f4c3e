//! Searching above the tables: solving, bound tables, evaluation networks, checkpoints.

mod bounds;
mod bounds_cli;
mod line;
#[cfg(feature = "cli")]
#[path = "../reference/mod.rs"]
mod reference;
#[cfg(unix)]
#[path = "../signals/mod.rs"]
mod signals;
mod signature;
mod solve;
mod solve_bounds;
mod state;
mod train;
mod values;
