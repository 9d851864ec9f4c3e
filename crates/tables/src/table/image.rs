use kalah_core::index::Frame;
use kalah_core::table::format::{HEADER_BYTES, RawEntry, RawHeader, table_digest};
use kalah_core::table::{Table, TableError, TableKey};

use super::packed_frame::PackedFrame;

/// A table file written in memory, with the bytes that [`super::TableWriter`] writes.
#[derive(Debug)]
pub struct TableImage {
    key: TableKey,
    entries: Vec<RawEntry>,
    /// Number of frames written, in file order.
    written: usize,
    bytes: Vec<u8>,
}

impl TableImage {
    /// Begins the table `key`.
    pub fn new(key: TableKey) -> TableImage {
        let entries = vec![bytemuck::Zeroable::zeroed(); key.seeds - 1];
        TableImage { key, entries, written: 0, bytes: vec![0; key.prefix_bytes() as usize] }
    }

    /// Frames still to be written, in order.
    pub fn missing(&self) -> impl Iterator<Item = Frame> + use<> {
        self.key.frames().skip(self.written)
    }

    /// Writes the next frame.
    ///
    /// # Panics
    /// When `packed` is not the first of [`TableImage::missing`].
    pub fn write(&mut self, packed: &PackedFrame) {
        assert_eq!(self.missing().next(), Some(packed.frame), "frames are written in their order");
        self.entries[packed.frame.mover - 1] = RawEntry::new(&packed.entry(self.bytes.len() as u64));
        self.bytes.extend_from_slice(packed.section());
        self.written += 1;
    }

    /// Completes the table. Its path, which only names it in errors, is its file name.
    ///
    /// # Errors
    /// When the bytes are no table, which would be a fault of this crate.
    ///
    /// # Panics
    /// When a frame is missing.
    pub fn finish(self) -> Result<Table, TableError> {
        let TableImage { key, entries, mut bytes, .. } = self;
        assert_eq!(self.written, entries.len(), "a frame of {key} is missing");
        let directory: &[u8] = bytemuck::cast_slice(&entries);
        let header = RawHeader::finished(key, bytes.len() as u64, table_digest(key, directory));
        bytes[..HEADER_BYTES].copy_from_slice(bytemuck::bytes_of(&header));
        bytes[HEADER_BYTES..][..directory.len()].copy_from_slice(directory);
        bytes.shrink_to_fit();
        Table::from_bytes(key.path("".as_ref()), bytes)
    }
}
