use std::time::{Duration, Instant};

use kalah_core::cancel::Cancel;
use kalah_core::game::{Line, Pit, Played, Position, Rules};
use kalah_play::play::{Choice, Player, PlayerName, Setting};
use kalah_play::watcher::watched;
use kalah_solve::book::Books;
use kalah_solve::solve::{
    Deepening, DepthLimitedResult, LimitedSearch, Method, SolveError, Solver, ValueBounds, deepen,
};
use kalah_tables::table::Shelf;
use parking_lot::Mutex;

use super::ApiError;

/// Maximum depth of evaluations, counted by turns or by moves.
const MAX_DEPTH: u32 = 40;

/// Budget of one depth-limited search of all moves: more than it can visit in the time for evaluations.
const SEARCH_POSITIONS: u64 = 1 << 24;

/// Maximum time for evaluations if results can be proved.
const EVALUATION_TIME: Duration = Duration::from_millis(500);

/// Evaluations take at most the time left divided by this number.
const EVALUATION_PART: u32 = 6;

/// Share of the remaining time for the value of the position. The moves get the rest.
const VALUE_SHARE: f64 = 0.6;

/// Interval at which a streaming search looks for better bounds, and at which it reports even without any.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
const REPORT_INTERVAL: Duration = Duration::from_millis(500);

/// Positions after which a solver is replaced, since it keeps the results of all its tests.
const SOLVER_POSITIONS: usize = 1 << 12;

/// Settings of searches.
#[derive(Clone, Copy)]
pub(super) struct SearchOptions {
    /// Maximum bytes of a transposition table.
    pub memory: u64,
    /// Threads of one search.
    pub threads: usize,
}

/// Proved bounds of the value of a position or move for the mover, and its evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Assessment {
    /// Proved bounds, if there are any.
    pub bounds: Option<ValueBounds>,
    /// The evaluation of a depth-limited search.
    pub evaluation: Option<i64>,
}

impl Assessment {
    /// Returns proved bounds, unless they are trivial, and an evaluation clamped to them.
    fn new(bounds: ValueBounds, plain: ValueBounds, evaluation: i64) -> Assessment {
        let evaluation = Some(evaluation.clamp(bounds.lower, bounds.upper));
        Assessment { bounds: (bounds != plain || bounds.value().is_some()).then_some(bounds), evaluation }
    }

    /// Returns a proved value.
    pub fn exact(value: i64) -> Assessment {
        Assessment { bounds: Some(ValueBounds { lower: value, upper: value }), evaluation: None }
    }

    /// Returns the value, if it is proved.
    pub fn value(self) -> Option<i64> {
        self.bounds.and_then(ValueBounds::value)
    }

    /// Returns the likely value: the proved one, otherwise the evaluation, otherwise the lower bound.
    pub fn apparent(self) -> Option<i64> {
        self.value().or(self.evaluation).or(self.bounds.map(|bounds| bounds.lower))
    }
}

/// Result of a search.
pub(super) struct Analysis {
    /// Result for the position.
    pub assessment: Assessment,
    /// Depth of the evaluations, counted by turns; by moves on boards too large for a solver, and if turns may be
    /// endless.
    pub ahead: u32,
    /// Results for the legal moves.
    pub moves: Vec<(Pit, Played, Assessment)>,
    /// Line of best play, if the value was proved and time was left.
    pub line: Option<Line>,
    /// Nodes searched by the solver.
    pub nodes: u64,
}

/// Callback for results so far.
pub(super) type Report = dyn Fn(&Analysis) + Send + Sync;

impl Analysis {
    /// Returns true if the value of the position and those of all moves are proved.
    pub fn is_proved(&self) -> bool {
        self.assessment.value().is_some() && self.moves.iter().all(|(_, _, assessment)| assessment.value().is_some())
    }
}

/// State of one searching thread, with its proved results for the last board.
pub(super) struct Searcher<'t> {
    shelf: &'t Shelf,
    books: &'t Books,
    options: SearchOptions,
    solver: Option<Solver<'t>>,
    /// Number of positions given to the solver.
    asked: usize,
    /// Last player that searches, with its rules and pits, which keeps its proved results.
    player: Option<((Rules, usize), Box<dyn Player + 't>)>,
}

