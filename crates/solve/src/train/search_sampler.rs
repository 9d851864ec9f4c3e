use kalah_core::evaluation::{PhasedNetwork, SEED};
use kalah_core::game::mover_score;
use kalah_core::index::{MAX_TABLE_PITS, TableRow};
use kalah_core::table::{TableError, Tables};

use crate::solve::{Board, Sower, Word};

/// Maximum positions taken from one search: searches differ more than the positions of one.
const TAKEN_OF_A_SEARCH: usize = 48;

/// Maximum nodes of a search.
const NODES_OF_A_SEARCH: u32 = 6_000;

/// Fewest seeds a pit at the start of a game, unless the wanted seeds in play need more.
const FEWEST_A_PIT: u32 = 3;

/// Maximum number of seeds a pit above the fewest at the start of a game.
const MORE_A_PIT: u32 = 3;

/// A position that a search visited.
#[derive(Clone, Copy)]
pub(super) struct Visited {
    pub board: Board<u64>,
    /// Seeds in play.
    pub seeds: u32,
}

impl Visited {
    /// The mover's row and the other row.
    pub(crate) fn rows(&self) -> (TableRow, TableRow) {
        (table_row(self.board.mover), table_row(self.board.other))
    }
}

fn table_row(row: u64) -> TableRow {
    const { assert!(MAX_TABLE_PITS <= u64::PITS) }
    let mut bytes = row.bytes();
    std::array::from_fn(|_| bytes.next().unwrap_or(0))
}

/// Searches positions of random games and records the positions it visits. These are like those of real
/// searches, where one side plays well and the other plays everything.
///
/// It orders moves by itself, so that a change of the solver's search does not change the samples.
pub(super) struct SearchSampler<'t> {
    tables: &'t Tables,
    sower: Sower<u64>,
    /// The evaluation that orders moves; without it, they are ordered by seeds stored alone.
    network: Option<&'t PhasedNetwork>,
    pub random: fastrand::Rng,
    /// Positions with at most this many seeds in play are not searched. Their scores are looked up or, above
    /// the tables, estimated.
    reach: u32,
    visited: Vec<Visited>,
    /// Nodes that the search may still visit.
    nodes_left: u32,
}

