//! The moves of rows and the maps of ranks that stages need: made on the CPU on first use, and kept
//! on the device.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use super::lists::{MoveLists, row_words};
use super::prefetcher::{Key, Prefetcher};
use super::stages::sowings;
use crate::device::{DeviceBuffer, Gpu, GpuError, Recorder};

/// The moves of all rows with the same seeds.
pub(super) struct RowMoves {
    /// The starts of the quiet moves of each row; the quiet moves; the same for four rows at once;
    /// the groups and entries of all classes. Relays also have the mover's rows at their crossings.
    pub buffer: DeviceBuffer,
    /// Places in the buffer.
    pub lists: Arc<MoveLists>,
}

/// The moves and maps that are on the device.
pub(super) struct DeviceRows {
    /// Makes them.
    pub prefetcher: Arc<Prefetcher>,
    moves: HashMap<usize, Arc<RowMoves>>,
    maps: HashMap<Key, Arc<DeviceBuffer>>,
    relay_rows: HashMap<usize, Arc<DeviceBuffer>>,
    relays: Option<Arc<DeviceRelays>>,
    /// A placeholder for a buffer that a stage does not need.
    pub nothing: DeviceBuffer,
}

impl DeviceRows {
    pub(super) fn new(gpu: &Gpu, prefetcher: Arc<Prefetcher>) -> Result<DeviceRows, GpuError> {
        Ok(DeviceRows {
            prefetcher,
            moves: HashMap::new(),
            maps: HashMap::new(),
            relay_rows: HashMap::new(),
            relays: None,
            nothing: gpu.storage("nothing", 16)?,
        })
    }

    /// Returns the moves of the rows with `seeds` seeds.
    pub(super) fn moves(&mut self, recorder: &mut Recorder, seeds: usize) -> Result<Arc<RowMoves>, GpuError> {
        kept(&mut self.moves, seeds, || {
            let words = self.prefetcher.take(Key::Moves(seeds));
            Ok(RowMoves { buffer: recorder.storage_of("moves", &words)?, lists: self.prefetcher.lists(seeds) })
        })
    }

    /// Returns a map of ranks, one of [`Key::Spill`] or [`Key::Capture`].
    pub(super) fn map(&mut self, recorder: &mut Recorder, key: Key) -> Result<Arc<DeviceBuffer>, GpuError> {
        let what = if matches!(key, Key::Spill(..)) { "a map of spills" } else { "a map of captures" };
        kept(&mut self.maps, key, || recorder.storage_of(what, &self.prefetcher.take(key)))
    }

    /// Returns the rows with `seeds` seeds: two words each, one byte per pit.
    pub(super) fn relay_rows(&mut self, recorder: &mut Recorder, seeds: usize) -> Result<Arc<DeviceBuffer>, GpuError> {
        kept(&mut self.relay_rows, seeds, || {
            let all: Vec<[u32; 2]> = self.prefetcher.board.maps.all(seeds).iter().map(row_words).collect();
            recorder.storage_of("rows", all.as_flattened())
        })
    }

    /// Returns the data that relays of the board need, for all rows.
    pub(super) fn relays(&mut self, recorder: &mut Recorder) -> Result<Arc<DeviceRelays>, GpuError> {
        if let Some(made) = &self.relays {
            return Ok(Arc::clone(made));
        }
        let rows = self.prefetcher.board.maps.rows();
        // From no seed to one more than a row can have.
        let (pits, hands) = (rows.pits(), rows.max_seeds() + 2);
        let made = Arc::new(DeviceRelays {
            sowings: recorder.storage_of("sowings", &sowings(pits, hands))?,
            ranks: recorder.storage_of("ranks", &rows.rank_terms())?,
            pits: pits as u32,
            hands: hands as u32,
            max_seeds: rows.max_seeds() as u32,
            stride: rows.potentials() as u32,
        });
        self.relays = Some(Arc::clone(&made));
        Ok(made)
    }

    /// Drops maps that only some pairs need.
    pub(super) fn forget_relay_rows(&mut self) {
        self.relay_rows.clear();
    }
}

/// Data for the relays of a board, and its layout.
pub(super) struct DeviceRelays {
    /// See [`sowings`].
    pub sowings: DeviceBuffer,
    /// The terms of ranks: see `shaders/shared/rank.wgsl`.
    pub ranks: DeviceBuffer,
    pub pits: u32,
    /// Numbers of seeds for which there are sowings.
    pub hands: u32,
    /// Maximum seeds of a row that has a rank.
    pub max_seeds: u32,
    /// Potentials for each number of seeds in the terms.
    pub stride: u32,
}

/// Returns the value of `key`, made with `make` if it does not exist.
fn kept<K: Eq + std::hash::Hash, V>(
    made: &mut HashMap<K, Arc<V>>,
    key: K,
    make: impl FnOnce() -> Result<V, GpuError>,
) -> Result<Arc<V>, GpuError> {
    Ok(Arc::clone(match made.entry(key) {
        Entry::Occupied(found) => found.into_mut(),
        Entry::Vacant(place) => place.insert(Arc::new(make()?)),
    }))
}
