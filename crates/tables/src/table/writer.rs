use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use kalah_base::file::{self, BulkFile, FileContent};
use kalah_core::index::Frame;
use kalah_core::table::format::{ENTRY_BYTES, HEADER_BYTES, RawEntry, RawHeader, table_digest};
use kalah_core::table::group::count_exceptions;
use kalah_core::table::{FrameEntry, Table, TableError, TableKey};

use super::packed_frame::PackedFrame;
use super::piece::Piece;

/// A clause that states what is kept if a table cannot be written.
const KEPT: &str = "finished frames are kept";

/// Suffix of the temporary name of a table being built.
pub(super) const PARTIAL: &str = ".partial";

/// Suffix of the temporary name of a table being unpacked.
pub(super) const UNPACKING: &str = ".unpacking";

/// Writes a table file.
///
/// It has a temporary name in the same directory, is written frame by frame in the order of
/// [`TableKey::frames`], and is renamed when complete. A directory entry is written after its
/// frame. After an interruption the entries therefore show which frames are complete. The next
/// writer checks these against their digests and continues.
#[derive(Debug)]
pub struct TableWriter {
    key: TableKey,
    path: PathBuf,
    partial: PathBuf,
    file: BulkFile,
    entries: Vec<RawEntry>,
    /// Number of frames written, in file order.
    written: usize,
    end: u64,
}

impl TableWriter {
    /// Begins the table `key` in `directory`, or resumes an unfinished one.
    ///
    /// # Errors
    /// When reading or writing fails.
    pub fn open(directory: &Path, key: TableKey) -> Result<TableWriter, TableError> {
        let path = key.path(directory);
        let partial = file::beside(&path, PARTIAL);
        TableWriter::open_at(path, partial, key)
    }

    /// The same as [`TableWriter::open`] for frames that come from an archive.
    ///
    /// It has another temporary name. A build keeps all frames under its own temporary name, but
    /// frames from an archive are unproven until the digest of the whole table is compared.
    ///
    /// # Errors
    /// As [`TableWriter::open`].
    pub(super) fn open_unpacking(directory: &Path, key: TableKey) -> Result<TableWriter, TableError> {
        let path = key.path(directory);
        let partial = file::beside(&path, UNPACKING);
        TableWriter::open_at(path, partial, key)
    }

    /// The same as [`TableWriter::open`], with `partial` as the temporary name.
    pub(super) fn open_at(path: PathBuf, partial: PathBuf, key: TableKey) -> Result<TableWriter, TableError> {
        let options = &mut OpenOptions::new();
        let file = file::open_companion(&partial, FileContent::Table, options.read(true).write(true))
            .map_err(TableError::writing(&partial, KEPT))?;
        let mut writer = TableWriter {
            key,
            path,
            partial,
            file: BulkFile::new(file),
            entries: vec![bytemuck::Zeroable::zeroed(); key.seeds - 1],
            written: 0,
            end: key.prefix_bytes(),
        };
        writer.resume().map_err(TableError::writing(&writer.partial, KEPT))?;
        Ok(writer)
    }

    /// Keeps the finished frames of an unfinished table, and truncates the file after them.
    fn resume(&mut self) -> io::Result<()> {
        let mut prefix = Vec::new();
        self.file.file().take(self.key.prefix_bytes()).read_to_end(&mut prefix)?;
        let sound = RawHeader::read(&prefix).is_ok_and(|(_, key)| key == self.key)
            && prefix.len() as u64 == self.key.prefix_bytes();
        if sound {
            for frame in self.key.frames() {
                let at = HEADER_BYTES + (frame.mover - 1) * ENTRY_BYTES;
                let raw: RawEntry = bytemuck::pod_read_unaligned(&prefix[at..at + ENTRY_BYTES]);
                if !self.is_written(frame, &raw.entry())? {
                    break;
                }
                self.entries[frame.mover - 1] = raw;
                self.end = raw.entry().end();
                self.written += 1;
            }
        }
        let mut prefix = bytemuck::bytes_of(&RawHeader::unfinished(self.key)).to_vec();
        prefix.extend_from_slice(bytemuck::cast_slice(&self.entries));
        prefix.resize(self.key.prefix_bytes() as usize, 0);
        self.file.write_at(0, &prefix)?;
        self.file.file().set_len(self.end)
    }

    /// Returns true if the file holds this frame, undamaged, where it belongs.
    fn is_written(&mut self, frame: Frame, entry: &FrameEntry) -> io::Result<bool> {
        let mut file = self.file.file();
        if entry.offset != self.end || !entry.fits(frame, file.metadata()?.len()) {
            return Ok(false);
        }
        file.seek(SeekFrom::Start(entry.offset))?;
        let mut hasher = blake3::Hasher::new();
        let copied = io::copy(&mut file.take(entry.section_bytes()), &mut hasher)?;
        if copied != entry.section_bytes() || *hasher.finalize().as_bytes() != entry.digest {
            return Ok(false);
        }
        // The digest covers the frame, but not the entry's figures for the patches, whose end the
        // padding hides.
        file.seek(SeekFrom::Start(entry.offset + entry.patches_at()))?;
        let mut patches = Vec::new();
        file.take(entry.checksums_at() - entry.patches_at()).read_to_end(&mut patches)?;
        let (patches, padding) = patches.split_at(patches.len().min(entry.patch_bytes as usize));
        Ok(count_exceptions(patches) == Some(entry.exceptions) && padding.iter().all(|&byte| byte == 0))
    }