impl<'t> SearchSampler<'t> {
    pub(crate) fn new(tables: &'t Tables, network: Option<&'t PhasedNetwork>, seed: u64) -> SearchSampler<'t> {
        let sower = Sower::new(tables.rules(), tables.pits(), u64::SEEDS).expect("the board of tables");
        let random = fastrand::Rng::with_seed(seed);
        SearchSampler { tables, sower, network, random, reach: 0, visited: Vec::new(), nodes_left: 0 }
    }

    /// Evaluates `board`, with `seeds` seeds in play, for its mover, in sixteenths of a seed.
    pub(crate) fn evaluate(&self, board: Board<u64>, seeds: u32) -> i32 {
        match self.network {
            Some(network) => network.of(seeds).evaluate(&table_row(board.mover), &table_row(board.other), seeds),
            None => SEED / 2 * seeds as i32,
        }
    }

    /// The score nearest to the evaluation of `board`.
    fn estimate(&self, board: Board<u64>, seeds: u32) -> u32 {
        (self.evaluate(board, seeds) + SEED / 2).div_euclid(SEED).clamp(0, seeds as i32) as u32
    }

    /// The first position with at most `seeds` seeds in play of a random game. Each move is random or, with a
    /// probability that is random too, the first in the order of moves. `None` if the game ended before.
    pub(crate) fn random_start(&mut self, seeds: u32) -> Option<Visited> {
        let pits = self.tables.pits();
        let least = FEWEST_A_PIT.max((seeds + 1).div_ceil(2 * pits as u32));
        let most = (least + MORE_A_PIT).min(u64::SEEDS as u32 / (2 * pits as u32));
        let each = self.random.u32(least.min(most)..=most);
        let skill = self.random.f64();
        let row = u64::pack((0..pits).map(|_| each as u8));
        let (mut board, mut left) = (Board { mover: row, other: row }, 2 * pits as u32 * each);
        while left > seeds {
            let moves: Vec<usize> = (0..pits).filter(|&pit| board.mover.seeds_in(pit) != 0).collect();
            let pit = if self.random.f64() < skill {
                moves.into_iter().max_by_key(|&pit| self.move_score(board, left, pit))?
            } else {
                moves[self.random.usize(..moves.len())]
            };
            let sown = self.sower.sow(board, pit);
            if sown.board.is_over() {
                return None;
            }
            (board, left) = (sown.next(), left - sown.stored);
        }
        Some(Visited { board, seeds: left })
    }

    /// Move-ordering score of a move: larger ones are searched first.
    fn move_score(&self, board: Board<u64>, seeds: u32, pit: usize) -> i32 {
        let sown = self.sower.sow(board, pit);
        let stored = SEED * sown.stored as i32;
        if sown.board.is_over() {
            return stored + SEED * sown.board.mover.total() as i32;
        }
        let next = self.evaluate(sown.next(), seeds - sown.stored);
        let turn = if sown.again { 8 * SEED } else { -SEED * sown.next().mover.filled() as i32 };
        mover_score(sown.again, stored, SEED * seeds as i32, next) + 3 * stored + SEED / 2 * pit as i32 + turn
    }

    /// Searches the value of a position by zero-window tests that end at `reach` seeds. Returns some of the
    /// positions visited.
    ///
    /// # Errors
    /// If a table is damaged.
    pub(crate) fn search(&mut self, start: Visited, reach: u32) -> Result<Vec<Visited>, TableError> {
        let mut visited = self.visit(start, reach)?;
        let taken = visited.len().min(TAKEN_OF_A_SEARCH);
        for place in 0..taken {
            let other = self.random.usize(place..visited.len());
            visited.swap(place, other);
        }
        visited.truncate(taken);
        Ok(visited)
    }

    /// As `search`, but returns all positions visited.
    ///
    /// # Errors
    /// If a table is damaged.
    pub(crate) fn visit(&mut self, Visited { board, seeds }: Visited, reach: u32) -> Result<Vec<Visited>, TableError> {
        self.visited.clear();
        (self.reach, self.nodes_left) = (reach, NODES_OF_A_SEARCH);
        let (mut lower, mut upper) = (0, seeds);
        let mut guess = self.estimate(board, seeds);
        while lower < upper && self.nodes_left > 0 {
            let score = guess.clamp(lower + 1, upper);
            guess = self.test(board, seeds, score)?;
            if guess >= score { lower = guess } else { upper = guess }
        }
        Ok(std::mem::take(&mut self.visited))
    }

    /// A fail-soft test whether the mover collects `score`; meaningless once no nodes are left.
    fn test(&mut self, board: Board<u64>, seeds: u32, score: u32) -> Result<u32, TableError> {
        self.nodes_left = self.nodes_left.saturating_sub(1);
        if self.nodes_left == 0 {
            return Ok(0);
        }
        self.visited.push(Visited { board, seeds });
        if seeds <= self.reach && seeds as usize <= self.tables.max_seeds().unwrap_or(0) {
            return Ok(self.tables.score_rows(&table_row(board.mover), &table_row(board.other))?.into());
        }
        if seeds <= self.reach {
            return Ok(self.estimate(board, seeds));
        }
        let (mut best, mut moves) = (0, Vec::new());
        for pit in (0..self.tables.pits()).rev().filter(|&pit| board.mover.seeds_in(pit) != 0) {
            let sown = self.sower.sow(board, pit);
            if sown.board.is_over() {
                best = best.max(sown.stored + sown.board.mover.total());
            } else {
                best = best.max(sown.stored);
                let above = seeds - sown.stored > self.reach;
                moves.push((above, -self.move_score(board, seeds, pit), pit));
            }
        }
        moves.sort_unstable();
        for (_, _, pit) in moves {
            if best >= score || self.nodes_left == 0 {
                break;
            }
            let sown = self.sower.sow(board, pit);
            let needed = if sown.again { score - sown.stored } else { seeds + 1 - score };
            let next = self.test(sown.next(), seeds - sown.stored, needed)?;
            best = best.max(mover_score(sown.again, sown.stored, seeds, next));
        }
        Ok(best)
    }
}
