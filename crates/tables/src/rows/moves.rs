use kalah_core::game::Rules;
use kalah_core::index::{RowIndex, TableRow};
use rayon::prelude::*;

use super::maps::RowMaps;
use super::row_move::RowMove;

/// A move that leads to a lower layer, with ranks instead of rows.
#[derive(Clone, Copy, Debug)]
pub struct ForwardMove {
    /// Continuation of the turn.
    pub kind: Kind,
    /// Rank of the mover's row after the move.
    pub own: u32,
    /// Seeds of the mover's row after the move.
    pub left: u8,
    /// Seeds stored, as far as the mover's row determines them.
    pub stored: u8,
    /// Seeds sown into the other row (see [`RowMove`]).
    pub spilled: u8,
}

/// The continuation of a turn after a sowing.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// The mover moves again.
    Again,
    /// The other player is to move.
    Pass,
    /// A capture of this pit of the other row.
    Capture {
        /// The pit, from 0 in its owner's sowing order.
        pit: u8,
        /// True if an empty pit is captured, too.
        even_empty: bool,
    },
    /// A sowing from this pit of the mover that may pick up seeds of the other row.
    Relay {
        /// The pit, from 0 in the mover's sowing order.
        pit: u8,
    },
}

/// A move that stays in the layer. The child is in the mirrored frame, with the opponent to move.
#[derive(Clone, Copy, Debug)]
pub struct QuietMove {
    /// Rank of the mover's row after the move.
    pub own: u32,
    /// The move is quiet only if this pit of the other row is empty (otherwise it captures).
    pub only_if_empty: Option<u8>,
}

/// The moves of all mover's rows with the same seeds.
#[derive(Debug)]
pub struct Moves {
    forward: Lists<ForwardMove>,
    quiet: Lists<QuietMove>,
}

impl Moves {
    /// The moves of the rows with `seeds` seeds.
    pub fn new(rules: Rules, maps: &RowMaps, seeds: usize) -> Moves {
        let rows = maps.rows();
        let of_row = |row: &TableRow| {
            let (mut forward, mut quiet) = (Vec::with_capacity(rows.pits()), Vec::with_capacity(rows.pits()));
            Moves::of_row(rules, rows, row, &mut forward, &mut quiet);
            (forward, quiet)
        };
        let (forward, quiet) = maps.all(seeds).par_iter().with_min_len(256).map(of_row).unzip();
        Moves { forward: Lists::new(forward), quiet: Lists::new(quiet) }
    }

    /// Appends the moves of one row: those that lead to lower layers, and those that stay in the
    /// layer.
    pub fn of_row(
        rules: Rules,
        rows: &RowIndex,
        row: &TableRow,
        forward: &mut Vec<ForwardMove>,
        quiet: &mut Vec<QuietMove>,
    ) {
        let rank = |own: &TableRow| (rows.rank(own), own.iter().sum::<u8>());
        let mut lower = |kind, own: &TableRow, stored, spilled| {
            let (own, left) = rank(own);
            forward.push(ForwardMove { kind, own, left, stored, spilled });
        };
        for (pit, row_move) in RowMove::all(rules, rows.pits(), row) {
            match row_move {
                RowMove::Quiet { own } => quiet.push(QuietMove { own: rank(&own).0, only_if_empty: None }),
                RowMove::Again { own, stored, spilled } => lower(Kind::Again, &own, stored, spilled),
                RowMove::Pass { own, spilled } => lower(Kind::Pass, &own, 0, spilled),
                RowMove::Relay { own, spilled } => lower(Kind::Relay { pit: pit as u8 }, &own, 0, spilled),
                RowMove::Capture { own, stored, spilled, pit, uncaptured } => {
                    let pit = pit as u8;
                    let kind = Kind::Capture { pit, even_empty: uncaptured.is_none() };
                    lower(kind, &own, stored, spilled);
                    let quiet_move = |own| QuietMove { own: rank(&own).0, only_if_empty: Some(pit) };
                    quiet.extend(uncaptured.map(quiet_move));
                }
            }
        }
    }

    /// Moves of the row with this rank that lead to lower layers; empty beyond the last row.
    #[inline]
    pub fn forward(&self, rank: u32) -> &[ForwardMove] {
        self.forward.get(rank)
    }

    /// Moves of the row with this rank that stay in the layer.
    #[inline]
    pub fn quiet(&self, rank: u32) -> &[QuietMove] {
        self.quiet.get(rank)
    }
}

/// Lists of different lengths, stored one after the other.
#[derive(Debug)]
struct Lists<T> {
    items: Vec<T>,
    starts: Vec<u32>,
}

impl<T: Copy> Lists<T> {
    fn new(lists: Vec<Vec<T>>) -> Lists<T> {
        let mut starts = vec![0];
        starts.extend(lists.iter().scan(0, |end, list| {
            *end += list.len() as u32;
            Some(*end)
        }));
        Lists { items: lists.concat(), starts }
    }

    #[inline]
    fn get(&self, index: u32) -> &[T] {
        match self.starts.get(index as usize..index as usize + 2) {
            Some(&[start, end]) => &self.items[start as usize..end as usize],
            _ => &[],
        }
    }
}
