//! How few bits a position exact scores could take if each must be read alone: `cargo bench --bench entropy`.
//!
//! For a sample of positions of five frames of a layer (a quarter, three eighths, half, ... of the seeds in the mover's row;
//! weighted by their positions), it prints the bits a position of an ideal code for the difference between score and
//! prediction, for predictions that can be made without other positions, and for those of archives within blocks of several
//! sizes, which must be decoded from their start. The frequencies of the code come from the other half of the sample
//! ([`count`]). What is needed to find the bits in a file is not included.
//!
//! `KALAH_BENCH_SEEDS` is the layer (default 20), `KALAH_BENCH_RULES` the rule set, `KALAH_BENCH_POSITIONS` the size of the sample of
//! each frame (default two million). The tables are read from the directory `KALAH_BENCH_TABLES`, or built in a temporary one.

mod count;
mod fit;
mod moves;
mod neighbours;
mod ply;

use std::path::PathBuf;

use kalah::evaluation::{Network, PhasedNetwork, SEED};
use kalah::game::{Row, Rules};
use kalah::index::{Frame, TableRow, game_row};
use kalah::isa::Isa;
use kalah::table::{FrameScores, RUN_MARGIN, Tables};
use rayon::prelude::*;

use count::Counter;
use fit::Fit;
use moves::Moves;
use neighbours::Order;

const PITS: usize = 6;

/// Positions of a tile of the sample, which are neighbours in lexicographic order: other rows and mover's rows.
const TILE: (usize, usize) = (32, 128);

/// The blocks within which archives' predictions are made: other rows and mover's rows.
const BLOCKS: [(usize, usize); 7] = [(1, 32), (4, 8), (1, 64), (8, 8), (8, 16), (16, 16), (32, 32)];

/// Counts of products of terms of both rows, see [`Fit`].
const PRODUCTS: [usize; 5] = [0, 4, 16, 32, fit::PRODUCTS];

/// Predictions in sixteenths of a seed.
const PREDICTIONS: usize = 2 + 2 * PRODUCTS.len();
const NAMES: [&str; PREDICTIONS] = [
    "profile of the mover's row, in sixteenths",
    "network",
    "terms of both rows",
    "terms and 4 products",
    "terms and 16 products",
    "terms and 32 products",
    "terms and 64 products",
    "network and terms of both rows",
    "network and 4 products",
    "network and 16 products",
    "network and 32 products",
    "network and 64 products",
];
/// Those that are measured with properties of the rows, with one ply, and within blocks.
const CHOSEN: [usize; 3] = [0, 1, 5];

/// A sampled position.
#[derive(Clone)]
struct Sampled {
    score: i32,
    /// Smallest score, and smallest score less the profile, of its group of 126.
    bases: [i32; 2],
    profile: i32,
    predictions: [i32; PREDICTIONS],
    moves: Moves,
}

/// A frame, unpacked.
struct Unpacked {
    frame: Frame,
    scores: Vec<u8>,
    rows: [Vec<TableRow>; 2],
    orders: [Order; 2],
    profile: Vec<f64>,
    fits: [Fit; 2],
}

fn main() {
    let set = |name, default: &str| std::env::var(name).unwrap_or(default.to_owned());
    let number = |name, default| set(name, default).parse::<usize>().expect("a number");
    let seeds = number("KALAH_BENCH_SEEDS", "20");
    let rules: Rules = set("KALAH_BENCH_RULES", "empty-capture").parse().expect("KALAH_BENCH_RULES is a rule set");
    let wanted = number("KALAH_BENCH_POSITIONS", "2000000");
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let directory = std::env::var_os("KALAH_BENCH_TABLES").map_or(temporary.path().to_owned(), PathBuf::from);
    if directory == temporary.path() {
        kalah::build::build(&directory, rules, PITS, seeds).expect("tables are built");
    }
    let tables = Tables::open(&directory, rules, PITS, seeds).expect("tables are sound");
    let network = PhasedNetwork::shipped(rules, PITS).expect("a network for the rule set");
    let network = network.first();

    let mut results: Vec<(String, f64)> = Vec::new();
    let mut all = 0.0;
    for eighths in [2, 3, 4, 5, 6] {
        let mover = (seeds * eighths / 8).max(1);
        let frame = Frame { pits: PITS, mover, other: seeds - mover };
        let found = measure(&tables, network, frame, wanted);
        all += frame.positions() as f64;
        results.resize(found.len(), (String::new(), 0.0));
        for (result, (name, bits)) in results.iter_mut().zip(found) {
            *result = (name, result.1 + bits * frame.positions() as f64);
        }
        eprintln!("{mover} | {} done", seeds - mover);
    }
    println!("{rules}, {PITS} pits, {seeds} seeds, {all} positions in five frames, {wanted} sampled of each");
    results.iter().for_each(|(name, sum)| println!("{:8.3}  {name}", sum / all));
    ply::measure(&tables, seeds);
}