    /// Frames still to be written, in order.
    pub fn missing(&self) -> impl Iterator<Item = Frame> + use<> {
        self.key.frames().skip(self.written)
    }

    /// Number of frames written so far, by this writer and those before it.
    pub fn written(&self) -> usize {
        self.written
    }

    /// Writes the next frame.
    ///
    /// # Errors
    /// When reading or writing fails. The frames before are safe.
    ///
    /// # Panics
    /// When `packed` is not the first of [`TableWriter::missing`].
    pub fn write(&mut self, packed: &PackedFrame) -> Result<(), TableError> {
        assert_eq!(self.missing().next(), Some(packed.frame), "frames are written in their order");
        let entry = packed.entry(self.end);
        let written = self.file.write_at(self.end, packed.section());
        written.map_err(TableError::writing(&self.partial, KEPT))?;
        self.add(packed.frame, entry)
    }

    /// Copies the next frame from a piece and checks it. A damaged frame is not kept.
    ///
    /// # Errors
    /// When the piece is damaged or cannot be read, or reading or writing fails. The frames before
    /// are safe.
    ///
    /// # Panics
    /// When `frame` is not the first of [`TableWriter::missing`], or the piece does not hold it.
    pub fn copy(&mut self, piece: &mut Piece, frame: Frame) -> Result<(), TableError> {
        assert_eq!(self.missing().next(), Some(frame), "frames are written in their order");
        assert!(piece.holds(frame), "{frame:?} is not in {}", piece.pair());
        let mut at = self.end;
        let entry = piece.copy_frame(frame, |part| {
            self.file.write_at(at, part).map_err(TableError::writing(&self.partial, KEPT))?;
            at += part.len() as u64;
            Ok(())
        });
        // Bytes after the last frame with an entry belong to no frame. The next frame overwrites
        // them.
        let entry = entry?;
        self.add(frame, FrameEntry { offset: self.end, ..entry })
    }

    /// Adds the entry of a frame whose bytes are written.
    fn add(&mut self, frame: Frame, entry: FrameEntry) -> Result<(), TableError> {
        let raw = RawEntry::new(&entry);
        let at = HEADER_BYTES + (frame.mover - 1) * ENTRY_BYTES;
        self.file.write_at(at as u64, bytemuck::bytes_of(&raw)).map_err(TableError::writing(&self.partial, KEPT))?;
        self.entries[frame.mover - 1] = raw;
        self.end = entry.end();
        self.written += 1;
        Ok(())
    }

    /// Digest of the table, once no frame is missing.
    pub(crate) fn digest(&self) -> [u8; 32] {
        table_digest(self.key, bytemuck::cast_slice(&self.entries))
    }

    /// Removes the unfinished table.
    ///
    /// # Errors
    /// When reading or writing fails.
    pub(crate) fn discard(self) -> Result<(), TableError> {
        std::fs::remove_file(&self.partial).map_err(TableError::io(&self.partial))
    }

    /// Writes the header. The file is then complete, but perhaps not on the disk yet.
    ///
    /// # Errors
    /// When reading or writing fails. Nothing is lost then.
    ///
    /// # Panics
    /// When a frame is missing.
    pub fn complete(mut self) -> Result<CompleteTable, TableError> {
        assert_eq!(self.missing().next(), None, "a frame of {} is missing", self.key);
        let header = RawHeader::finished(self.key, self.end, self.digest());
        // A damaged piece may have left bytes after the last frame.
        self.file
            .file()
            .set_len(self.end)
            .and_then(|()| self.file.write_at(0, bytemuck::bytes_of(&header)))
            .map_err(TableError::writing(&self.partial, KEPT))?;
        let TableWriter { path, partial, file, .. } = self;
        Ok(CompleteTable { path, partial, file: file.into_file() })
    }

    /// Completes the file, waits until it is on the disk, and gives it its name.
    ///
    /// # Errors
    /// When reading or writing fails. Nothing is lost then.
    ///
    /// # Panics
    /// When a frame is missing.
    pub fn finish(self) -> Result<PathBuf, TableError> {
        self.complete()?.finish()
    }
}

/// A complete table file with a temporary name, which may not be on the disk yet.
#[derive(Debug)]
pub struct CompleteTable {
    path: PathBuf,
    partial: PathBuf,
    file: File,
}

impl CompleteTable {
    /// Maps the table, which can be used before it has its name.
    ///
    /// # Errors
    /// As [`Table::open`].
    pub fn open(&self) -> Result<Table, TableError> {
        Table::open_before_renaming(&self.partial, &self.path)
    }

    /// Waits until the file is on the disk.
    ///
    /// # Errors
    /// When writing fails.
    pub(super) fn sync(&self) -> Result<(), TableError> {
        self.file.sync_data().map_err(TableError::writing(&self.partial, KEPT))
    }

    /// Waits until the file is on the disk, and gives it its name.
    ///
    /// # Errors
    /// When writing fails. Nothing is lost then.
    pub fn finish(self) -> Result<PathBuf, TableError> {
        self.sync()?;
        std::fs::rename(&self.partial, &self.path).map_err(TableError::writing(&self.partial, KEPT))?;
        Ok(self.path)
    }
}
