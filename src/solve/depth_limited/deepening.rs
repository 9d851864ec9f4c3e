use super::depth::Depth;

/// The most moves that are counted where a turn has no end in sight.
pub(crate) const MAX_MOVES: u32 = 256;

/// The budget of the first search to a whole turn: a few milliseconds.
const FIRST_BUDGET: u64 = 1 << 13;

/// How many times more the next one may take.
const MORE: u64 = 8;

/// How a search of an iterative deepening ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deepening {
    /// It reached its depth; a deeper one may find more.
    Complete,
    /// The same, and no deeper one finds more.
    Final,
    /// Its budget did not suffice.
    OverBudget,
    /// The time was up, or it was stopped.
    Interrupted,
}

/// Iterative deepening: has `search` search deeper and deeper until it is interrupted, a deeper search finds no more, or it
/// has searched `most` turns deep. It is given the depth, and a budget of nodes, `budget` at the most. The last search that
/// was complete counts.
///
/// Turns are counted, for a turn is what a player decides on. But a turn of extra moves or of relays may have no end in
/// sight: where larger and larger budgets do not suffice for one turn more it is moves that are counted. One move always
/// comes to an end; to search that deep is left to the caller.
pub(crate) fn deepen<E>(
    most: u32,
    budget: u64,
    mut search: impl FnMut(Depth, u64) -> Result<Deepening, E>,
) -> Result<(), E> {
    let (mut turns, mut moves, mut allowed) = (1, 2, budget.min(FIRST_BUDGET));
    // Whether a smaller budget did not suffice for so many turns either; the first one has to be there soon.
    let mut stuck = true;
    loop {
        match search(Depth::Turns(turns), allowed)? {
            Deepening::Complete if turns >= most => return Ok(()),
            Deepening::Complete => {
                (turns, stuck) = (turns + 1, false);
                continue;
            }
            Deepening::OverBudget => {}
            Deepening::Final | Deepening::Interrupted => return Ok(()),
        }
        // So many turns take as many moves at least.
        moves = moves.max(turns + 1);
        while stuck && moves <= MAX_MOVES {
            match search(Depth::Moves(moves), allowed)? {
                Deepening::Complete => moves += 1,
                Deepening::OverBudget => break,
                Deepening::Final | Deepening::Interrupted => return Ok(()),
            }
        }
        if allowed == budget {
            return Ok(());
        }
        (allowed, stuck) = (budget.min(MORE * allowed), true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The depths of the complete searches, where a turn takes `turn` nodes, each move ten times as many as the one before,
    /// and `clock` nodes are visited in all.
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
        use Depth::{Moves, Turns};
        assert_eq!(depths(20, 1 << 30, u64::MAX), [Turns(1), Turns(2), Turns(3)]);
        assert_eq!(depths(40, 1 << 30, u64::MAX), [Turns(1), Turns(2), Turns(3)]);
        assert_eq!(depths(100, 1 << 30, 20_000), [Turns(1), Turns(2)]);
        // A turn that takes more than the first budget, and is complete in the end.
        assert_eq!(depths(60_000, 1 << 16, u64::MAX), [Moves(2), Moves(3), Turns(1)]);
        // Two turns, the second without an end.
        let far = [Moves(2), Moves(3), Turns(1), Moves(4), Moves(5), Moves(6)];
        assert_eq!(depths(60_000, 1 << 22, u64::MAX), far);
        // One that is never complete, and a clock that is over meanwhile.
        assert_eq!(depths(u64::MAX, 1 << 14, u64::MAX), [Moves(2), Moves(3), Moves(4)]);
        assert_eq!(depths(u64::MAX, 1 << 30, 5_000), []);
        assert_eq!(depths(u64::MAX, 1 << 30, 10_000), [Moves(2), Moves(3)]);
    }
}
