//! Players, games, tournaments, and protocols for other programs.

mod engine;
mod games_cli;
mod play;
mod players;
mod record;
mod review;
mod seeds;
mod tournament;
mod tournament_saved;
