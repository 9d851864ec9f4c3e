//! Iterative deepening.

use kalah::solve::Depth::{self, Moves, Turns};
use kalah::solve::{Deepening, deepen};

/// Depths of the complete searches, if a turn takes `turn` nodes, each further move ten times the nodes of
/// the last one, and time permits `clock` nodes in all.
fn depths(turn: u64, budget: u64, mut clock: u64) -> Vec<Depth> {
    let mut whole = Vec::new();
    let result: Result<(), ()> = deepen(3, budget, |depth, allowed| {
        let takes = match depth {
            Depth::Turns(turns) => turn.saturating_pow(turns),
            Depth::Moves(moves) => 10u64.saturating_pow(moves),
        };
        if clock < takes.min(allowed) {
            return Ok(Deepening::Interrupted);
        }
        clock -= takes.min(allowed);
        if takes > allowed {
            return Ok(Deepening::OverBudget);
        }
        whole.push(depth);
        Ok(Deepening::Complete)
    });
    assert_eq!(result, Ok(()));
    whole
}

#[test]
fn turns_are_counted_and_moves_where_a_turn_has_no_end() {
    assert_eq!(depths(20, 1 << 30, u64::MAX), [Turns(1), Turns(2), Turns(3)]);
    assert_eq!(depths(40, 1 << 30, u64::MAX), [Turns(1), Turns(2), Turns(3)]);
    assert_eq!(depths(100, 1 << 30, 20_000), [Turns(1), Turns(2)]);
    // A turn that exceeds the first budget, but is completed later.
    assert_eq!(depths(60_000, 1 << 16, u64::MAX), [Moves(2), Moves(3), Turns(1)]);
    // Two turns, the second of which never ends.
    let far = [Moves(2), Moves(3), Turns(1), Moves(4), Moves(5), Moves(6)];
    assert_eq!(depths(60_000, 1 << 22, u64::MAX), far);
    // A turn that is never completed, and time that runs out meanwhile.
    assert_eq!(depths(u64::MAX, 1 << 14, u64::MAX), [Moves(2), Moves(3), Moves(4)]);
    assert_eq!(depths(u64::MAX, 1 << 30, 5_000), []);
    assert_eq!(depths(u64::MAX, 1 << 30, 10_000), [Moves(2), Moves(3)]);
}
