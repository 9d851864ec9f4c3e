use std::fmt;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;

use super::blocks::Blocks;
use super::directory::{Entry, LayerHeader};
use super::error::TableError;
use super::format::{BLOCK_BYTES, FrameEntry};
use super::frame::{DamagedGroup, FrameScores};
use super::group::{self, GROUP_BYTES, GROUP_POSITIONS, GroupPatch};
use super::key::TableKey;
use crate::cancel::Cancel;
use crate::directory::Directory;
use crate::file;
use crate::header::Kind;
use crate::index::Frame;
use crate::source::{LocalFile, Memory, Source};

/// A finished file of a layer: a table, a bound table, an archive, or a piece.
///
/// Its bytes are in memory, mapped or copied, or they are read from their [`Source`] when they are needed. Work on
/// whole frames brings all of them into memory.
///
/// Opening checks header and directory. Blocks are compared with their checksums, once each, before their contents are
/// used: [`Table::score`] compares the blocks that it reads, [`Table::frame`] those of a frame, [`Blocks::check`] all.
/// Functions named `unchecked` leave this to the caller. Methods panic for frames and ranks that the layer has not.
pub struct LayerFile<E: Entry> {
    header: LayerHeader<E>,
    blocks: Blocks,
}

/// A finished table.
pub type Table = LayerFile<FrameEntry>;

impl<E: Entry> LayerFile<E> {
    /// Opens the file at `path`. Maps it in a program that called [`crate::source::map_files`], otherwise reads it into
    /// memory. A file with the name of a layer must hold that layer.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, foreign or unfinished, or does not match its name.
    pub fn open(path: impl AsRef<Path>) -> Result<LayerFile<E>, TableError> {
        LayerFile::open_before_renaming(path.as_ref(), path.as_ref())
    }

    /// Opens the file `temporary`, which will be renamed to `path`. Errors name `path`.
    pub fn open_before_renaming(temporary: &Path, path: &Path) -> Result<LayerFile<E>, TableError> {
        let file = file::open(temporary).and_then(|file| LocalFile::of(path, file)).map_err(TableError::io(path))?;
        LayerFile::read(E::KIND, Box::new(file.mapped()), true)
    }

    /// Opens the file `name` of a directory: see [`LayerFile::open`].
    pub fn open_in(directory: &Directory, name: &str) -> Result<LayerFile<E>, TableError> {
        let source = directory.open(name).map_err(|error| TableError::io(&directory.file(name))(error))?;
        LayerFile::read(E::KIND, source, directory.keeps_whole)
    }

    /// Opens the file of the layer `key` in a directory; `None` if it does not exist. Errors are those of
    /// [`LayerFile::open`].
    pub fn find(directory: impl Into<Directory>, key: TableKey) -> Result<Option<LayerFile<E>>, TableError> {
        match LayerFile::open_in(&directory.into(), &key.name_of(E::KIND)) {
            Err(TableError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// Opens the file of this kind in `source`: [`Entry::KIND`], or a piece. If it is named like the file of a layer,
    /// it must hold that layer. Header and directory are read and checked. Blocks are read when they are needed.
    pub fn of(kind: Kind, source: Box<dyn Source>) -> Result<LayerFile<E>, TableError> {
        LayerFile::read(kind, source, false)
    }

    /// The same. All bytes are mapped or copied now if `keeps_whole` is true and the source is not remote.
    fn read(kind: Kind, source: Box<dyn Source>, keeps_whole: bool) -> Result<LayerFile<E>, TableError> {
        let (path, bytes) = (source.name(), source.bytes());
        let prefix = 0..bytes.min(LayerHeader::<E>::most_prefix_bytes() as u64);
        let read = source.local().map_or(&*source, |local| local).read(&[prefix], false);
        let prefix = read.map_err(|error| TableError::reading(path, error))?.pop().unwrap_or_default();
        let header: LayerHeader<E> =
            LayerHeader::read_as(kind, &prefix, bytes).map_err(|damage| TableError::damaged(kind, path, damage))?;
        TableError::unless_expected(kind, path, header.key, TableKey::of_file(kind, path).unwrap_or(header.key))?;
        let is_kept = !source.is_remote() && (keeps_whole || source.whole().is_some());
        let blocks = Blocks::new(kind, source, header.sections());
        if is_kept {
            blocks.whole()?;
        }
        Ok(LayerFile { header, blocks })
    }

    /// Reads a valid file of [`Entry::KIND`] from memory; `path` only names it in errors.
    pub fn from_bytes(path: impl AsRef<Path>, bytes: Vec<u8>) -> Result<LayerFile<E>, TableError> {
        LayerFile::of(E::KIND, Box::new(Memory::new(path.as_ref(), bytes)))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.blocks.path()
    }

    /// The bytes, and a record of which blocks have been compared with their checksums.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// The header and directory.
    pub fn header(&self) -> &LayerHeader<E> {
        &self.header
    }

    /// The layer.
    #[inline]
    pub fn key(&self) -> TableKey {
        self.header.key
    }

    /// The entry of the frame with `mover` seeds in the mover's row, and the frame.
    #[inline]
    pub(super) fn entry(&self, mover: usize) -> (&E, Frame) {
        let TableKey { pits, seeds, .. } = self.header.key;
        (&self.header.entries[mover - 1], Frame { pits, mover, other: seeds - mover })
    }
}

impl<E: Entry> fmt::Debug for LayerFile<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LayerFile").field("path", &self.path()).field("key", &self.key()).finish_non_exhaustive()
    }
}

impl Table {
    /// Opens the table `key` in `directory`. Unlike [`Table::find`], it returns an error if the table does not exist.
    pub fn open_key(directory: impl Into<Directory>, key: TableKey) -> Result<Table, TableError> {
        let directory = directory.into();
        Table::find(&directory, key)?.ok_or_else(|| TableError::missing(&directory, key))
    }

