use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::ApiError;
use crate::game::{Line, Pit, Played, Position, Rules};
use crate::play::{Choice, Limit, Player, PlayerName, Setting};
use crate::solve::{
    Deepening, DepthLimitedResult, LimitedSearch, Method, SolveError, Solver, SolverOptions, ValueBounds, deepen,
};
use crate::table::Shelf;

/// The most turns, or moves, that estimates look ahead.
const MOST_AHEAD: u32 = 40;

/// Positions that a look at all moves may take: more than it can in the time for estimates.
const LOOK_POSITIONS: u64 = 1 << 24;

/// The most time for estimates where something may be proved, and the part of the limit they get.
const ESTIMATE_TIME: Duration = Duration::from_millis(500);
const ESTIMATE_PART: u32 = 6;

/// The part of the time left that the value of the position gets; the moves get the rest.
const VALUE_SHARE: f64 = 0.6;

/// Positions after which a solver is made anew: it keeps the results of all its tests.
const SOLVER_POSITIONS: usize = 1 << 12;

/// How to search.
#[derive(Clone, Copy)]
pub(super) struct MindOptions {
    /// The most bytes of a transposition table.
    pub memory: u64,
    /// Threads of one search.
    pub threads: usize,
}

/// What is known of the value of a position or move, for the mover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// Proved, where something is.
    pub bounds: Option<ValueBounds>,
    /// How it looks.
    pub estimate: Option<i64>,
}

impl Known {
    /// Proved bounds, unless they are the plain ones, and an estimate that keeps them.
    fn new(bounds: ValueBounds, plain: ValueBounds, estimate: i64) -> Known {
        let estimate = Some(estimate.clamp(bounds.lower, bounds.upper));
        Known { bounds: (bounds != plain || bounds.value().is_some()).then_some(bounds), estimate }
    }

    /// A proved value.
    pub fn exact(value: i64) -> Known {
        Known { bounds: Some(ValueBounds { lower: value, upper: value }), estimate: None }
    }

    /// The value, where it is proved.
    pub fn value(self) -> Option<i64> {
        self.bounds.and_then(ValueBounds::value)
    }

    /// What it is worth as far as it is known.
    pub fn looks(self) -> Option<i64> {
        self.value().or(self.estimate).or(self.bounds.map(|bounds| bounds.lower))
    }
}

/// What a search found.
pub(super) struct Found {
    /// Of the position.
    pub known: Known,
    /// Turns that the estimates looked ahead; moves on boards that no solver takes, and where a turn has no end in sight.
    pub ahead: u32,
    /// Of each legal move.
    pub moves: Vec<(Pit, Played, Known)>,
    /// A line of best play, where the value was proved and time was left for it.
    pub line: Option<Line>,
}

/// One thread's means to search, and what it learned of the last board.
pub(super) struct Mind<'t> {
    shelf: &'t Shelf,
    options: MindOptions,
    solver: Option<Solver<'t>>,
    /// Positions asked of the solver.
    asked: usize,
    stop: Arc<AtomicBool>,
    /// The last player that searches, with its rules and pits: it keeps what it proved.
    player: Option<((Rules, usize), Box<dyn Player + 't>)>,
}

