//! Relays of one mover's row, played against every other row.

use super::lower::Lower;
use crate::game::{Pit, Row, sow};
use crate::index::{Frame, game_row, table_row};
use crate::rows::RowMaps;
use crate::table::TableError;

/// The rows of a frame, for relays of boards that are too wide for [`super::relay::FrameRelays`].
pub(super) struct RelaysByPosition {
    frame: Frame,
    movers: Vec<Row>,
    others: Vec<Row>,
}

impl RelaysByPosition {
    /// The rows of `frame`.
    pub fn new(maps: &RowMaps, frame: Frame) -> RelaysByPosition {
        let rows = |seeds| -> Vec<Row> { maps.all(seeds).iter().map(|row| game_row(frame.pits, row)).collect() };
        RelaysByPosition { frame, movers: rows(frame.mover), others: rows(frame.other) }
    }

    /// Raises `best`, the scores of the mover's row with rank `mover` against all other rows, by the relay from `pit`, whose
    /// first sowing brings `spilled` seeds into the other row. Where its last seed falls into an empty pit, nothing is done.
    pub fn apply(
        &self,
        lower: Lower,
        (mover, pit): (u32, usize),
        spilled: usize,
        best: &mut [u8],
    ) -> Result<(), TableError> {
        let (pits, total) = (self.frame.pits, (self.frame.mover + self.frame.other) as u8);
        let last = (spilled - 1) % pits;
        let filled = spilled > pits;
        let pit = Pit::from_index(pit).expect("a pit of a table's board");
        for (best, other) in best.iter_mut().zip(&self.others) {
            if !filled && other.seeds()[last] == 0 {
                continue;
            }
            let sown = sow(lower.tables.rules(), &self.movers[mover as usize], other, pit);
            let small = |row| table_row(row).expect("a row of a table has few seeds");
            let (own, opposite) = (small(&sown.mover), small(&sown.other));
            let score = if sown.again && !sown.other.is_empty() {
                lower.score(&own, &opposite)?.saturating_add(sown.stored as u8)
            } else {
                total.saturating_sub(lower.score(&opposite, &own)?)
            };
            *best = (*best).max(score);
        }
        Ok(())
    }
}
