//! Random positions of a layer: uniform, or from random play; from one part of all positions, or from all.

use fastrand::Rng;
use kalah::cancel::Cancel;
use kalah::game::{Position as GamePosition, Rules};
use kalah::index::{LayerIndex, RowIndex, TableRow, layer_positions};
use kalah::random::{generator, mixed};
use kalah::solve::{Board, Sower, Word};
use kalah::text::count;
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::errors::python::ArgumentError;

/// Games that are played for one position before the layer counts as out of reach.
const GAMES: usize = 100_000;

/// Seeds of each pit at the start of random play, if the caller names no start.
const START_SEEDS: usize = 4;

/// Ranks of a layer among which there must be one of the part.
const SCANNED: u64 = 1 << 20;

/// A part of all positions, for training or testing. A hash of layer and rank decides, so a position is always in the
/// same part.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    /// Positions whose hash is below this number are in the part for tests.
    below: u64,
    /// True for the part for tests.
    is_test: bool,
}

impl Part {
    /// The part for tests, which has this share of all positions, or the rest.
    pub(crate) fn new(is_test: bool, share: f64) -> PyResult<Part> {
        if share > 0.0 && share < 1.0 {
            return Ok(Part { below: (share * 2f64.powi(64)) as u64, is_test });
        }
        let text = format!("test, a share of the positions, must be above 0 and below 1, not {share}");
        Err(ArgumentError::new_err(text))
    }

    fn has(self, layer: usize, rank: u64) -> bool {
        // Ranks have at most 57 bits.
        (mixed(rank ^ (layer as u64) << 57) < self.below) == self.is_test
    }
}

/// A random sequence of positions of a layer.
pub(crate) struct Sequence<'t> {
    layer: LayerIndex<'t>,
    pits: usize,
    seeds: usize,
    seed: u64,
    /// The part that all positions are in, if not all count.
    part: Option<Part>,
    /// Random play that reaches the positions; without it all are equally likely.
    pub(crate) play: Option<Play>,
}

impl<'t> Sequence<'t> {
    /// A sequence of positions with these `seeds` in play.
    pub(crate) fn new(
        index: &'t RowIndex,
        seeds: usize,
        seed: u64,
        part: Option<Part>,
        play: Option<Play>,
    ) -> PyResult<Sequence<'t>> {
        let sequence = Sequence { layer: LayerIndex::new(index, seeds), pits: index.pits(), seeds, seed, part, play };
        let scanned = layer_positions(index.pits(), seeds).min(SCANNED);
        // Otherwise the search for a position might not end.
        if sequence.play.is_none() && !(0..scanned).any(|rank| sequence.has(rank)) {
            return Err(ArgumentError::new_err(format!("the layer with {seeds} seeds has no position in this part")));
        }
        Ok(sequence)
    }

    fn has(&self, rank: u64) -> bool {
        self.part.is_none_or(|part| part.has(self.seeds, rank))
    }

    /// Writes the positions `first`, `first + 1`, ... to `positions`, unless `cancel` ends it.
    pub(crate) fn draw(&self, first: usize, positions: &mut [u8], cancel: &Cancel) -> PyResult<()> {
        let drawn = positions.par_chunks_exact_mut(2 * self.pits).with_min_len(64).enumerate();
        let drawn = drawn.try_for_each(|(number, row)| {
            // Each has a generator of its own, so threads share the work.
            let number = (first + number) as u64;
            let mut random = generator(mixed(self.seed).wrapping_add(number));
            let (mover, other) = match &self.play {
                None => self.uniform(&mut random),
                Some(play) => self.played(play, &mut random, cancel).ok_or(())?,
            };
            row[..self.pits].copy_from_slice(&mover[..self.pits]);
            row[self.pits..].copy_from_slice(&other[..self.pits]);
            Ok(())
        });
        let unreached = |()| {
            let name = self.play.as_ref().map_or("", |play| &play.name);
            ArgumentError::new_err(format!("{name} reached no position with {} seeds in play", self.seeds))
        };
        drawn.map_err(unreached)
    }

    fn uniform(&self, random: &mut Rng) -> (TableRow, TableRow) {
        let mut ranks = std::iter::repeat_with(|| random.u64(..self.layer.positions()));
        self.layer.unrank(ranks.find(|&rank| self.has(rank)).expect("endless"))
    }

    /// The only position of its game, so that positions are independent.
    fn played(&self, play: &Play, random: &mut Rng, cancel: &Cancel) -> Option<(TableRow, TableRow)> {
        (0..GAMES).take_while(|_| !cancel.is_cancelled()).find_map(|_| {
            let board = play.game(self.pits, self.seeds, random)?;
            let (mover, other) = (board.mover.to_le_bytes(), board.other.to_le_bytes());
            self.has(self.layer.rank(&mover, &other)).then_some((mover, other))
        })
    }
}

/// Random play from a start.
pub(crate) struct Play {
    sower: Sower<u64>,
    start: Board<u64>,
    /// The start and the rules, for errors.
    name: String,
}

impl Play {
    /// Play that may reach positions with these `seeds` in play.
    pub(crate) fn new(rules: Rules, pits: usize, seeds: usize, start: Option<GamePosition>) -> PyResult<Play> {
        let each = START_SEEDS.max(seeds.div_ceil(2 * pits));
        let start = start.unwrap_or_else(|| format!("{pits}x{each}").parse().expect("a start position"));
        let board = Board::of(&start).filter(|_| start.pits() == pits);
        let Some(board) = board.filter(|board: &Board<u64>| board.seeds() as usize >= seeds) else {
            return Err(ArgumentError::new_err(format!(
                "start must have {} and {seeds} to {} seeds in play, not {} and {}",
                count(pits, "pit"),
                <u64 as Word>::SEEDS,
                start.pits(),
                start.seeds()
            )));
        };
        let sower = Sower::new(rules, pits, board.seeds() as usize).expect("the board of a position");
        Ok(Play { sower, start: board, name: format!("random play from {start} under {rules}") })
    }

    /// Plays a game with random moves, and returns one of its positions with these `seeds` at random.
    fn game(&self, pits: usize, seeds: usize, random: &mut Rng) -> Option<Board<u64>> {
        let (mut board, mut found, mut count) = (self.start, None, 0);
        while board.seeds() as usize >= seeds && !board.is_over() {
            if board.seeds() as usize == seeds {
                count += 1;
                if random.u64(..count) == 0 {
                    found = Some(board);
                }
            }
            let has_seeds = |&pit: &usize| board.mover.seeds_in(pit) > 0;
            let moves = (0..pits).filter(has_seeds).count();
            let pit = (0..pits).filter(has_seeds).nth(random.u64(..moves as u64) as usize)?;
            board = self.sower.sow(board, pit).next();
        }
        found
    }
}