    /// Returns the scores of a copy in memory of the frame with `mover` seeds in the mover's row. Errors are those of
    /// [`Blocks::copied_section`].
    pub fn copied_frame(&self, mover: usize, cancel: &Cancel) -> Result<FrameScores<'_>, TableError> {
        Ok(self.frame_in(mover, self.blocks.copied_section(mover, cancel)?))
    }

    /// Reads the blocks of these positions from the origin of a remote file, together, and then those of their patches.
    /// Each is given by the seeds in the mover's row and the ranks of the rows. Does nothing for other files. An error
    /// if they cannot be read, or are damaged.
    pub fn request(&self, positions: &[(usize, u32, u32)]) -> Result<(), TableError> {
        if !self.blocks.is_remote() || self.blocks.is_resident() {
            return Ok(());
        }
        let group = |&(mover, mover_rank, other_rank): &(usize, u32, u32)| {
            (mover, group_of(self.entry(mover).0, mover_rank, other_rank).0)
        };
        let groups: Vec<(usize, u64)> = positions.iter().map(group).collect();
        self.blocks.request(groups.iter().map(|&(mover, group_at)| (mover, group_at / BLOCK_BYTES as u64)))?;
        let mut patches = Vec::new();
        for (mover, group_at) in groups {
            let group = self.blocks.part(mover, group_at..group_at + GROUP_BYTES as u64)?;
            if let Some(offset) = group.first_chunk().and_then(group::patch_offset) {
                patches.extend(patch_blocks(self.entry(mover).0, offset).map(|block| (mover, block)));
            }
        }
        self.blocks.request(patches)
    }

    /// The whole file: see [`Blocks::bytes`].
    pub fn bytes(&self) -> &[u8] {
        self.blocks.bytes()
    }

