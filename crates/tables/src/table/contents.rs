use kalah_core::header::Kind;
use kalah_core::index::Frame;
use kalah_core::table::format::{Entry, FrameEntry, RawHeader, TableHeader, prefix, table_digest};
use kalah_core::table::{PairKey, Table, TableError, TableKey};

use super::packed_frame::PackedFrame;

/// The frames of a table, or of a piece, that are written one after another, and their places.
#[derive(Debug)]
pub(super) struct Contents {
    pub key: TableKey,
    /// The pair of a piece.
    pair: Option<PairKey>,
    /// By seeds in the mover's row. Frames still to be written have no bytes.
    entries: Vec<FrameEntry>,
    /// Number of frames written, in file order.
    pub written: usize,
    /// Where the next frame begins.
    pub end: u64,
}

impl Contents {
    /// Begins a table, or the piece of a pair.
    pub(super) fn new(key: TableKey, pair: Option<PairKey>) -> Contents {
        let frames = pair.map_or(key.seeds - 1, |pair| pair.frames().count());
        let none = FrameEntry { offset: 0, rows: 0, groups: 0, patch_bytes: 0, exceptions: 0, digest: [0; 32] };
        let end = TableHeader::prefix_bytes(key, frames) as u64;
        Contents { key, pair, entries: vec![none; frames], written: 0, end }
    }

    /// Frames still to be written, in order.
    pub(super) fn missing(&self) -> impl Iterator<Item = Frame> + use<> {
        let (key, pair) = (self.key, self.pair);
        let pairs = key.pairs().filter(move |own| pair.is_none_or(|pair| pair == *own));
        pairs.flat_map(PairKey::frames).skip(self.written)
    }

    /// Place in the directory of `frame`.
    pub(super) fn place(&self, frame: Frame) -> usize {
        self.pair.map_or(frame.mover - 1, |pair| usize::from(frame.mover != pair.small))
    }

    /// Adds the next frame.
    ///
    /// # Panics
    /// When `packed` is not the first of [`Contents::missing`].
    pub(super) fn add_packed(&mut self, packed: &PackedFrame) {
        self.add(packed.frame, packed.entry(self.end));
    }

    /// Adds the next frame, which has this entry.
    ///
    /// # Panics
    /// When it is not the first of [`Contents::missing`].
    pub(super) fn add(&mut self, frame: Frame, entry: FrameEntry) {
        self.require_next(frame);
        let place = self.place(frame);
        self.end = entry.section().end();
        self.entries[place] = entry;
        self.written += 1;
    }

    /// Requires that `frame` is the next.
    ///
    /// # Panics
    /// When it is not the first of [`Contents::missing`].
    pub(super) fn require_next(&self, frame: Frame) {
        assert_eq!(self.missing().next(), Some(frame), "frames are written in their order");
    }

    /// Digest of the table, once no frame is missing.
    pub(super) fn digest(&self) -> [u8; 32] {
        let directory: Vec<u8> =
            self.entries.iter().flat_map(|entry| bytemuck::bytes_of(&entry.raw()).to_vec()).collect();
        table_digest(self.key, &directory)
    }

    /// The bytes before the first frame: finished, if no frame is missing.
    ///
    /// # Panics
    /// When a frame is missing.
    pub(super) fn prefix(&self) -> Vec<u8> {
        assert_eq!(self.missing().next(), None, "a frame of {} is missing", self.key);
        let (kind, form) = self.pair.map_or((Kind::Table, 1), |pair| (Kind::Piece, pair.small as u8));
        prefix(kind, self.key, form, [0; 32], &[], &self.entries)
    }

    /// The bytes before the first frame while frames are missing.
    pub(super) fn unfinished_prefix(&self) -> Vec<u8> {
        let mut prefix = bytemuck::bytes_of(&RawHeader::unfinished(self.key)).to_vec();
        self.entries.iter().for_each(|entry| prefix.extend_from_slice(bytemuck::bytes_of(&entry.raw())));
        prefix.resize(TableHeader::prefix_bytes(self.key, self.entries.len()), 0);
        prefix
    }
}

/// A table file written in memory, with the bytes that [`super::TableWriter`] writes.
#[derive(Debug)]
pub struct TableImage {
    contents: Contents,
    bytes: Vec<u8>,
}

impl TableImage {
    /// Begins the table `key`.
    pub fn new(key: TableKey) -> TableImage {
        let contents = Contents::new(key, None);
        TableImage { bytes: vec![0; contents.end as usize], contents }
    }

    /// Frames still to be written, in order.
    pub fn missing(&self) -> impl Iterator<Item = Frame> + use<> {
        self.contents.missing()
    }

    /// Writes the next frame.
    ///
    /// # Panics
    /// When `packed` is not the first of [`TableImage::missing`].
    pub fn write(&mut self, packed: &PackedFrame) {
        self.contents.add_packed(packed);
        self.bytes.extend_from_slice(packed.section());
    }

    /// Completes the table. Its path, which only names it in errors, is its file name.
    ///
    /// # Errors
    /// When the bytes are no table, which would be a fault of this crate.
    ///
    /// # Panics
    /// When a frame is missing.
    pub fn finish(self) -> Result<Table, TableError> {
        let TableImage { contents, mut bytes } = self;
        let prefix = contents.prefix();
        bytes[..prefix.len()].copy_from_slice(&prefix);
        bytes.shrink_to_fit();
        Table::from_bytes(contents.key.path("".as_ref()), bytes)
    }
}
