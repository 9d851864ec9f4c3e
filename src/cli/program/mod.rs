//! Commands about this program.
//!
//! | module | command |
//! |---|---|
//! | `rules` | `kalah rules` |
//! | `completions` | `kalah completions` |
//! | `man` | `kalah man` |
//! | `version` | `kalah --version` |

mod completions;
pub mod man;
mod rules;
pub mod version;

use clap::{Command, Subcommand};

use crate::cli::process::outcome::Outcome;

/// The commands, in the order of help.
#[derive(Subcommand)]
pub enum Program {
    Rules(rules::Explain),
    Completions(completions::Completions),
    Man(man::Manual),
}

impl Program {
    /// Runs the command; `command` is the whole command line.
    pub fn run(self, command: Command) -> anyhow::Result<Outcome> {
        match self {
            Program::Rules(rules) => rules.run(),
            Program::Completions(completions) => completions.run(command),
            Program::Man(man) => man.run(command),
        }
    }
}
