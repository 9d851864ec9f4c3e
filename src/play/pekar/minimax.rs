use super::super::{Choice, Limit, PlayError, Player, PlayerName, Source, Worth};
use super::heuristic::last_seed_to_kalaha;
use super::side::Side;
use crate::game::{Position, Rules};

/// Positions between two looks at the clock.
const ASK_EVERY: u64 = 1 << 8;

/// The weight of the stores in the evaluation (4).
const STORES: i64 = 10;

/// The weight of an empty pit next to the store in the evaluation (4).
const NEAREST_EMPTY: i64 = 5;

/// Algorithms 2 and 3 (Pekař et al. 2020, section 5): alpha-beta some turns ahead with the evaluation (4).
///
/// Depth counts turns: moves that move again stay at their depth. Pits are tried from the one next to the store on, and of
/// equal moves the first is played. Where there is a time limit it looks 1, 2, ... turns ahead.
pub(in super::super) struct Minimax {
    name: PlayerName,
    rules: Rules,
    /// MaxDepth, in turns.
    depth: u32,
    /// Whether safe moves are played without a search, which makes it Algorithm 3.
    modified: bool,
}

impl Minimax {
    pub fn new(name: PlayerName, rules: Rules, depth: u32, modified: bool) -> Minimax {
        Minimax { name, rules, depth, modified }
    }

    fn look(&self, position: &Position, depth: u32, limit: &Limit) -> Option<Choice> {
        let Minimax { rules, modified, .. } = *self;
        let start = i64::from(position.mover_store()) - i64::from(position.other_store());
        let mut search = Search { rules, modified, depth, start, limit, positions: 0, over: false };
        let (number, value) = search.best(position)?;
        let worth = value.map_or(Worth::Unknown, Worth::Estimate);
        let source = if value.is_some() { Source::Depth(depth) } else { Source::Rule("a safe move") };
        (!search.over).then(|| Choice { pit: Side::of(position).pit(number), worth, source })
    }
}

impl Player for Minimax {
    fn name(&self) -> String {
        self.name.to_string()
    }

    fn choose(
        &mut self,
        position: &Position,
        limit: &Limit,
        tell: &mut dyn FnMut(&Choice),
    ) -> Result<Choice, PlayError> {
        // One turn ahead takes no time, so there always is a move.
        let near = |player: &Self| player.look(position, 1, &Limit::none()).ok_or(PlayError::GameOver);
        if limit.left().is_none() {
            return self.look(position, self.depth, limit).map_or_else(|| near(self), Ok);
        }
        let mut choice = near(self)?;
        for depth in 2..=self.depth {
            tell(&choice);
            match self.look(position, depth, limit) {
                Some(deeper) => choice = deeper,
                None => break,
            }
        }
        Ok(choice)
    }
}

/// A search for the player who is to move at its root: the Player of the paper, the other one is the Opponent.
struct Search<'l> {
    rules: Rules,
    modified: bool,
    depth: u32,
    /// The difference of the stores at the root.
    start: i64,
    limit: &'l Limit,
    positions: u64,
    over: bool,
}

/// A position of the search.
#[derive(Clone, Copy)]
struct Node {
    position: Position,
    /// Whether the player at the root is to move.
    own: bool,
    /// Turns since the root.
    depth: u32,
    /// Moves that moved again, of the player at the root.
    repeated: i64,
}

impl Search<'_> {
    /// The number of the best pit and what it leads to; nothing is weighed where a safe move is at hand.
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
        let root = Node { position: *position, own: true, depth: 0, repeated: 0 };
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
            depth: node.depth + u32::from(!played.again),
            repeated: node.repeated + i64::from(node.own && played.again),
        }
    }

    /// What `node` is worth to the player at the root, by alpha-beta (fail-soft).
    fn value(&mut self, node: &Node, mut alpha: i64, mut beta: i64) -> i64 {
        self.positions += 1;
        self.over |= self.positions.is_multiple_of(ASK_EVERY) && self.limit.is_over();
        if node.depth == self.depth || node.position.is_over() || self.over {
            return self.evaluate(node);
        }
        let side = Side::of(&node.position);
        if self.modified {
            if let Some(number) = last_seed_to_kalaha(side) {
                return self.value(&self.after(node, number), alpha, beta);
            }
            if let Some(number) = last_seed_to_target_simple(side) {
                // The paper searches no further after a capture.
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

    /// The evaluation (4), for the player at the root. Once the game is over, the seeds left count as stored.
    fn evaluate(&self, node: &Node) -> i64 {
        let end = if node.own { node.position } else { node.position.turned() };
        let stores = i64::from(end.mover_store()) - i64::from(end.other_store());
        let stores = end.final_value().unwrap_or(stores);
        let nearest_empty = i64::from(Side::of(&end).seeds(1) == 0);
        STORES * (stores - self.start) + node.repeated + NEAREST_EMPTY * nearest_empty
    }
}

/// LastSeedToTargetSimple: a sowing straight into an empty pit with seeds opposite, the one next to the store excepted; the
/// target farthest from the store wins, sown from the pit nearest to it.
fn last_seed_to_target_simple(side: Side) -> Option<usize> {
    let target = (2..=side.pits()).rev().filter(|&target| side.opposite(target) > 0);
    target.filter_map(|target| (target + 1..=side.pits()).find(|&from| side.ends_directly_in(from, target))).next()
}
