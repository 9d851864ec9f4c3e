use kalah_base::progress::Pulse;
use kalah_core::game::Bounds;
use kalah_core::index::RowIndex;
use kalah_core::table::{BoundTable, Table, TableError};

use super::{Fault, position};
use crate::table::{FrameCodes, check_in_parallel, frame_codes};

/// Checks that every code of a bound table matches the score in the exact table of the layer. Also
/// checks the directory's number of each code. Returns the number of positions compared, which
/// `pulse` counts meanwhile.
///
/// The blocks of both are checked first, since damage would appear as wrong scores. The exact table
/// need not be the one that the bound table was made from, if its scores are the same.
///
/// # Errors
/// Damage, the first wrong bounds in file order, or [`Fault::Stopped`] when `pulse` was stopped.
///
/// # Panics
/// When the two tables are of different layers.
pub fn check_bounds_against(exact: &Table, bounds: &BoundTable, pulse: &Pulse) -> Result<u64, Fault> {
    let key = bounds.key();
    assert_eq!(exact.key(), key, "tables of one layer");
    check_in_parallel(bounds.blocks())?;
    let mut compared = 0;
    for frame in key.frames() {
        let stored = bounds.frame_unchecked(frame.mover);
        let FrameCodes { lines: right, counts } =
            frame_codes(exact, bounds.network(), stored.cuts(), frame.mover, pulse)?;
        if let Some(byte) = stored.lines().iter().zip(&right).position(|(stored, right)| stored != right) {
            return Err(first_wrong(exact, bounds, frame.mover, byte)?);
        }
        if bounds.header().entries[frame.mover - 1].counts != counts {
            let offset = bounds.header().entry_at(frame.mover);
            return Err(Fault::Table(bounds.blocks().damaged_part("directory", offset)));
        }
        compared += frame.positions();
    }
    Ok(compared)
}

/// The fault of the first wrong code of a frame, which is in this byte of its lines.
fn first_wrong(exact: &Table, bounds: &BoundTable, mover: usize, byte: usize) -> Result<Fault, TableError> {
    let (key, frame) = (bounds.key(), bounds.frame_unchecked(mover));
    let rows = RowIndex::new(key.pits, key.seeds).expect("pits and seeds of tables");
    let codes = 8 / u64::from(frame.cuts().bits());
    let positions = byte as u64 * codes..((byte as u64 + 1) * codes).min(frame.frame().positions());
    for index in positions {
        let (mover_rank, other_rank) = frame.frame().ranks(index);
        let (row, other) = (rows.unrank(mover, mover_rank), rows.unrank(key.seeds - mover, other_rank));
        let (score, code) = (exact.score(mover, mover_rank, other_rank)?, frame.code(mover_rank, other_rank));
        let evaluation = bounds.network().evaluate(&row, &other, key.seeds as u32);
        if code != frame.cuts().code(evaluation, score.into()) {
            return Ok(Fault::Bounds {
                path: bounds.path().to_owned(),
                key,
                offset: bounds.code_at(mover, mover_rank, other_rank),
                position: position(key, &row, &other),
                stored: frame.bounds(code, evaluation),
                right: Bounds { lower: score.into(), upper: score.into() },
            });
        }
    }
    // The difference is behind the last position.
    let offset = bounds.header().entries[mover - 1].offset + byte as u64;
    Ok(Fault::Table(bounds.blocks().damaged_part("packing of a frame", offset)))
}
