use super::depth::Depth;

/// Maximum depth in moves, for positions in which a turn may not end.
pub const MAX_MOVES: u32 = 256;

/// Budget of the first search by turns: a few milliseconds.
const FIRST_BUDGET: u64 = 1 << 13;

/// Factor from one budget to the next.
const MORE: u64 = 8;

/// End of one search of iterative deepening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deepening {
    /// It reached its depth; a deeper search may find more.
    Complete,
    /// It reached its depth; a deeper search finds no more.
    Final,
    /// Its budget was exceeded.
    OverBudget,
    /// The time ran out, or the search was stopped.
    Interrupted,
}

/// Iterative deepening: calls `search` with increasing depths until it is interrupted, a deeper search finds no
/// more, or it has reached `most` turns. `search` gets the depth and a budget of nodes, at most `budget`. The
/// last complete search counts.
///
/// Depths are numbers of turns, since a player decides on a turn. But with again-moves or relays a turn may not
/// end within any budget. When growing budgets do not suffice for one more turn, depths are numbers of moves. A
/// search of one move always ends; the caller does that one.
pub fn deepen<E>(most: u32, budget: u64, mut search: impl FnMut(Depth, u64) -> Result<Deepening, E>) -> Result<(), E> {
    let (mut turns, mut moves, mut allowed) = (1, 2, budget.min(FIRST_BUDGET));
    // True if a smaller budget was not enough for this number of turns either; true at first, since the first
    // result must come soon.
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
        // This number of turns has at least this many moves.
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
        use Depth::{Moves, Turns};
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
}