/// The name and the bits a position of each way to code the scores of `frame`; and some means.
fn measure(tables: &Tables, network: &Network, frame: Frame, wanted: usize) -> Vec<(String, f64)> {
    let table = tables.require(frame.mover + frame.other).expect("the layer is there");
    let unpacked = Unpacked::new(tables, network, &table.frame(frame.mover).expect("a sound frame"));
    let heights = unpacked.orders[1].ranks.len().min(TILE.0);
    let widths = unpacked.orders[0].ranks.len().min(TILE.1);
    let mut random = fastrand::Rng::with_seed(frame.mover as u64);
    let starts: Vec<(usize, usize)> = (0..(wanted / (heights * widths)).max(2))
        .map(|_| {
            let start = |all: usize, some, random: &mut fastrand::Rng| random.usize(..=all - some);
            let other = start(unpacked.orders[1].ranks.len(), heights, &mut random);
            (other, start(unpacked.orders[0].ranks.len(), widths, &mut random))
        })
        .collect();

    let mut counts = Counts::new();
    for (part, starts) in starts.chunks(128).enumerate() {
        let tiles: Vec<Vec<Sampled>> =
            starts.par_iter().map(|&start| unpacked.tile(tables, network, start, (heights, widths))).collect();
        for (number, (tile, &start)) in tiles.iter().zip(starts).enumerate() {
            counts.add((part * 128 + number) % 2, &unpacked, start, (heights, widths), tile);
        }
    }
    let mut results = counts.results();
    let rows = tables.rows().rows(frame.mover) + tables.rows().rows(frame.other);
    for products in PRODUCTS {
        let name = format!("(to keep terms and {products} products of both rows, a byte each)");
        results.push((name, (8 * rows * (products + 1)) as f64 / frame.positions() as f64));
    }
    results
}

impl Unpacked {
    fn new(tables: &Tables, network: &Network, packed: &FrameScores) -> Unpacked {
        let frame = packed.frame();
        let rows = [frame.mover, frame.other].map(|seeds| {
            let count = tables.rows().rows(seeds) as u32;
            (0..count).map(|rank| tables.rows().unrank(seeds, rank)).collect::<Vec<_>>()
        });
        let width = rows[0].len();
        let mut scores = vec![0u8; frame.positions() as usize];
        scores.par_chunks_mut(width).enumerate().for_each_init(
            || vec![0u8; width + 2 * RUN_MARGIN],
            |buffer, (other, run)| {
                packed.unpack_run(Isa::detect(), (0, other as u32), width, buffer, RUN_MARGIN).expect("a sound frame");
                run.copy_from_slice(&buffer[RUN_MARGIN..][..width]);
            },
        );
        let mut profile = vec![0.0; width];
        for run in scores.chunks(width) {
            profile.iter_mut().zip(run).for_each(|(sum, &score)| *sum += f64::from(score));
        }
        profile.iter_mut().for_each(|sum| *sum /= rows[1].len() as f64);
        let orders = [0, 1].map(|side| Order::new(tables.rows(), &rows[side]));
        let fits = [false, true].map(|above| {
            let mut matrix = vec![0i16; scores.len()];
            matrix.par_chunks_mut(width).zip(scores.par_chunks(width)).zip(&rows[1]).for_each(
                |((run, scores), other)| {
                    for ((entry, &score), mover) in run.iter_mut().zip(scores).zip(&rows[0]) {
                        let evaluation = if above { evaluate(network, mover, other, frame) } else { 0 };
                        *entry = (i32::from(score) * SEED - evaluation) as i16;
                    }
                },
            );
            Fit::new(&matrix, width)
        });
        Unpacked { frame, scores, rows, orders, profile, fits }
    }

    /// The score of the rows at these places in lexicographic order.
    fn score(&self, other: usize, mover: usize) -> i32 {
        let index = self.frame.index(self.orders[0].ranks[mover], self.orders[1].ranks[other]);
        i32::from(self.scores[index as usize])
    }

