use std::ops::RangeInclusive;

use kalah_core::evaluation::{PhasedNetwork, SEED};
use kalah_core::game::mover_score;
use kalah_core::index::{MAX_TABLE_PITS, TableRow};
use kalah_core::table::{TableError, Tables};
use kalah_solve::solve::{Board, Solver, Sower, Word};

use super::TrainError;

/// The smallest layer at which searches for samples end, unless the tables end below it.
const LEAST_REACH: u32 = 8;

/// Maximum seeds above that layer at which these searches begin.
const START_ABOVE_REACH: u32 = 10;

/// Maximum seeds above the tables at which searches above them begin.
const START_ABOVE_TABLES: u32 = 14;

/// Maximum positions above the tables that are solved from one search.
const SOLVED_OF_A_SEARCH: usize = 4;

/// Maximum positions taken from one search: searches differ more than the positions of one.
const TAKEN_OF_A_SEARCH: usize = 48;

/// Maximum nodes of a search.
const NODES_OF_A_SEARCH: u32 = 6_000;

/// Number of consecutive random games without a suitable position after which the board is given up.
const MOST_FAILED_GAMES: u32 = 10_000;

/// Seeds a pit at the start of a game: fewest, unless the wanted seeds in play need more, and maximum above these.
const SEEDS_A_PIT: (u32, u32) = (3, 3);

/// A position with its score: exact, or estimated if it is far above the tables.
#[derive(Clone, Copy)]
pub(super) struct TrainingSample {
    /// The mover's row.
    pub mover: TableRow,
    /// The other row.
    pub other: TableRow,
    /// Seeds in play.
    pub seeds: u8,
    /// The score.
    pub score: u8,
}

/// A position that a search visited.
#[derive(Clone, Copy)]
pub(super) struct Visited {
    pub board: Board<u64>,
    /// Seeds in play.
    pub seeds: u32,
}

impl Visited {
    pub(crate) fn sample(self, score: u32) -> TrainingSample {
        let (mover, other) = (table_row(self.board.mover), table_row(self.board.other));
        TrainingSample { mover, other, seeds: self.seeds as u8, score: score as u8 }
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
    pub sower: Sower<u64>,
    /// The evaluation that orders moves; without it, they are ordered by seeds stored alone.
    network: Option<&'t PhasedNetwork>,
    pub random: fastrand::Rng,
    /// Positions with at most this many seeds in play are not searched. Their scores are looked up or, above
    /// the tables, estimated.
    reach: u32,
    visited: Vec<Visited>,
    /// Nodes that the search may still visit.
    nodes_left: u32,
    /// Consecutive random games without a suitable position.
    failed_games: u32,
}

impl<'t> SearchSampler<'t> {
    pub(crate) fn new(tables: &'t Tables, network: Option<&'t PhasedNetwork>, seed: u64) -> SearchSampler<'t> {
        let sower = Sower::new(tables.rules(), tables.pits(), u64::SEEDS).expect("the board of tables");
        let (random, visited) = (fastrand::Rng::with_seed(seed), Vec::new());
        SearchSampler { tables, sower, network, random, reach: 0, visited, nodes_left: 0, failed_games: 0 }
    }

    /// The largest layer of the tables.
    fn table_seeds(&self) -> u32 {
        self.tables.max_seeds().unwrap_or(0) as u32
    }

    /// Positions within the tables that searches visit: some from every search, until there are `wanted`.
    ///
    /// The layer at which a search ends is random, so that all layers occur, the larger ones more often.
    pub(crate) fn samples_within(&mut self, wanted: usize) -> Result<Vec<TrainingSample>, TrainError> {
        let (reach, mut samples) = (self.table_seeds(), Vec::new());
        while samples.len() < wanted {
            let below = reach - LEAST_REACH.min(reach);
            let search_reach = reach - self.random.u32(0..=below).min(self.random.u32(0..=below));
            let seeds = search_reach + self.random.u32(1..=START_ABOVE_REACH);
            let Some(start) = self.next_start(0..=seeds)? else { continue };
            for visited in self.search(start, search_reach.min(start.seeds))? {
                if visited.seeds <= reach {
                    samples.push(visited.sample(self.table_score(visited.board)?));
                }
            }
        }
        samples.truncate(wanted);
        Ok(samples)
    }

