use std::path::PathBuf;

use clap::Args;
use kalah::book::{Book, derive};
use kalah::file::InFile;
use serde::Serialize;

use crate::cli::playing::choose::StrategyFile;
use crate::cli::solving::book::file::{BookAnswer, Extended, read_certificate};
use crate::cli::{Outcome, args, failure, line, output};

/// Add proved bounds from books and certificates to a book
///
/// Each file has a checksum, and `kalah book check` proves the added positions again. A certificate is not checked
/// here: use `kalah check` for that.
#[derive(Args)]
pub(crate) struct Import {
    /// Books and certificates, all of one rule set and board
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Book to extend [default: the one beside the tables]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    tables: args::Directory,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct BookImportReport {
    #[serde(flatten)]
    book: BookAnswer,
    /// Number of positions with better bounds than before.
    added: usize,
}

impl Import {
    pub(super) fn run(self) -> failure::Result<Outcome> {
        // Each book, and the position of a certificate: bounds of earlier positions may follow from its bounds.
        let mut sources = Vec::new();
        for path in &self.files {
            sources.push(match StrategyFile::is_certificate(path) {
                true => read_certificate(path).map(|(head, book)| (book, Some(head.statement.position)))?,
                false => (Book::open(path)?, None),
            });
        }
        let first = &sources.first().expect("the command line has at least one").0;
        let mut extended =
            Extended::open(self.output.as_deref(), self.tables.directory(), first.rules(), first.pits())?;
        let mut added = 0;
        for (path, (book, start)) in self.files.iter().zip(&sources) {
            added += extended.book.merge(book).map_err(InFile::of(path))?;
            if let Some(start) = start {
                added += derive(&mut extended.book, start, 1).map_err(InFile::of(path))?;
            }
        }
        let report = BookImportReport { book: extended.save()?, added };
        output::answer(self.json, &report, || {
            line!("{}\n  {} improved", report.book, output::count(added, "position"))
        })?;
        Ok(Outcome::Done)
    }
}
