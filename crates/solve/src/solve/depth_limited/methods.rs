use std::sync::atomic::{AtomicU64, Ordering};

use kalah_core::cancel::Cancel;
use kalah_core::game::{Pit, Position, Rules, mover_value};
#[cfg(not(target_family = "wasm"))]
use rayon::prelude::*;

use crate::solve::error::SolveError;

/// Methods of depth-limited search: the five implementations that Gonai and Cendejas compare (2022, section
/// 3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// Minimax, one position after the other.
    SeqMm,
    /// Alpha-beta, one position after the other.
    SeqAb,
    /// Minimax, the moves of the upper levels in parallel.
    ParMm,
    /// Minimax in parallel in the upper levels, alpha-beta with a full window below.
    ParAb,
    /// Young Brothers Wait. In the upper levels it searches the first move by alpha-beta, then the others in
    /// parallel with the resulting bounds. Below it is alpha-beta.
    Ybw,
}

impl Method {
    /// All methods, in the order of the paper.
    pub const ALL: [Method; 5] = [Method::SeqMm, Method::ParMm, Method::SeqAb, Method::ParAb, Method::Ybw];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Method::SeqMm => "seq-mm",
            Method::SeqAb => "seq-ab",
            Method::ParMm => "par-mm",
            Method::ParAb => "par-ab",
            Method::Ybw => "ybw",
        }
    }
}

/// Evaluation of a position at which the search ends before the game does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Evaluation {
    /// The difference of the stores.
    #[default]
    Stores,
    /// The difference of the seeds that the players hold in stores and pits (the paper's own evaluation).
    Seeds,
}

/// A depth-limited search by the rules alone, without tables.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LimitedSearch {
    /// The rule set.
    pub rules: Rules,
    /// The method.
    pub method: Method,
    /// The depth in moves, again-moves included.
    pub depth: u32,
    /// Number of levels from the root that are searched in parallel.
    pub par_depth: u32,
    /// Evaluation of positions at the end of the search.
    pub evaluation: Evaluation,
}

/// The result of a depth-limited search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitedResult {
    /// The value for the mover: the final store difference of a finished game, otherwise the evaluation.
    pub value: i64,
    /// The first of the best moves; `None` if the game is over or the depth is 0.
    pub best: Option<Pit>,
    /// Positions visited. With a window and several threads the number may differ from run to run; the value
    /// never does.
    pub nodes: u64,
}

/// The window in which a value matters: from what the mover already has to what the opponent allows.
#[derive(Clone, Copy)]
struct Window {
    alpha: i64,
    beta: i64,
}

impl Window {
    const FULL: Window = Window { alpha: -i64::MAX, beta: i64::MAX };

    /// The window for the player to move after a move.
    fn after(self, again: bool) -> Window {
        if again { self } else { Window { alpha: -self.beta, beta: -self.alpha } }
    }
}

impl LimitedSearch {
    /// A sequential search of `depth` moves that evaluates by the stores.
    pub fn new(rules: Rules, method: Method, depth: u32) -> LimitedSearch {
        LimitedSearch { rules, method, depth, par_depth: 0, evaluation: Evaluation::Stores }
    }

    /// Sets the number of levels that the parallel methods search in parallel.
    #[must_use]
    pub fn with_par_depth(self, par_depth: u32) -> LimitedSearch {
        LimitedSearch { par_depth, ..self }
    }

    /// Sets the evaluation.
    #[must_use]
    pub fn with_evaluation(self, evaluation: Evaluation) -> LimitedSearch {
        LimitedSearch { evaluation, ..self }
    }

    /// Number of positions that a thread visits between two checks for a stop.
    pub const CHECK_INTERVAL: u32 = 1 << 6;

    /// Searches on the threads of the current pool.
    pub fn run(&self, position: &Position) -> LimitedResult {
        Run::new(self, u64::MAX, &Cancel::new()).start(position)
    }

    /// As [`LimitedSearch::run`], for at most about `positions` positions. The limit and `cancel` are checked
    /// at the start, and then every [`LimitedSearch::CHECK_INTERVAL`] positions of a thread.
    ///
    /// # Errors
    /// [`SolveError::OverBudget`] if there are more positions, [`SolveError::Stopped`] if `cancel` is
    /// cancelled.
    pub fn run_within(
        &self,
        position: &Position,
        positions: u64,
        cancel: &Cancel,
    ) -> Result<LimitedResult, SolveError> {
        let run = Run::new(self, positions, cancel);
        let result = run.start(position);
        if !run.has_ended() {
            return Ok(result);
        }
        Err(cancel.check().map_or_else(SolveError::from, |()| SolveError::OverBudget))
    }
}

/// A running search.
struct Run<'s> {
    search: &'s LimitedSearch,
    cancel: &'s Cancel,
    /// Positions that threads may still visit, taken several at a time. [`ENDED`] if none are left or the
    /// search was stopped; later results are meaningless then.
    left: AtomicU64,
}

/// Values of `left`: no more positions, and no limit.
const ENDED: u64 = u64::MAX;
const UNLIMITED: u64 = u64::MAX - 1;