    /// The positions of a tile, other row by other row.
    fn tile(
        &self,
        tables: &Tables,
        network: &Network,
        start: (usize, usize),
        (height, width): (usize, usize),
    ) -> Vec<Sampled> {
        let mut tile = Vec::with_capacity(height * width);
        for &other in &self.orders[1].ranks[start.0..][..height] {
            let other_row = self.rows[1][other as usize];
            let other_game: Row = game_row(PITS, &other_row);
            for &mover in &self.orders[0].ranks[start.1..][..width] {
                let mover_row = self.rows[0][mover as usize];
                let index = self.frame.index(mover, other) as usize;
                let (x, y) = (mover as usize, other as usize);
                let evaluation = evaluate(network, &mover_row, &other_row, self.frame);
                let mut predictions = [0; PREDICTIONS];
                predictions[0] = (self.profile[x] * f64::from(SEED)).round() as i32;
                predictions[1] = evaluation;
                predictions[2..][..PRODUCTS.len()].copy_from_slice(&self.fits[0].values(y, x, PRODUCTS));
                let above = self.fits[1].values(y, x, PRODUCTS).map(|value| value + evaluation);
                predictions[2 + PRODUCTS.len()..].copy_from_slice(&above);
                tile.push(Sampled {
                    score: i32::from(self.scores[index]),
                    bases: self.bases(index),
                    profile: self.profile[x].floor() as i32,
                    predictions,
                    moves: Moves::new(tables.rules(), tables, &game_row(PITS, &mover_row), &other_game),
                });
            }
        }
        tile
    }

    /// The smallest score and residual of the group of a position, given by its index.
    fn bases(&self, index: usize) -> [i32; 2] {
        let start = index - index % 126;
        let group = self.scores[start..].iter().take(126).enumerate();
        let group = group.map(|(place, &score)| (i32::from(score), (start + place) % self.rows[0].len()));
        group.fold([i32::MAX; 2], |[score, residual], (next, mover)| {
            [score.min(next), residual.min(next - self.profile[mover].floor() as i32)]
        })
    }
}

/// The evaluation of the network, in sixteenths of a seed.
fn evaluate(network: &Network, mover: &TableRow, other: &TableRow, frame: Frame) -> i32 {
    network.evaluate(mover, other, (frame.mover + frame.other) as u32)
}

/// What is counted of a frame.
struct Counts {
    /// Score, score less the base of the group, less the profile, and less both.
    plain: [Counter; 4],
    /// Score less a prediction, by the fraction of the prediction.
    fraction: [Counter; PREDICTIONS],
    /// Also by the moves and captures of both players.
    threats: [Counter; CHOSEN.len()],
    /// By the best move that stores seeds.
    forward: [Counter; CHOSEN.len()],
    /// Within blocks: of the scores, and of scores less predictions.
    blocks: [[Counter; BLOCKS.len()]; CHOSEN.len() + 1],
    /// With the parents anywhere in the frame.
    archive: Counter,
    positions: f64,
    probes: f64,
    without_quiet: f64,
    decided_by_forward: f64,
}

impl Counts {
    fn new() -> Counts {
        Counts {
            plain: std::array::from_fn(|_| Counter::new(1)),
            fraction: std::array::from_fn(|_| Counter::new(16)),
            threats: std::array::from_fn(|_| Counter::new(16 * moves::CONTEXTS)),
            forward: std::array::from_fn(|_| Counter::new(16 * 3 * 32)),
            blocks: std::array::from_fn(|_| std::array::from_fn(|_| Counter::new(4 * neighbours::CONTEXTS))),
            archive: Counter::new(neighbours::CONTEXTS),
            positions: 0.0,
            probes: 0.0,
            without_quiet: 0.0,
            decided_by_forward: 0.0,
        }
    }

