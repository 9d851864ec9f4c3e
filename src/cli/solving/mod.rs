//! Commands that look up and solve positions.
//!
//! | module | command |
//! |---|---|
//! | `probe` | `kalah probe` |
//! | `solve` | `kalah solve` |
//! | `prove` | `kalah prove` |
//! | `line` | `kalah line` |
//! | `review` | `kalah review` |
//! | `search` | `kalah search` |
//! | `check` | `kalah check` |
//! | `book` | `kalah book`: `show`, `make`, `check`, `merge`, `import` |

mod book;
mod check;
mod line;
mod probe;
mod prove;
mod review;
mod search;
mod solve;

use clap::Subcommand;

use crate::cli::process::outcome::Outcome;

/// The commands, in the order of help.
#[derive(Subcommand)]
pub enum Solving {
    Probe(probe::Probe),
    Solve(solve::Solve),
    Prove(prove::Prove),
    Line(line::Line),
    Review(review::Review),
    Search(search::SearchCommand),
    Check(check::Check),
    Book(book::Book),
}

impl Solving {
    /// Runs the command. `default_rules` is true if no rule set was given on the command line.
    pub fn run(self, default_rules: bool) -> anyhow::Result<Outcome> {
        match self {
            Solving::Probe(probe) => probe.run(),
            Solving::Solve(solve) => solve.run(),
            Solving::Prove(prove) => prove.run(default_rules),
            Solving::Line(line) => line.run(),
            Solving::Review(review) => review.run(),
            Solving::Search(search) => search.run(),
            Solving::Check(check) => check.run(),
            Solving::Book(book) => book.run(),
        }
    }
}
