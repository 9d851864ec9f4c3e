use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use bytemuck::{Pod, Zeroable};
use kalah_base::file::{self, FileContent};
use kalah_core::index::Frame;
use kalah_core::table::format::{ALIGNMENT, ENTRY_BYTES, RawEntry, VERSION};
use kalah_core::table::{Damage, FrameEntry, PairKey, TableError, TablePart};
use tempfile::NamedTempFile;

use super::packed_frame::PackedFrame;

/// A clause that states what is kept if a piece cannot be written.
const KEPT: &str = "this pair of frames is not kept, all finished ones are";

/// The first bytes of every piece.
const MAGIC: [u8; 8] = *b"KALAHPC\n";

const HEADER_BYTES: usize = std::mem::size_of::<RawHeader>();

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct RawHeader {
    magic: [u8; 8],
    version: u32,
    rules: u8,
    pits: u8,
    seeds: u8,
    small: u8,
    file_bytes: u64,
    digest: [u8; 32],
    reserved: u64,
}

impl RawHeader {
    /// Header of the piece of `pair` with these entries.
    fn new(pair: PairKey, entries: &[RawEntry], file_bytes: u64) -> RawHeader {
        let mut header = RawHeader {
            magic: MAGIC,
            version: VERSION.to_le(),
            rules: pair.layer.rules.code(),
            pits: pair.layer.pits as u8,
            seeds: pair.layer.seeds as u8,
            small: pair.small as u8,
            file_bytes: file_bytes.to_le(),
            ..Zeroable::zeroed()
        };
        let mut hasher = blake3::Hasher::new();
        hasher.update(&bytemuck::bytes_of(&header)[..24]);
        hasher.update(bytemuck::cast_slice(entries));
        header.digest = *hasher.finalize().as_bytes();
        header
    }
}

/// Bytes before the first frame: header and entries.
fn prefix_bytes(pair: PairKey) -> u64 {
    (HEADER_BYTES + pair.frames().count() * ENTRY_BYTES).next_multiple_of(ALIGNMENT as usize) as u64
}

/// A file with the packed frames of one pair, computed by one of several processes. The bytes are
/// those in the file of the layer.
///
/// It gets its name when it is complete, and never changes afterwards. Header and entries are
/// checked on opening, frames when they are copied or by [`Piece::check`]. It is read, not mapped:
/// on a shared file system another machine may remove it at any time. For a reader that is just an
/// error, but it kills a program that has mapped the file.
#[derive(Debug)]
pub struct Piece {
    pair: PairKey,
    path: PathBuf,
    file: File,
    /// Offsets count from the start of the piece.
    entries: Vec<FrameEntry>,
}

impl Piece {
    /// Opens the piece of `pair` in `directory`.
    ///
    /// # Errors
    /// When it does not exist or cannot be read, or its header is not that of this pair.
    pub fn open(directory: &Path, pair: PairKey) -> Result<Piece, TableError> {
        let path = pair.piece_path(directory);
        let file = file::open(&path).map_err(TableError::io(&path))?;
        let mut prefix = Vec::new();
        (&file).take(prefix_bytes(pair)).read_to_end(&mut prefix).map_err(TableError::io(&path))?;
        let file_bytes = file.metadata().map_err(TableError::io(&path))?.len();
        let entries =
            read_prefix(pair, &prefix, file_bytes).map_err(|damage| TableError::damaged_piece(&path, damage))?;
        Ok(Piece { pair, path, file, entries })
    }

    /// The pair.
    pub fn pair(&self) -> PairKey {
        self.pair
    }

    /// Returns true if `frame` is one of its frames.
    pub fn holds(&self, frame: Frame) -> bool {
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
        mut take: impl FnMut(&[u8]) -> Result<(), TableError>,
    ) -> Result<FrameEntry, TableError> {
        let entry = self.entries[usize::from(frame.mover != self.pair.small)];
        self.file.seek(SeekFrom::Start(entry.offset)).map_err(TableError::io(&self.path))?;
        let mut hasher = blake3::Hasher::new();
        let mut left = entry.section_bytes();
        let mut part = vec![0; left.min(1 << 20) as usize];
        while left > 0 {
            let part = &mut part[..left.min(1 << 20) as usize];
            self.file.read_exact(part).map_err(TableError::io(&self.path))?;
            hasher.update(part);
            take(part)?;
            left -= part.len() as u64;
        }
        if *hasher.finalize().as_bytes() != entry.digest {
            let damage = Damage::Part { part: TablePart::Frame, offset: entry.offset };
            return Err(TableError::damaged_piece(&self.path, damage));
        }
        Ok(entry)
    }
}

