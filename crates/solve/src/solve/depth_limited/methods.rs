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

    /// Number of positions that a thread visits between two checks for a stop.
    pub const CHECK_INTERVAL: u32 = 1 << 6;

    /// Searches on the threads of the current pool.
    pub fn run(&self, position: &Position) -> LimitedResult {
        self.run_within(position, UNLIMITED, &Cancel::new()).expect("nothing ends it")
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
        let run = Run { search: self, cancel, left: AtomicU64::new(positions.min(UNLIMITED)) };
        let levels = if matches!(self.method, Method::SeqMm | Method::SeqAb) { 0 } else { self.par_depth };
        let result = run.search(position, self.depth, levels, Window::FULL, &mut 0);
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

impl Run<'_> {
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

    fn has_ended(&self) -> bool {
        self.left.load(Ordering::Relaxed) == ENDED
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

    /// Searches `depth` moves from `position`, in the upper `levels` levels in parallel. `until` counts down the
    /// thread's positions to the next check for a stop.
    fn search(
        &self,
        position: &Position,
        depth: u32,
        levels: u32,
        mut window: Window,
        until: &mut u32,
    ) -> LimitedResult {
        if *until == 0 {
            *until = LimitedSearch::CHECK_INTERVAL;
            self.take();
        }
        *until -= 1;
        if depth == 0 || position.is_over() || self.has_ended() {
            return self.leaf(position);
        }
        let LimitedSearch { rules, method, .. } = *self.search;
        let cuts = matches!(method, Method::SeqAb | Method::ParAb | Method::Ybw);
        // Moves before those that are searched in parallel.
        let first = match method {
            _ if levels == 0 => usize::MAX,
            Method::Ybw => 1,
            _ => 0,
        };
        let mut moves = position.moves().map(|pit| {
            let played = position.play(rules, pit).expect("a legal move");
            (pit, played.position, played.again)
        });
        let mut best = LimitedResult { value: -i64::MAX, best: None, nodes: 1 };
        for (pit, child, again) in moves.by_ref().take(first) {
            best.raise(pit, again, self.search(&child, depth - 1, 0, window.after(again), until));
            window.alpha = window.alpha.max(best.value);
            if cuts && window.alpha >= window.beta {
                return best;
            }
        }
        if levels > 0 {
            let others: Vec<_> = moves.collect();
            let results = on_threads(&others, |(pit, child, again)| {
                (*pit, *again, self.search(child, depth - 1, levels - 1, window.after(*again), &mut 0))
            });
            results.into_iter().for_each(|(pit, again, result)| best.raise(pit, again, result));
        }
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

/// Calls `work` with each item, on all threads of the current pool. WebAssembly has one thread.
fn on_threads<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Send + Sync) -> Vec<R> {
    #[cfg(not(target_family = "wasm"))]
    return items.par_iter().map(work).collect();
    #[cfg(target_family = "wasm")]
    items.iter().map(work).collect()
}
