use std::path::{Path, PathBuf};

use clap::Args;
use kalah::book::{Book, BookFileError, derive};
use kalah::certificate::Certificate;
use kalah::file::FileContent;
use kalah::game::Position;
use serde::Serialize;

use crate::cli::solving::book::file::{BookAnswer, Extended};
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
        let sources = self.files.iter().map(|path| Source::read(path)).collect::<failure::Result<Vec<_>>>()?;
        let first = &sources.first().expect("the command line has at least one").book;
        let mut extended = Extended::open(self.output.as_deref(), &self.tables.directory, first.rules(), first.pits())?;
        let mut added = 0;
        for (path, Source { book, start }) in self.files.iter().zip(&sources) {
            let failed = |error| BookFileError { path: path.as_path().into(), error };
            added += extended.book.merge(book).map_err(failed)?;
            if let Some(start) = start {
                added += derive(&mut extended.book, start, 1).map_err(failed)?;
            }
        }
        let report = BookImportReport { book: extended.save()?, added };
        output::answer(self.json, &report, || {
            line!("{}\n  {} improved", report.book, output::count(added, "position"))
        })?;
        Ok(Outcome::Done)
    }
}

/// Proved bounds of a file.
struct Source {
    book: Book,
    /// Position of a certificate, from whose bounds those of earlier positions may follow.
    start: Option<Position>,
}

impl Source {
    fn read(path: &Path) -> failure::Result<Source> {
        if FileContent::of(path).unwrap_or_default() != Some(FileContent::Certificate) {
            return Ok(Source { book: Book::open(path)?, start: None });
        }
        let Certificate { head, claims } = Certificate::read(path)?;
        let start = head.statement.position;
        let mut book = Book::new(head.statement.rules, start.pits());
        let added = book.add_all(claims.iter().map(|claim| (claim.position, claim.bounds)));
        added.map_err(|error| BookFileError { path: path.into(), error })?;
        Ok(Source { book, start: Some(start) })
    }
}