/// Reads the entries of the piece of `pair` from its first bytes.
fn read_prefix(pair: PairKey, prefix: &[u8], file_bytes: u64) -> Result<Vec<FrameEntry>, Damage> {
    let Some((header, rest)) = prefix.split_at_checked(HEADER_BYTES).filter(|(header, _)| header[..8] == MAGIC) else {
        return Err(Damage::Foreign("piece of a kalah table"));
    };
    let header: RawHeader = bytemuck::pod_read_unaligned(header);
    let version = u32::from_le(header.version);
    if version != VERSION {
        return Err(Damage::Version { found: version, known: VERSION });
    }
    let damaged = Damage::Part { part: TablePart::Header, offset: 0 };
    let (raws, padding) = rest.split_at_checked(pair.frames().count() * ENTRY_BYTES).ok_or(damaged.clone())?;
    let raws: Vec<RawEntry> = raws.chunks_exact(ENTRY_BYTES).map(bytemuck::pod_read_unaligned).collect();
    // It must be exactly the header of this pair with these entries.
    let expected = RawHeader::new(pair, &raws, u64::from_le(header.file_bytes));
    let sound = bytemuck::bytes_of(&expected) == bytemuck::bytes_of(&header);
    if !sound || padding.iter().any(|&byte| byte != 0) {
        return Err(damaged);
    }
    if u64::from_le(header.file_bytes) != file_bytes {
        return Err(Damage::Length { found: file_bytes, expected: u64::from_le(header.file_bytes) });
    }
    let entries: Vec<FrameEntry> = raws.iter().map(RawEntry::entry).collect();
    let mut offset = prefix_bytes(pair);
    for (frame, entry) in pair.frames().zip(&entries) {
        if entry.offset != offset || !entry.fits(frame, file_bytes) {
            return Err(damaged);
        }
        offset = entry.end();
    }
    if offset == file_bytes { Ok(entries) } else { Err(damaged) }
}

/// Writes a piece to a temporary file of its own, so that two writers of one piece do not collide.
#[derive(Debug)]
pub struct PieceWriter {
    pair: PairKey,
    path: PathBuf,
    file: NamedTempFile,
    entries: Vec<RawEntry>,
    end: u64,
}

impl PieceWriter {
    /// Begins the piece of `pair` in `directory`.
    ///
    /// # Errors
    /// When reading or writing fails, or a file of that name is something else.
    pub fn new(directory: &Path, pair: PairKey) -> Result<PieceWriter, TableError> {
        let path = pair.piece_path(directory);
        file::require_own(&path, FileContent::Part).map_err(TableError::io(&path))?;
        let file = temporary(&path)?;
        Ok(PieceWriter { pair, path, file, entries: Vec::new(), end: prefix_bytes(pair) })
    }

    /// Writes the next frame.
    ///
    /// # Errors
    /// When reading or writing fails.
    ///
    /// # Panics
    /// When `packed` is not the next frame of [`PairKey::frames`].
    pub fn write(&mut self, packed: &PackedFrame) -> Result<(), TableError> {
        assert_eq!(self.pair.frames().nth(self.entries.len()), Some(packed.frame), "frames are written in their order");
        let entry = packed.entry(self.end);
        self.write_at(self.end, packed.section()).map_err(TableError::writing(self.file.path(), KEPT))?;
        self.entries.push(RawEntry::new(&entry));
        self.end = entry.end();
        Ok(())
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let file = self.file.as_file_mut();
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(bytes)
    }

    /// Completes the piece and gives it its name, replacing an older one.
    ///
    /// # Errors
    /// When reading or writing fails.
    ///
    /// # Panics
    /// When a frame is missing.
    pub fn finish(mut self) -> Result<PathBuf, TableError> {
        assert_eq!(self.entries.len(), self.pair.frames().count(), "a frame of {} is missing", self.pair);
        let header = RawHeader::new(self.pair, &self.entries, self.end);
        let mut prefix = bytemuck::bytes_of(&header).to_vec();
        prefix.extend_from_slice(bytemuck::cast_slice(&self.entries));
        prefix.resize(prefix_bytes(self.pair) as usize, 0);
        self.write_at(0, &prefix)
            .and_then(|()| self.file.as_file().sync_data())
            .map_err(TableError::writing(self.file.path(), KEPT))?;
        self.file.persist(&self.path).map_err(|error| TableError::writing(&self.path, KEPT)(error.error))?;
        Ok(self.path)
    }
}

/// Creates a temporary file to be renamed to `path`, in the same directory, which is created if it
/// does not exist.
pub(super) fn temporary(path: &Path) -> Result<NamedTempFile, TableError> {
    let directory = path.parent().unwrap_or(Path::new(""));
    file::create_directory(directory)
        .and_then(|()| file::temporary_beside(path))
        .map_err(TableError::writing(directory, KEPT))
}
