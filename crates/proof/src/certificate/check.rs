use kalah_core::game::{Bounds, Pit, Position, Rules};
use kalah_core::table::{TableError, Tables};
use kalah_solve::bounds::Bound;
use parking_lot::Mutex;

use super::board::{After, CheckerBoard, Variant};
use super::checker_search::{CheckerFinding, CheckerSearch};

/// Reason why a bound holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It holds for every position with this number of seeds in play, or for the finished game.
    Trivial,
    /// A table contains the position.
    Table,
    /// A claim about the position itself implies it.
    Claim,
    /// It follows in one ply from other bounds, ends of games and tables.
    OnePly,
    /// A search of at most 2^k nodes shows it.
    Search,
    /// It follows in one ply from other bounds, ends, tables and, where these do not suffice, searches of at
    /// most 2^k nodes.
    OnePlyAndSearch,
}

/// Checks whether bounds of scores follow from the rules, the tables, other bounds, and searches of limited effort.
///
/// It shares no code with the solver. Each thread has its own checker. Its functions fail if a table cannot be read.
/// They panic if a position has another number of pits, or more than 255 seeds in play.
#[derive(Debug)]
pub struct Checker<'a> {
    search: CheckerSearch<'a>,
    /// The effort k: searches visit at most 2^k nodes. With k = 0, no reason is a search.
    pub(super) effort: u32,
    /// Nodes of all searches so far.
    pub(super) nodes: u64,
}

impl<'a> Checker<'a> {
    /// The largest effort.
    pub const MAX_EFFORT: u32 = 40;

