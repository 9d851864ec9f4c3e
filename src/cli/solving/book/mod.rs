//! `kalah book`.
//!
//! | module | what it holds |
//! |---|---|
//! | `show` | `show` |
//! | `make` | `make` |
//! | `check` | `check` |
//! | `merge` | `merge` and `import` |
//! | `file` | the books that commands read and extend |
//! | `answer` | what the book has of a position, printed |

pub mod answer;
mod check;
mod file;
mod make;
mod merge;
mod show;

use clap::{Args, Subcommand};

use crate::cli::help::examples;
use crate::cli::process::outcome::Outcome;
use crate::cli::solving::book::check::Check;
use crate::cli::solving::book::make::Make;
use crate::cli::solving::book::merge::{Import, Merge};
use crate::cli::solving::book::show::Show;

/// Show, extend and check the book: proved values near the start
///
/// The book is used by solve, probe, move, play, engine, serve and kgp before they search. The program has one for some boards;
/// a book beside the tables, such as tables/empty-capture-6.book, takes its place.
#[derive(Args)]
#[command(after_help = examples(&[
    ("What the book has of a position", "kalah book show 6x4"),
    ("The positions of the first three turns", "kalah book make 6x4 --turns 3"),
    ("Prove ten positions of it again", "kalah book check --sample 10"),
]))]
pub struct Book {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    Show(Show),
    Make(Make),
    Check(Check),
    Merge(Merge),
    Import(Import),
}

impl Book {
    pub fn run(self) -> anyhow::Result<Outcome> {
        match self.action {
            Action::Show(show) => show.run(),
            Action::Make(make) => make.run(),
            Action::Check(check) => check.run(),
            Action::Merge(merge) => merge.run(),
            Action::Import(import) => import.run(),
        }
    }
}
