use std::future;
use std::task::Poll;
use std::time::Duration;

use kalah_core::cancel::{Cancel, Instant};
use kalah_core::game::{Line, Pit, Played, Position, Rules, ValueBounds};
use kalah_solve::solve::{Deepening, DepthLimitedResult, DepthSchedule, LimitedSearch, Method, SolveError, Solver};

use super::ApiError;
use super::answer::{Analysis, PositionAnswer, Value};
use super::fields::position_of;

/// Maximum depth of evaluations, counted by turns or by moves.
const MAX_DEPTH: u32 = 40;

/// Budget of one depth-limited search of all moves: more than it can visit in the time for evaluations.
const SEARCH_POSITIONS: u64 = 1 << 26;

/// Time of the first round, which later rounds double, and their maximum.
const FIRST_ROUND: Duration = Duration::from_millis(400);
const LONGEST_ROUND: Duration = Duration::from_secs(24);

/// Shares of a round for evaluations and for the value of the position. The values of the moves get the rest.
const EVALUATION_SHARE: f64 = 1.0 / 6.0;
const VALUE_SHARE: f64 = 0.5;

/// Maximum time of evaluations in a round, and of one evaluation, which is a slice.
const LONGEST_EVALUATION: Duration = Duration::from_secs(1);

/// Maximum time of a proof's slice. Continuing a proof costs nothing, since the transposition table keeps its results.
const SLICE: Duration = Duration::from_millis(100);

/// Minimum interval of reports.
const REPORT_INTERVAL: Duration = Duration::from_millis(250);

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

/// Search for the values of a position and its moves, in rounds of growing length. Each round evaluates the moves to
/// greater depth, then goes on proving their values.
#[derive(Debug)]
pub(crate) struct Analyser<'t> {
    /// Solver, which `cancel` stops.
    solver: Solver<'t>,
    position: Position,
    moves: Vec<(Pit, Played)>,
    cancel: Cancel,
    /// Narrowest bounds so far of the position and its moves, since the transposition table may forget some.
    narrowest: Vec<ValueBounds>,
    /// Evaluations of the moves for the mover, and their depth.
    evaluations: Vec<i64>,
    depth: u32,
    schedule: DepthSchedule,
    line: Option<Line>,
    /// Nodes of the solver before the search.
    before: u64,
    /// Moment of the last report.
    reported: Option<Instant>,
}

/// Receiver of results so far.
pub(crate) type Report<'r> = dyn FnMut(&Analysis) + 'r;

