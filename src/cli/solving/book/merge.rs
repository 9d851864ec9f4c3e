use std::path::{Path, PathBuf};

use clap::Args;
use kalah::book::{Book, BookFileError, derive};
use kalah::certificate::Certificate;
use kalah::file::FileContent;
use kalah::game::{Bounds, Position, Rules};
use kalah::solve::Checkpoint;
use serde::Serialize;

use crate::cli::failure::{self, bail};
use crate::cli::flags::args;
use crate::cli::output;
use crate::cli::process::outcome::Outcome;
use crate::cli::solving::book::file::Extended;
use crate::cli::suggestion::quoted;

/// Add other books to a book
#[derive(Args)]
pub(super) struct Merge {
    /// Books to add, all of one rule set and board
    #[arg(value_name = "FILE", required = true)]
    books: Vec<PathBuf>,
    #[command(flatten)]
    to: To,
}

/// Add proved bounds from a certificate or a checkpoint to a book
///
/// Checkpoints are those of `kalah solve`. The file has a checksum, and `kalah book check` proves the added positions
/// again. A certificate is not checked here: use `kalah check` for that.
#[derive(Args)]
pub(super) struct Import {
    /// Certificate or checkpoint
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    to: To,
}

/// Book to extend.
#[derive(Args)]
struct To {
    /// Book to extend [default: the one beside the tables]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    tables: args::Directories,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct BookMergeReport {
    book: String,
    rules: &'static str,
    pits: usize,
    /// Number of positions with better bounds than before.
    added: usize,
    positions: usize,
    exact: usize,
}

impl To {
    /// Saves the book and reports.
    fn finish(&self, extended: &Extended, added: usize) -> failure::Result<Outcome> {
        extended.save()?;
        let book = &extended.book;
        let report = BookMergeReport {
            book: extended.path().display().to_string(),
            rules: book.rules().name(),
            pits: book.pits(),
            added,
            positions: book.len(),
            exact: book.exact(),
        };
        if self.json {
            output::json(&report)?;
        } else {
            output::line(format_args!(
                "{}: {} improved; {}, {} of them exact",
                report.book,
                output::count(added, "position"),
                output::count(report.positions, "position"),
                report.exact
            ))?;
        }
        Ok(Outcome::Done)
    }
}

impl Merge {
    pub(super) fn run(self) -> failure::Result<Outcome> {
        let mut books = Vec::new();
        for path in &self.books {
            books.push((path, Book::open(path)?));
        }
        let (_, first) = books.first().expect("the command line has at least one");
        let To { output, tables, .. } = &self.to;
        let mut extended = Extended::open(output.as_deref(), &tables.paths, first.rules(), first.pits())?;
        let mut added = 0;
        for (path, book) in &books {
            let merged = extended.book.merge(book);
            added += merged.map_err(|error| BookFileError { path: path.as_path().into(), error })?;
        }
        self.to.finish(&extended, added)
    }
}

/// Rule set, position of a file, bounds of scores.
type Proofs = (Rules, Position, Vec<(Position, Bounds)>);

/// Returns the proved bounds of a certificate or a checkpoint.
fn proofs(path: &Path) -> failure::Result<Proofs> {
    match FileContent::of(path).unwrap_or_default() {
        Some(FileContent::Certificate) => {}
        Some(FileContent::Book) => {
            let add = format!("kalah book merge {}", quoted(path.as_os_str()));
            bail!("{} is a book: add it with `{add}`", path.display());
        }
        _ => return Ok(Checkpoint::read_proofs(path)?),
    }
    let Certificate { head, claims } = Certificate::read(path)?;
    let proofs = claims.iter().map(|claim| (claim.position, claim.bounds)).collect();
    Ok((head.statement.rules, head.statement.position, proofs))
}

impl Import {
    pub(super) fn run(self) -> failure::Result<Outcome> {
        let (rules, start, proofs) = proofs(&self.file)?;
        let To { output, tables, .. } = &self.to;
        let mut extended = Extended::open(output.as_deref(), &tables.paths, rules, start.pits())?;
        let failed = |error| BookFileError { path: self.file.as_path().into(), error };
        let mut added = extended.book.add_all(proofs).map_err(failed)?;
        added += derive(&mut extended.book, &start, 1).map_err(failed)?;
        self.to.finish(&extended, added)
    }
}
