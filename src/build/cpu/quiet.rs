//! One mover's row against all other rows: the moves that stay in the layer.

use rayon::prelude::*;

use super::{RowMove, kernels};
use crate::game::Rules;
use crate::index::{Frame, RowIndex, RowMaps, TableRow};
use crate::isa::Isa;

/// A move that stays in the layer: the child is in the mirrored frame, with the opponent to move.
#[derive(Clone, Copy)]
pub(super) struct QuietMove {
    /// Rank of the mover's row after the move.
    pub own: u32,
    /// The move is quiet only where this pit of the other row is empty (elsewhere it captures).
    only_if_empty: Option<u8>,
}

/// The quiet moves of all mover's rows of a frame.
pub(super) struct QuietMoves {
    isa: Isa,
    total: u8,
    /// The moves of the mover's row of rank r: `moves[starts[r]..starts[r + 1]]`.
    moves: Vec<QuietMove>,
    starts: Vec<u32>,
    /// For each pit, a mask of 0xff for the other rows in which it is empty. Only where moves ask.
    empty: Vec<Vec<u8>>,
}

impl QuietMoves {
    pub fn new(isa: Isa, rules: Rules, maps: &RowMaps, frame: Frame) -> QuietMoves {
        let Frame { pits, mover, other } = frame;
        let by_row: Vec<Vec<QuietMove>> =
            maps.all(mover).par_iter().with_min_len(256).map(|row| quiet_moves(rules, maps.rows(), row)).collect();
        let moves = by_row.concat();
        let mut starts = vec![0];
        starts.extend(by_row.iter().scan(0, |end, moves| {
            *end += moves.len() as u32;
            Some(*end)
        }));
        let empty = if moves.iter().any(|quiet| quiet.only_if_empty.is_some()) {
            let others = maps.all(other);
            let mask = |pit: usize| others.iter().map(|row| if row[pit] == 0 { 0xff } else { 0 }).collect();
            (0..pits).map(mask).collect()
        } else {
            Vec::new()
        };
        QuietMoves { isa, total: (mover + other) as u8, moves, starts, empty }
    }

    /// The quiet moves of the mover's row with this rank.
    pub fn of(&self, mover: u32) -> &[QuietMove] {
        &self.moves[self.starts[mover as usize] as usize..self.starts[mover as usize + 1] as usize]
    }

    /// Raises `best`, scores against the other rows from rank `first` on, by one move whose children (with the opponent
    /// to move) have these `scores`.
    pub fn apply(&self, quiet: QuietMove, best: &mut [u8], scores: &[u8], first: usize) {
        match quiet.only_if_empty {
            None => kernels::max_after_pass(self.isa, best, scores, self.total),
            Some(pit) => {
                let mask = &self.empty[usize::from(pit)][first..][..best.len()];
                kernels::max_after_pass_masked(self.isa, best, scores, mask, self.total);
            }
        }
    }
}

fn quiet_moves(rules: Rules, rows: &RowIndex, row: &TableRow) -> Vec<QuietMove> {
    RowMove::all(rules, rows.pits(), row)
        .filter_map(|(_, row_move)| match row_move {
            RowMove::Quiet { own } => Some(QuietMove { own: rows.rank(&own), only_if_empty: None }),
            RowMove::Capture { pit, uncaptured: Some(own), .. } => {
                Some(QuietMove { own: rows.rank(&own), only_if_empty: Some(pit as u8) })
            }
            _ => None,
        })
        .collect()
}
