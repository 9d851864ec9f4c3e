//! Books that commands read and extend.

use std::fmt;
use std::path::{Path, PathBuf};

use kalah::book::{Book as Positions, BookError};
use kalah::certificate::{Certificate, Head};
use kalah::file::{FileLock, InFile, remove_leftovers, resolved, temporary_beside};
use kalah::game::Rules;
use kalah::table::Directory;
use serde::Serialize;

use crate::cli::{Context, failure, output};

/// Returns the book in `file`, otherwise the one beside the tables, otherwise the program's, with its name in
/// messages.
pub(super) fn in_use(
    file: Option<&Path>,
    directory: &Directory,
    rules: Rules,
    pits: usize,
) -> Result<(Positions, String), InFile<BookError>> {
    let beside = directory.file(&Positions::file_name(rules, pits));
    if let Some(path) = file {
        return Ok((Positions::open(path)?, path.display().to_string()));
    }
    if let Some(book) = Positions::open_for(&beside, rules, pits)? {
        return Ok((book, beside.display().to_string()));
    }
    let shipped = Positions::shipped(rules, pits).cloned();
    let name = if shipped.is_some() { "the program's book" } else { "no book" };
    Ok((shipped.unwrap_or_else(|| Positions::new(rules, pits)), name.to_owned()))
}

/// Reads a certificate: its head, and its claims as a book.
pub(crate) fn read_certificate(path: &Path) -> failure::Result<(Head, Positions)> {
    let Certificate { head, claims } = Certificate::read(path)?;
    let mut book = Positions::new(head.statement.rules, head.statement.position.pits());
    let added = book.add_all(claims.iter().map(|claim| (claim.position, claim.bounds)));
    added.map_err(InFile::of(path))?;
    Ok((head, book))
}

/// A book, and what it contains.
#[derive(Serialize)]
pub(super) struct BookAnswer {
    /// Its file, or its name in messages.
    book: String,
    pub rules: Rules,
    pub pits: usize,
    positions: usize,
    exact: usize,
    pub digest: String,
}

impl BookAnswer {
    /// Describes a book of this name.
    pub(super) fn new(name: String, book: &Positions) -> BookAnswer {
        BookAnswer {
            book: name,
            rules: book.rules(),
            pits: book.pits(),
            positions: book.len(),
            exact: book.exact(),
            digest: output::hex(&book.digest()),
        }
    }
}

impl fmt::Display for BookAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BookAnswer { book, positions, exact, .. } = self;
        write!(f, "{book}: {}, {exact} of them exact", output::count(*positions, "position"))
    }
}

/// Book that only this process may extend.
pub(super) struct Extended {
    pub path: PathBuf,
    pub book: Positions,
    _lock: FileLock,
}

impl Extended {
    /// Opens the book in `output`, or in its file in the directory of the tables. A new file begins with the program's
    /// book.
    pub(super) fn open(
        output: Option<&Path>,
        directory: &Directory,
        rules: Rules,
        pits: usize,
    ) -> failure::Result<Extended> {
        let path = match output {
            Some(path) => resolved(path),
            None => {
                let directory = directory.name();
                std::fs::create_dir_all(directory)
                    .with_context(|| format!("cannot create the directory {}", directory.display()))?;
                resolved(&directory.join(Positions::file_name(rules, pits)))
            }
        };
        let lock = FileLock::beside(&path).map_err(BookError::Lock).map_err(InFile::of(&path))?;
        let can_be_written = remove_leftovers(&path).and_then(|()| temporary_beside(&path));
        can_be_written.map_err(BookError::Io).map_err(InFile::of(&path))?;
        let begin = || Positions::shipped(rules, pits).cloned().unwrap_or_else(|| Positions::new(rules, pits));
        let book = Positions::open_for(&path, rules, pits)?.unwrap_or_else(begin);
        Ok(Extended { path, book, _lock: lock })
    }

    /// Writes the book to its file, and describes it.
    pub(super) fn save(&self) -> Result<BookAnswer, InFile<BookError>> {
        self.book.write(&self.path)?;
        Ok(BookAnswer::new(self.path.display().to_string(), &self.book))
    }
}
