use std::io;
use std::path::Path;

use kalah_base::diagnostic::{Commands, Diagnosis, Diagnostic, Outcome, USE_NEWER};
use kalah_base::file::LockError;
use kalah_core::game::{Bounds, Position, Rules};
use kalah_core::header::HeaderError;
use kalah_core::table::TableError;
use kalah_core::text::count;

/// Error of a book: it cannot be used or extended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BookError {
    /// It is not a book, or has another version.
    #[error("{0}")]
    Header(#[from] HeaderError),
    /// Some of its bytes were changed.
    #[error("{0}: it was changed or damaged")]
    Damaged(&'static str),
    /// It is a book for another rule set or board.
    #[error(
        "it is a book for {} with {}, not for {} with {}",
        found.0, count(found.1, "pit"), expected.0, count(expected.1, "pit")
    )]
    Other {
        /// Rule set and pits a side of the file.
        found: (Rules, usize),
        /// Rule set and pits a side that it should have.
        expected: (Rules, usize),
    },
    /// Two bounds of the score of a position contradict each other.
    #[error(
        "its bounds of the score of {position}, {} to {}, contradict {} to {} by {by}",
        known.lower, known.upper, other.lower, other.upper
    )]
    Contradiction {
        /// The position, without stores.
        position: Box<Position>,
        /// Bounds in the book.
        known: Bounds,
        /// Bounds that contradict them.
        other: Bounds,
        /// Source of those bounds.
        by: &'static str,
    },
    /// The position cannot be in a book.
    #[error("a book cannot contain {0}: it is of another board, or has too many seeds in play")]
    Board(Box<Position>),
    /// It cannot be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Another process is extending it.
    #[error("{0}")]
    Lock(#[from] LockError),
    /// A table cannot be read.
    #[error("{0}")]
    Table(#[from] TableError),
}

/// A book's file that cannot be used, with the reason.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
pub struct BookFileError {
    /// The file.
    pub path: Box<Path>,
    /// The reason.
    #[source]
    pub error: BookError,
}

/// Only a file that is certainly a damaged book is to be deleted.
impl Diagnostic for BookError {
    fn diagnosis(&self, commands: &dyn Commands) -> Diagnosis {
        match self {
            BookError::Header(error) if error.is_newer() => {
                Outcome::Failed.help(format!("{USE_NEWER}, choose another file, or use --no-book"))
            }
            BookError::Damaged(_) => {
                Outcome::Wrong.help("delete it: the program contains books, and `kalah book make 6x4` makes more")
            }
            BookError::Header(error) => {
                let is_foreign = matches!(error, HeaderError::Foreign(_));
                let outcome = if is_foreign { Outcome::Wrong } else { Outcome::Failed };
                outcome.help("choose another file, or move it away from the tables: the program contains books")
            }
            BookError::Contradiction { .. } => Outcome::Wrong
                .help("find out which is wrong with `kalah book check` and `kalah verify`, or use --no-book"),
            BookError::Other { .. } => {
                Outcome::Failed.help("choose another file, or give the book's rule set and board")
            }
            BookError::Board(_) => Outcome::Failed.into(),
            BookError::Io(error) => error.diagnosis(commands),
            BookError::Lock(error) => error.diagnosis(commands),
            BookError::Table(error) => error.diagnosis(commands),
        }
    }
}

impl Diagnostic for BookFileError {
    fn diagnosis(&self, commands: &dyn Commands) -> Diagnosis {
        self.error.diagnosis(commands)
    }
}
