use std::fmt;

/// How far ahead a look goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// So many moves: each counts, also one that gives another.
    Moves(u32),
    /// So many turns, however many moves they take.
    Turns(u32),
}

impl Ahead {
    /// The number of moves or turns.
    pub fn number(self) -> u32 {
        match self {
            Ahead::Moves(number) | Ahead::Turns(number) => number,
        }
    }

    /// Moves and turns that a look may still take; there are never as many as the number that stands for no limit.
    pub(crate) fn limits(self) -> (u32, u32) {
        match self {
            Ahead::Moves(moves) => (moves, u32::MAX),
            Ahead::Turns(turns) => (u32::MAX, turns),
        }
    }
}

impl fmt::Display for Ahead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, name) = match self {
            Ahead::Moves(number) => (number, "move"),
            Ahead::Turns(number) => (number, "turn"),
        };
        write!(f, "{number} {name}{}", if *number == 1 { "" } else { "s" })
    }
}

/// The most moves that are counted where a turn has no end in sight.
pub(crate) const MOST_MOVES: u32 = 256;

/// Positions that the first look at a whole turn may take: a few milliseconds.
const FIRST_POSITIONS: u64 = 1 << 13;

/// How many times more the next one may take.
const MORE: u64 = 8;

/// How a look ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Looked {
    /// It saw all it should; a look farther ahead may see more.
    Whole,
    /// The same, and there is no more to see.
    Enough,
    /// It took all the positions that it might.
    TooLong,
    /// The limit was over, or it was told to stop.
    Ended,
}

/// Has `look` look farther and farther ahead until it is ended, has seen enough, or has looked `most` turns ahead. It is told
/// how far, and how many positions that may take, `positions` at the most. The last look that was not cut short counts.
///
/// Turns are counted, for a turn is what a player decides on. But a turn of extra moves or of relays may have no end in
/// sight: where more and more positions do not suffice for one turn more it is moves that are counted. One move always comes
/// to an end; to look that far is left to the caller.
pub(crate) fn look_farther<E>(
    most: u32,
    positions: u64,
    mut look: impl FnMut(Ahead, u64) -> Result<Looked, E>,
) -> Result<(), E> {
    let (mut turns, mut moves, mut allowed) = (1, 2, positions.min(FIRST_POSITIONS));
    // Whether fewer positions did not suffice for so many turns either; the first one has to be there soon.
    let mut stuck = true;
    loop {
        match look(Ahead::Turns(turns), allowed)? {
            Looked::Whole if turns >= most => return Ok(()),
            Looked::Whole => {
                (turns, stuck) = (turns + 1, false);
                continue;
            }
            Looked::TooLong => {}
            Looked::Enough | Looked::Ended => return Ok(()),
        }
        // So many turns take as many moves at least.
        moves = moves.max(turns + 1);
        while stuck && moves <= MOST_MOVES {
            match look(Ahead::Moves(moves), allowed)? {
                Looked::Whole => moves += 1,
                Looked::TooLong => break,
                Looked::Enough | Looked::Ended => return Ok(()),
            }
        }
        if allowed == positions {
            return Ok(());
        }
        (allowed, stuck) = (positions.min(MORE * allowed), true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The looks that are not cut short, where a turn takes `turn` positions, each move ten times as many as the one before,
    /// and `clock` positions are looked at in all.
    fn looks(turn: u64, positions: u64, mut clock: u64) -> Vec<Ahead> {
        let mut whole = Vec::new();
        let result: Result<(), ()> = look_farther(3, positions, |ahead, allowed| {
            let takes = match ahead {
                Ahead::Turns(turns) => turn.saturating_pow(turns),
                Ahead::Moves(moves) => 10u64.saturating_pow(moves),
            };
            if clock < takes.min(allowed) {
                return Ok(Looked::Ended);
            }
            clock -= takes.min(allowed);
            if takes > allowed {
                return Ok(Looked::TooLong);
            }
            whole.push(ahead);
            Ok(Looked::Whole)
        });
        assert_eq!(result, Ok(()));
        whole
    }

    #[test]
    fn turns_are_counted_and_moves_where_a_turn_has_no_end() {
        use Ahead::{Moves, Turns};
        assert_eq!(looks(20, 1 << 30, u64::MAX), [Turns(1), Turns(2), Turns(3)]);
        assert_eq!(looks(40, 1 << 30, u64::MAX), [Turns(1), Turns(2), Turns(3)]);
        assert_eq!(looks(100, 1 << 30, 20_000), [Turns(1), Turns(2)]);
        // A turn that takes more than the first look may, and is seen in the end.
        assert_eq!(looks(60_000, 1 << 16, u64::MAX), [Moves(2), Moves(3), Turns(1)]);
        // Two turns, the second without an end.
        let far = [Moves(2), Moves(3), Turns(1), Moves(4), Moves(5), Moves(6)];
        assert_eq!(looks(60_000, 1 << 22, u64::MAX), far);
        // One that is never seen, and a clock that is over meanwhile.
        assert_eq!(looks(u64::MAX, 1 << 14, u64::MAX), [Moves(2), Moves(3), Moves(4)]);
        assert_eq!(looks(u64::MAX, 1 << 30, 5_000), []);
        assert_eq!(looks(u64::MAX, 1 << 30, 10_000), [Moves(2), Moves(3)]);
    }
}
