//! The pieces of a layer, and joining them to its table.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use kalah_base::file;
use kalah_core::directory::Directory;
use kalah_core::file::found;
use kalah_core::table::{PairKey, TableError, TableKey};
use tempfile::TempPath;

use super::contents::Contents;
use super::packed_frame::PackedFrame;
use super::piece::temporary;
use super::writer::PARTIAL;
use super::{Manifest, Piece, TableWriter};

/// The files of a layer in a directory, by their names.
#[derive(Debug)]
pub struct LayerFiles {
    /// True if its table exists.
    pub finished: bool,
    /// Pairs without a piece.
    pub missing: Vec<PairKey>,
}

impl LayerFiles {
    /// Looks for the table `key` and its pieces in `directory`, which need not exist.
    ///
    /// The whole directory is listed. On a shared file system, a look-up of a single name may be
    /// answered from a cache that lacks the changes of other machines.
    ///
    /// # Errors
    /// When the directory cannot be listed.
    pub fn read(directory: &Path, key: TableKey) -> Result<LayerFiles, TableError> {
        let names = names(directory)?;
        let has = |path: &Path| path.file_name().is_some_and(|name| names.contains(&*name.to_string_lossy()));
        let missing = key.pairs().filter(|pair| !has(&pair.piece_path(directory))).collect();
        Ok(LayerFiles { finished: names.contains(&key.file_name()), missing })
    }
}

/// Names in a directory; empty if it does not exist.
fn names(directory: &Path) -> Result<HashSet<String>, TableError> {
    let listed = found(Directory::from(directory).names()).map_err(TableError::io(directory))?;
    Ok(listed.into_iter().flatten().collect())
}

/// Writes a piece to a temporary file of its own, so that two writers of one piece do not collide.
#[derive(Debug)]
pub struct PieceWriter {
    temporary: TempPath,
    writer: TableWriter,
}

impl PieceWriter {
    /// Begins the piece of `pair` in `directory`.
    ///
    /// # Errors
    /// When reading or writing fails.
    pub fn new(directory: &Path, pair: PairKey) -> Result<PieceWriter, TableError> {
        let path = pair.piece_path(directory);
        let temporary = temporary(&path)?.into_temp_path();
        let writer = TableWriter::open_at(path, temporary.to_path_buf(), Contents::new(pair.layer, Some(pair)))?;
        Ok(PieceWriter { temporary, writer })
    }

    /// Writes the next frame.
    ///
    /// # Errors
    /// When reading or writing fails.
    ///
    /// # Panics
    /// When `packed` is not the next frame of [`PairKey::frames`].
    pub fn write(&mut self, packed: &PackedFrame) -> Result<(), TableError> {
        self.writer.write(packed)
    }

    /// The writer of its frames.
    pub(crate) fn table(&mut self) -> &mut TableWriter {
        &mut self.writer
    }

    /// Completes the piece and gives it its name, replacing an older one.
    ///
    /// # Errors
    /// When reading or writing fails.
    ///
    /// # Panics
    /// When a frame is missing.
    pub fn finish(self) -> Result<PathBuf, TableError> {
        let PieceWriter { temporary, writer } = self;
        let path = writer.finish()?;
        // It has another name now.
        let _ = temporary.keep();
        Ok(path)
    }
}

/// The result of an attempt to join pieces.
#[derive(Debug)]
pub(crate) enum Joined {
    /// The table was made.
    Done,
    /// A piece is missing, or another process joined the pieces.
    Incomplete,
    /// A piece was damaged, and was removed.
    Damaged(PairKey, TableError),
    /// The table would differ from the built-in manifest. All pieces were removed.
    Contradiction,
}

/// Makes the table `key` in `directory` from its pieces, and then removes these.
///
/// The table is written to a temporary file, flushed, and renamed unless the name is taken by then.
/// So any number of processes may do this at once, or be killed, without harm; the work is repeated
/// at worst. Only one should do it at a time (see [`super::Leases`]), since leftovers of other
/// attempts are removed first.
pub(crate) fn join_pieces(directory: &Path, key: TableKey) -> Result<Joined, TableError> {
    if !LayerFiles::read(directory, key)?.missing.is_empty() {
        return Ok(Joined::Incomplete);
    }
    let path = key.path(directory);
    file::remove_leftovers(&path).map_err(TableError::io(&path))?;
    let temporary = temporary(&path)?.into_temp_path();
    // If this fails, the temporary file is removed.
    let mut writer = TableWriter::open_at(path.clone(), temporary.to_path_buf(), Contents::new(key, None))?;
    for pair in key.pairs() {
        let copied = Piece::open(directory, pair)
            .and_then(|mut piece| pair.frames().try_for_each(|frame| writer.copy(&mut piece, frame)));
        match copied {
            Ok(()) => {}
            Err(error) if error.is_damage() => {
                remove_if_there(&pair.piece_path(directory))?;
                return Ok(Joined::Damaged(pair, error));
            }
            // Another process joined the pieces, or found one damaged.
            Err(_) if !pair.piece_path(directory).exists() => return Ok(Joined::Incomplete),
            Err(error) => return Err(error),
        }
    }
    if Manifest::contradicts(key, &writer.digest()) {
        remove_pieces(directory, key)?;
        return Ok(Joined::Contradiction);
    }
    writer.complete().and_then(|()| writer.sync())?;
    // An existing table is not replaced, since others may have mapped it.
    match file::persist_new(temporary, &path) {
        Ok(true) => {}
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(TableError::io(&path)(error)),
        _ => return Ok(Joined::Incomplete),
    }
    // The pieces are removed only when the table's name is safe on the disk.
    file::sync_directory(directory).map_err(TableError::io(directory))?;
    Ok(Joined::Done)
}

/// Removes the pieces and leases of the finished table `key`, and the temporary files of killed processes.
pub(crate) fn remove_pieces(directory: &Path, key: TableKey) -> Result<(), TableError> {
    let (table, stem) = (key.path(directory), key.file_stem() + ".");
    for name in names(directory)? {
        let is_of_piece = name.starts_with(&stem) && (name.contains(".piece") || name.ends_with(".lease"));
        if is_of_piece || file::is_temporary_of(OsStr::new(&name), &table) {
            remove_if_there(&directory.join(name))?;
        }
    }
    Ok(())
}

/// Removes the unfinished file of the table `key`. Only the holder of the directory's lock may call it.
pub(crate) fn remove_partial(directory: &Path, key: TableKey) -> Result<(), TableError> {
    remove_if_there(&file::beside(&key.path(directory), PARTIAL))
}

/// Removes the file at `path` if it exists.
fn remove_if_there(path: &Path) -> Result<(), TableError> {
    found(std::fs::remove_file(path)).map(drop).map_err(TableError::io(path))
}