impl<'t> Searcher<'t> {
    pub fn new(shelf: &'t Shelf, books: &'t Books, options: SearchOptions) -> Searcher<'t> {
        Searcher { shelf, books, options, solver: None, asked: 0, player: None }
    }

    /// The tables.
    pub fn shelf(&self) -> &'t Shelf {
        self.shelf
    }

    /// Drops all proved results.
    pub fn forget(&mut self) {
        (self.solver, self.player, self.asked) = (None, None, 0);
    }

    /// Returns the move that a player chooses. `game` makes random players differ.
    pub fn choose(
        &mut self,
        name: PlayerName,
        rules: Rules,
        position: &Position,
        game: u64,
        cancel: &Cancel,
    ) -> Result<Choice, ApiError> {
        let board = (rules, position.pits());
        if self.player.as_ref().is_none_or(|(last, player)| *last != board || player.name() != name.to_string()) {
            let setting = self.setting(rules, position.pits()).game(game);
            self.player = Some((board, name.player(&setting)));
        }
        let (_, player) = self.player.as_mut().expect("it was made");
        Ok(player.choose(position, cancel, &mut |_| ())?)
    }

    /// Searches a position above the tables and its moves, until all values are proved or `cancel` ends the search.
    /// Without a deadline, the proofs of values take a few seconds.
    pub fn analyse(&mut self, rules: Rules, position: &Position, cancel: &Cancel) -> Result<Analysis, ApiError> {
        self.analyse_and_report(rules, position, cancel, None)
    }

    /// Searches as [`Searcher::analyse`] does. Reports results at the start, when they improve, and from time to
    /// time.
    pub fn analyse_and_report(
        &mut self,
        rules: Rules,
        position: &Position,
        cancel: &Cancel,
        report: Option<&Report>,
    ) -> Result<Analysis, ApiError> {
        let moves: Vec<(Pit, Played)> =
            position.moves().filter_map(|pit| Some((pit, position.play(rules, pit).ok()?))).collect();
        match self.solver(rules, position, cancel)? {
            Some(solver) => {
                let narrowest = Mutex::new(vec![ANY; moves.len() + 1]);
                let before = solver.nodes();
                SolverSearch { solver, position, moves: &moves, cancel, narrowest, before }.run(report)
            }
            None => Ok(evaluate_by_stores(rules, &moves, cancel)),
        }
    }

    /// Makes a solver for `position`, which also solves all later positions of its games.
    pub fn prepare(&mut self, rules: Rules, position: &Position, cancel: &Cancel) -> Result<(), ApiError> {
        self.solver(rules, position, cancel).map(drop)
    }

    /// Returns a solver for `position` that `cancel` stops; `None` if the position is too large or time ran out.
    fn solver(&mut self, rules: Rules, position: &Position, cancel: &Cancel) -> Result<Option<Solver<'t>>, ApiError> {
        let (pits, seeds) = (position.pits(), position.seeds() as usize);
        self.asked += 1;
        let serves = |solver: &Solver| solver.rules() == rules && solver.pits() == pits && solver.seeds() >= seeds;
        if self.asked > SOLVER_POSITIONS || !self.solver.as_ref().is_some_and(serves) {
            // Frees its memory before allocating more.
            (self.solver, self.asked) = (None, 0);
            let options = self.setting(rules, pits).solver_options(position).cancel(cancel.clone());
            let Some(solver) = Solver::new_if_possible(options)? else { return Ok(None) };
            self.solver = Some(solver);
        }
        Ok(self.solver.as_ref().map(|solver| solver.under(cancel)))
    }

    /// Returns the setting for players and solvers of a board.
    fn setting(&self, rules: Rules, pits: usize) -> Setting<'t> {
        let SearchOptions { memory, threads } = self.options;
        let setting = Setting::new(rules).memory(memory).threads(threads).book(self.books.get(rules, pits));
        setting.tables(self.shelf.tables(rules, pits)).bounds(self.shelf.bounds(rules, pits))
    }
}

/// Returns the bounds that follow from the seeds that one move stores, without a search.
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

/// Returns the trivial bounds of a value.
const ANY: ValueBounds = ValueBounds { lower: i64::MIN, upper: i64::MAX };

