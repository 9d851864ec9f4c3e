//! Commands that play.
//!
//! | module | command |
//! |---|---|
//! | `play` | `kalah play` |
//! | `choose` | `kalah move` |
//! | `tournament` | `kalah tournament` |
//! | `puzzles` | `kalah puzzles` |
//! | `strategy` | certificates as players, for `play` and `choose` |

mod choose;
mod play;
mod puzzles;
mod strategy;
mod tournament;

use clap::Subcommand;

use crate::cli::process::outcome::Outcome;

/// The commands, in the order of help.
#[derive(Subcommand)]
pub enum Playing {
    Play(play::Play),
    Move(choose::Choose),
    Tournament(tournament::Tournament),
    Puzzles(puzzles::Puzzles),
}

impl Playing {
    /// Runs the command.
    pub fn run(self) -> anyhow::Result<Outcome> {
        match self {
            Playing::Play(play) => play.run(),
            Playing::Move(choose) => choose.run(),
            Playing::Tournament(tournament) => tournament.run(),
            Playing::Puzzles(puzzles) => puzzles.run(),
        }
    }
}
