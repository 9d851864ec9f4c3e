/// Maximum depth in moves, for positions in which a turn may not end.
pub const MAX_MOVES: u32 = 256;

/// Budget of the first search by turns: a few milliseconds.
const FIRST_BUDGET: u64 = 1 << 13;

/// Factor from one budget to the next.
const MORE: u64 = 8;

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

/// The depths of an iterative deepening, and the budget of nodes of each search.
///
/// Depths are numbers of turns, since a player decides on a turn. But with again-moves or relays a turn may not
/// end within any budget. When growing budgets do not suffice for one more turn, depths are numbers of moves. A
/// search of one move always ends; the caller does that one.
#[derive(Clone, Debug)]
pub struct DepthSchedule {
    most: u32,
    budget: u64,
    turns: u32,
    moves: u32,
    allowed: u64,
    /// True if a smaller budget was not enough for this number of turns either; true at first, since the first
    /// result must come soon.
    stuck: bool,
    by_moves: bool,
    is_over: bool,
}

impl DepthSchedule {
    /// Begins with one turn. It ends after `most` turns; no search gets more than `budget` nodes.
    pub fn new(most: u32, budget: u64) -> DepthSchedule {
        let allowed = budget.min(FIRST_BUDGET);
        DepthSchedule { most, budget, turns: 1, moves: 2, allowed, stuck: true, by_moves: false, is_over: false }
    }

    /// Depth and budget of the next search; `None` at the end.
    pub fn next_search(&self) -> Option<(Depth, u64)> {
        let depth = if self.by_moves { Depth::Moves(self.moves) } else { Depth::Turns(self.turns) };
        (!self.is_over).then_some((depth, self.allowed))
    }

    /// Records the end of this search. An interrupted one stays the next.
    pub fn record(&mut self, end: Deepening) {
        match end {
            Deepening::Interrupted => {}
            Deepening::Final => self.is_over = true,
            Deepening::Complete if self.by_moves => {
                self.moves += 1;
                self.search_by_moves();
            }
            Deepening::Complete if self.turns >= self.most => self.is_over = true,
            Deepening::Complete => (self.turns, self.stuck) = (self.turns + 1, false),
            Deepening::OverBudget if self.by_moves || !self.stuck => self.raise_budget(),
            Deepening::OverBudget => {
                // This number of turns has at least this many moves.
                self.moves = self.moves.max(self.turns + 1);
                self.search_by_moves();
            }
        }
    }

    fn search_by_moves(&mut self) {
        if self.moves <= MAX_MOVES {
            self.by_moves = true;
        } else {
            self.raise_budget();
        }
    }

    fn raise_budget(&mut self) {
        if self.allowed == self.budget {
            self.is_over = true;
            return;
        }
        self.allowed = self.budget.min(MORE * self.allowed);
        (self.stuck, self.by_moves) = (true, false);
    }
}

/// Iterative deepening: calls `search` with increasing depths until it is interrupted, a deeper search finds no
/// more, or it has reached `most` turns. `search` gets the depth and a budget of nodes, at most `budget`. The
/// last complete search counts. [`DepthSchedule`] has the depths.
pub fn deepen<E>(most: u32, budget: u64, mut search: impl FnMut(Depth, u64) -> Result<Deepening, E>) -> Result<(), E> {
    let mut schedule = DepthSchedule::new(most, budget);
    while let Some((depth, allowed)) = schedule.next_search() {
        match search(depth, allowed)? {
            Deepening::Interrupted => break,
            end => schedule.record(end),
        }
    }
    Ok(())
}
