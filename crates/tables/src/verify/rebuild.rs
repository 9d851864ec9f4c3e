use kalah_core::cancel::Stopped;
use kalah_core::index::Frame;

use super::Fault;
use crate::builder::{Backend, ComputeError, FrameOutput};
use crate::lock::Mutex;
use crate::progress::Pulse;
use crate::table::{PackedFrame, Table, TableError, TablePart, Tables, check_in_parallel};

/// Computes the layer with `seeds` seeds again on `backend`, from the layers below, and compares it
/// with its table bit for bit. Returns the number of positions compared, which `pulse` counts
/// meanwhile.
///
/// The blocks of this table and of those below are checked first, since damage would appear as
/// wrong scores.
///
/// # Errors
/// - Damage of the table or one below.
/// - The first wrong score in file order.
/// - The reason why a table cannot be read or the backend failed.
/// - [`Fault::Stopped`] when `pulse` was stopped.
pub fn check_against(backend: &Backend, tables: &Tables, seeds: usize, pulse: &Pulse) -> Result<u64, Fault> {
    let table = tables.require(seeds)?;
    for table in &tables.layers()[..seeds - 1] {
        pulse.check()?;
        check_in_parallel(table.blocks())?;
    }
    let frames: Vec<Frame> = table.key().frames().collect();
    let comparison = Comparison { tables, table, found: Mutex::new(Found { compared: 0, fault: None }) };
    let mut computer = backend.computer(tables, seeds).map_err(fault)?;
    let computed = computer.compute(tables, &frames, pulse, &comparison);
    let found = comparison.found.into_inner();
    match (computed, found.fault) {
        (Ok(()) | Err(ComputeError::Stopped(_)), Some(fault)) => Err(fault),
        (computed, _) => computed.map(|()| found.compared).map_err(fault),
    }
}

fn fault(error: ComputeError) -> Fault {
    match error {
        ComputeError::Table(error) => error.into(),
        ComputeError::OutOfMemory(error) => Fault::OutOfMemory(error),
        ComputeError::Device(error) => Fault::Device(error),
        ComputeError::Stopped(stopped) => stopped.into(),
    }
}

/// Compares frames with those of a table.
struct Comparison<'a> {
    tables: &'a Tables,
    table: &'a Table,
    found: Mutex<Found>,
}

struct Found {
    compared: u64,
    fault: Option<Fault>,
}

impl FrameOutput for Comparison<'_> {
    fn take(&self, packed: PackedFrame) -> Result<(), ComputeError> {
        let mut found = self.found.lock();
        let entry = &self.table.header().entries[packed.frame.mover - 1];
        if packed.section() == self.table.section(entry) {
            found.compared += packed.frame.positions();
            return Ok(());
        }
        found.fault = Some(first_wrong(self.tables, self.table, &packed).unwrap_or_else(|| {
            // All scores are right, but they are packed differently.
            Fault::Damage(TableError::damaged_part(self.table.path(), TablePart::Packing, entry.offset))
        }));
        Err(Stopped.into())
    }
}

/// The first wrong score of a frame in the table.
fn first_wrong(tables: &Tables, table: &Table, right: &PackedFrame) -> Option<Fault> {
    let frame = right.frame;
    let (stored, right) = (table.frame_unchecked(frame.mover), right.scores());
    for index in 0..frame.positions() {
        let (mover_rank, other_rank) = frame.ranks(index);
        let stored = match stored.score(mover_rank, other_rank) {
            Ok(stored) => stored,
            Err(group) => return Some(Fault::Damage(table.damaged_group(group))),
        };
        let right = right.score(mover_rank, other_rank).expect("packed just now");
        if stored != right {
            let rows = tables.rows();
            let (mover, other) = (rows.unrank(frame.mover, mover_rank), rows.unrank(frame.other, other_rank));
            let key = tables.key(frame.mover + frame.other);
            return Some(Fault::score(key, &mover, &other, stored, right));
        }
    }
    None
}
