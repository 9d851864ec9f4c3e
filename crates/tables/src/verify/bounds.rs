use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kalah_base::progress::Pulse;
use kalah_core::game::Bounds;
use kalah_core::index::{RowIndex, TableRow, row_seeds};
use kalah_core::table::{BoundTable, Table, TableError, TablePart, Tables};

use super::{Fault, Oracle, Sample, position};
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
            return Err(Fault::Damage(TableError::damaged_part(bounds.path(), TablePart::Directory, offset)));
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
    Ok(Fault::Damage(TableError::damaged_part(bounds.path(), TablePart::Packing, offset)))
}

/// Exact tables of the lower layers of a board and bound tables of others, for checks by the
/// reference oracle.
#[derive(Debug)]
pub struct BoundSet<'a> {
    exact: &'a Tables,
    bounds: &'a [Arc<BoundTable>],
}

impl<'a> BoundSet<'a> {
    /// Combines these tables of one board. The bound tables may be in any order, with any networks.
    pub fn new(exact: &'a Tables, bounds: &'a [Arc<BoundTable>]) -> BoundSet<'a> {
        BoundSet { exact, bounds }
    }

    /// The bound table to read for a layer; `None` if it has an exact one.
    fn layer(&self, seeds: usize) -> Option<&BoundTable> {
        if self.exact.layer(seeds).is_some() {
            return None;
        }
        self.bounds.iter().find(|table| table.key().seeds == seeds).map(|table| &**table)
    }

    /// Returns true if every layer from 2 to `seeds` seeds has an exact or a bound table.
    pub fn reaches(&self, seeds: usize) -> bool {
        (2..=seeds).all(|seeds| self.exact.layer(seeds).is_some() || self.layer(seeds).is_some())
    }

    /// Checks that the bounds of the positions of `sample` agree with those of the positions after
    /// their moves: some score lies within both. The layer of `sample` has a bound table and no
    /// exact one. Returns the number of positions checked, and adds to `checked` while it runs.
    ///
    /// If a layer has an exact and a bound table, the exact one is read.
    ///
    /// # Errors
    /// The first wrong bounds by rank in the layer, or the wrong bounds that caused them; or
    /// damage.
    ///
    /// # Panics
    /// When the layer, or one below it, has neither table.
    pub fn check(&self, sample: &Sample, checked: &AtomicU64) -> Result<u64, Fault> {
        let rows = self.exact.rows();
        sample.check(|frame, index| {
            let (mover, other) = frame.ranks(index);
            checked.fetch_add(1, Ordering::Relaxed);
            self.check_position(&rows.unrank(frame.mover, mover), &rows.unrank(frame.other, other))
        })
    }

    /// Checks one position. If its bounds are wrong because a child's are, reports that child
    /// instead, and so on.
    fn check_position(&self, mover: &TableRow, other: &TableRow) -> Result<(), Fault> {
        let Some(table) = self.layer(row_seeds(mover) + row_seeds(other)) else { return Ok(()) };
        let oracle = Oracle::new(self.exact.rules(), self.exact.pits()).expect("pits of a table");
        let stored = self.bounds(mover, other)?;
        let right = oracle.minimax_bounds(mover, other, |mover, other| self.bounds(mover, other))?;
        if stored.0.max(right.0) <= stored.1.min(right.1) {
            return Ok(());
        }
        let mut children = Vec::new();
        oracle.minimax(mover, other, |mover, other| {
            children.push((*mover, *other));
            Ok::<u8, Fault>(0)
        })?;
        children.iter().try_for_each(|(mover, other)| self.check_position(mover, other))?;
        let (key, rows) = (table.key(), self.exact.rows());
        let offset = table.code_at(row_seeds(mover), rows.rank(mover), rows.rank(other));
        let (path, position) = (table.path().to_owned(), position(key, mover, other));
        let [stored, right] = [stored, right].map(|(lower, upper)| Bounds { lower: lower.into(), upper: upper.into() });
        Err(Fault::Bounds { path, key, offset, position, stored, right })
    }

    /// Bounds of the score of a position with seeds in both rows, from its table or bound table.
    fn bounds(&self, mover: &TableRow, other: &TableRow) -> Result<(u8, u8), TableError> {
        let (mover_seeds, seeds) = (row_seeds(mover), row_seeds(mover) + row_seeds(other));
        let rows = self.exact.rows();
        match self.layer(seeds) {
            Some(table) => {
                let code = table.code(mover_seeds, rows.rank(mover), rows.rank(other))?;
                let evaluation = table.network().evaluate(mover, other, seeds as u32);
                let Bounds { lower, upper } = table.frame_unchecked(mover_seeds).bounds(code, evaluation);
                Ok((lower as u8, upper as u8))
            }
            None => self.exact.score_rows(mover, other).map(|score| (score, score)),
        }
    }
}
