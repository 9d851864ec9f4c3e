//! Players, games, tournaments, and protocols for other programs.

mod engine;
mod games_cli;
mod play;
mod players;
mod record;
#[cfg(feature = "cli")]
#[path = "../reference/mod.rs"]
mod reference;
mod review;
mod seeds;
mod tournament;
mod tournament_saved;
