//! Relays of one mover's row, played against every other row.

use crate::game::{Pit, Row, sow};
use crate::index::{Frame, game_row, table_row};
use crate::rows::{ForwardMove, RowMaps};
use crate::table::{TableError, Tables};

/// The rows of a frame, for relays of boards of any size.
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

    /// Raises `best`, the scores of the mover's row with rank `mover` against all other rows, by the relay `next` from `pit`.
    ///
    /// Where the last seed of the first sowing falls into an empty pit, the turn ends: `ended` has the scores of the positions
    /// after that, the opponent to move. Elsewhere the move is played on.
    pub fn apply(
        &self,
        tables: &Tables,
        (mover, pit): (u32, usize),
        next: &ForwardMove,
        ended: &[u8],
        best: &mut [u8],
    ) -> Result<(), TableError> {
        let (pits, total) = (self.frame.pits, (self.frame.mover + self.frame.other) as u8);
        let last = (usize::from(next.spilled) - 1) % pits;
        let filled = usize::from(next.spilled) > pits;
        let pit = Pit::from_index(pit).expect("a pit of a table's board");
        for ((best, other), &ended) in best.iter_mut().zip(&self.others).zip(ended) {
            let score = if !filled && other.seeds()[last] == 0 {
                total.saturating_sub(ended)
            } else {
                let sown = sow(tables.rules(), &self.movers[mover as usize], other, pit);
                let small = |row| table_row(row).expect("a row of a table has few seeds");
                let (own, opposite) = (small(&sown.mover), small(&sown.other));
                if sown.again && !sown.other.is_empty() {
                    tables.score(&own, &opposite)?.saturating_add(sown.stored as u8)
                } else {
                    total.saturating_sub(tables.score(&opposite, &own)?)
                }
            };
            *best = (*best).max(score);
        }
        Ok(())
    }
}