    fn add(
        &mut self,
        half: usize,
        frame: &Unpacked,
        start: (usize, usize),
        (height, width): (usize, usize),
        tile: &[Sampled],
    ) {
        for sampled in tile {
            let score = sampled.score;
            let [base, residual_base] = sampled.bases;
            let symbols = [score, score - base, score - sampled.profile, score - sampled.profile - residual_base];
            self.plain.iter_mut().zip(symbols).for_each(|(counter, symbol)| counter.add(half, 0, symbol));
            for (counter, prediction) in self.fraction.iter_mut().zip(sampled.predictions) {
                let (floor, fraction) = split(prediction);
                counter.add(half, fraction, score - floor);
            }
            let moves = &sampled.moves;
            for (at, chosen) in CHOSEN.into_iter().enumerate() {
                let (floor, fraction) = split(sampled.predictions[chosen]);
                self.threats[at].add(half, fraction * moves::CONTEXTS + moves.context, score - floor);
                if moves.quiet == 0 {
                    self.forward[at].add_free();
                } else {
                    let distance = moves.forward.map_or(0, |forward| (forward - floor).clamp(-15, 15) + 16) as usize;
                    let context = (fraction * 3 + moves.quiet.min(3) - 1) * 32 + distance;
                    self.forward[at].add(half, context, score - floor);
                }
            }
            self.positions += 1.0;
            self.probes += moves.probes as f64;
            self.without_quiet += f64::from(u8::from(moves.quiet == 0));
            self.decided_by_forward += f64::from(u8::from(moves.forward == Some(score)));
        }
        for (at, counters) in self.blocks.iter_mut().enumerate() {
            // The scores less the prediction, rounded; and in which quarter of a seed the prediction is.
            let entries: Vec<(i32, usize)> = tile
                .iter()
                .map(|sampled| match at.checked_sub(1) {
                    None => (sampled.score, 0),
                    Some(chosen) => {
                        let prediction = sampled.predictions[CHOSEN[chosen]];
                        let rounded = (prediction + SEED / 2).div_euclid(SEED);
                        (sampled.score - rounded, split(prediction).1 / 4)
                    }
                })
                .collect();
            for (counter, block) in counters.iter_mut().zip(BLOCKS) {
                for y in (0..height).step_by(block.0) {
                    for x in (0..width).step_by(block.1) {
                        let size = (block.0.min(height - y), block.1.min(width - x));
                        let entry = |row: usize, place: usize| entries[(y + row) * width + x + place];
                        let start = (start.0 + y, start.1 + x);
                        let orders = (&frame.orders[1], &frame.orders[0]);
                        let add = |row, place, context: usize, difference| {
                            counter.add(half, context * 4 + entry(row, place).1, difference);
                        };
                        neighbours::visit(orders, start, size, |row, place| entry(row, place).0, add);
                    }
                }
            }
        }
        for y in start.0.max(1)..start.0 + height {
            let above = frame.orders[1].parents(y, 0);
            for x in start.1.max(1)..start.1 + width {
                let before = frame.orders[0].parents(x, 0);
                let (context, prediction) = neighbours::predict(
                    before.map(|before| frame.score(y, before)),
                    above.map(|above| frame.score(above, x)),
                    std::array::from_fn(|k| frame.score(above[k], before[k])),
                );
                self.archive.add(half, context, frame.score(y, x) - prediction);
            }
        }
    }

    fn results(&self) -> Vec<(String, f64)> {
        let plain = ["score", "less the base of its group of 126", "less the profile", "less profile and base"];
        let mut results: Vec<(String, f64)> =
            plain.iter().zip(&self.plain).map(|(name, counter)| (name.to_string(), counter.bits())).collect();
        results.extend(NAMES.iter().zip(&self.fraction).map(|(name, counter)| (name.to_string(), counter.bits())));
        for (at, chosen) in CHOSEN.into_iter().enumerate() {
            results.push((format!("{}; again-moves and captures", NAMES[chosen]), self.threats[at].bits()));
        }
        for (at, chosen) in CHOSEN.into_iter().enumerate() {
            results.push((format!("{}; best move that stores seeds", NAMES[chosen]), self.forward[at].bits()));
        }
        for (at, counters) in self.blocks.iter().enumerate() {
            let name = at.checked_sub(1).map_or("scores", |chosen| NAMES[CHOSEN[chosen]]);
            for ((height, width), counter) in BLOCKS.iter().zip(counters) {
                results.push((format!("within blocks of {height} x {width}: {name}"), counter.bits()));
            }
        }
        results.push(("prediction of archives, anywhere in the frame".to_owned(), self.archive.bits()));
        let share = |of: f64| of / self.positions;
        results.push(("(moves that store seeds, a position)".to_owned(), share(self.probes)));
        results.push(("(share of positions without a quiet move)".to_owned(), share(self.without_quiet)));
        results.push((
            "(share whose score is that of a move that stores seeds)".to_owned(),
            share(self.decided_by_forward),
        ));
        results
    }
}

/// Whole seeds and sixteenths of a prediction.
fn split(prediction: i32) -> (i32, usize) {
    (prediction.div_euclid(SEED), prediction.rem_euclid(SEED) as usize)
}
