use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use kalah_base::file::{self, BulkFile};
use kalah_core::file::open_with;
use kalah_core::header::Kind;
use kalah_core::index::Frame;
use kalah_core::table::format::{ENTRY_BYTES, Entry, FrameEntry, HEADER_BYTES, RawEntry, RawHeader};
use kalah_core::table::group::count_exceptions;
use kalah_core::table::{Table, TableError, TableKey};

use super::contents::Contents;
use super::packed_frame::PackedFrame;
use super::piece::Piece;

/// Suffix of the temporary name of a table being built.
pub(super) const PARTIAL: &str = ".partial";

/// Writes a table file.
///
/// It has a temporary name in the same directory, is written frame by frame in the order of
/// [`TableKey::frames`], and is renamed when complete. A directory entry is written after its
/// frame. After an interruption the entries therefore show which frames are complete. The next
/// writer checks these against their digests and continues.
#[derive(Debug)]
pub struct TableWriter {
    path: PathBuf,
    partial: PathBuf,
    file: BulkFile,
    contents: Contents,
}

impl TableWriter {
    /// Begins the table `key` in `directory`, or resumes an unfinished one.
    ///
    /// # Errors
    /// When reading or writing fails.
    pub fn open(directory: &Path, key: TableKey) -> Result<TableWriter, TableError> {
        let path = key.path(directory);
        let partial = file::beside(&path, PARTIAL);
        TableWriter::open_at(path, partial, Contents::new(key, None))
    }

    /// Begins or resumes the file with these contents, a table or a piece, under the temporary name `partial`.
    pub(super) fn open_at(path: PathBuf, partial: PathBuf, contents: Contents) -> Result<TableWriter, TableError> {
        let file = open_with(&partial, File::options().read(true).write(true).create(true));
        let file = BulkFile::new(file.map_err(TableError::io(&partial))?);
        let mut writer = TableWriter { path, partial, file, contents };
        writer.resume().map_err(TableError::io(&writer.partial))?;
        Ok(writer)
    }

    /// Keeps the finished frames of an unfinished table, and truncates the file after them.
    fn resume(&mut self) -> io::Result<()> {
        let (key, first) = (self.contents.key, self.contents.end);
        let mut prefix = Vec::new();
        self.file.file().take(first).read_to_end(&mut prefix)?;
        let sound = RawHeader::read(&prefix, Kind::Table).is_ok_and(|(_, own)| own == key);
        if sound && prefix.len() as u64 == first {
            let file_bytes = self.file.file().metadata()?.len();
            for frame in self.contents.missing() {
                let raw: RawEntry = bytemuck::pod_read_unaligned(&prefix[self.entry_at(frame)..][..ENTRY_BYTES]);
                let entry = FrameEntry::read(&raw, frame, 0, file_bytes);
                let Some(entry) = entry.filter(|entry| entry.offset == self.contents.end) else { break };
                if !self.is_written(&entry)? {
                    break;
                }
                self.contents.add(frame, entry);
            }
        }
        self.file.write_at(0, &self.contents.unfinished_prefix())?;
        self.file.file().set_len(self.contents.end)
    }

    /// Where the entry of `frame` is in the file.
    fn entry_at(&self, frame: Frame) -> usize {
        HEADER_BYTES + self.contents.place(frame) * ENTRY_BYTES
    }

    /// Returns true if the file holds the frame of this entry, undamaged.
    fn is_written(&mut self, entry: &FrameEntry) -> io::Result<bool> {
        let mut file = self.file.file();
        file.seek(SeekFrom::Start(entry.offset))?;
        let mut hasher = blake3::Hasher::new();
        let copied = io::copy(&mut file.take(entry.section().bytes()), &mut hasher)?;
        if copied != entry.section().bytes() || *hasher.finalize().as_bytes() != entry.digest {
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
        self.contents.missing()
    }

    /// Number of frames written so far, by this writer and those before it.
    pub fn written(&self) -> usize {
        self.contents.written
    }

    /// Where the next frame begins in the file.
    pub(crate) fn end(&self) -> u64 {
        self.contents.end
    }

    /// Writes the next frame.
    ///
    /// # Errors
    /// When reading or writing fails. The frames before are safe.
    ///
    /// # Panics
    /// When `packed` is not the first of [`TableWriter::missing`].
    pub fn write(&mut self, packed: &PackedFrame) -> Result<(), TableError> {
        self.contents.require_next(packed.frame);
        let entry = packed.entry(self.contents.end);
        self.put(entry.offset, packed.section())?;
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
        self.contents.require_next(frame);
        assert!(piece.holds(frame), "{frame:?} is not in {}", piece.pair());
        let mut at = self.contents.end;
        // Bytes after the last frame with an entry belong to no frame. The next frame overwrites
        // them.
        let entry = piece.copy_frame(frame, |part| {
            self.put(at, part)?;
            at += part.len() as u64;
            Ok(())
        })?;
        self.add(frame, FrameEntry { offset: self.contents.end, ..entry })
    }

    fn put(&mut self, at: u64, bytes: &[u8]) -> Result<(), TableError> {
        self.file.write_at(at, bytes).map_err(TableError::io(&self.partial))
    }

    /// Adds the entry of a frame whose bytes are written.
    fn add(&mut self, frame: Frame, entry: FrameEntry) -> Result<(), TableError> {
        self.put(self.entry_at(frame) as u64, bytemuck::bytes_of(&entry.raw()))?;
        self.contents.add(frame, entry);
        Ok(())
    }

    /// Digest of the table, once no frame is missing.
    pub(crate) fn digest(&self) -> [u8; 32] {
        self.contents.digest()
    }

    /// Removes the unfinished table.
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
    pub(crate) fn complete(&mut self) -> Result<(), TableError> {
        let prefix = self.contents.prefix();
        // A damaged piece may have left bytes after the last frame.
        let cut = self.file.file().set_len(self.contents.end);
        cut.and_then(|()| self.file.write_at(0, &prefix)).map_err(TableError::io(&self.partial))
    }

    /// Maps the complete table, which can be used before it has its name.
    pub(crate) fn map(&self) -> Result<Table, TableError> {
        Table::open_before_renaming(&self.partial, &self.path)
    }

    /// Waits until the complete file is on the disk.
    pub(super) fn sync(&self) -> Result<(), TableError> {
        self.file.file().sync_data().map_err(TableError::io(&self.partial))
    }

    /// Waits until the complete file is on the disk, and gives it its name.
    ///
    /// # Errors
    /// When writing fails. Nothing is lost then.
    pub(crate) fn rename(self) -> Result<PathBuf, TableError> {
        self.sync()?;
        std::fs::rename(&self.partial, &self.path).map_err(TableError::io(&self.partial))?;
        Ok(self.path)
    }

    /// Completes the file, waits until it is on the disk, and gives it its name.
    ///
    /// # Errors
    /// When reading or writing fails. Nothing is lost then.
    ///
    /// # Panics
    /// When a frame is missing.
    pub fn finish(mut self) -> Result<PathBuf, TableError> {
        self.complete()?;
        self.rename()
    }
}