impl<'s> Run<'s> {
    fn new(search: &'s LimitedSearch, positions: u64, cancel: &'s Cancel) -> Run<'s> {
        Run { search, cancel, left: AtomicU64::new(positions.min(UNLIMITED)) }
    }

    fn has_ended(&self) -> bool {
        self.left.load(Ordering::Relaxed) == ENDED
    }

    /// Takes some of the remaining positions.
    fn take(&self) {
        let most = u64::from(LimitedSearch::CHECK_INTERVAL);
        let take = |left| match left {
            UNLIMITED => None,
            0 | ENDED => Some(ENDED),
            left => Some(left.saturating_sub(most)),
        };
        if self.cancel.is_cancelled() {
            self.left.store(ENDED, Ordering::Relaxed);
        } else {
            // Fails only if the number is not limited.
            let _ = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        }
    }

    fn start(&self, position: &Position) -> LimitedResult {
        let LimitedSearch { depth, par_depth, .. } = *self.search;
        match self.search.method {
            Method::SeqMm => self.minimax(position, depth, &mut 0),
            Method::SeqAb => self.alpha_beta(position, depth, Window::FULL, &mut 0),
            Method::ParMm | Method::ParAb => self.parallel(position, depth, par_depth),
            Method::Ybw => self.young_brothers(position, depth, par_depth, Window::FULL),
        }
    }

    /// Returns true if `position`, with `depth` moves left to search, is a leaf. `until` counts down the
    /// thread's positions to the next check for a stop.
    fn is_leaf(&self, position: &Position, depth: u32, until: &mut u32) -> bool {
        if *until == 0 {
            *until = LimitedSearch::CHECK_INTERVAL;
            self.take();
        }
        *until -= 1;
        depth == 0 || position.is_over() || self.has_ended()
    }

    fn leaf(&self, position: &Position) -> LimitedResult {
        let value = position.final_value().unwrap_or_else(|| {
            let stores = i64::from(position.mover_store()) - i64::from(position.other_store());
            let pits = i64::from(position.mover().total()) - i64::from(position.other().total());
            match self.search.evaluation {
                Evaluation::Stores => stores,
                Evaluation::Seeds => stores + pits,
            }
        });
        LimitedResult { value, best: None, nodes: 1 }
    }

    /// The moves with the positions after them, and true if the mover moves again.
    fn children(&self, position: &Position) -> impl Iterator<Item = (Pit, Position, bool)> {
        position.moves().map(|pit| {
            let played = position.play(self.search.rules, pit).expect("a legal move");
            (pit, played.position, played.again)
        })
    }

    fn minimax(&self, position: &Position, depth: u32, until: &mut u32) -> LimitedResult {
        if self.is_leaf(position, depth, until) {
            return self.leaf(position);
        }
        let results =
            self.children(position).map(|(pit, child, again)| (pit, again, self.minimax(&child, depth - 1, until)));
        best_of(results)
    }

    fn alpha_beta(&self, position: &Position, depth: u32, mut window: Window, until: &mut u32) -> LimitedResult {
        if self.is_leaf(position, depth, until) {
            return self.leaf(position);
        }
        let mut best = LimitedResult { value: -i64::MAX, best: None, nodes: 1 };
        for (pit, child, again) in self.children(position) {
            let result = self.alpha_beta(&child, depth - 1, window.after(again), until);
            best.raise(pit, again, result);
            window.alpha = window.alpha.max(best.value);
            if window.alpha >= window.beta {
                break;
            }
        }
        best
    }

    fn parallel(&self, position: &Position, depth: u32, par_depth: u32) -> LimitedResult {
        if self.is_leaf(position, depth, &mut 0) {
            return self.leaf(position);
        }
        if par_depth == 0 {
            return match self.search.method {
                Method::ParAb => self.alpha_beta(position, depth, Window::FULL, &mut 0),
                _ => self.minimax(position, depth, &mut 0),
            };
        }
        let children: Vec<_> = self.children(position).collect();
        let results =
            on_threads(&children, |(pit, child, again)| (*pit, *again, self.parallel(child, depth - 1, par_depth - 1)));
        best_of(results.into_iter())
    }

    fn young_brothers(&self, position: &Position, depth: u32, par_depth: u32, mut window: Window) -> LimitedResult {
        if par_depth == 0 || self.is_leaf(position, depth, &mut 0) {
            return self.alpha_beta(position, depth, window, &mut 0);
        }
        let mut children = self.children(position);
        let (pit, eldest, again) = children.next().expect("a game that is not over has moves");
        let mut best = LimitedResult { value: -i64::MAX, best: None, nodes: 1 };
        best.raise(pit, again, self.alpha_beta(&eldest, depth - 1, window.after(again), &mut 0));
        window.alpha = window.alpha.max(best.value);
        if window.alpha >= window.beta {
            return best;
        }
        let brothers: Vec<_> = children.collect();
        let results = on_threads(&brothers, |(pit, child, again)| {
            (*pit, *again, self.young_brothers(child, depth - 1, par_depth - 1, window.after(*again)))
        });
        results.into_iter().for_each(|(pit, again, result)| best.raise(pit, again, result));
        best
    }
}

impl LimitedResult {
    /// Combines the result with that of one move.
    fn raise(&mut self, pit: Pit, again: bool, child: LimitedResult) {
        let value = mover_value(again, child.value);
        self.nodes += child.nodes;
        if self.best.is_none() || value > self.value {
            (self.value, self.best) = (value, Some(pit));
        }
    }
}

/// Calls `work` with each item, on all threads of the current pool.
#[cfg(not(target_family = "wasm"))]
fn on_threads<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Send + Sync) -> Vec<R> {
    items.par_iter().map(work).collect()
}

/// Calls `work` with each item: WebAssembly has one thread.
#[cfg(target_family = "wasm")]
fn on_threads<T, R>(items: &[T], work: impl Fn(&T) -> R) -> Vec<R> {
    items.iter().map(work).collect()
}

fn best_of(results: impl Iterator<Item = (Pit, bool, LimitedResult)>) -> LimitedResult {
    let mut best = LimitedResult { value: -i64::MAX, best: None, nodes: 1 };
    results.for_each(|(pit, again, result)| best.raise(pit, again, result));
    best
}
