/// Limits of the positions that a depth-limited search may visit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// Limit of a search to the depth of a player.
    pub whole: u64,
    /// Limit of each of the searches to depth 1, 2, ... that replace it if that is not enough.
    pub step: u64,
}

impl Budget {
    /// Limits of players: some minutes for the whole search. No search of a published comparison takes as many
    /// positions.
    pub const PLAYER: Budget = Budget { whole: 1 << 30, step: 1 << 24 };
}
