use std::sync::Arc;

use super::Fault;
use crate::build::cpu::{Evaluator, Pulse, Workspace, compute_pair};
use crate::index::Frame;
use crate::isa::Isa;
use crate::table::{Damage, FrameScores, PackedFrame, TableError, Tables};

/// Computes the layer with `seeds` seeds again on the CPU, from the lower layers as they are, and compares it with its
/// table bit for bit. Returns the number of positions compared, fewer than the layer has when `pulse` said stop; `pulse`
/// counts them while it runs.
///
/// # Errors
/// The first wrong score in the order of the file, or why a table cannot be read.
pub fn check_against_cpu(tables: &Tables, seeds: usize, pulse: &Pulse) -> Result<u64, Fault> {
    let table = tables.require(seeds)?;
    let isa = Isa::detect();
    let evaluator = Evaluator::new(isa, tables.rules(), Arc::clone(tables.rows()));
    let mut workspace = Workspace::default();
    let mut compared = 0;
    for small in 1..=seeds / 2 {
        let large = seeds - small;
        let Some(scores) = compute_pair(&evaluator, tables, small, large, &mut workspace, pulse)? else {
            break;
        };
        let frame = Frame { pits: tables.pits(), mover: small, other: large };
        let mirrored = (small < large).then_some((frame.mirrored(), scores.large_moves));
        for (frame, right) in [Some((frame, scores.small_moves)), mirrored].into_iter().flatten() {
            let entry = &table.header().entries[frame.mover - 1];
            if PackedFrame::pack(isa, frame, right).section() == table.section(entry) {
                compared += frame.positions();
                continue;
            }
            return Err(first_wrong(tables, table.frame(frame.mover), right)
                .map_err(|line| table.damaged_line(line))?
                .unwrap_or_else(|| {
                    // All scores are right, but they are not packed as they should be.
                    let damage = Damage::Part { part: "packing of a frame", offset: entry.offset };
                    Fault::Damage(TableError::damaged(table.path(), damage))
                }));
        }
    }
    Ok(compared)
}

/// The first score of a frame that is not the right one.
fn first_wrong(tables: &Tables, stored: FrameScores, right: &[u8]) -> Result<Option<Fault>, crate::table::DamagedLine> {
    let frame = stored.frame();
    for (index, &right) in (0..).zip(right) {
        let (mover_rank, other_rank) = frame.ranks(index);
        let stored = stored.score(mover_rank, other_rank)?;
        if stored != right {
            let rows = tables.rows();
            let (mover, other) = (rows.unrank(frame.mover, mover_rank), rows.unrank(frame.other, other_rank));
            let key = tables.key(frame.mover + frame.other);
            return Ok(Some(Fault::score(key, &mover, &other, stored, right)));
        }
    }
    Ok(None)
}
