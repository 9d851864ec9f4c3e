use clap::{Args, Subcommand};

use super::book_check::Check;
use super::book_make::Make;
use super::book_merge::{Import, Merge};
use super::book_show::Show;
use super::outcome::Outcome;

/// Show, extend and check the book: proved values near the start
///
/// The book is used by solve, probe, move, play, engine, serve and kgp before they search. The program has one for some boards;
/// a book beside the tables, such as tables/empty-capture-6.book, takes its place.
#[derive(Args)]
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
