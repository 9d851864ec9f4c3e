use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use kalah_base::file::{FileContent, Replacement, remove_leftovers};
use kalah_base::progress::Pulse;
use kalah_core::evaluation::Network;
use kalah_core::index::RowIndex;
use kalah_core::table::bound_format::{self, BoundEntry, BoundHeader};
use kalah_core::table::{BoundTable, Cuts, Table, TableError, TableKey};

use super::codes::{Conversion, FrameCodes};
use crate::table::digest::seal;

/// A clause that states what is kept when a file cannot be written.
const KEPT: &str = "the bound tables of other layers are kept";

/// Makes bound tables from exact ones. The bytes depend only on the exact table, the network and the cuts.
#[derive(Clone, Copy, Debug)]
pub struct BoundMaker<'a> {
    network: &'a Network,
    cuts: Cuts,
}

impl<'a> BoundMaker<'a> {
    /// Makes bound tables with this network and the same cuts in all frames.
    pub fn new(network: &'a Network, cuts: Cuts) -> BoundMaker<'a> {
        BoundMaker { network, cuts }
    }

    /// Bytes of the file of a layer's bound table.
    pub fn file_bytes(&self, key: TableKey) -> u64 {
        bound_format::file_bytes(key, self.cuts.bits())
    }

    /// Returns true if this maker would make `bounds` from its exact table, which is `exact` if
    /// that is given.
    pub fn made(&self, bounds: &BoundTable, exact: Option<&Table>) -> bool {
        let header = bounds.header();
        bounds.network() == self.network
            && header.entries.iter().all(|entry| entry.cuts == self.cuts)
            && exact.is_none_or(|exact| exact.header().digest == header.source)
    }

    /// Writes the bound table of `table` to a file in `directory`, replacing an existing one, on
    /// the threads of the current pool. No other process may be writing it. The blocks of `table`
    /// are compared with their checksums. `pulse` counts the positions.
    ///
    /// # Errors
    /// When the table is damaged, the file cannot be written, or `pulse` was stopped. The old file
    /// stays then.
    ///
    /// # Panics
    /// When the network is for other rules or another number of pits.
    pub fn write(&self, table: &Table, directory: &Path, pulse: &Pulse) -> Result<PathBuf, TableError> {
        let key = table.key();
        assert_eq!(
            (self.network.rules(), self.network.pits()),
            (key.rules, key.pits),
            "a network of the table's board"
        );
        let path = key.bounds_path(directory);
        // Leftovers of a killed process take disk space.
        remove_leftovers(&path).map_err(TableError::io(&path))?;
        let failed = || TableError::writing(&path, KEPT);
        let mut file = Replacement::begin(&path, Some(FileContent::BoundTable)).map_err(failed())?;
        let rows = RowIndex::new(key.pits, key.seeds).expect("pits and seeds of tables");
        let mut entries = Vec::with_capacity(key.seeds - 1);
        let mut offset = BoundHeader::prefix_bytes(key, key.seeds - 1) as u64;
        file.seek(SeekFrom::Start(offset)).map_err(failed())?;
        // In file order.
        for frame in key.frames() {
            let conversion = Conversion::new(table, self.network, &rows, frame.mover)?;
            let FrameCodes { lines: mut section, counts } = conversion.codes(self.cuts, pulse)?;
            let lines = (section.len() / bound_format::LINE_BYTES) as u64;
            let digest = seal(&mut section, frame.mover as u64);
            file.write_all(&section).map_err(failed())?;
            entries.push((frame.mover, BoundEntry { offset, lines, cuts: self.cuts, counts, digest }));
            offset += section.len() as u64;
        }
        entries.sort_unstable_by_key(|&(mover, _)| mover);
        let entries: Vec<BoundEntry> = entries.into_iter().map(|(_, entry)| entry).collect();
        let prefix = bound_format::prefix(key, table.header().digest, self.network, &entries);
        // The first bytes last.
        file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(&prefix)).map_err(failed())?;
        file.finish().map_err(failed())?;
        Ok(path)
    }
}
