use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use kalah_base::file;
use kalah_core::header::Kind;
use kalah_core::index::Frame;
use kalah_core::table::format::{Entry, LayerHeader};
use kalah_core::table::{Damage, TableError, TablePart};

/// Bytes read at a time.
const PART_BYTES: u64 = 1 << 20;

/// A piece or an archive, whose frames are read one after another.
///
/// Header and directory are checked on opening, frames when they are copied. It is read, not mapped.
#[derive(Debug)]
pub(super) struct LayerFile<E> {
    path: PathBuf,
    pub file: File,
    pub header: LayerHeader<E>,
    damaged: fn(&Path, Damage) -> TableError,
}

impl<E: Entry> LayerFile<E> {
    /// Opens the file of this kind at `path`. `damaged` makes its errors.
    ///
    /// # Errors
    /// When it cannot be read, or is damaged or foreign.
    pub(super) fn open(path: &Path, kind: Kind, damaged: fn(&Path, Damage) -> TableError) -> Result<Self, TableError> {
        let file = file::open(path).map_err(TableError::io(path))?;
        let mut prefix = Vec::new();
        (&file)
            .take(LayerHeader::<E>::MAX_PREFIX_BYTES as u64)
            .read_to_end(&mut prefix)
            .map_err(TableError::io(path))?;
        let file_bytes = file.metadata().map_err(TableError::io(path))?.len();
        let header = LayerHeader::read_as(kind, &prefix, file_bytes).map_err(|damage| damaged(path, damage))?;
        Ok(LayerFile { path: path.to_owned(), file, header, damaged })
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Damage of a part of the file at byte `offset`.
    pub(super) fn damage(&self, part: TablePart, offset: u64) -> TableError {
        (self.damaged)(&self.path, Damage::Part { part, offset })
    }

    /// Passes the bytes of `frame`, which has this entry, to `take`, part by part.
    ///
    /// # Errors
    /// When the bytes do not match the digest (`take` has received all of them by then), or the
    /// file cannot be read; or an error of `take`.
    pub(super) fn copy_frame(
        &mut self,
        frame: Frame,
        entry: &E,
        mut take: impl FnMut(&[u8]) -> Result<(), TableError>,
    ) -> Result<(), TableError> {
        let section = entry.section_of(frame.mover);
        self.file.seek(SeekFrom::Start(section.offset)).map_err(TableError::io(&self.path))?;
        let mut hasher = blake3::Hasher::new();
        let mut left = section.bytes();
        let mut part = vec![0; left.min(PART_BYTES) as usize];
        while left > 0 {
            let part = &mut part[..left.min(PART_BYTES) as usize];
            self.file.read_exact(part).map_err(TableError::io(&self.path))?;
            hasher.update(part);
            take(part)?;
            left -= part.len() as u64;
        }
        if *hasher.finalize().as_bytes() == section.digest {
            Ok(())
        } else {
            Err(self.damage(TablePart::Frame, section.offset))
        }
    }
}

/// Reads `bytes` bytes of a file.
pub(super) fn read_at(file: &mut File, offset: u64, bytes: usize) -> io::Result<Vec<u8>> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(bytes)?;
    file.seek(SeekFrom::Start(offset))?;
    file.take(bytes as u64).read_to_end(&mut buffer)?;
    if buffer.len() < bytes { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(buffer) }
}
