use super::expansion::Child;
use crate::solve::depth_limited::{Findings, LIMIT, StaticSearch, Window};
use crate::solve::evaluation::{SEED, StaticEvaluation, mover_evaluation, select};
use crate::solve::packed::Word;

/// Seeds above the tables from which on networks evaluate moves. A test below visits a few nodes, and the seeds that
/// moves store order them almost as well.
const LEAST_FOR_NETWORK: u32 = 5;

/// Seeds above the tables from which on a depth-limited search before ordering the moves pays off.
pub(super) const LEAST_ABOVE: u32 = 14;

/// The same without tables, in seeds in play: all positions with few seeds are searched, and cost little.
const LEAST_WITHOUT_TABLES: u32 = 22;

/// Number of further seeds above the tables that makes the search one turn deeper.
const TURN: u32 = 3;

/// Maximum turns of that search.
const MOST_TURNS: u32 = 8;

/// Maximum turns without tables: more cost more than the nodes they save (docs/contributing/tried.md).
const MOST_TURNS_WITHOUT_TABLES: u32 = 2;

/// If every move falls short by more than this, all will fail in any order: a constant, and a term for each
/// seed beyond the least ones.
const HOPELESS: (i32, i32) = (6 * SEED, SEED);

/// A first move whose evaluation exceeds the required score by this much stays first.
const SAFE: (i32, i32) = (SEED, 2 * SEED);

/// Moves worse than the best so far by this much are not distinguished.
const CLOSE: i32 = 4 * SEED;

/// Maximum nodes of the search before moves are ordered. With relays, turns have dozens of moves.
const BUDGET: u32 = 100_000;

/// Gives each move of a position `above` seeds above the tables its static evaluation.
#[inline]
pub(super) fn evaluate<W: Word>(evaluation: &StaticEvaluation, children: &mut [Child<W>], above: u32) {
    for child in children {
        let Child { node, again, stored, .. } = *child;
        let next = match evaluation {
            StaticEvaluation::Network(..) if above < LEAST_FOR_NETWORK => SEED / 2 * node.seeds as i32,
            _ => evaluation.of(node.board, node.seeds),
        };
        child.move_score.evaluation = mover_evaluation(again, stored, node.seeds, next);
    }
}

/// Evaluates the moves of a position with `seeds` seeds in play, `above` seeds above the tables, by a
/// depth-limited search if that pays off. The test asks whether the mover collects `score`.
///
/// Far above the tables, a wrong first move costs whole subtrees; near them, this search costs as much as the
/// test. If the order cannot matter, or the first move is clear, nothing is done. Returns the number of nodes
/// visited; if it was interrupted, the number that it might have visited.
#[inline]
pub(crate) fn refine<W: Word>(
    search: &StaticSearch<W>,
    findings: &mut Findings,
    children: &mut [Child<W>],
    seeds: u32,
    above: u32,
    score: u32,
) -> u32 {
    let (least, most) =
        if above < seeds { (LEAST_ABOVE, MOST_TURNS) } else { (LEAST_WITHOUT_TABLES, MOST_TURNS_WITHOUT_TABLES) };
    match above.checked_sub(least) {
        Some(far) if children.len() > 1 => search_moves(search, findings, children, seeds, far, most, score),
        _ => 0,
    }
}

fn search_moves<W: Word>(
    search: &StaticSearch<W>,
    findings: &mut Findings,
    children: &mut [Child<W>],
    seeds: u32,
    far: u32,
    most_turns: u32,
    score: u32,
) -> u32 {
    let margin = |(least, each): (i32, i32)| least + each * far as i32;
    let needed = SEED * score as i32;
    select(children, Child::score);
    let most = children.iter().map(|child| child.move_score.evaluation).max().unwrap_or(0);
    if most < needed - margin(HOPELESS) || children[0].move_score.evaluation >= needed + margin(SAFE) {
        return 0;
    }
    let turns = (1 + far / TURN).min(most_turns);
    findings.left = BUDGET;
    let mut best = -LIMIT;
    for index in 0..children.len() {
        select(&mut children[index..], Child::score);
        let child = &mut children[index];
        let Child { node, again, stored, .. } = *child;
        let window = Window { low: best - CLOSE, high: LIMIT }.after(again, stored, seeds);
        let next = search.search(node.board, node.seeds, turns, window, findings);
        child.move_score.evaluation = mover_evaluation(again, stored, node.seeds, next);
        best = best.max(child.move_score.evaluation);
    }
    BUDGET - findings.left
}
