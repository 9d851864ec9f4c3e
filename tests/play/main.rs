//! Players, games, tournaments, and protocols for other programs.

mod engine;
mod games_cli;
mod kgp;
#[path = "../optional/mod.rs"]
mod optional;
mod play;
mod players;
mod record;
#[cfg(feature = "cli")]
#[path = "../reference/mod.rs"]
mod reference;
mod review;
mod seeds;
#[cfg(unix)]
#[path = "../signals/mod.rs"]
mod signals;
mod tournament;
mod tournament_saved;
