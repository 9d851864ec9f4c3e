use std::time::Duration;

use kalah_core::cancel::Cancel;
use kalah_core::game::Position;
use kalah_core::table::ProbeError;
use kalah_solve::solve::{Deepening, Depth, DepthLimitedResult, Method, SolveError, Solver, deepen};

use super::depth_limited::DepthLimited;
use super::{Choice, PlayError, Player, PlayerName, Setting, Source, Worth};

/// Maximum time for iterative deepening, which gives the solver its first guess.
const DEEPENING_TIME: Duration = Duration::from_millis(500);

/// Deepening takes at most the time left divided by this number.
const DEEPENING_PART: u32 = 4;

/// Maximum number of turns of deepening.
const MAX_TURNS: u32 = 40;

/// Maximum nodes of one search of deepening: more than it can visit in its time.
const DEEPENING_BUDGET: u64 = 1 << 24;

/// Depth in moves on boards that are too large for the solver, without a time limit.
const PLAIN_DEPTH: u32 = 8;

/// Plays a best move if the tables or the book have its score, or the solver proves it in time. Among several
/// best moves, the one nearest the store is chosen by the tables and the book, and the one proved first by the
/// solver.
///
/// If the book only proves a lower bound of the score, a move that keeps it is found first, so that it is never
/// given away.
///
/// If it is stopped before the solver is done, it plays the move with the best proved lower bound if a test
/// gave one. Otherwise it plays the best move of the deepest depth-limited search. The choice states which.
pub(super) struct Perfect<'t> {
    setting: Setting<'t>,
    /// Kept between moves for its proved bounds.
    solver: Option<Solver<'t>>,
    /// Position of an unfinished choice, with its best evaluation and the guess of its value.
    begun: Option<(Position, Choice, i64)>,
}

