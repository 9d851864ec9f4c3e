use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use kalah_base::progress::Pulse;
use kalah_base::system::OutOfMemory;
use kalah_core::index::{Frame, layer_positions};
use kalah_core::isa::Isa;
use kalah_core::table::{Table, TableError, TableKey, Tables};
use parking_lot::Mutex;

use super::computer::{ComputeError, Computer, FrameOutput};
use super::cpu::CpuComputer;
use super::event::BuildError;
use crate::table::{FrameMemory, PackedFrame, TableImage, check_in_parallel};

/// Maximum positions of a layer. Sizes of larger ones might not fit an address.
const MAX_POSITIONS: u64 = usize::MAX as u64 / 4;

/// Builds the tables of one rule set and board in memory, on the CPU: without files, and without
/// threads where the system has none.
///
/// ```
/// use kalah_core::game::Rules;
/// use kalah_tables::builder::MemoryBuilder;
/// use kalah_base::progress::Pulse;
/// use kalah_core::table::TableKey;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut builder = MemoryBuilder::new(TableKey { rules: Rules::Standard, pits: 6, seeds: 6 })?;
/// while builder.build_layer(&Pulse::default())?.is_some() {}
/// let probe = builder.tables().probe(&"0,0,1,0,2,1/1,0,0,1,0,0".parse()?)?;
/// assert_eq!((probe.score, probe.value), (3, 0));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct MemoryBuilder {
    tables: Tables,
    last: TableKey,
    /// Dropped, with its memory, when all layers are built.
    computer: Option<CpuComputer>,
}

impl MemoryBuilder {
    /// Makes a builder of the layers from 2 seeds up to that of `last`, and allocates its memory.
    ///
    /// # Errors
    /// When there is not enough memory, or tables cannot have as many pits or seeds
    /// ([`kalah_core::index::MAX_TABLE_PITS`], [`kalah_core::index::MAX_TABLE_SEEDS`]).
    pub fn new(last: TableKey) -> Result<MemoryBuilder, BuildError> {
        TableError::unless_possible(last.pits, last.seeds)?;
        let positions = layer_positions(last.pits, last.seeds);
        if positions > MAX_POSITIONS {
            let source = ErrorKind::OutOfMemory.into();
            return Err(BuildError::OutOfMemory(OutOfMemory { what: "the tables", bytes: positions, source }));
        }
        let tables = Tables::empty(Path::new("memory"), last.rules, last.pits, last.seeds)?;
        let computer = CpuComputer::new(Isa::detect(), &tables, last.seeds).map_err(BuildError::OutOfMemory)?;
        Ok(MemoryBuilder { tables, last, computer: Some(computer) })
    }

    /// Builds the next layer, on the threads of the current pool, and returns it; `None` if all
    /// layers are built. A layer that fails can be built again.
    ///
    /// # Errors
    /// When there is not enough memory, or `pulse` was stopped.
    pub fn build_layer(&mut self, pulse: &Pulse) -> Result<Option<&Table>, BuildError> {
        let seeds = self.tables.max_seeds().map_or(2, |seeds| seeds + 1);
        let Some(computer) = self.computer.as_mut().filter(|_| seeds <= self.last.seeds) else { return Ok(None) };
        let key = self.tables.key(seeds);
        let frames: Vec<Frame> = key.frames().collect();
        let output = ToMemory { image: Mutex::new(TableImage::new(key)), spare: Mutex::default() };
        let tables = &self.tables;
        // The CPU's frames do not arrive later.
        let computed = rayon::scope(|_| computer.compute_ahead(tables, &frames, pulse, &output));
        computed.map_err(BuildError::stopped_at(key))?;
        let table = output.image.into_inner().finish()?;
        check_in_parallel(table.blocks())?;
        self.tables.push(Arc::new(table))?;
        if seeds == self.last.seeds {
            self.computer = None;
        }
        Ok(self.tables.layer(seeds))
    }

    /// The layers built so far.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }
}

/// The table being built, and memory for the next frame.
struct ToMemory {
    image: Mutex<TableImage>,
    spare: Mutex<Vec<u8>>,
}

impl FrameOutput for ToMemory {
    fn memory(&self) -> FrameMemory {
        FrameMemory { bytes: std::mem::take(&mut *self.spare.lock()), ..FrameMemory::default() }
    }

    fn take(&self, packed: PackedFrame) -> Result<(), ComputeError> {
        self.image.lock().write(&packed);
        *self.spare.lock() = packed.into_buffer();
        Ok(())
    }
}
