use crate::game::Rules;
use crate::table::Tables;

/// Bytes of a solver's transposition table, if nothing else is said.
const MEMORY: u64 = 256 << 20;

/// What players are made with.
#[derive(Clone, Copy)]
pub struct Setting<'t> {
    /// The rule set.
    pub rules: Rules,
    /// Tables of these rules, for the perfect player.
    pub tables: Option<&'t Tables>,
    /// The most bytes a solver's transposition table takes.
    pub memory: u64,
    /// Threads of a solver, at least 1.
    pub threads: usize,
    /// Told apart by this, random players with the same seed play differently: the number of a game, for instance.
    pub game: u64,
}

impl Setting<'_> {
    /// No tables, one thread, 256 MiB.
    pub fn new(rules: Rules) -> Setting<'static> {
        Setting { rules, tables: None, memory: MEMORY, threads: 1, game: 0 }
    }
}