impl<'t> Perfect<'t> {
    /// A perfect player; with a `solver`, its proved results are shared.
    pub(super) fn new(setting: Setting<'t>, solver: Option<Solver<'t>>) -> Perfect<'t> {
        Perfect { setting, solver, begun: None }
    }

    /// A move that needs no search.
    fn at_once(&self, position: &Position) -> Result<Option<Choice>, PlayError> {
        let first = position.moves().next().ok_or(PlayError::GameOver)?;
        let only = || {
            let choice = Choice { pit: first, worth: Worth::Unknown, source: Source::OnlyMove };
            (position.moves().count() == 1).then_some(choice)
        };
        if let Some(choice) = self.probe(position)? {
            return Ok(Some(choice));
        }
        Ok(self.recall(position)?.or_else(only))
    }

    /// A move on a board that is too large for the solver.
    fn without_solver(&self, cancel: &Cancel) -> DepthLimited {
        let depth = if cancel.left().is_some() { MAX_TURNS } else { PLAIN_DEPTH };
        DepthLimited::new(PlayerName::AlphaBeta(depth), self.setting.rules, Method::SeqAb, depth)
    }

    /// A best move by the tables, if they have the position.
    fn probe(&self, position: &Position) -> Result<Option<Choice>, PlayError> {
        let Some(tables) = self.setting.tables else { return Ok(None) };
        let moves = ProbeError::unless_above(tables.move_scores(position))?.unwrap_or_default();
        let best = moves.into_iter().max_by_key(|&(_, score)| score);
        let choice = |(pit, score)| Choice { pit, worth: Worth::Exact(position.value(score)), source: Source::Tables };
        Ok(best.map(choice))
    }

    /// A best move by the book, if it has one.
    fn recall(&self, position: &Position) -> Result<Option<Choice>, PlayError> {
        let Setting { tables, book, .. } = self.setting;
        let Some(book) = book.filter(|book| book.pits() == position.pits()) else { return Ok(None) };
        let recalled = book.recall(position, tables.filter(|tables| tables.pits() == position.pits()))?;
        if !recalled.from_book {
            return Ok(None);
        }
        let choice = |(score, pit)| Choice { pit, worth: Worth::Exact(position.value(score)), source: Source::Book };
        Ok(recalled.score().zip(recalled.best().last()).map(choice))
    }

    /// A solver for `position` that `cancel` ends; `None` if the position is too large for one, or the time ran
    /// out.
    fn solver(&mut self, position: &Position, cancel: &Cancel) -> Result<Option<Solver<'t>>, PlayError> {
        let (pits, seeds) = (position.pits(), position.seeds() as usize);
        if self.solver.as_ref().is_none_or(|solver| solver.pits() != pits || solver.seeds() < seeds) {
            let options = self.setting.solver_options(position).cancel(cancel.clone());
            let Some(solver) = Solver::new_if_possible(options)? else { return Ok(None) };
            self.solver = Some(solver);
        }
        Ok(self.solver.as_ref().map(|solver| solver.under(cancel)))
    }

    /// Chooses a move. After a `slice` of time it is `None` if nothing is proved, and the next call goes on: the
    /// transposition table keeps what was proved.
    fn think(
        &mut self,
        slice: Option<Duration>,
        position: &Position,
        cancel: &Cancel,
        report: &mut dyn FnMut(&Choice),
    ) -> Result<Option<Choice>, PlayError> {
        let begun = self.begun.take().filter(|(begun, ..)| begun == position);
        if begun.is_none()
            && let Some(choice) = self.at_once(position)?
        {
            return Ok(Some(choice));
        }
        let Some(solver) = self.solver(position, cancel)? else {
            return self.without_solver(cancel).choose(position, cancel, report).map(Some);
        };
        let mut thinking = Thinking { solver, position, cancel };
        let (evaluated, guess) = match begun {
            Some((_, evaluated, guess)) => (evaluated, guess),
            None => thinking.evaluated()?,
        };
        if matches!(evaluated.worth, Worth::Exact(_)) {
            return Ok(Some(evaluated));
        }
        report(&evaluated);
        if let Some(slice) = slice {
            thinking.solver = thinking.solver.within(slice);
        }
        match thinking.prove(guess, report) {
            Ok(choice) => Ok(Some(choice)),
            Err(SolveError::Stopped) if slice.is_some() && !cancel.is_cancelled() => {
                self.begun = Some((*position, evaluated, guess));
                Ok(None)
            }
            Err(SolveError::Stopped) => Ok(Some(thinking.proved()?.unwrap_or(evaluated))),
            Err(error) => Err(error.into()),
        }
    }
}

impl Player for Perfect<'_> {
    fn name(&self) -> String {
        PlayerName::Perfect.to_string()
    }

    fn prepare(&mut self, start: &Position, cancel: &Cancel) -> Result<(), PlayError> {
        let reach = self.setting.tables.and_then(|tables| tables.max_seeds()).unwrap_or(0);
        if start.seeds() as usize > reach {
            self.solver(start, cancel)?;
        }
        Ok(())
    }

    fn choose(
        &mut self,
        position: &Position,
        cancel: &Cancel,
        report: &mut dyn FnMut(&Choice),
    ) -> Result<Choice, PlayError> {
        Ok(self.think(None, position, cancel, report)?.expect("only a slice ends without a choice"))
    }

    fn choose_for(
        &mut self,
        slice: Duration,
        position: &Position,
        cancel: &Cancel,
    ) -> Result<Option<Choice>, PlayError> {
        self.think(Some(slice), position, cancel, &mut |_| ())
    }
}

/// One position above the tables, with the token that ends its search.
struct Thinking<'p, 't> {
    /// Its searches end with `cancel`.
    solver: Solver<'t>,
    position: &'p Position,
    cancel: &'p Cancel,
}