    /// A checker for boards with `pits` pits a side, whose searches visit at most 2^`effort` nodes. It uses only
    /// the tables with at most `table_seeds` seeds.
    ///
    /// `None` if no board has this many pits, the effort is above [`Checker::MAX_EFFORT`], or `tables` are for
    /// other rules or pits, or have fewer seeds.
    pub fn new(
        rules: Rules,
        pits: usize,
        tables: Option<&'a Tables>,
        table_seeds: usize,
        effort: u32,
    ) -> Option<Checker<'a>> {
        let own = tables.filter(|tables| (tables.rules(), tables.pits()) == (rules, pits));
        let is_short = table_seeds > 1 && own.and_then(Tables::max_seeds) < Some(table_seeds);
        if effort > Checker::MAX_EFFORT || is_short {
            return None;
        }
        let search = CheckerSearch::new(Variant::new(rules, pits)?, tables, table_seeds, effort);
        Some(Checker { search, effort, nodes: 0 })
    }

    /// The moves of a position, from the pit next to the store to the first; none if the game is over.
    fn moves(&self, position: &Position) -> impl Iterator<Item = (usize, After)> + use<> {
        let (board, variant, is_over) = (self.board(position), self.search.variant, position.is_over());
        board.moves(&variant).filter(move |_| !is_over).map(move |pit| (pit, board.after(&variant, pit)))
    }

    /// The positions after again-moves, without stores.
    pub(super) fn again_moves(&self, position: &Position) -> Vec<Position> {
        let after = self.moves(position).filter(|(_, after)| after.again);
        after.map(|(_, after)| after.board.position(position.pits())).collect()
    }

    /// The positions whose bounds [`Checker::reason`] may ask for: those after the moves of a position, if neither the
    /// rules nor the tables decide their scores.
    pub(super) fn asked(&self, position: &Position) -> impl Iterator<Item = Position> {
        let (seeds, pits) = (position.seeds(), position.pits());
        let moves = self.moves(position).filter(move |_| !self.search.is_in_tables(seeds));
        let open =
            moves.filter(move |(_, after)| after.end.is_none() && !self.search.is_in_tables(seeds - after.stored));
        open.map(move |(_, after)| after.board.position(pits))
    }

    /// The exact score of a position, if the game is over or a table contains it.
    pub fn exact(&self, position: &Position) -> Result<Option<u32>, TableError> {
        if position.is_over() {
            return Ok(Some(position.mover().total()));
        }
        self.search.table_score(&self.board(position), position.seeds())
    }

    /// Tests by a search of at most 2^k nodes whether the score of `position` is at least `score`, from rules and
    /// tables alone.
    pub fn reaches(&mut self, position: &Position, score: u32) -> Result<CheckerFinding, TableError> {
        if position.is_over() {
            return Ok(CheckerFinding { reached: Some(position.mover().total() >= score), nodes: 0 });
        }
        let board = self.board(position);
        let finding = self.search.reaches(&board, position.seeds(), score)?;
        self.nodes += finding.nodes;
        Ok(finding)
    }

    /// Returns true if a search of at most 2^k nodes shows `bound` of `position`.
    pub fn searches(&mut self, position: &Position, bound: Bound) -> Result<bool, TableError> {
        Ok(match bound {
            Bound::AtLeast(score) => self.reaches(position, score)?.reached == Some(true),
            Bound::AtMost(score) => self.reaches(position, score.saturating_add(1))?.reached == Some(false),
        })
    }

    /// Bounds of the score of a position that follow in one ply from ends of games, tables, and the bounds
    /// `known`. The callback gets positions with empty stores that are not over, never the position itself.
    pub fn one_ply(
        &self,
        position: &Position,
        known: &impl Fn(&Position) -> Option<Bounds>,
    ) -> Result<Bounds, TableError> {
        if let Some(exact) = self.exact(position)? {
            return Ok(Bounds { lower: exact, upper: exact });
        }
        let mut best = Bounds { lower: 0, upper: 0 };
        for (_, after) in self.moves(position) {
            let (bounds, _) = self.move_bounds(&after, position.seeds(), known)?;
            best = Bounds { lower: best.lower.max(bounds.lower), upper: best.upper.max(bounds.upper) };
        }
        Ok(best)
    }

    /// The moves of a position, from the pit next to the store to the first, with bounds of the mover's score by each.
    /// They follow from ends of games, tables, and the bounds `known`, as for [`Checker::one_ply`].
    pub(super) fn each_move(
        &self,
        position: &Position,
        known: &impl Fn(&Position) -> Option<Bounds>,
    ) -> Result<Vec<(Pit, Bounds)>, TableError> {
        let bounds = |(pit, after)| {
            let (bounds, _) = self.move_bounds(&after, position.seeds(), known)?;
            Ok((Pit::from_index(pit).expect("a pit of the board"), bounds))
        };
        self.moves(position).map(bounds).collect()
    }

    /// Bounds of the mover's score by a move, with `seeds` seeds in play before it. The position after the move
    /// is returned too unless its score is exact.
    fn move_bounds(
        &self,
        after: &After,
        seeds: u32,
        known: &impl Fn(&Position) -> Option<Bounds>,
    ) -> Result<(Bounds, Option<Position>), TableError> {
        if let Some(end) = after.end {
            return Ok((Bounds { lower: end, upper: end }, None));
        }
        let left = seeds - after.stored;
        let (next, position) = match self.search.table_score(&after.board, left)? {
            Some(exact) => (Bounds { lower: exact, upper: exact }, None),
            None => {
                let position = after.board.position(self.search.variant.pits);
                let known = known(&position).unwrap_or(Bounds { lower: 0, upper: left });
                (Bounds { lower: known.lower.min(left), upper: known.upper.min(left) }, Some(position))
            }
        };
        Ok((next.after(after.again, after.stored, seeds), position))
    }

    /// Reason why `bound` of `position` holds. `None` if the rules, the tables, the bounds `known` of the
    /// positions after its moves, and searches of at most 2^k nodes do not show it. With effort 0, it searches
    /// nothing.
    pub fn reason(
        &mut self,
        position: &Position,
        bound: Bound,
        known: &impl Fn(&Position) -> Option<Bounds>,
    ) -> Result<Option<Reason>, TableError> {
        let seeds = position.seeds();
        if bound.is_trivial(seeds) {
            return Ok(Some(Reason::Trivial));
        }
        if let Some(exact) = self.exact(position)? {
            let reason = if position.is_over() { Reason::Trivial } else { Reason::Table };
            return Ok(bound.is_implied_by(Bounds { lower: exact, upper: exact }).then_some(reason));
        }
        let open = self.children(position, bound, known)?;
        if open.as_ref().is_some_and(Vec::is_empty) {
            return Ok(Some(Reason::OnePly));
        }
        if self.effort == 0 {
            return Ok(None);
        }
        // The order of attempts affects only the time. If nothing is claimed of the positions after the moves,
        // one search from here shares its results between them.
        let moves = position.moves().count();
        let from_here_first = open.as_ref().is_none_or(|open| open.len() == moves);
        if from_here_first && self.searches(position, bound)? {
            return Ok(Some(Reason::Search));
        }
        if let Some(open) = open
            && self.all_or_one(bound, open)?
        {
            return Ok(Some(Reason::OnePlyAndSearch));
        }
        let found = !from_here_first && self.searches(position, bound)?;
        Ok(found.then_some(Reason::Search))
    }

    /// Returns true if searches show the needed bounds of the positions after the moves: all for an upper
    /// bound, one for a lower bound.
    fn all_or_one(&mut self, bound: Bound, needed: Vec<(Position, Bound)>) -> Result<bool, TableError> {
        let all = matches!(bound, Bound::AtMost(_));
        for (position, bound) in needed {
            if self.searches(&position, bound)? != all {
                return Ok(!all);
            }
        }
        Ok(all)
    }

    /// Bounds of the positions after the moves of `position` from which `bound` would follow. A lower bound
    /// needs one of them, an upper bound all. The list is empty if `bound` follows already, and `None` if it
    /// cannot hold.
    fn children(
        &self,
        position: &Position,
        bound: Bound,
        known: &impl Fn(&Position) -> Option<Bounds>,
    ) -> Result<Option<Vec<(Position, Bound)>>, TableError> {
        let (seeds, mut open) = (position.seeds(), Vec::new());
        for (_, after) in self.moves(position) {
            let (bounds, next) = self.move_bounds(&after, seeds, known)?;
            let needed = next.map(|next| (next, bound_after(bound, after.again, after.stored, seeds)));
            match bound {
                Bound::AtLeast(score) if bounds.lower >= score => return Ok(Some(Vec::new())),
                Bound::AtLeast(score) if bounds.upper >= score => open.extend(needed),
                Bound::AtLeast(_) => {}
                Bound::AtMost(score) if bounds.upper <= score => {}
                Bound::AtMost(score) if bounds.lower > score => return Ok(None),
                Bound::AtMost(_) => open.extend(needed),
            }
        }
        Ok(if open.is_empty() && matches!(bound, Bound::AtLeast(_)) { None } else { Some(open) })
    }

    /// The board of a position.
    fn board(&self, position: &Position) -> CheckerBoard {
        assert_eq!(position.pits(), self.search.variant.pits, "{position} is on another board");
        CheckerBoard::new(position).expect("at most 255 seeds in play")
    }
}

