/// Depth of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// This many moves, again-moves included.
    Moves(u32),
    /// This many turns, with any number of moves.
    Turns(u32),
}

impl Depth {
    /// Number of moves or turns.
    pub fn number(self) -> u32 {
        match self {
            Depth::Moves(number) | Depth::Turns(number) => number,
        }
    }

    /// Limits of moves and of turns. The limit that does not apply is larger than any depth.
    pub fn limits(self) -> (u32, u32) {
        match self {
            Depth::Moves(moves) => (moves, u32::MAX),
            Depth::Turns(turns) => (u32::MAX, turns),
        }
    }
}
