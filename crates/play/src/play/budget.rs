/// How many positions a depth-limited search may visit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// A search to the depth of a player.
    pub whole: u64,
    /// Each of the searches to depth 1, 2, ... that replace it where that does not suffice.
    pub step: u64,
}

impl Budget {
    /// What players have: some minutes for the whole search. No search of a published comparison takes as many.
    pub const PLAYER: Budget = Budget { whole: 1 << 30, step: 1 << 24 };
}
