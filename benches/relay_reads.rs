//! Counts what `forward_relay` reads, without a GPU: `cargo bench --bench relay_reads`.
//!
//! Random crossings of all frames of a layer are followed for 32 neighbouring threads at a time, as the shader does.
//! For each kind of read it prints the bytes that an evaluation needs, and the sectors of 32 bytes that 32 threads
//! need together: 1 if all are alike, 32 if no two share one. The last lines have other orders of the threads.
//!
//! - `KALAH_BENCH_SEEDS`: the layer (default 28).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use kalah::game::Rules;
use kalah::index::{Frame, RowIndex, TableRow, row_seeds};
use kalah::rows::{BoardRows, Crossing, Crossings, Moves};

const PITS: usize = 6;
const STORE: usize = 2 * PITS;
/// Threads that read at once.
const THREADS: usize = 32;
/// Bytes that memory delivers at least.
const SECTOR: u64 = 32;
/// Groups of threads that are followed.
const SAMPLES: usize = 4_000;

/// A place in memory: a number of the buffer or frame, and a byte.
type Place = (usize, u64);

/// Bytes read, and places, by the kind of read; of each sowing its own.
type Reads = Vec<(&'static str, u64, Place)>;

struct Layer {
    index: Arc<RowIndex>,
    /// By seeds of the mover's row.
    crossings: Vec<(usize, Crossings)>,
}

impl Layer {
    fn new(seeds: usize) -> Layer {
        let index = Arc::new(RowIndex::new(PITS, seeds).expect("a possible layer"));
        let board = BoardRows::new(Rules::SKalaha, Arc::clone(&index));
        let of_row = |mover| {
            let (rows, moves) = (index.rows(mover), Moves::new(Rules::SKalaha, &board.maps, mover));
            (mover, Crossings::new(rows, &moves))
        };
        let crossings = (2..seeds).map(of_row).filter(|(_, crossings)| !crossings.all().is_empty()).collect();
        Layer { index, crossings }
    }

    /// Reads of the evaluation of a crossing against the other row.
    fn reads(&self, crossing: &Crossing, other: usize, other_rank: u32) -> Reads {
        let mut reads: Reads = vec![("other row", 8, (0, 8 * u64::from(other_rank)))];
        let mut ring = [0u8; STORE + 1];
        ring[..PITS].copy_from_slice(&self.index.unrank(crossing.left.into(), crossing.own)[..PITS]);
        ring[PITS..STORE].copy_from_slice(&self.index.unrank(other, other_rank)[..PITS]);
        // The mover's pits, the store, then the other's.
        let order: Vec<usize> = (0..PITS).chain([STORE]).chain(PITS..STORE).collect();
        let mut last = 0;
        for pit in (0..PITS).cycle().take(crossing.spilled.into()) {
            last = PITS + pit;
            ring[last] += 1;
        }
        let hands = self.index.max_seeds() as u64 + 2;
        while last != STORE && ring[last] > 1 {
            let hand = std::mem::take(&mut ring[last]);
            reads.push(("sowing", 20, (1, 32 * (last as u64 * hands + u64::from(hand)))));
            let from = order.iter().position(|&place| place == last).expect("all places");
            for step in 1..=usize::from(hand) {
                last = order[(from + step) % order.len()];
                ring[last] += 1;
            }
        }
        let row = |from: usize| -> TableRow {
            let mut row = TableRow::default();
            row[..PITS].copy_from_slice(&ring[from..from + PITS]);
            row
        };
        let (own, others) = (row(0), row(PITS));
        let again = last == STORE && row_seeds(&others) > 0;
        let (to_move, waiting) = if again { (own, others) } else { (others, own) };
        let frame = Frame { pits: PITS, mover: row_seeds(&to_move), other: row_seeds(&waiting) };
        let number = frame.mover * (self.index.max_seeds() + 1) + frame.other;
        reads.push(("frame", 16, (2, 16 * number as u64)));
        if frame.mover > 0 && frame.other > 0 {
            reads.extend(self.rank_reads(&to_move));
            reads.extend(self.rank_reads(&waiting));
            let (rank, rank_waiting) = (self.index.rank(&to_move), self.index.rank(&waiting));
            let index = frame.index(rank, rank_waiting);
            let (group, code) = (index / 126, index % 126);
            // Each frame has its memory.
            let groups = (frame.mover_rows() as u64).next_multiple_of(64);
            reads.push(("code", 4, (3 + number, groups + 64 * group + code / 8 * 4)));
            reads.push(("base", 4, (3 + number, groups + 64 * group + 60)));
            reads.push(("profile", 4, (3 + number, u64::from(rank) / 4 * 4)));
        }
        reads
    }

    /// The terms of a row's rank.
    fn rank_reads(&self, row: &TableRow) -> Reads {
        let (mut seeds, stride) = (row_seeds(row), self.index.potentials());
        let mut potential: usize = (0..PITS).map(|pit| usize::from(row[pit]) * (PITS - 1 - pit)).sum();
        let mut reads = Reads::new();
        for (passed, &held) in row[..PITS - 1].iter().enumerate() {
            let word = (passed * (self.index.max_seeds() + 1) + seeds) * stride + potential;
            reads.push(("rank", 4, (usize::MAX, 4 * word as u64)));
            let held = usize::from(held);
            seeds -= held;
            potential -= held * (PITS - 1 - passed);
        }
        reads
    }
}

/// Bytes, and sectors of threads that read at once, by kind of read.
#[derive(Default)]
struct Counts(BTreeMap<&'static str, Count>);

#[derive(Default)]
struct Count {
    bytes: u64,
    reads: u64,
    sectors: u64,
}

impl Counts {
    fn add(&mut self, threads: &[Reads]) {
        let mut together: HashMap<(&'static str, usize), Vec<Place>> = HashMap::new();
        for reads in threads {
            let mut numbers: BTreeMap<&'static str, usize> = BTreeMap::new();
            for &(kind, bytes, (memory, at)) in reads {
                let number = numbers.entry(kind).or_default();
                together.entry((kind, *number)).or_default().push((memory, at / SECTOR));
                *number += 1;
                let count = self.0.entry(kind).or_default();
                (count.bytes, count.reads) = (count.bytes + bytes, count.reads + 1);
            }
        }
        for ((kind, _), mut places) in together {
            places.sort_unstable();
            places.dedup();
            self.0.entry(kind).or_default().sectors += places.len() as u64;
        }
    }

    /// Sectors that 32 reads of this kind need.
    fn sectors(&self, kind: &str) -> f64 {
        self.0.get(kind).map_or(f64::NAN, |count| THREADS as f64 * count.sectors as f64 / count.reads as f64)
    }
}

/// The place of a code, by which threads could be sorted.
fn end(reads: &Reads) -> Option<Place> {
    reads.iter().find(|(kind, ..)| *kind == "code").map(|&(.., place)| place)
}

fn main() {
    let seeds = std::env::var("KALAH_BENCH_SEEDS").map_or(28, |seeds| seeds.parse().expect("a number"));
    let layer = Layer::new(seeds);
    let rows = |seeds: usize| layer.index.rows(seeds) as u64;
    let work = |&(mover, ref all): &(usize, Crossings)| all.all().len() as u64 * rows(seeds - mover);
    let evaluations: u64 = layer.crossings.iter().map(work).sum();
    let positions: u64 = (1..seeds).map(|mover| rows(mover) * rows(seeds - mover)).sum();
    let mut rng = fastrand::Rng::with_seed(1);
    let (mut as_it_is, mut by_crossing, mut sorted) = (Counts::default(), Counts::default(), Counts::default());
    for _ in 0..SAMPLES {
        let mut at = rng.u64(0..evaluations);
        let (mover, all) = layer
            .crossings
            .iter()
            .find(|of| at.checked_sub(work(of)).map(|rest| at = rest).is_none())
            .expect("within the sum");
        let (other, all) = (seeds - mover, all.all());
        let others = layer.index.rows(other);
        let chosen = rng.usize(0..all.len());
        // A thread has four rows, and its neighbour the next four.
        let (first, lane) = (rng.usize(0..others.div_ceil(4 * THREADS)) * 4 * THREADS, rng.usize(0..4));
        let neighbours = (0..THREADS).map(|thread| first + 4 * thread + lane).filter(|&rank| rank < others);
        let read = |rank: usize| layer.reads(&all[chosen], other, rank as u32);
        as_it_is.add(&neighbours.map(read).collect::<Vec<Reads>>());
        let rank = rng.u32(0..others as u32);
        let crossings = all.iter().skip(chosen).take(THREADS);
        by_crossing.add(&crossings.map(|crossing| layer.reads(crossing, other, rank)).collect::<Vec<Reads>>());
        if rng.u8(0..100) == 0 {
            // All rows against one crossing, in the order of the codes that they read.
            let mut ends: Vec<Reads> = (0..others).map(read).collect();
            ends.sort_by_key(end);
            ends.chunks(THREADS).for_each(|threads| sorted.add(threads));
        }
    }
    println!("layer {seeds}: {:.3} evaluations a position", evaluations as f64 / positions as f64);
    println!("kind       bytes of an evaluation   sectors of 32 threads");
    let all = as_it_is.0["other row"].reads as f64;
    for (kind, count) in &as_it_is.0 {
        println!("{kind:<10} {:>22.1} {:>23.1}", count.bytes as f64 / all, as_it_is.sectors(kind));
    }
    let bytes: u64 = as_it_is.0.values().map(|count| count.bytes).sum();
    println!("all        {:>22.1}", bytes as f64 / all);
    for (what, counts) in [("neighbours have the next crossing", by_crossing), ("sorted by their codes", sorted)] {
        println!(
            "{what}: code {:.1}, base {:.1}, profile {:.1}, sowing {:.1}, rank {:.1}",
            counts.sectors("code"),
            counts.sectors("base"),
            counts.sectors("profile"),
            counts.sectors("sowing"),
            counts.sectors("rank")
        );
    }
}
