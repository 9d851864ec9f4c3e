use kalah_core::cancel::Cancel;
use kalah_core::game::{Position, Rules};
use kalah_solve::solve::{Deepening, Depth, MAX_MOVES, deepen};

use super::super::{Choice, PlayError, Player, PlayerName, Source, Worth};
use super::heuristic::{Side, last_seed_to_kalaha};

/// Positions between two readings of the clock.
const CHECK_INTERVAL: u64 = 1 << 6;

/// Maximum positions of one of the searches to depth 1, 2, ...
const STEP: u64 = 1 << 24;

/// Weight of the stores in the evaluation (4).
const STORES: i64 = 10;

/// Weight of an empty pit next to the store in the evaluation (4).
const NEAREST_EMPTY: i64 = 5;

/// Algorithms 2 and 3 (Pekař et al. 2020, section 5): alpha-beta to a number of turns with the evaluation (4).
///
/// Again-moves do not increase the depth, which counts turns. Pits are tried from the one next to the store on,
/// and the first of equal moves is played. With a time limit it searches to depth 1, 2, ... instead. These depths are
/// numbers of turns, or of moves where a turn may not end.
pub(in super::super) struct Minimax {
    name: PlayerName,
    rules: Rules,
    /// MaxDepth, a number of turns.
    depth: u32,
    /// True for Algorithm 3, which plays safe moves without a search.
    modified: bool,
}

impl Minimax {
    pub(crate) fn new(name: PlayerName, rules: Rules, depth: u32, modified: bool) -> Minimax {
        Minimax { name, rules, depth, modified }
    }

    /// Returns the choice of a search of at most `positions` positions, or the reason why it was cut short.
    fn search_to(
        &self,
        position: &Position,
        depth: Depth,
        positions: u64,
        cancel: &Cancel,
    ) -> Result<Choice, Deepening> {
        let Minimax { rules, modified, .. } = *self;
        let start = i64::from(position.mover_store()) - i64::from(position.other_store());
        let (moves, turns) = depth.limits();
        let moves = moves.min(MAX_MOVES);
        let mut search = MinimaxSearch { rules, modified, moves, turns, start, cancel, left: positions, cut: None };
        let best = search.best(position);
        if let Some(cut) = search.cut {
            return Err(cut);
        }
        let (number, value) = best.ok_or(Deepening::Final)?;
        let worth = value.map_or(Worth::Unknown, Worth::Evaluation);
        let source = if value.is_some() { Source::Depth(depth.number()) } else { Source::Rule("a safe move") };
        Ok(Choice { pit: Side::of(position).pit(number), worth, source })
    }
}

impl Player for Minimax {
    fn name(&self) -> String {
        self.name.to_string()
    }

    fn choose(
        &mut self,
        position: &Position,
        cancel: &Cancel,
        report: &mut dyn FnMut(&Choice),
    ) -> Result<Choice, PlayError> {
        if cancel.left().is_none()
            && let Ok(choice) = self.search_to(position, Depth::Turns(self.depth), u64::MAX, cancel)
        {
            return Ok(choice);
        }
        // Depth 1 takes no time, so there is always a move.
        let near = self.search_to(position, Depth::Moves(1), u64::MAX, &Cancel::new());
        let mut choice = near.map_err(|_| PlayError::GameOver)?;
        deepen(self.depth, STEP, |depth, positions| {
            report(&choice);
            Ok::<_, PlayError>(match self.search_to(position, depth, positions, cancel) {
                Ok(farther) => {
                    choice = farther;
                    Deepening::Complete
                }
                Err(cut) => cut,
            })
        })?;
        Ok(choice)
    }
}

/// A search for the player to move at its root. The paper calls this one the Player, the other one the
/// Opponent.
struct MinimaxSearch<'l> {
    rules: Rules,
    modified: bool,
    /// Its depth in moves; lines of [`MAX_MOVES`] moves end there.
    moves: u32,
    turns: u32,
    /// Difference of the stores at the root.
    start: i64,
    cancel: &'l Cancel,
    /// Positions that may still be visited.
    left: u64,
    /// Reason why the search is cut short; later results are meaningless.
    cut: Option<Deepening>,
}