    /// Positions that searches visit above the tables, solved.
    pub(crate) fn samples_above(&mut self, solver: &Solver, wanted: usize) -> Result<Vec<TrainingSample>, TrainError> {
        let (reach, mut samples) = (self.table_seeds(), Vec::new());
        while samples.len() < wanted {
            let seeds = reach + self.random.u32(1..=START_ABOVE_TABLES);
            let Some(start) = self.next_start(reach + 1..=seeds)? else { continue };
            let visited = self.search(start, reach)?;
            for visited in visited.into_iter().filter(|visited| visited.seeds > reach).take(SOLVED_OF_A_SEARCH) {
                let guess = self.evaluate(visited.board, visited.seeds).div_euclid(SEED);
                let guess = guess.clamp(0, visited.seeds as i32) as u32;
                let position = visited.board.position(self.tables.pits()).expect("the board of tables");
                samples.push(visited.sample(solver.score(&position, guess)?));
            }
        }
        samples.truncate(wanted);
        Ok(samples)
    }

    /// A position with these seeds in play from the next random game; `None` if that has no such position.
    ///
    /// # Errors
    /// [`TrainError::Board`] after many games without one.
    pub(crate) fn next_start(&mut self, seeds: RangeInclusive<u32>) -> Result<Option<Visited>, TrainError> {
        let start = self.random_start(*seeds.end()).filter(|start| seeds.contains(&start.seeds));
        self.failed_games = if start.is_some() { 0 } else { self.failed_games + 1 };
        let pits = self.tables.pits();
        if self.failed_games > MOST_FAILED_GAMES { Err(TrainError::Board { pits }) } else { Ok(start) }
    }

    /// Evaluates `board`, with `seeds` seeds in play, for its mover, in sixteenths of a seed.
    fn evaluate(&self, board: Board<u64>, seeds: u32) -> i32 {
        match self.network {
            Some(network) => network.of(seeds).evaluate(&table_row(board.mover), &table_row(board.other), seeds),
            None => SEED / 2 * seeds as i32,
        }
    }

    /// The score nearest to the evaluation of `board`.
    fn estimate(&self, board: Board<u64>, seeds: u32) -> u32 {
        (self.evaluate(board, seeds) + SEED / 2).div_euclid(SEED).clamp(0, seeds as i32) as u32
    }

    fn table_score(&self, board: Board<u64>) -> Result<u32, TableError> {
        Ok(self.tables.score_rows(&table_row(board.mover), &table_row(board.other))?.into())
    }

    /// A random move of `board`.
    pub(crate) fn random_move(&mut self, board: Board<u64>) -> usize {
        let moves: Vec<usize> = self.moves(board).collect();
        moves[self.random.usize(..moves.len())]
    }

    /// The pits that can be played.
    fn moves(&self, board: Board<u64>) -> impl DoubleEndedIterator<Item = usize> + use<> {
        (0..self.tables.pits()).filter(move |&pit| board.mover.seeds_in(pit) != 0)
    }

    /// The first position with at most `seeds` seeds in play of a random game. Each move is random or, with a
    /// probability that is random too, the first in the order of moves. `None` if the game ended before.
    fn random_start(&mut self, seeds: u32) -> Option<Visited> {
        let pits = self.tables.pits();
        let least = SEEDS_A_PIT.0.max((seeds + 1).div_ceil(2 * pits as u32));
        let most = (least + SEEDS_A_PIT.1).min(u64::SEEDS as u32 / (2 * pits as u32));
        let each = self.random.u32(least.min(most)..=most);
        let skill = self.random.f64();
        let row = u64::pack((0..pits).map(|_| each as u8));
        let (mut board, mut left) = (Board { mover: row, other: row }, 2 * pits as u32 * each);
        while left > seeds {
            let pit = if self.random.f64() < skill {
                self.moves(board).max_by_key(|&pit| self.move_score(board, left, pit))?
            } else {
                self.random_move(board)
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

    /// Some of the positions that [`SearchSampler::visit`] visits.
    fn search(&mut self, start: Visited, reach: u32) -> Result<Vec<Visited>, TableError> {
        let mut visited = self.visit(start, reach)?;
        let taken = visited.len().min(TAKEN_OF_A_SEARCH);
        for place in 0..taken {
            let other = self.random.usize(place..visited.len());
            visited.swap(place, other);
        }
        visited.truncate(taken);
        Ok(visited)
    }

    /// Searches the value of a position by zero-window tests that end at `reach` seeds. Returns the positions visited.
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
        if seeds <= self.reach {
            return if seeds <= self.table_seeds() { self.table_score(board) } else { Ok(self.estimate(board, seeds)) };
        }
        let (mut best, mut moves) = (0, Vec::new());
        for pit in self.moves(board).rev() {
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
