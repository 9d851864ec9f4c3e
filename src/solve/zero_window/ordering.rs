use super::expansion::Child;
use crate::solve::depth_limited::{LIMIT, StaticSearch, next_window};
use crate::solve::evaluation::{PitEvaluation, SEED, mover_evaluation, select};
use crate::solve::packed::Word;

/// Seeds above the tables from which a depth-limited search pays before the moves are ordered.
const LEAST_ABOVE: u32 = 17;

/// So many seeds more, one turn more.
const TURN: u32 = 3;

/// The most turns of that search.
const MOST_TURNS: u32 = 8;

/// The same without tables: with an evaluation that learned nothing more turns cost more than the nodes they save
/// (docs/measurements.md).
const MOST_TURNS_UNTAUGHT: u32 = 2;

/// Where every move falls short by more than this, all will fail in whatever order: so much, and so much for each seed
/// beyond [`LEAST_ABOVE`].
const HOPELESS: (i32, i32) = (3 * SEED, SEED);

/// A first move whose evaluation exceeds what is needed by this stays the first.
const SAFE: (i32, i32) = (2 * SEED, 2 * SEED);

/// Moves worse than the best so far by this are not told apart.
const CLOSE: i32 = 4 * SEED;

/// The most nodes of the search before moves are ordered. Turns of the relay rule have dozens of moves.
const BUDGET: u32 = 100_000;

/// Gives each move its static evaluation.
#[inline]
pub(crate) fn evaluate<W: Word>(evaluation: &PitEvaluation, children: &mut [Child<W>]) {
    for child in children {
        let Child { node, again, stored, .. } = *child;
        let next = evaluation.of(node.board, node.seeds);
        child.move_score.evaluation = mover_evaluation(again, stored, node.seeds, next);
    }
}

/// Gives the moves of a position with `seeds` seeds in play, `above` the tables, in which the mover is tested to collect
/// `score`, evaluations by a depth-limited search where that pays.
///
/// High above the tables one wrong first move costs whole subtrees; near them this search costs as much as the test. Where
/// the order cannot matter, or the first move is clear, nothing is done. Returns how many nodes it visited, or might have
/// when it was interrupted.
#[inline]
pub(crate) fn refine<W: Word>(
    search: &StaticSearch<W>,
    children: &mut [Child<W>],
    seeds: u32,
    above: u32,
    score: u32,
) -> u32 {
    if above >= LEAST_ABOVE && children.len() > 1 { search_moves(search, children, seeds, above, score) } else { 0 }
}

fn search_moves<W: Word>(
    search: &StaticSearch<W>,
    children: &mut [Child<W>],
    seeds: u32,
    above: u32,
    score: u32,
) -> u32 {
    let far = above - LEAST_ABOVE;
    let margin = |(least, each): (i32, i32)| least + each * far as i32;
    let needed = SEED * score as i32;
    select(children, Child::score);
    let most = children.iter().map(|child| child.move_score.evaluation).max().unwrap_or(0);
    if most < needed - margin(HOPELESS) || children[0].move_score.evaluation >= needed + margin(SAFE) {
        return 0;
    }
    let most = if above < seeds { MOST_TURNS } else { MOST_TURNS_UNTAUGHT };
    let turns = (1 + far / TURN).min(most);
    let (mut best, mut left) = (-LIMIT, BUDGET);
    for index in 0..children.len() {
        select(&mut children[index..], Child::score);
        let child = &mut children[index];
        let Child { node, again, stored, .. } = *child;
        let (low, high) = next_window(again, stored, seeds, (best - CLOSE, LIMIT));
        let next = search.search(node.board, node.seeds, turns, (low, high), &mut left);
        child.move_score.evaluation = mover_evaluation(again, stored, node.seeds, next);
        best = best.max(child.move_score.evaluation);
    }
    BUDGET - left
}