/// The bound of the next position's score that a bound of the mover's score requires, after a move that stores
/// `stored` of `seeds` seeds.
fn bound_after(bound: Bound, again: bool, stored: u32, seeds: u32) -> Bound {
    match (bound, again) {
        (Bound::AtLeast(score), true) => Bound::AtLeast(score.saturating_sub(stored)),
        (Bound::AtMost(score), true) => Bound::AtMost(score.saturating_sub(stored)),
        // The mover collects the seeds that the other player does not.
        (Bound::AtLeast(score), false) => Bound::AtMost(seeds.saturating_sub(score)),
        (Bound::AtMost(score), false) => Bound::AtLeast(seeds.saturating_sub(score)),
    }
}

/// Checkers for the threads of a process, all alike.
#[derive(Debug)]
pub(crate) struct Checkers<'a> {
    rules: Rules,
    pits: usize,
    tables: Option<&'a Tables>,
    table_seeds: usize,
    effort: u32,
    idle: Mutex<Vec<Checker<'a>>>,
}

impl<'a> Checkers<'a> {
    /// As [`Checker::new`], which must make a checker.
    pub(crate) fn new(
        rules: Rules,
        pits: usize,
        tables: Option<&'a Tables>,
        table_seeds: usize,
        effort: u32,
    ) -> Checkers<'a> {
        Checkers { rules, pits, tables, table_seeds, effort, idle: Mutex::default() }
    }

    /// Calls `work` with a checker for this thread alone.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Checker<'a>) -> T) -> T {
        let idle = self.idle.lock().pop();
        let mut checker = idle.unwrap_or_else(|| {
            let Checkers { rules, pits, tables, table_seeds, effort, .. } = *self;
            Checker::new(rules, pits, tables, table_seeds, effort).expect("the tables are for this board")
        });
        let done = work(&mut checker);
        self.idle.lock().push(checker);
        done
    }
}