/// Search by the solver.
struct SolverSearch<'s, 't> {
    /// Solver, which `cancel` stops.
    solver: Solver<'t>,
    position: &'s Position,
    moves: &'s [(Pit, Played)],
    cancel: &'s Cancel,
    /// Narrowest bounds so far of the position and its moves, since the transposition table may forget some.
    narrowest: Mutex<Vec<ValueBounds>>,
    /// Nodes of the solver before the search.
    before: u64,
}

impl SolverSearch<'_, '_> {
    fn run(&self, report: Option<&Report>) -> Result<Analysis, ApiError> {
        if let Some(report) = report {
            let (first, _) = self.evaluate(|next| self.solver.one_move_deep(next))?;
            report(&self.known(&first, 1, None)?);
        }
        let (evaluations, ahead) = self.evaluations()?;
        let prove = || self.prove(&evaluations);
        let proved = match report {
            Some(report) => self.reporting(report, &evaluations, ahead, prove),
            None => prove(),
        };
        let line = match proved {
            Ok(line) => line,
            Err(SolveError::Stopped) => None,
            Err(error) => return Err(error.into()),
        };
        Ok(self.known(&evaluations, ahead, line)?)
    }

    /// Does `work` and reports results meanwhile.
    fn reporting<T>(&self, report: &Report, evaluations: &[i64], ahead: u32, work: impl FnOnce() -> T) -> T {
        let mut reported: Option<(Instant, Vec<ValueBounds>)> = None;
        let poll = || {
            // An error here ends the search, too.
            if let Ok(analysis) = self.known(evaluations, ahead, None) {
                let narrowest = self.narrowest.lock().clone();
                let is_news = reported.as_ref().is_none_or(|(_, last)| *last != narrowest);
                if is_news || reported.as_ref().is_some_and(|(at, _)| at.elapsed() >= REPORT_INTERVAL) {
                    report(&analysis);
                    reported = Some((Instant::now(), narrowest));
                }
            }
            Some(POLL_INTERVAL)
        };
        watched(Duration::ZERO, poll, |_| (), work)
    }

    /// Adds `bounds` of the position (0) or of a move (from 1), and returns the narrowest bounds.
    fn narrowed(&self, index: usize, bounds: ValueBounds) -> ValueBounds {
        let known = &mut self.narrowest.lock()[index];
        *known = ValueBounds { lower: known.lower.max(bounds.lower), upper: known.upper.min(bounds.upper) };
        *known
    }

    /// Returns the results so far.
    fn known(&self, evaluations: &[i64], ahead: u32, line: Option<Line>) -> Result<Analysis, SolveError> {
        let whole = self.narrowed(0, self.solver.value_bounds(self.position)?);
        let rules = self.solver.rules();
        let mut moves = Vec::new();
        for (index, (&(pit, played), &evaluation)) in self.moves.iter().zip(evaluations).enumerate() {
            let next = &played.position;
            let bounds = self.solver.value_bounds(next)?.for_mover(&played);
            let mut bounds = self.narrowed(index + 1, bounds);
            // No move has a higher value than the position.
            bounds.upper = bounds.upper.min(whole.upper);
            moves.push((pit, played, Assessment::new(bounds, plain(rules, next).for_mover(&played), evaluation)));
        }
        let evaluation = moves.iter().filter_map(|(_, _, assessment)| assessment.apparent()).max();
        let assessment = Assessment::new(whole, plain(rules, self.position), evaluation.unwrap_or(whole.lower));
        let nodes = self.solver.nodes() - self.before;
        Ok(Analysis { assessment, ahead, moves, line, nodes })
    }

    /// Returns the evaluations of the moves for the mover, and their depth.
    fn evaluations(&self) -> Result<(Vec<i64>, u32), ApiError> {
        // A search to depth 1 takes no time, so there always are evaluations.
        let (mut values, exact) = self.evaluate(|next| self.solver.one_move_deep(next))?;
        let mut reached = 1;
        if exact {
            return Ok((values, reached));
        }
        let time = self.cancel.left().map_or(EVALUATION_TIME, |left| EVALUATION_TIME.min(left / EVALUATION_PART));
        let solver = self.solver.within(time);
        deepen(MAX_DEPTH, SEARCH_POSITIONS, |depth, budget| {
            let each = budget / self.moves.len().max(1) as u64;
            match self.evaluate(|next| solver.depth_limited_within(next, depth, each)) {
                Ok((later, exact)) => {
                    (values, reached) = (later, depth.number());
                    Ok(if exact { Deepening::Final } else { Deepening::Complete })
                }
                Err(SolveError::OverBudget) => Ok(Deepening::OverBudget),
                Err(SolveError::Stopped) => Ok(Deepening::Interrupted),
                Err(error) => Err(error),
            }
        })?;
        Ok((values, reached))
    }

