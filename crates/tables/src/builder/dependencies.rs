//! The frames of lower layers from which a frame's scores are computed.

use std::collections::BTreeSet;

use kalah_core::game::Rules;
use kalah_core::index::{Frame, TableRow, row_seeds};

use crate::rows::RowMove;

/// Frames of lower layers from which `frame` is computed, ordered by layer and by the seeds in the
/// mover's row.
///
/// The effect of a move on the mover's row depends on its pit, the seeds there, and whether a pit
/// of that row is empty. The same holds for the seeds it sows into the other row. So the rows with
/// all seeds in one or two pits have the moves of all rows. A capture takes any number of seeds.
/// The result of a relay depends on both rows, so it needs every lower frame. None if
/// tables cannot have `frame`.
pub fn lower_frames(rules: Rules, frame: Frame) -> Vec<Frame> {
    if frame.positions() == 0 {
        return Vec::new();
    }
    let Frame { pits, mover, other } = frame;
    let mut dependencies = BTreeSet::new();
    let mut need = |to_move: usize, waiting: usize| {
        if to_move > 0 && waiting > 0 {
            dependencies.insert((to_move + waiting, to_move));
        }
    };
    if rules.moves_again() {
        need(mover - 1, other);
    }
    for (row, pit) in representatives(pits, mover) {
        match RowMove::new(rules, pits, &row, pit) {
            RowMove::Quiet { .. } => {}
            RowMove::Again { own, spilled, .. } => need(row_seeds(&own), other + usize::from(spilled)),
            RowMove::Pass { own, spilled } => need(other + usize::from(spilled), row_seeds(&own)),
            RowMove::Capture { own, spilled, uncaptured, .. } => {
                let opponent = other + usize::from(spilled);
                for captured in usize::from(uncaptured.is_some())..=opponent {
                    need(opponent - captured, row_seeds(&own));
                }
            }
            RowMove::Relay { .. } => {
                for seeds in 2..mover + other {
                    (1..seeds).for_each(|to_move| need(to_move, seeds - to_move));
                }
            }
        }
    }
    let below = dependencies.into_iter().filter(|&(seeds, _)| seeds < mover + other);
    below.map(|(seeds, to_move)| Frame { pits, mover: to_move, other: seeds - to_move }).collect()
}

/// Rows with `seeds` seeds in one or two pits, each with a pit that holds some.
fn representatives(pits: usize, seeds: usize) -> Vec<(TableRow, usize)> {
    let mut rows = Vec::new();
    for pit in 0..pits {
        for sown in 1..=seeds {
            for rest in 0..pits {
                // The other seeds are in another pit. If all seeds are sown, one such row is
                // enough.
                if (sown == seeds) == (rest == pit) {
                    let mut row = TableRow::default();
                    row[rest] = (seeds - sown) as u8;
                    row[pit] = sown as u8;
                    rows.push((row, pit));
                }
            }
        }
    }
    rows
}