/// Lets the thread do other work, between two slices of a search.
pub async fn pause() {
    let mut is_resumed = false;
    future::poll_fn(|context| {
        context.waker().wake_by_ref();
        if std::mem::replace(&mut is_resumed, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

impl Analyser<'_> {
    /// Searches `position` with a solver that `cancel` stops, in slices until all values are proved or it is stopped.
    pub(crate) async fn run(
        solver: Solver<'_>,
        position: &Position,
        moves: Vec<(Pit, Played)>,
        cancel: &Cancel,
        report: &mut Report<'_>,
    ) -> Result<Analysis, ApiError> {
        let mut search = Analyser {
            before: solver.nodes(),
            solver,
            position: *position,
            narrowest: vec![ANY; moves.len() + 1],
            moves,
            cancel: cancel.clone(),
            evaluations: Vec::new(),
            depth: 1,
            schedule: DepthSchedule::new(MAX_DEPTH, SEARCH_POSITIONS),
            line: None,
            reported: None,
        };
        search.evaluate_one_move()?;
        search.report(report)?;
        let mut round = FIRST_ROUND;
        loop {
            let time = cancel.left().map_or(round, |left| round.min(left));
            match search.round(time, report).await {
                Ok(true) | Err(SolveError::Stopped) => break,
                Ok(false) => round = LONGEST_ROUND.min(2 * round),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(search.known()?)
    }

    /// Searches for `time`. Returns true if everything is proved.
    async fn round(&mut self, time: Duration, report: &mut Report<'_>) -> Result<bool, SolveError> {
        self.cancel.check()?;
        let start = Instant::now();
        let left = || time.saturating_sub(start.elapsed());
        self.deepen(time.mul_f64(EVALUATION_SHARE).min(LONGEST_EVALUATION)).await?;
        self.report(report)?;
        let position = self.position;
        let guess = self.evaluations.iter().copied().max().unwrap_or(0);
        let whole = self.narrow(&position, guess, left().mul_f64(VALUE_SHARE), report).await?;
        let score = whole.value().map(|value| position.score(value));
        if let Some(score) = score {
            while self.solver.in_time(SLICE, |solver| solver.best_move(&position, score))?.is_none() {
                self.report(report)?;
                pause().await;
            }
        }
        let mut order: Vec<usize> = (0..self.moves.len()).collect();
        order.sort_by_key(|&index| std::cmp::Reverse(self.evaluations[index]));
        let mut all_proved = score.is_some();
        for (done, &index) in order.iter().enumerate() {
            let ((_, played), share) = (self.moves[index], left() / (order.len() - done) as u32);
            let guess = played.mover_value(self.evaluations[index]);
            let bounds = self.narrow(&played.position, guess, share, report).await?;
            all_proved &= bounds.value().is_some();
        }
        // A line of best play: in one slice, or in any number if nothing else is left to do.
        while let (Some(score), None) = (score, &self.line) {
            self.line = self.solver.in_time(SLICE, |solver| solver.line(&position, score))?;
            if !all_proved {
                break;
            }
            pause().await;
        }
        Ok(all_proved)
    }

    /// Proves as much as possible of the value of `position` in `time`, in slices.
    async fn narrow(
        &mut self,
        position: &Position,
        guess: i64,
        time: Duration,
        report: &mut Report<'_>,
    ) -> Result<ValueBounds, SolveError> {
        let start = Instant::now();
        loop {
            let left = time.saturating_sub(start.elapsed());
            let bounds = self.solver.narrow(position, guess, left.min(SLICE))?;
            self.report(report)?;
            if bounds.value().is_some() || left <= SLICE {
                return Ok(bounds);
            }
            pause().await;
        }
    }

    /// Evaluates the moves by searches of one move, which takes no time, so that there always are evaluations.
    fn evaluate_one_move(&mut self) -> Result<(), SolveError> {
        let mut exact = true;
        for (_, played) in &self.moves {
            let later = self.solver.one_move_deep(&played.position)?;
            exact &= later.is_none_or(|later| later.exact);
            self.evaluations.push(evaluation(played, later));
        }
        if exact {
            self.schedule.record(Deepening::Final);
        }
        Ok(())
    }

    /// Evaluates the moves to greater depths for `time`.
    async fn deepen(&mut self, time: Duration) -> Result<(), SolveError> {
        let solver = self.solver.within(time);
        while let Some((depth, budget)) = self.schedule.next_search() {
            let each = budget / self.moves.len().max(1) as u64;
            let (mut values, mut end) = (Vec::new(), Deepening::Final);
            for (_, played) in &self.moves {
                match solver.depth_limited_within(&played.position, depth, each) {
                    Ok(later) => {
                        if !later.is_none_or(|later| later.exact) {
                            end = Deepening::Complete;
                        }
                        values.push(evaluation(played, later));
                    }
                    Err(SolveError::OverBudget) => {
                        end = Deepening::OverBudget;
                        break;
                    }
                    // An interrupted search stays the next.
                    Err(SolveError::Stopped) => return Ok(self.cancel.check()?),
                    Err(error) => return Err(error),
                }
                pause().await;
            }
            self.schedule.record(end);
            if end != Deepening::OverBudget {
                (self.evaluations, self.depth) = (values, depth.number());
            }
        }
        self.cancel.check()?;
        Ok(())
    }

    /// Reports results, unless the last report was a moment ago.
    fn report(&mut self, report: &mut Report<'_>) -> Result<(), SolveError> {
        if self.reported.is_none_or(|moment| moment.elapsed() >= REPORT_INTERVAL) {
            report(&self.known()?);
            self.reported = Some(Instant::now());
        }
        Ok(())
    }

    /// Adds `bounds` of the position (0) or of a move (from 1), and returns the narrowest bounds.
    fn narrowed(&mut self, index: usize, bounds: ValueBounds) -> ValueBounds {
        let known = &mut self.narrowest[index];
        *known = ValueBounds { lower: known.lower.max(bounds.lower), upper: known.upper.min(bounds.upper) };
        *known
    }

    /// Returns the results so far.
    fn known(&mut self) -> Result<Analysis, SolveError> {
        let whole = self.narrowed(0, self.solver.value_bounds(&self.position)?);
        let rules = self.solver.rules();
        let mut moves = Vec::new();
        for index in 0..self.moves.len() {
            let ((pit, played), evaluation) = (self.moves[index], self.evaluations[index]);
            let next = &played.position;
            let mut bounds = self.narrowed(index + 1, self.solver.value_bounds(next)?.for_mover(&played));
            // No move has a higher value than the position.
            bounds.upper = bounds.upper.min(whole.upper);
            let value = Value::estimated(bounds, evaluation, plain(rules, next).for_mover(&played));
            moves.push((pit, value));
        }
        let evaluation = moves.iter().filter_map(|(_, value)| value.apparent()).max();
        let value = Value::estimated(whole, evaluation.unwrap_or(whole.lower), plain(rules, &self.position));
        let nodes = self.solver.nodes() - self.before;
        Ok(Analysis { value, ahead: self.depth, moves, line: self.line.clone(), nodes })
    }
}

/// Returns the evaluation of a move for the mover, from a search of the position after it.
fn evaluation(played: &Played, later: Option<DepthLimitedResult>) -> i64 {
    let over = || played.position.final_value().expect("there are no moves");
    played.mover_value(later.map_or_else(over, |later| later.value))
}

/// Evaluates a position within `time` without tables, books and solver; `None` for a text that is no position, and at
/// the end of the game.
pub fn evaluate_without_tables(rules: Rules, board: &str, time: Duration) -> Option<PositionAnswer> {
    let position = position_of(board).filter(|position| !position.is_over())?;
    let moves = position.moves().filter_map(|pit| Some((pit, position.play(rules, pit).ok()?)));
    let moves: Vec<(Pit, Played)> = moves.collect();
    let analysis = pollster::block_on(evaluate_by_stores(rules, &moves, &Cancel::new().within(time)));
    Some(PositionAnswer::searched(rules, &position, &analysis))
}

/// Evaluates the moves of a position too large for the solver by searches to depth 1, 2, ..., by the stores, in slices.
pub(crate) async fn evaluate_by_stores(rules: Rules, moves: &[(Pit, Played)], cancel: &Cancel) -> Analysis {
    let (mut deepest, mut ahead) = (Vec::new(), 0);
    'deeper: for depth in 0..MAX_DEPTH {
        let search = LimitedSearch::new(rules, Method::SeqAb, depth);
        // The first search takes no time, so there always are evaluations.
        let cancel = if depth > 0 { cancel.clone() } else { Cancel::new() };
        let mut values = Vec::new();
        for &(pit, played) in moves {
            let value = match played.position.final_value() {
                Some(value) => Value::exact(played.mover_value(value)),
                None => match search.run_within(&played.position, u64::MAX, &cancel.within(LONGEST_EVALUATION)) {
                    Ok(found) => Value::estimate(played.mover_value(found.value)),
                    Err(_) => break 'deeper,
                },
            };
            values.push((pit, value));
            pause().await;
        }
        (deepest, ahead) = (values, depth + 1);
    }
    let best = deepest.iter().filter_map(|(_, value)| value.apparent()).max();
    // All moves end the game, so the value is proved.
    let exact = deepest.iter().all(|(_, value)| value.value().is_some());
    let value = best.map(|best| if exact { Value::exact(best) } else { Value::estimate(best) });
    Analysis { value: value.unwrap_or_default(), ahead, moves: deepest, line: None, nodes: 0 }
}
