use kalah_base::progress::Pulse;
use kalah_core::cancel::Stopped;
use kalah_core::index::Frame;
use kalah_core::table::{Table, Tables};
use parking_lot::Mutex;

use super::Fault;
use crate::builder::{Backend, ComputeError};
use crate::table::{PackedFrame, check_in_parallel};

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
    // Positions compared, and the first fault.
    let found = Mutex::new((0, None));
    let compare = |packed: PackedFrame| {
        let (compared, fault) = &mut *found.lock();
        let entry = &table.header().entries[packed.frame.mover - 1];
        if packed.section() == table.blocks().section_bytes(&entry.section()) {
            *compared += packed.frame.positions();
            return Ok(());
        }
        *fault = Some(first_wrong(tables, table, &packed).unwrap_or_else(|| {
            // All scores are right, but they are packed differently.
            Fault::Table(table.blocks().damaged_part("packing of a frame", entry.offset))
        }));
        Err(Stopped.into())
    };
    let mut computer = backend.computer(tables, seeds)?;
    let computed = computer.compute(tables, &frames, pulse, &compare);
    match (computed, found.into_inner()) {
        (Ok(()) | Err(ComputeError::Stopped(_)), (_, Some(fault))) => Err(fault),
        (computed, (compared, _)) => Ok(computed.map(|()| compared)?),
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
            Err(group) => return Some(Fault::Table(table.damaged_group(group))),
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
