use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use kalah_base::file;
use kalah_base::progress::Pulse;
use kalah_core::directories::Directories;
use kalah_core::game::Rules;
use kalah_core::memory::HugePages;
use kalah_core::table::{Opening, Table, TableError, Tables};
use rayon::prelude::*;

/// Bytes that a thread reads at a time.
const PART_BYTES: usize = 4 << 20;

/// Opens the layers from 2 to `seeds` seeds for a check. Tables are copied into memory, where no one else can
/// change them, as far as they fit in `memory` bytes, larger layers first. Other layers are mapped, unless all
/// are in memory anyway. Adds the bytes copied to `pulse.positions`.
///
/// # Errors
/// If a layer is missing, a table cannot be read, or its header or directory is damaged;
/// [`TableError::Stopped`] if `pulse` was stopped.
pub fn open_copied(
    directories: impl Into<Directories>,
    rules: Rules,
    pits: usize,
    seeds: usize,
    memory: u64,
    pulse: &Pulse,
) -> Result<Tables, TableError> {
    let directories = directories.into();
    let mapped = Tables::open(&directories, rules, pits, Opening::to(seeds).if_there())?;
    mapped.require(seeds)?;
    let mut left = memory;
    let mut layers = Vec::new();
    for table in mapped.layers().iter().rev() {
        let bytes = table.header().file_bytes;
        if bytes > left || table.blocks().file_stamp()?.is_none() {
            layers.push(Arc::clone(table));
            continue;
        }
        match copy(table.path(), pulse) {
            Ok(copy) => layers.push(Arc::new(copy)),
            // The system has less memory than it reported.
            Err(TableError::OutOfMemory { .. }) => {
                left = 0;
                layers.push(Arc::clone(table));
                continue;
            }
            Err(error) => return Err(error),
        }
        left -= bytes;
    }
    let mut tables = Tables::empty(directories, rules, pits, seeds)?;
    layers.into_iter().rev().try_for_each(|table| tables.push(table))?;
    Ok(tables)
}

/// Copies a table's file into memory, read by all threads.
fn copy(path: &Path, pulse: &Pulse) -> Result<Table, TableError> {
    let file = file::open(path).map_err(TableError::io(path))?;
    let bytes = file.metadata().map(|metadata| metadata.len()).map_err(TableError::io(path))?;
    let pages = usize::try_from(bytes).ok().and_then(|bytes| HugePages::new(bytes.max(1)).ok());
    let mut pages = pages.ok_or_else(|| TableError::out_of_memory(path, bytes))?;
    let read = |(number, part): (usize, &mut [u8])| {
        pulse.check()?;
        file::read_exact_at(&file, part, (number * PART_BYTES) as u64).map_err(TableError::io(path))?;
        pulse.positions.fetch_add(part.len() as u64, Ordering::Relaxed);
        Ok::<_, TableError>(())
    };
    pages.par_chunks_mut(PART_BYTES).enumerate().try_for_each(read)?;
    Table::from_copy(path, pages)
}
