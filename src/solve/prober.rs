use super::board::{MAX_BOARD_PITS, sums};
use super::key::Keys;
use crate::index::{MAX_TABLE_PITS, TableRow};
use crate::table::{FrameScores, TableError, Tables};

/// Looks scores up in tables, by the numbers that [`Keys`] give rows.
pub(super) struct Prober<'a> {
    tables: Option<&'a Tables>,
    /// The largest layer to look up; 0 for none.
    reach: usize,
    /// By the number of a row: its rank among the rows with as many seeds.
    ranks: Vec<u32>,
    /// The frame with `k` seeds in the mover's row of the layer `n` at `n * reach + k`.
    frames: Vec<Option<FrameScores<'a>>>,
}

/// Where the score of a position stands.
#[derive(Clone, Copy, Default)]
pub(super) struct Spot {
    frame: u32,
    mover: u32,
    other: u32,
}

impl<'a> Prober<'a> {
    /// A prober of the layers of `tables` up to `reach` seeds.
    pub fn new(keys: &Keys, tables: Option<&'a Tables>, reach: usize) -> Prober<'a> {
        let reach = reach.min(tables.and_then(Tables::max_seeds).unwrap_or(0));
        let Some(tables) = tables.filter(|_| reach >= 2) else {
            return Prober { tables: None, reach: 0, ranks: Vec::new(), frames: Vec::new() };
        };
        let pits = tables.pits();
        // Both rows are non-empty, so neither has more than this.
        let most = reach - 1;
        let mut ranks = Vec::new();
        let mut row = TableRow::default();
        let rows = tables.rows();
        for seeds in 0..=most {
            each_row(&mut row, pits, seeds, &mut |row: &TableRow| {
                let mut bytes = [0; MAX_BOARD_PITS];
                bytes[..MAX_TABLE_PITS].copy_from_slice(row);
                let number = keys.row(sums(u64::from_le_bytes(bytes))) as usize;
                if ranks.len() <= number {
                    ranks.resize(number + 1, 0);
                }
                ranks[number] = rows.rank(row);
            });
        }
        let mut frames = vec![None; (reach + 1) * reach];
        for layer in &tables.layers()[..reach - 1] {
            let seeds = layer.key().seeds;
            for mover in 1..seeds {
                frames[seeds * reach + mover] = Some(layer.frame(mover));
            }
        }
        Prober { tables: Some(tables), reach, ranks, frames }
    }

    /// The largest layer that is looked up; 0 for none.
    #[inline]
    pub fn reach(&self) -> usize {
        self.reach
    }

    /// Where the score of the position with `seeds` seeds in play stands, whose rows have these numbers; the mover's has
    /// `mover_seeds`. Has the processor fetch it.
    #[inline]
    pub fn locate(&self, seeds: u32, mover_seeds: u32, mover: u64, other: u64) -> Spot {
        let frame = seeds * self.reach as u32 + mover_seeds;
        let spot = Spot { frame, mover: self.ranks[mover as usize], other: self.ranks[other as usize] };
        if let Some(scores) = &self.frames[frame as usize] {
            scores.prefetch(spot.mover, spot.other);
        }
        spot
    }

    /// The score that stands at `spot` of a position with `seeds` seeds in play.
    ///
    /// # Errors
    /// When the table is damaged.
    #[inline]
    pub fn score(&self, seeds: u32, spot: Spot) -> Result<u32, TableError> {
        let found = match &self.frames[spot.frame as usize] {
            Some(scores) => scores.score(spot.mover, spot.other),
            None => Ok(u8::MAX),
        };
        match found {
            Ok(score) if u32::from(score) <= seeds => Ok(score.into()),
            found => Err(self.damaged(seeds, found.err())),
        }
    }

    #[cold]
    fn damaged(&self, seeds: u32, line: Option<crate::table::DamagedLine>) -> TableError {
        let table = self.tables.and_then(|tables| tables.layer(seeds as usize)).expect("a spot lies in a layer");
        match line {
            Some(line) => table.damaged_line(line),
            None => {
                let part = crate::table::Damage::Part { part: "score of a position", offset: 0 };
                TableError::damaged(table.path(), part)
            }
        }
    }
}

/// Calls `each` with every row of `pits` pits and `seeds` seeds.
fn each_row(row: &mut TableRow, pits: usize, seeds: usize, each: &mut impl FnMut(&TableRow)) {
    let Some(last) = pits.checked_sub(1) else { return };
    if last == 0 {
        row[0] = seeds as u8;
        return each(row);
    }
    for here in 0..=seeds {
        row[last] = here as u8;
        each_row(row, last, seeds - here, each);
    }
}