    /// The scores of the frame with `mover` seeds in the mover's row. The first call compares all its blocks with their
    /// checksums; the first damaged block is an error.
    pub fn frame(&self, mover: usize) -> Result<FrameScores<'_>, TableError> {
        self.blocks.check_frame(mover)?;
        Ok(self.frame_unchecked(mover))
    }

    /// The scores of the frame with `mover` seeds in the mover's row, without comparing checksums, for callers that do
    /// this themselves, or that read damaged tables. Damaged scores are wrong or give a [`DamagedGroup`]. Panics when
    /// the file is not [in memory](Blocks::is_resident).
    #[inline]
    pub fn frame_unchecked(&self, mover: usize) -> FrameScores<'_> {
        self.frame_in(mover, self.blocks.section_bytes(self.blocks.section(mover)))
    }

    /// The frame with these bytes; the checksums at the end may be missing.
    #[inline]
    fn frame_in<'a>(&self, mover: usize, section: &'a [u8]) -> FrameScores<'a> {
        let (entry, frame) = self.entry(mover);
        FrameScores::new(frame, entry, section).expect("opening checked the entries")
    }

    /// Score of the position with these ranks of rows and `mover` seeds in the mover's row. The first read of a block
    /// compares it with its checksum; a damaged block or group is an error.
    #[inline]
    pub fn score(&self, mover: usize, mover_rank: u32, other_rank: u32) -> Result<u8, TableError> {
        let (entry, _) = self.entry(mover);
        let (group_at, place) = group_of(entry, mover_rank, other_rank);
        assert!(group_at < entry.patches_at() && u64::from(mover_rank) < entry.rows, "no such ranks");
        let Some(bytes) = self.blocks.resident() else {
            return self.score_in_file(mover, mover_rank, group_at, place);
        };
        self.blocks.touch(mover, group_at / BLOCK_BYTES as u64)?;
        let frame = &bytes[entry.offset as usize..];
        let group = frame[group_at as usize..].first_chunk().expect("opening checked the entries");
        match group::patch_offset(group) {
            None => Ok(group::residual(group, place).wrapping_add(frame[mover_rank as usize])),
            Some(offset) => self.patched_score(mover, mover_rank, other_rank, offset),
        }
    }

    /// Score of a position of a file that is not in memory, at a place of the group at `group_at` in the frame.
    #[cold]
    fn score_in_file(&self, mover: usize, mover_rank: u32, group_at: u64, place: usize) -> Result<u8, TableError> {
        let ((entry, _), blocks) = (self.entry(mover), &self.blocks);
        let (group, rank) = (group_at..group_at + GROUP_BYTES as u64, u64::from(mover_rank));
        let read = blocks.parts(mover, &[group, rank..rank + 1])?;
        let (group, profile) = (read[0].first_chunk().expect("a group"), read[1][0]);
        let residual = match group::patch_offset(group) {
            None => group::residual(group, place),
            Some(offset) => {
                let end = entry.patches_at() + entry.patch_bytes;
                let start = (entry.patches_at() + u64::from(offset)).min(end);
                let patch = blocks.part(mover, start..(start + group::MAX_PATCH_BYTES).min(end))?;
                let Some(patch) = GroupPatch::read(&patch, 0) else {
                    let offset = entry.offset + group_at;
                    return Err(self.blocks.damaged_part("group of scores", offset));
                };
                patch.residual(group, place)
            }
        };
        Ok(residual.wrapping_add(profile))
    }

    /// Score of a position whose group has a patch.
    fn patched_score(&self, mover: usize, mover_rank: u32, other_rank: u32, offset: u32) -> Result<u8, TableError> {
        patch_blocks(self.entry(mover).0, offset).try_for_each(|block| self.blocks.touch(mover, block))?;
        self.frame_unchecked(mover).score(mover_rank, other_rank).map_err(|group| self.damaged_group(group))
    }

    /// Compares all blocks not yet compared with their checksums: see [`Blocks::check`].
    pub fn check(&self) -> Result<(), TableError> {
        self.blocks.check()
    }

    /// Converts a damaged group into an error that names this file.
    pub fn damaged_group(&self, group: DamagedGroup) -> TableError {
        let (entry, _) = self.entry(group.mover);
        let offset = entry.offset + entry.groups_at() + group.group * GROUP_BYTES as u64;
        self.blocks.damaged_part("group of scores", offset)
    }

    /// Error for an impossible score of the position with these ranks and `mover` seeds in the mover's row.
    pub fn damaged_score(&self, mover: usize, mover_rank: u32, other_rank: u32) -> TableError {
        let (entry, _) = self.entry(mover);
        let offset = entry.offset + group_of(entry, mover_rank, other_rank).0;
        self.blocks.damaged_part("score of a position", offset)
    }
}

/// Blocks of a frame that may contain the patch at `offset`. An offset beyond the patches has no blocks; reading the
/// patch fails.
fn patch_blocks(entry: &FrameEntry, offset: u32) -> Range<u64> {
    let start = entry.patches_at() + u64::from(offset);
    let end = (start + group::MAX_PATCH_BYTES).min(entry.checksums_at());
    start / BLOCK_BYTES as u64..end.div_ceil(BLOCK_BYTES as u64)
}

/// Offset of the group of a position in its frame, and the position's place in the group.
#[inline]
fn group_of(entry: &FrameEntry, mover_rank: u32, other_rank: u32) -> (u64, usize) {
    let index = u64::from(other_rank) * entry.rows + u64::from(mover_rank);
    let (number, place) = (index / GROUP_POSITIONS as u64, index % GROUP_POSITIONS as u64);
    (entry.groups_at() + number * GROUP_BYTES as u64, place as usize)
}
