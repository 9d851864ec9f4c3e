//! Random positions of a layer: uniform, or from random play; from one part of all positions, or from all.

use fastrand::Rng;
use kalah::cancel::Cancel;
use kalah::export::random_indices;
use kalah::game::{Position as GamePosition, Rules};
use kalah::index::{LayerIndex, MAX_TABLE_SEEDS, RowIndex, layer_positions};
use kalah::random::{generator, mixed};
use kalah::solve::{Board, Sower, Word};
use kalah::text::count;
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::argument::Float;
use crate::bulk::{self, TASK};
use crate::errors::python::ArgumentError;
use crate::rows::{Reader, ScoreLocation, rows_at};

/// Games that are played for one position before the layer counts as out of reach.
const GAMES: usize = 100_000;

/// Seeds of each pit at the start of random play, if the caller names no start.
const START_SEEDS: usize = 4;

/// Ranks of a layer among which there must be one of the part.
const SCANNED: u64 = 1 << 20;

/// The parts of the positions for training and testing. A hash of layer and rank decides, so a position is always
/// in the same part.
#[derive(Clone, Copy)]
pub(crate) struct Halves {
    /// Positions whose hash is below this number are in the part for tests.
    below: u64,
}

impl<'py> FromPyObject<'_, 'py> for Halves {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Halves> {
        let Float(test) = object.extract()?;
        if test > 0.0 && test < 1.0 {
            return Ok(Halves::new(test));
        }
        let text = format!("test, a share of the positions, must be above 0 and below 1, not {test}");
        Err(ArgumentError::new_err(text))
    }
}

impl Halves {
    /// Parts with this share of the positions for tests, above 0 and below 1.
    pub(crate) fn new(test: f64) -> Halves {
        Halves { below: (test * 2f64.powi(64)) as u64 }
    }

    /// Returns true if the position with this rank is in the part for tests.
    pub(crate) fn is_test(self, layer: usize, rank: u64) -> bool {
        // Ranks have at most 57 bits.
        mixed(rank ^ (layer as u64) << 57) < self.below
    }
}

/// Positions that a sample may contain.
#[derive(Clone, Copy)]
pub(crate) struct Part(Option<(Halves, bool)>);

impl Part {
    /// All positions, or those in the part for tests or in that for training.
    pub(crate) fn new(is_test: Option<bool>, halves: Halves) -> Part {
        Part(is_test.map(|is_test| (halves, is_test)))
    }

    fn has(self, layer: usize, rank: u64) -> bool {
        self.0.is_none_or(|(halves, is_test)| halves.is_test(layer, rank) == is_test)
    }
}

/// A way to draw positions of a layer.
pub(crate) enum Source<'t> {
    /// These ranks, in this order.
    Chosen(Vec<u64>),
    /// Independent ranks below `positions`, all equally likely.
    Uniform { layer: usize, positions: u64, seed: u64, part: Part },
    /// Random play.
    Play(Play<'t>),
}

/// The generator for the position with this number of the sequence of `seed`. Each has one of its own, so a sequence
/// begins anywhere at once, and threads share the work.
fn generator_at(seed: u64, number: u64) -> Rng {
    generator(mixed(seed).wrapping_add(number))
}

/// A sample as the caller asked for it.
pub(crate) struct Wish {
    /// Seeds in play.
    pub(crate) layer: usize,
    /// Seed of the random sequence.
    pub(crate) seed: u64,
    /// Positions of the sequence to leave out.
    pub(crate) offset: u64,
    /// True if a position may be drawn several times.
    pub(crate) replace: bool,
    /// Positions that the sample may contain.
    pub(crate) part: Part,
    /// True for positions of random play.
    pub(crate) play: bool,
    /// The first position of play.
    pub(crate) start: Option<GamePosition>,
}

impl<'t> Source<'t> {
    /// The source of a sample of `n` positions.
    pub(crate) fn new(rules: Rules, index: &'t RowIndex, n: usize, wish: &Wish) -> PyResult<Source<'t>> {
        let &Wish { layer, seed, offset, replace, part, play, .. } = wish;
        if !replace && (play || offset > 0 || part.0.is_some()) {
            return Err(ArgumentError::new_err("replace=False takes no offset, no part and no source"));
        }
        if play {
            return Ok(Source::Play(Play::new(rules, index, wish)?));
        }
        let positions = layer_positions(index.pits(), layer);
        if !replace {
            if n as u64 > positions {
                return Err(ArgumentError::new_err(format!(
                    "the layer has only {positions} positions, and replace=False draws each at most once: n is {n}"
                )));
            }
            return Ok(Source::Chosen(random_indices(positions, n as u64, seed)));
        }
        // Otherwise the search for one might not end.
        if !(0..positions.min(SCANNED)).any(|rank| part.has(layer, rank)) {
            return Err(ArgumentError::new_err(format!("the layer with {layer} seeds has no position in this part")));
        }
        Ok(Source::Uniform { layer, positions, seed, part })
    }
}

/// Positions from random play. Each is the only one of its game, so they are independent.
pub(crate) struct Play<'t> {
    index: &'t RowIndex,
    sower: Sower<u64>,
    start: Board<u64>,
    layer: usize,
    seed: u64,
    part: Part,
    /// The start and the rules, for errors.
    name: String,
}