impl<'t> Mind<'t> {
    pub fn new(shelf: &'t Shelf, options: MindOptions) -> Mind<'t> {
        Mind { shelf, options, solver: None, asked: 0, stop: Arc::default(), player: None }
    }

    /// The move that a player chooses. `game` tells random players apart.
    pub fn choose(
        &mut self,
        name: PlayerName,
        rules: Rules,
        position: &Position,
        game: u64,
        limit: &Limit,
    ) -> Result<Choice, ApiError> {
        let board = (rules, position.pits());
        if self.player.as_ref().is_none_or(|(last, player)| *last != board || player.name() != name.to_string()) {
            let MindOptions { memory, threads } = self.options;
            let tables = self.shelf.tables(rules, position.pits());
            self.player = Some((board, name.player(&Setting { rules, tables, memory, threads, game })));
        }
        let (_, player) = self.player.as_mut().expect("it was made");
        Ok(player.choose(position, limit, &mut |_| ())?)
    }

    /// What can be known of a position above the tables and its moves, before `limit` is over.
    pub fn analyse(&mut self, rules: Rules, position: &Position, limit: &Limit) -> Result<Found, ApiError> {
        let moves: Vec<(Pit, Played)> =
            position.moves().filter_map(|pit| Some((pit, position.play(rules, pit).ok()?))).collect();
        let stop = Arc::clone(&self.stop);
        match self.solver(rules, position, limit)? {
            Some(solver) => Search { solver, position, moves: &moves, limit, stop: &stop }.run(),
            None => Ok(look(rules, &moves, limit)),
        }
    }

    /// A solver for `position`; `None` if it is too large for one, or the limit was over before there was one.
    fn solver(&mut self, rules: Rules, position: &Position, limit: &Limit) -> Result<Option<&Solver<'t>>, ApiError> {
        let (pits, seeds) = (position.pits(), position.seeds() as usize);
        self.asked += 1;
        let serves = |solver: &Solver| solver.rules() == rules && solver.pits() == pits && solver.seeds() >= seeds;
        if self.asked > SOLVER_POSITIONS || !self.solver.as_ref().is_some_and(serves) {
            // Its memory is given back before more is asked for.
            (self.solver, self.asked) = (None, 0);
            let MindOptions { memory, threads } = self.options;
            let options = SolverOptions::new(rules, position)
                .tables(self.shelf.tables(rules, pits))
                .memory_up_to(memory)
                .threads(threads)
                .stop(Arc::clone(&self.stop));
            match Solver::new_unless(&|| limit.is_over(), options) {
                Ok(solver) => self.solver = Some(solver),
                Err(SolveError::Board { .. } | SolveError::Stopped) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(self.solver.as_ref())
    }
}

/// The bounds that show after one move by what it stores: no news.
fn plain(rules: Rules, position: &Position) -> ValueBounds {
    let stored =
        |position: &Position| ValueBounds { lower: position.value(0), upper: position.value(position.seeds()) };
    let after = position.moves().filter_map(|pit| {
        let played = position.play(rules, pit).ok()?;
        let over = played.position.final_value().map(|value| ValueBounds { lower: value, upper: value });
        Some(over.unwrap_or_else(|| stored(&played.position)).for_mover(&played))
    });
    let best = after.reduce(|a, b| ValueBounds { lower: a.lower.max(b.lower), upper: a.upper.max(b.upper) });
    best.unwrap_or_else(|| stored(position))
}

/// A search by the solver.
struct Search<'s, 't> {
    solver: &'s Solver<'t>,
    position: &'s Position,
    moves: &'s [(Pit, Played)],
    limit: &'s Limit,
    stop: &'s AtomicBool,
}

impl Search<'_, '_> {
    fn run(&self) -> Result<Found, ApiError> {
        let (estimates, ahead) = self.estimates()?;
        let line = match self.limit.watch(self.stop, || self.prove(&estimates)) {
            Ok(line) => line,
            Err(SolveError::Stopped | SolveError::TimedOut) => None,
            Err(error) => return Err(error.into()),
        };
        let whole = self.solver.value_bounds(self.position)?;
        let rules = self.solver.rules();
        let mut moves = Vec::new();
        for (&(pit, played), estimate) in self.moves.iter().zip(estimates) {
            let next = &played.position;
            let mut bounds = self.solver.value_bounds(next)?.for_mover(&played);
            // No move is worth more than the position.
            bounds.upper = bounds.upper.min(whole.upper);
            moves.push((pit, played, Known::new(bounds, plain(rules, next).for_mover(&played), estimate)));
        }
        let estimate = moves.iter().filter_map(|(_, _, known)| known.looks()).max();
        let known = Known::new(whole, plain(rules, self.position), estimate.unwrap_or(whole.lower));
        Ok(Found { known, ahead, moves, line })
    }

    /// How each move looks later, for the mover; and how far was looked ahead.
    fn estimates(&self) -> Result<(Vec<i64>, u32), ApiError> {
        // One move ahead takes no time, so there always are estimates.
        let (mut looks, exact) = self.looks(|next| self.solver.one_move_deep(next))?;
        let mut far = 1;
        if exact {
            return Ok((looks, far));
        }
        let time = self.limit.left().map_or(ESTIMATE_TIME, |left| ESTIMATE_TIME.min(left / ESTIMATE_PART));
        self.limit.at_most(time).watch(self.stop, || {
            deepen(MOST_AHEAD, LOOK_POSITIONS, |depth, budget| {
                let each = budget / self.moves.len().max(1) as u64;
                match self.looks(|next| self.solver.depth_limited_within(next, depth, each)) {
                    Ok((later, exact)) => {
                        (looks, far) = (later, depth.number());
                        Ok(if exact { Deepening::Final } else { Deepening::Complete })
                    }
                    Err(SolveError::OverBudget) => Ok(Deepening::OverBudget),
                    Err(SolveError::Stopped | SolveError::TimedOut) => Ok(Deepening::Interrupted),
                    Err(error) => Err(error),
                }
            })
        })?;
        Ok((looks, far))
    }

    /// How each move looks as `look` looks at the position after it, for the mover; and whether all that is exact.
    fn looks(
        &self,
        look: impl Fn(&Position) -> Result<Option<DepthLimitedResult>, SolveError>,
    ) -> Result<(Vec<i64>, bool), SolveError> {
        let (mut looks, mut exact) = (Vec::new(), true);
        for (_, played) in self.moves {
            let later = look(&played.position)?;
            exact &= later.is_none_or(|later| later.exact);
            let over = || played.position.final_value().expect("there are no moves");
            looks.push(played.mover_value(later.map_or_else(over, |later| later.value)));
        }
        Ok((looks, exact))
    }

    /// Proves what it can, the solver keeps it: the value of the position, those of its moves, the best ones first; then a
    /// line of best play, if the value is known.
    fn prove(&self, estimates: &[i64]) -> Result<Option<Line>, SolveError> {
        let left = || self.limit.left().unwrap_or(Duration::from_secs(1));
        let guess = estimates.iter().copied().max().unwrap_or(0);
        let whole = self.solver.narrow(self.position, guess, left().mul_f64(VALUE_SHARE))?;
        let score = whole.value().map(|value| (value - self.position.value(0)) as u32 / 2);
        if let Some(score) = score {
            self.solver.best_move(self.position, score)?;
        }
        let mut moves: Vec<(&Played, i64)> =
            self.moves.iter().map(|(_, played)| played).zip(estimates.iter().copied()).collect();
        moves.sort_by_key(|&(_, estimate)| std::cmp::Reverse(estimate));
        for (index, (played, estimate)) in moves.iter().enumerate() {
            let share = left() / (moves.len() - index) as u32;
            self.solver.narrow(&played.position, played.mover_value(*estimate), share)?;
        }
        score.map(|score| self.solver.line(self.position, score)).transpose()
    }
}

/// How the moves of a position look that is too large for the solver: 1, 2, ... moves later, by the stores.
fn look(rules: Rules, moves: &[(Pit, Played)], limit: &Limit) -> Found {
    let mut looks: Vec<(Known, u32)> = Vec::new();
    for depth in 0..MOST_AHEAD {
        let search = LimitedSearch::new(rules, Method::SeqAb, depth);
        let later: Option<Vec<_>> = moves
            .iter()
            .map(|(_, played)| match played.position.final_value() {
                Some(value) => Some((Known::exact(played.mover_value(value)), depth + 1)),
                None => {
                    let later = search.run_unless(&|| depth > 0 && limit.is_over(), &played.position)?;
                    Some((Known { bounds: None, estimate: Some(played.mover_value(later.value)) }, depth + 1))
                }
            })
            .collect();
        match later {
            Some(later) => looks = later,
            None => break,
        }
    }
    let ahead = looks.first().map_or(0, |&(_, ahead)| ahead);
    let estimate = looks.iter().filter_map(|(known, _)| known.looks()).max();
    let moves: Vec<(Pit, Played, Known)> =
        moves.iter().zip(looks).map(|(&(pit, played), (known, _))| (pit, played, known)).collect();
    // All moves that end the game: then it is proved.
    let exact = moves.iter().all(|(_, _, known)| known.value().is_some());
    let known = match estimate {
        Some(value) if exact => Known::exact(value),
        _ => Known { bounds: None, estimate },
    };
    Found { known, ahead, moves, line: None }
}
