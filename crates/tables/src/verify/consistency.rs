use std::sync::atomic::Ordering;

use kalah_base::progress::Pulse;
use kalah_core::index::{Frame, TableRow, layer_frames, row_seeds};
use kalah_core::table::Tables;
use rayon::prelude::*;

use super::frame_check::FrameCheck;
use super::{Fault, Oracle, Sample};

/// Checks that every score of the layer with `seeds` seeds is the minimax of its children, assuming
/// that the lower layers are correct. Returns the number of positions, which `pulse` counts while it
/// runs.
///
/// Checks whole frames at once, except for rules with relays. If that finds
/// anything wrong, positions are checked one by one, as [`check_sample`] does, which decides.
///
/// # Errors
/// The first wrong score by rank in the layer, or the wrong score that caused it; or the reason why
/// a table cannot be read; or [`Fault::Stopped`].
pub fn check_consistency(tables: &Tables, seeds: usize, pulse: &Pulse) -> Result<u64, Fault> {
    let table = tables.require(seeds)?;
    for frame in layer_frames(tables.pits(), seeds) {
        if !tables.rules().relays() {
            let first_wrong = FrameCheck::new(tables, frame, pulse).map_err(Fault::from);
            match first_wrong.and_then(|check| check.first_wrong()) {
                Ok(None) => continue,
                Ok(Some((mover, other))) => {
                    let rows = tables.rows();
                    check_position(tables, &rows.unrank(frame.mover, mover), &rows.unrank(frame.other, other))?;
                }
                Err(fault @ Fault::Stopped(_)) => return Err(fault),
                // The first position that needs a damaged block is found below, if there is one.
                Err(_) => {}
            }
        }
        check_frame(tables, frame, pulse)?;
    }
    Ok(table.header().positions)
}

/// Checks every position of a frame by itself.
fn check_frame(tables: &Tables, frame: Frame, pulse: &Pulse) -> Result<(), Fault> {
    let rows = tables.rows();
    let all = |seeds| (0..rows.rows(seeds) as u32).into_par_iter().map(move |rank| rows.unrank(seeds, rank));
    let movers: Vec<TableRow> = all(frame.mover).collect();
    // Each task has one other row, in rank order, so the first fault found is the first by rank.
    let fault = all(frame.other).find_map_first(|other| {
        if let Err(stopped) = pulse.check() {
            return Some(stopped.into());
        }
        let fault = movers.iter().find_map(|mover| check_position(tables, mover, &other).err());
        pulse.positions.fetch_add(movers.len() as u64, Ordering::Relaxed);
        fault
    });
    fault.map_or(Ok(()), Err)
}

/// The same as [`check_consistency`] for the positions of `sample`, which is from a layer of
/// `tables`. Returns the number of positions checked.
///
/// # Errors
/// As [`check_consistency`], for the positions of the sample.
pub fn check_sample(tables: &Tables, sample: &Sample, pulse: &Pulse) -> Result<u64, Fault> {
    tables.require(sample.seeds())?;
    let rows = tables.rows();
    sample.check(|frame, index| {
        let (mover, other) = frame.ranks(index);
        pulse.check()?;
        pulse.positions.fetch_add(1, Ordering::Relaxed);
        check_position(tables, &rows.unrank(frame.mover, mover), &rows.unrank(frame.other, other))
    })
}

/// Checks one position. If its score is wrong because a child's is, reports that child instead, and
/// so on.
fn check_position(tables: &Tables, mover: &TableRow, other: &TableRow) -> Result<(), Fault> {
    let oracle = Oracle::new(tables.rules(), tables.pits()).expect("pits of a table");
    let stored = tables.score_rows(mover, other)?;
    let right = oracle.minimax(mover, other, |mover, other| tables.score_rows(mover, other))?;
    if stored == right {
        return Ok(());
    }
    // A child may be the cause. A score of 0 for all others lists the children without looking them
    // up.
    let mut children = Vec::new();
    oracle.minimax(mover, other, |mover, other| {
        children.push((*mover, *other));
        Ok::<u8, Fault>(0)
    })?;
    children.iter().try_for_each(|(mover, other)| check_position(tables, mover, other))?;
    Err(Fault::score(tables.key(row_seeds(mover) + row_seeds(other)), mover, other, stored, right))
}
