use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use kalah_base::file::{FileContent, Replacement, remove_leftovers};
use kalah_base::progress::Pulse;
use kalah_core::evaluation::Network;
use kalah_core::index::RowIndex;
use kalah_core::table::bounds::format::{self, BoundEntry};
use kalah_core::table::{BLOCK_BYTES, BoundTable, Cuts, Table, TableError, TableKey};
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::codes::{Conversion, FrameCodes};

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
        format::layout(key, self.cuts.bits(), self.network.to_bytes().len()).1
    }

    /// Returns true if this maker would make `bounds` from its exact table, which is `exact` if
    /// that is given.
    pub fn made(&self, bounds: &BoundTable, exact: Option<&Table>) -> bool {
        let header = bounds.header();
        bounds.network() == self.network
            && header.entries.iter().all(|entry| entry.cuts == self.cuts)
            && exact.is_none_or(|exact| exact.header().digest == header.exact)
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
        let (offsets, _) = format::layout(key, self.cuts.bits(), self.network.to_bytes().len());
        let mut entries: Vec<Option<BoundEntry>> = vec![None; offsets.len()];
        let first = offsets.iter().min().copied().unwrap_or(0);
        file.seek(SeekFrom::Start(first)).map_err(failed())?;
        // In file order.
        for frame in key.frames() {
            let conversion = Conversion::new(table, self.network, &rows, frame.mover)?;
            let FrameCodes { lines, counts } = conversion.codes(self.cuts, pulse)?;
            let mut checksums: Vec<u8> = lines
                .par_chunks(BLOCK_BYTES)
                .flat_map_iter(|block| (xxh3_64(block) ^ frame.mover as u64).to_le_bytes())
                .collect();
            checksums.resize(checksums.len().next_multiple_of(64), 0);
            let digest = blake3::Hasher::new().update(&lines).update(&checksums).finalize();
            file.write_all(&lines).and_then(|()| file.write_all(&checksums)).map_err(failed())?;
            entries[frame.mover - 1] = Some(BoundEntry {
                offset: offsets[frame.mover - 1],
                lines: (lines.len() / format::LINE_BYTES) as u64,
                cuts: self.cuts,
                counts,
                digest: *digest.as_bytes(),
            });
        }
        let entries: Vec<BoundEntry> = entries.into_iter().flatten().collect();
        let prefix = format::prefix(key, table.header().digest, self.network, &entries);
        // The first bytes last.
        file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(&prefix)).map_err(failed())?;
        file.finish().map_err(failed())?;
        Ok(path)
    }
}