impl<'t> Play<'t> {
    fn new(rules: Rules, index: &'t RowIndex, wish: &Wish) -> PyResult<Play<'t>> {
        let (pits, layer) = (index.pits(), wish.layer);
        let each = START_SEEDS.max(layer.div_ceil(2 * pits));
        let start = wish.start.unwrap_or_else(|| format!("{pits}x{each}").parse().expect("a start position"));
        let board = Board::of(&start).filter(|_| start.pits() == pits);
        let Some(board) = board.filter(|board: &Board<u64>| board.seeds() as usize >= layer) else {
            return Err(ArgumentError::new_err(format!(
                "start must have {} and {layer} to {} seeds in play, not {} and {}",
                count(pits, "pit"),
                <u64 as Word>::SEEDS,
                start.pits(),
                start.seeds()
            )));
        };
        let sower = Sower::new(rules, pits, board.seeds() as usize).expect("the board of a position");
        let name = format!("random play from {start} under {rules}");
        Ok(Play { index, sower, start: board, layer, seed: wish.seed, part: wish.part, name })
    }

    /// Writes the positions `first`, `first + 1`, ... of the sequence to `seeds`, unless `cancel` ends it.
    fn fill(&self, first: u64, seeds: &mut [u8], cancel: &Cancel) -> PyResult<()> {
        let (pits, layer_index) = (self.index.pits(), LayerIndex::new(self.index, self.layer));
        let filled = seeds.par_chunks_exact_mut(2 * pits).enumerate().try_for_each(|(number, row)| {
            let mut random = generator_at(self.seed, first.wrapping_add(number as u64));
            let mut below = |bound: u64| random.u64(..bound);
            let board = (0..GAMES).take_while(|_| !cancel.is_cancelled()).find_map(|_| {
                let board = self.game(&mut below)?;
                let rank = layer_index.rank(&board.mover.to_le_bytes(), &board.other.to_le_bytes());
                self.part.has(self.layer, rank).then_some(board)
            });
            let board = board.ok_or(())?;
            row[..pits].copy_from_slice(&board.mover.to_le_bytes()[..pits]);
            row[pits..].copy_from_slice(&board.other.to_le_bytes()[..pits]);
            Ok(())
        });
        filled.map_err(|()| {
            ArgumentError::new_err(format!("{} reached no position with {} seeds in play", self.name, self.layer))
        })
    }

    /// Plays a game with random moves, and returns one of its positions in the layer at random.
    fn game(&self, below: &mut impl FnMut(u64) -> u64) -> Option<Board<u64>> {
        let (mut board, mut found, mut count) = (self.start, None, 0);
        while board.seeds() as usize >= self.layer && !board.is_over() {
            if board.seeds() as usize == self.layer {
                count += 1;
                if below(count) == 0 {
                    found = Some(board);
                }
            }
            let has_seeds = |&pit: &usize| board.mover.seeds_in(pit) > 0;
            let moves = (0..self.index.pits()).filter(has_seeds).count();
            let pit = (0..self.index.pits()).filter(has_seeds).nth(below(moves as u64) as usize)?;
            let sown = self.sower.sow(board, pit);
            board = sown.next();
        }
        found
    }
}

/// For each position in `seeds`, true if it is in the part for tests. A position with an empty row is in no layer
/// and in no part for tests; one with more seeds than any table is neither.
pub(crate) fn are_test(reader: Reader<'_>, halves: Halves, seeds: &[u8], results: &mut [bool]) {
    let index = &reader.ranker.index;
    let layers: Vec<_> = (2..=MAX_TABLE_SEEDS).map(|seeds| LayerIndex::new(index, seeds)).collect();
    results.par_iter_mut().enumerate().for_each(|(number, result)| {
        let (mover, other) = rows_at(seeds, number, index.pits());
        let rank = |layer: usize| layers[layer - 2].rank(&mover.to_le_bytes(), &other.to_le_bytes());
        let location = reader.locate(mover, other);
        *result = matches!(location, Ok(ScoreLocation::Table { seeds, .. }) if halves.is_test(seeds, rank(seeds)));
    });
}

/// Writes the positions `first`, `first + 1`, ... of a sample to `positions`, unless `cancel` ends it. `ranks` has
/// place for as many numbers.
pub(crate) fn draw(
    source: &Source<'_>,
    index: &RowIndex,
    layer: usize,
    first: u64,
    ranks: &mut [i64],
    positions: &mut [u8],
    cancel: &Cancel,
) -> PyResult<()> {
    match source {
        Source::Play(play) => return play.fill(first, positions, cancel),
        Source::Chosen(chosen) => {
            ranks.iter_mut().zip(&chosen[first as usize..]).for_each(|(rank, &chosen)| *rank = chosen as i64);
        }
        &Source::Uniform { layer, positions, seed, part } => {
            ranks.par_iter_mut().with_min_len(TASK).enumerate().for_each(|(number, rank)| {
                let mut random = generator_at(seed, first.wrapping_add(number as u64));
                let mut drawn = std::iter::repeat_with(|| random.u64(..positions));
                *rank = drawn.find(|&rank| part.has(layer, rank)).expect("endless") as i64;
            });
        }
    }
    bulk::unrank(index, layer, ranks, positions).expect("the layer has these ranks");
    Ok(())
}