    /// Returns the evaluations of the moves for the mover, by a `search` of the position after each, and true if all
    /// are exact.
    fn evaluate(
        &self,
        search: impl Fn(&Position) -> Result<Option<DepthLimitedResult>, SolveError>,
    ) -> Result<(Vec<i64>, bool), SolveError> {
        let (mut values, mut exact) = (Vec::new(), true);
        for (_, played) in self.moves {
            let later = search(&played.position)?;
            exact &= later.is_none_or(|later| later.exact);
            let over = || played.position.final_value().expect("there are no moves");
            values.push(played.mover_value(later.map_or_else(over, |later| later.value)));
        }
        Ok((values, exact))
    }

    /// Proves the position's value, then its moves' values, best first, and finds a line of best play for a proved
    /// value. Results stay in the transposition table.
    fn prove(&self, evaluations: &[i64]) -> Result<Option<Line>, SolveError> {
        let left = || self.cancel.left().unwrap_or(Duration::from_secs(1));
        let guess = evaluations.iter().copied().max().unwrap_or(0);
        let whole = self.solver.narrow(self.position, guess, left().mul_f64(VALUE_SHARE))?;
        let score = whole.value().map(|value| (value - self.position.value(0)) as u32 / 2);
        if let Some(score) = score {
            self.solver.best_move(self.position, score)?;
        }
        let mut moves: Vec<(&Played, i64)> =
            self.moves.iter().map(|(_, played)| played).zip(evaluations.iter().copied()).collect();
        moves.sort_by_key(|&(_, evaluation)| std::cmp::Reverse(evaluation));
        for (index, (played, evaluation)) in moves.iter().enumerate() {
            let share = left() / (moves.len() - index) as u32;
            self.solver.narrow(&played.position, played.mover_value(*evaluation), share)?;
        }
        score.map(|score| self.solver.line(self.position, score)).transpose()
    }
}

/// Evaluates the moves of a position too large for the solver by searches to depth 1, 2, ..., by the stores.
fn evaluate_by_stores(rules: Rules, moves: &[(Pit, Played)], cancel: &Cancel) -> Analysis {
    let mut deepest: Vec<(Assessment, u32)> = Vec::new();
    for depth in 0..MAX_DEPTH {
        let search = LimitedSearch::new(rules, Method::SeqAb, depth);
        // The first search takes no time, so there always are evaluations.
        let cancel = if depth > 0 { cancel.clone() } else { Cancel::new() };
        let later: Result<Vec<_>, SolveError> = moves
            .iter()
            .map(|(_, played)| match played.position.final_value() {
                Some(value) => Ok((Assessment::exact(played.mover_value(value)), depth + 1)),
                None => {
                    let later = search.run_within(&played.position, u64::MAX, &cancel)?;
                    Ok((Assessment { bounds: None, evaluation: Some(played.mover_value(later.value)) }, depth + 1))
                }
            })
            .collect();
        match later {
            Ok(later) => deepest = later,
            Err(_) => break,
        }
    }
    let ahead = deepest.first().map_or(0, |&(_, ahead)| ahead);
    let evaluation = deepest.iter().filter_map(|(assessment, _)| assessment.apparent()).max();
    let moves: Vec<(Pit, Played, Assessment)> =
        moves.iter().zip(deepest).map(|(&(pit, played), (assessment, _))| (pit, played, assessment)).collect();
    // All moves end the game, so the value is proved.
    let exact = moves.iter().all(|(_, _, assessment)| assessment.value().is_some());
    let assessment = match evaluation {
        Some(value) if exact => Assessment::exact(value),
        _ => Assessment { bounds: None, evaluation },
    };
    Analysis { assessment, ahead, moves, line: None, nodes: 0 }
}