impl Thinking<'_, '_> {
    /// The best move of the deepest search, and a first guess of the value.
    fn evaluated(&self) -> Result<(Choice, i64), SolveError> {
        let (deepest, guess) = self.deepest()?;
        let (worth, source) = if deepest.exact {
            (Worth::Exact(deepest.value), Source::Solver)
        } else {
            (Worth::Evaluation(deepest.value), Source::Depth(deepest.depth.number()))
        };
        Ok((Choice { pit: deepest.best, worth, source }, guess))
    }

    /// The deepest search within the time, and a first guess of the value for the solver.
    fn deepest(&self) -> Result<(DepthLimitedResult, i64), SolveError> {
        // A depth of one move takes no time, so there is always a move.
        let mut deepest = self.solver.one_move_deep(self.position)?.expect("a game that is not over has moves");
        // Evaluations favour the player who moved last, so the mean of two depths is a better guess than
        // either.
        let mut guess = deepest.value;
        let time = self.cancel.left().map_or(DEEPENING_TIME, |left| DEEPENING_TIME.min(left / DEEPENING_PART));
        let solver = self.solver.within(time);
        if deepest.exact {
            return Ok((deepest, guess));
        }
        deepen(MAX_TURNS, DEEPENING_BUDGET, |depth, budget| {
            match solver.depth_limited_within(self.position, depth, budget) {
                Ok(Some(deeper)) => {
                    let first = depth == Depth::Turns(1);
                    guess = if first { deeper.value } else { (deepest.value + deeper.value) / 2 };
                    deepest = deeper;
                    Ok(if deepest.exact { Deepening::Final } else { Deepening::Complete })
                }
                Ok(None) => Ok(Deepening::Final),
                Err(SolveError::OverBudget) => Ok(Deepening::OverBudget),
                Err(SolveError::Stopped) => Ok(Deepening::Interrupted),
                Err(error) => Err(error),
            }
        })?;
        Ok((deepest, guess))
    }

    /// Finds a move that keeps the known lower bound, which comes from the book or from earlier moves.
    fn keep(&self, report: &mut dyn FnMut(&Choice)) -> Result<(), SolveError> {
        let known = self.solver.known(self.position)?;
        if known.lower > 0
            && self.solver.move_collecting(self.position, known.lower)?.is_some()
            && let Some(choice) = self.proved()?
        {
            report(&choice);
        }
        Ok(())
    }

    /// Finds a proved best move; reports bounds on the way.
    fn prove(&self, guess: i64, report: &mut dyn FnMut(&Choice)) -> Result<Choice, SolveError> {
        self.keep(report)?;
        let mut proved = || {
            if let Some(choice) = self.proved()? {
                report(&choice);
            }
            Ok(())
        };
        let (score, value) = self.solver.value_with_progress(self.position, guess, &mut proved)?;
        let pit = self.solver.best_move(self.position, score)?.expect("a game that is not over has moves");
        Ok(Choice { pit, worth: Worth::Exact(value), source: Source::Solver })
    }

    /// The move with the best lower bound that is proved without a further search. `None` if no test gave such
    /// a bound, or the move that reaches it is forgotten.
    fn proved(&self) -> Result<Option<Choice>, SolveError> {
        let known = self.solver.known(self.position)?;
        let mut best = None;
        for pit in self.position.moves() {
            let played = self.position.play(self.solver.rules(), pit).expect("a legal move");
            let collects = self.solver.known(&played.position)?.for_mover(&played, self.position).lower;
            best = best.max(Some((collects, pit)));
        }
        let value = |score| self.position.value(score);
        // Seeds that every move stores are a trivial bound: a test must have proved something.
        let proved = best.filter(|&(collects, _)| known.lower > 0 && collects >= known.lower);
        Ok(proved.map(|(collects, pit)| {
            let worth = if collects >= known.upper {
                Worth::Exact(value(collects))
            } else {
                Worth::Bounds { lower: value(collects), upper: value(known.upper) }
            };
            Choice { pit, worth, source: Source::Bound }
        }))
    }
}
