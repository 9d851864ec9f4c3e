//! What one ply tells about a position: from its rows alone, and from the scores of lower layers.

use kalah::game::{Row, Rules, mover_score, sow};
use kalah::index::table_row;
use kalah::table::Tables;

/// Contexts of [`Moves::context`].
pub const CONTEXTS: usize = 3 * 4 * 3 * 4;

/// The moves of a position.
#[derive(Clone, Copy)]
pub struct Moves {
    /// How many again-moves each player has, and the size of the largest capture: in a few classes.
    pub context: usize,
    /// The best score by a move that stores seeds; `None` if there is no such move.
    pub forward: Option<i32>,
    /// Moves that store seeds: scores of lower layers that must be probed.
    pub probes: usize,
    /// Moves that lead to the same layer.
    pub quiet: usize,
}

impl Moves {
    pub fn new(rules: Rules, tables: &Tables, mover: &Row, other: &Row) -> Moves {
        let seeds = mover.total() + other.total();
        let mut moves = Moves { context: 0, forward: None, probes: 0, quiet: 0 };
        for pit in mover.moves() {
            let sowing = sow(rules, mover, other, pit);
            if sowing.stored == 0 {
                moves.quiet += 1;
                continue;
            }
            let (next, after) = if sowing.again { (sowing.mover, sowing.other) } else { (sowing.other, sowing.mover) };
            let (next, after) = (table_row(&next).expect("small rows"), table_row(&after).expect("small rows"));
            let score = tables.score(&next, &after).expect("lower layers are sound");
            let score = mover_score(sowing.again, sowing.stored as i32, seeds as i32, i32::from(score));
            moves.forward = moves.forward.max(Some(score));
            moves.probes += 1;
        }
        moves.context = threats(rules, mover, other) * 12 + threats(rules, other, mover);
        moves
    }
}

/// The class of a row by its again-moves (none, one, more) and its largest capture (none, to 3, to 6, more).
fn threats(rules: Rules, mover: &Row, other: &Row) -> usize {
    let (mut again, mut captured) = (0, 0);
    for pit in mover.moves() {
        let sowing = sow(rules, mover, other, pit);
        again += usize::from(sowing.again);
        captured = captured.max(sowing.captured);
    }
    let class = match captured {
        0 => 0,
        1..=3 => 1,
        4..=6 => 2,
        _ => 3,
    };
    again.min(2) * 4 + class
}
