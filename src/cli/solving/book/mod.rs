//! `kalah book`.
//!
//! | module | contents |
//! |---|---|
//! | `show` | `show` |
//! | `make` | `make` |
//! | `check` | `check` |
//! | `import` | `import` |
//! | `file` | books that commands read and extend |

mod check;
pub(crate) mod file;
mod import;
mod make;
mod show;

use clap::Subcommand;

use crate::cli::{Outcome, examples, failure};

/// Show, extend and check the book of proved values near the start
///
/// The commands solve, probe, move, play, engine and serve look positions up in the book before they search. The
/// program contains books for some boards. A book beside the tables, such as tables/empty-capture-6.book, replaces
/// the program's. See docs/book.md.
#[derive(Subcommand)]
#[command(after_help = examples(&[
    ("Show what the book contains", "kalah book show"),
    ("Add the positions after three turns", "kalah book make 6x4 --turns 3"),
    ("Prove ten random positions again", "kalah book check --sample 10"),
]))]
pub(crate) enum Book {
    Show(show::Show),
    Make(make::Make),
    Check(check::Check),
    Import(import::Import),
}

impl Book {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        match self {
            Book::Show(show) => show.run(),
            Book::Make(make) => make.run(),
            Book::Check(check) => check.run(),
            Book::Import(import) => import.run(),
        }
    }
}
