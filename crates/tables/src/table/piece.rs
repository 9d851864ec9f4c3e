use std::path::Path;

use kalah_base::file;
use kalah_core::header::Kind;
use kalah_core::index::Frame;
use kalah_core::source::LocalFile;
use kalah_core::table::format::FrameEntry;
use kalah_core::table::{PairKey, Table, TableError};
use tempfile::NamedTempFile;

/// A file with the packed frames of one pair, computed by one of several processes: a table with only these frames.
///
/// It gets its name when it is complete, and never changes afterwards. Header and entries are
/// checked on opening, frames when they are copied or by [`Piece::check`]. It is read, not mapped:
/// on a shared file system another machine may remove it at any time. For a reader that is just an
/// error, but it kills a program that has mapped the file.
#[derive(Debug)]
pub struct Piece {
    pair: PairKey,
    file: Table,
}

impl Piece {
    /// Opens the piece of `pair` in `directory`.
    ///
    /// # Errors
    /// When it does not exist or cannot be read, or its header is not that of this pair.
    pub fn open(directory: &Path, pair: PairKey) -> Result<Piece, TableError> {
        let path = pair.piece_path(directory);
        let source = LocalFile::open(&path).map_err(TableError::io(&path))?;
        let file = Table::of(Kind::Piece, Box::new(source))?;
        let is_own = (file.key(), usize::from(file.header().form)) == (pair.layer, pair.small);
        if is_own { Ok(Piece { pair, file }) } else { Err(file.blocks().damaged_part("header", 0)) }
    }

    /// The pair.
    pub fn pair(&self) -> PairKey {
        self.pair
    }

    /// Returns true if `frame` is one of its frames.
    pub(super) fn holds(&self, frame: Frame) -> bool {
        self.pair.frames().any(|own| own == frame)
    }

    /// Compares its frames with their digests.
    ///
    /// # Errors
    /// When one is damaged, or the file cannot be read.
    pub fn check(&mut self) -> Result<(), TableError> {
        for frame in self.pair.frames() {
            self.copy_frame(frame, |_| Ok(()))?;
        }
        Ok(())
    }

    /// Passes the bytes of `frame` to `take`, part by part, and returns its entry.
    ///
    /// # Errors
    /// When the bytes do not match the digest (`take` has received all of them by then), or the
    /// file cannot be read; or an error of `take`.
    pub(super) fn copy_frame(
        &mut self,
        frame: Frame,
        take: impl FnMut(&[u8]) -> Result<(), TableError>,
    ) -> Result<FrameEntry, TableError> {
        let place = usize::from(frame.mover != self.pair.small);
        self.file.blocks().check_digest(place + 1, take)?;
        Ok(self.file.header().entries[place])
    }
}

/// Creates a temporary file to be renamed to `path`, in the same directory, which is created if it
/// does not exist.
pub(super) fn temporary(path: &Path) -> Result<NamedTempFile, TableError> {
    let directory = path.parent().unwrap_or(Path::new(""));
    file::create_directory(directory).and_then(|()| file::temporary_beside(path)).map_err(TableError::io(directory))
}