/// A position of the search.
#[derive(Clone, Copy)]
struct Node {
    position: Position,
    /// True if the player at the root is to move.
    own: bool,
    /// Moves since the root.
    moves: u32,
    /// Turns since the root.
    turns: u32,
    /// Again-moves of the player at the root.
    repeated: i64,
}

impl MinimaxSearch<'_> {
    /// The number of the best pit and its value; a safe move has no value.
    fn best(&mut self, position: &Position) -> Option<(usize, Option<i64>)> {
        if position.is_over() {
            return None;
        }
        let side = Side::of(position);
        if self.modified
            && let Some(number) = last_seed_to_kalaha(side).or_else(|| last_seed_to_target_simple(side))
        {
            return Some((number, None));
        }
        let root = Node { position: *position, own: true, moves: 0, turns: 0, repeated: 0 };
        let mut best: Option<(usize, i64)> = None;
        for number in (1..=side.pits()).filter(|&number| side.seeds(number) > 0) {
            let alpha = best.map_or(-i64::MAX, |(_, value)| value);
            let value = self.value(&self.after(&root, number), alpha, i64::MAX);
            if best.is_none_or(|(_, best)| value > best) {
                best = Some((number, value));
            }
        }
        best.map(|(number, value)| (number, Some(value)))
    }

    fn after(&self, node: &Node, number: usize) -> Node {
        let pit = Side::of(&node.position).pit(number);
        let played = node.position.play(self.rules, pit).expect("a legal move");
        Node {
            position: played.position,
            own: node.own == played.again,
            moves: node.moves + 1,
            turns: node.turns + u32::from(!played.again),
            repeated: node.repeated + i64::from(node.own && played.again),
        }
    }

    /// The value of `node` for the player at the root, by alpha-beta (fail-soft).
    fn value(&mut self, node: &Node, mut alpha: i64, mut beta: i64) -> i64 {
        if self.left == 0 {
            self.cut.get_or_insert(Deepening::OverBudget);
        } else {
            self.left -= 1;
        }
        if self.left.is_multiple_of(CHECK_INTERVAL) && self.cancel.is_cancelled() {
            self.cut.get_or_insert(Deepening::Interrupted);
        }
        let is_leaf = node.turns == self.turns || node.moves == self.moves || node.position.is_over();
        if is_leaf || self.cut.is_some() {
            return self.evaluate(node);
        }
        let side = Side::of(&node.position);
        if self.modified {
            if let Some(number) = last_seed_to_kalaha(side) {
                return self.value(&self.after(node, number), alpha, beta);
            }
            if let Some(number) = last_seed_to_target_simple(side) {
                // The paper's search ends after a capture.
                return self.evaluate(&self.after(node, number));
            }
        }
        let mut best = if node.own { -i64::MAX } else { i64::MAX };
        for number in (1..=side.pits()).filter(|&number| side.seeds(number) > 0) {
            let value = self.value(&self.after(node, number), alpha, beta);
            if node.own {
                best = best.max(value);
                alpha = alpha.max(best);
            } else {
                best = best.min(value);
                beta = beta.min(best);
            }
            if beta <= alpha {
                break;
            }
        }
        best
    }

    /// The evaluation (4) for the player at the root. Once the game is over, the seeds left count as stored.
    fn evaluate(&self, node: &Node) -> i64 {
        let end = if node.own { node.position } else { node.position.turned() };
        let stores = i64::from(end.mover_store()) - i64::from(end.other_store());
        let stores = end.final_value().unwrap_or(stores);
        let nearest_empty = i64::from(Side::of(&end).seeds(1) == 0);
        STORES * (stores - self.start) + node.repeated + NEAREST_EMPTY * nearest_empty
    }
}

/// LastSeedToTargetSimple: a sowing straight into an empty pit with seeds opposite, except the pit next to the
/// store. The target farthest from the store is chosen, sown from the pit nearest to it.
fn last_seed_to_target_simple(side: Side) -> Option<usize> {
    let target = (2..=side.pits()).rev().filter(|&target| side.opposite(target) > 0);
    target.filter_map(|target| (target + 1..=side.pits()).find(|&from| side.ends_directly_in(from, target))).next()
}
