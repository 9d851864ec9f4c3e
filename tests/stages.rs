//! Every stage does on the device what its twin does on the CPU, word for word.
#![cfg(feature = "gpu")]

mod adapter;

use std::ops::Range;

use fastrand::Rng;
use kalah::build::gpu::stages::{
    ABSENT, EVEN_EMPTY, Encode, Forward, FrameAt, GROUP_POSITIONS, GROUP_WORDS, Mean, NO_MAP, NO_MOVE, OVER,
    PROFILE_ROWS, Patch, Profile, QuietLarge, QuietSmall, RANK_BITS, SCAN_BLOCK, Scan, Stage, TILE, Transpose,
};
use kalah::gpu::{Access, Params, WORKGROUP};
use kalah::index::{Frame, MAX_TABLE_SEEDS, RowIndex, TableRow, row_count};
use kalah::isa::Isa;
use kalah::table::PackedFrame;

/// Words that each stage must have been compared in at least.
const ENOUGH: usize = 300_000;

/// The most seeds in play, and the greatest score.
const TOTAL: u32 = MAX_TABLE_SEEDS as u32;

/// Runs a stage on the device and as its twin; returns both resulting buffers.
fn run<P: Params + std::fmt::Debug>(
    stage: Stage,
    params: &P,
    workgroups: u32,
    buffers: Vec<Vec<u32>>,
) -> Vec<Vec<u32>> {
    let device = adapter::shared().expect("the test asked for it");
    let kernel = stage.kernel();
    let (mut on_device, mut right) = (buffers.clone(), buffers.clone());
    device.run_kernel(kernel, params, workgroups, &mut on_device).unwrap();
    for workgroup in 0..workgroups {
        kernel.twin()(workgroup, bytemuck::cast_slice(std::slice::from_ref(params)), &mut right);
    }
    for (number, (found, right)) in on_device.iter().zip(&right).enumerate() {
        if let Some(at) = (0..right.len().max(found.len())).find(|&at| found.get(at) != right.get(at)) {
            let (name, binding) = (stage.name(), number + 1);
            let (found, right) = (found.get(at), right.get(at));
            panic!("{name} {params:?}: word {at} of binding {binding} is {found:x?}, its twin makes {right:x?}");
        }
    }
    for ((before, after), access) in buffers.iter().zip(&right).zip(kernel.access()) {
        assert!(*access == Access::Write || before == after, "{} writes what it reads only", stage.name());
    }
    right
}

/// Calls `once`, which returns the number of words compared, with shapes until there are enough. Does nothing without
/// an adapter.
fn until_enough(seed: u64, mut once: impl FnMut(&mut Rng) -> usize) {
    if adapter::shared().is_none() {
        return;
    }
    let mut rng = Rng::with_seed(seed);
    let (mut words, mut rounds) = (0, 0);
    while words < ENOUGH || rounds < 12 {
        words += once(&mut rng);
        rounds += 1;
    }
}

fn random_words(rng: &mut Rng, count: usize) -> Vec<u32> {
    (0..count.max(4)).map(|_| rng.u32(..)).collect()
}

/// Words of four scores each.
fn random_scores(rng: &mut Rng, words: usize, greatest: u32) -> Vec<u32> {
    (0..words.max(4)).map(|_| u32::from_le_bytes([0; 4].map(|_: u8| rng.u32(0..=greatest) as u8))).collect()
}

/// A shape: rows and columns, with odd ones and single ones among them.
fn random_shape(rng: &mut Rng, most: usize) -> (usize, usize) {
    let any = rng.usize(1..700);
    let columns = *rng.choice([1, 2, 3, 4, 5, 63, 64, 65, 127, 255, 257, any].iter()).unwrap();
    let rows = if rng.u8(0..8) == 0 { 1 } else { rng.usize(1..=(most / columns).max(1)) };
    (rows, columns)
}

/// A part of `count`, not empty; often all.
fn random_part(rng: &mut Rng, count: usize) -> Range<usize> {
    if rng.bool() {
        return 0..count;
    }
    let first = rng.usize(0..count);
    first..rng.usize(first + 1..=count)
}

fn workgroups(threads: u32) -> u32 {
    // Superfluous threads do nothing.
    threads.div_ceil(WORKGROUP) + 1
}

/// Scores of a frame that pack to groups with and without exceptions.
fn frame_scores(rng: &mut Rng, frame: Frame) -> Vec<u8> {
    let wild = *rng.choice([0.0, 0.002, 0.05, 0.6].iter()).unwrap();
    let rows: Vec<u8> = (0..frame.mover_rows()).map(|_| rng.u8(5..35)).collect();
    (0..frame.positions())
        .map(|index| rows[frame.ranks(index).0 as usize])
        .map(|score| if rng.f64() < wild { rng.u8(0..=TOTAL as u8) } else { score + rng.u8(0..8) })
        .collect()
}

/// An operand: packed frames one after the other, and their places.
#[derive(Default)]
struct Operand {
    bytes: Vec<u8>,
    frames: Vec<FrameAt>,
    exceptions: u64,
}

impl Operand {
    fn new(rng: &mut Rng) -> Operand {
        // Frames begin where others end.
        Operand { bytes: vec![0xa5; 64 * rng.usize(1..4)], ..Operand::default() }
    }

    fn push(&mut self, rng: &mut Rng, frame: Frame) {
        let packed = PackedFrame::pack(Isa::detect(), frame, &frame_scores(rng, frame));
        let (at, entry) = (self.bytes.len() as u64, packed.entry(0));
        let groups_at = at + entry.rows.next_multiple_of(64);
        self.frames.push(FrameAt {
            profile_at: at as u32,
            groups_at: (groups_at / 4) as u32,
            patches_at: (groups_at + 4 * u64::from(GROUP_WORDS) * entry.groups) as u32,
            rows: entry.rows as u32,
        });
        self.bytes.extend_from_slice(packed.section());
        self.exceptions += entry.exceptions;
    }

    fn push_absent(&mut self) {
        self.frames.push(FrameAt { profile_at: 0, groups_at: 0, patches_at: 0, rows: ABSENT });
    }

    fn push_over(&mut self, score: u32) {
        self.frames.push(FrameAt { profile_at: score, groups_at: 0, patches_at: 0, rows: OVER });
    }

    /// The operand, and the frames after some others.
    fn buffers(self, rng: &mut Rng, frames_at: u32) -> [Vec<u32>; 2] {
        let mut frames = random_words(rng, 4 * frames_at as usize);
        frames.truncate(4 * frames_at as usize);
        frames.extend_from_slice(bytemuck::cast_slice(&self.frames));
        [bytemuck::pod_collect_to_vec(&self.bytes), frames]
    }
}

/// The moves of a class, and the parameters that say where they are.
struct Moves {
    words: Vec<u32>,
    groups_at: u32,
    entries_at: u32,
    /// The row of each group.
    rows: Vec<u32>,
}

/// Moves of some of `rows` rows: one to six each, made by `entry`.
fn random_moves(rng: &mut Rng, rows: usize, mut entry: impl FnMut(&mut Rng, u32) -> Vec<u32>) -> Moves {
    let before = rng.usize(1..10);
    let mut words = random_words(rng, before);
    let groups_at = words.len() as u32;
    let (mut entries, mut rows_with_moves) = (Vec::new(), Vec::new());
    for row in 0..rows as u32 {
        let found = entry(rng, row);
        if !found.is_empty() {
            words.extend([row, entries.len() as u32]);
            rows_with_moves.push(row);
            entries.extend(found);
        }
    }
    words.extend([u32::MAX, entries.len() as u32]);
    let entries_at = words.len() as u32;
    words.extend(entries);
    Moves { words, groups_at, entries_at, rows: rows_with_moves }
}

/// Some entries for a row, often none.
fn some<T>(rng: &mut Rng, mut one: impl FnMut(&mut Rng) -> T) -> Vec<T> {
    let count = if rng.u8(0..5) == 0 { 0 } else { rng.usize(1..=6) };
    (0..count).map(|_| one(rng)).collect()
}

/// A window of scores: the rows of some groups, beginning in the middle of a run as aligned windows do.
struct Part {
    groups: Range<usize>,
    base: u32,
    scores: Vec<u32>,
}

fn random_groups(rng: &mut Rng, moves: &Moves, words: usize, greatest: u32) -> Option<Part> {
    if moves.rows.is_empty() {
        return None;
    }
    let groups = random_part(rng, moves.rows.len());
    let first = moves.rows[groups.start] as usize * words;
    let base = if rng.bool() { 0 } else { rng.usize(first.saturating_sub(16)..=first) };
    let end = (moves.rows[groups.end - 1] as usize + 1) * words;
    // Other moves have updated a part of it before.
    let greatest = if rng.bool() { 0 } else { greatest };
    Some(Part { groups, base: base as u32, scores: random_scores(rng, end - base, greatest) })
}

/// A map of other rows to ranks below `bound`, after some other words, or none.
fn random_map(rng: &mut Rng, others: usize, bound: usize) -> (Vec<u32>, u32) {
    if others <= bound && rng.bool() {
        return (vec![0; 4], NO_MAP);
    }
    let at = 4 * rng.usize(0..3);
    let mut map = random_words(rng, at);
    map.truncate(at);
    map.extend((0..others.next_multiple_of(4)).map(|_| rng.u32(0..bound as u32)));
    (map, at as u32)
}

/// A frame of a lower layer that has some thousand positions.
fn random_frame(rng: &mut Rng) -> Frame {
    let pits = rng.usize(2..=6);
    let least_rows = |rng: &mut Rng| {
        let most = (1..MAX_TABLE_SEEDS).find(|&seeds| row_count(pits, seeds + 1) > 130).unwrap_or(MAX_TABLE_SEEDS);
        rng.usize(1..=most)
    };
    Frame { pits, mover: least_rows(rng), other: least_rows(rng) }
}

/// What a test of moves to lower layers saw.
#[derive(Default)]
struct Seen {
    exceptions: u64,
    no_map: u32,
    map: u32,
    over: u32,
    raised: usize,
}

/// Runs a stage for moves to lower layers over a part of its groups; returns the words that it could write.
fn run_forward(
    rng: &mut Rng,
    stage: Stage,
    params: Forward,
    moves: Moves,
    buffers: [Vec<u32>; 3],
    more: Vec<Vec<u32>>,
    seen: &mut Seen,
) -> usize {
    let words = (params.others as usize).div_ceil(4);
    let Some(part) = random_groups(rng, &moves, words, 20) else { return 0 };
    let threads = (part.groups.len() * words) as u32;
    let params = Forward {
        threads,
        words: words as u32,
        base: part.base,
        groups_at: moves.groups_at,
        entries_at: moves.entries_at,
        first_group: part.groups.start as u32,
        ..params
    };
    let [operand, frames, map] = buffers;
    let mut all = vec![operand, frames, moves.words, map, part.scores.clone()];
    all.extend(more);
    let made = run(stage, &params, workgroups(threads), all);
    seen.raised += made[4].iter().zip(&part.scores).filter(|(a, b)| a != b).count();
    threads as usize
}

/// Moves that lead to one frame: those that end the turn or end in the store.
fn forward_to_one_frame(rng: &mut Rng, stage: Stage, seen: &mut Seen) -> usize {
    let frame = random_frame(rng);
    let (movers, waiting) = (frame.mover_rows(), frame.mirrored().mover_rows());
    let again = stage == Stage::ForwardAgain;
    // Of the child's two rows one is the mover's after the move, the other that of the opponent.
    let (own, opponent) = if again { (movers, waiting) } else { (waiting, movers) };
    let others = if rng.bool() { opponent } else { rng.usize(1..300) };
    let rows = rng.usize(1..400);
    let moves = random_moves(rng, rows, |rng, _| {
        some(rng, |rng| rng.u32(0..own as u32) | if again { rng.u32(0..20) << RANK_BITS } else { 0 })
    });
    let (map, map_at) = random_map(rng, others, opponent);
    if map_at == NO_MAP {
        seen.no_map += 1
    } else {
        seen.map += 1
    }
    let mut operand = Operand::new(rng);
    if rng.u8(0..5) == 0 {
        operand.push_over(rng.u32(0..=TOTAL));
        seen.over += 1;
    } else {
        operand.push(rng, frame);
    }
    seen.exceptions += operand.exceptions;
    let frames_at = rng.u32(0..5);
    let [operand, frames] = operand.buffers(rng, frames_at);
    let params = Forward { others: others as u32, total: TOTAL, map_at, frames_at, ..Forward::default() };
    run_forward(rng, stage, params, moves, [operand, frames, map], Vec::new(), seen)
}

#[test]
fn forward_pass() {
    let mut seen = Seen::default();
    until_enough(1, |rng| forward_to_one_frame(rng, Stage::ForwardPass, &mut seen));
    assert_seen(&seen, true);
}

#[test]
fn forward_again() {
    let mut seen = Seen::default();
    until_enough(2, |rng| forward_to_one_frame(rng, Stage::ForwardAgain, &mut seen));
    assert_seen(&seen, true);
}

/// Asserts that the input had all edge cases.
fn assert_seen(seen: &Seen, maps: bool) {
    if adapter::shared().is_some() {
        assert!(seen.exceptions > 1000 && seen.over > 0 && seen.raised > ENOUGH / 10);
        assert!(!maps || (seen.map > 0 && seen.no_map > 0));
    }
}

#[test]
fn forward_capture() {
    let (mut seen, mut absent) = (Seen::default(), 0);
    until_enough(3, |rng| {
        let Frame { pits, mover, other } = random_frame(rng);
        let own = row_count(pits, other) as u32;
        let others = rng.usize(1..300);
        // For each number of captured seeds a frame with as many fewer seeds in the row to move.
        let mut operand = Operand::new(rng);
        for captured in 0..=mover {
            let frame = Frame { pits, mover: mover - captured, other };
            match rng.u8(0..4) {
                _ if frame.mover == 0 => operand.push_over(rng.u32(0..=TOTAL)),
                0 => operand.push_over(rng.u32(0..=TOTAL)),
                1 => operand.push_absent(),
                _ => operand.push(rng, frame),
            }
        }
        absent += operand.frames.iter().filter(|frame| frame.rows == ABSENT).count();
        seen.over += operand.frames.iter().filter(|frame| frame.rows == OVER).count() as u32;
        seen.exceptions += operand.exceptions;
        let map_at = 4 * rng.usize(0..3);
        let mut map = random_words(rng, map_at);
        map.truncate(map_at);
        for _ in 0..pits * others.next_multiple_of(4) {
            let captured = if rng.bool() { 0 } else { rng.u32(0..=mover as u32) };
            let rows = row_count(pits, mover - captured as usize) as u32;
            map.push(rng.u32(0..rows) | captured << RANK_BITS);
        }
        let rows = rng.usize(1..400);
        let moves = random_moves(rng, rows, |rng, _| {
            some(rng, |rng| {
                let even_empty = if rng.bool() { EVEN_EMPTY } else { 0 };
                rng.u32(0..own) | rng.u32(0..pits as u32) << RANK_BITS | even_empty
            })
        });
        let frames_at = rng.u32(0..5);
        let [operand, frames] = operand.buffers(rng, frames_at);
        let params =
            Forward { others: others as u32, total: TOTAL, map_at: map_at as u32, frames_at, ..Forward::default() };
        run_forward(rng, Stage::ForwardCapture, params, moves, [operand, frames, map], Vec::new(), &mut seen)
    });
    assert_seen(&seen, false);
    assert!(adapter::shared().is_none() || absent > 0);
}

#[test]
fn forward_relay() {
    let (mut seen, mut absent) = (Seen::default(), 0);
    until_enough(4, |rng| {
        let pits = rng.usize(1..=6);
        let most = (1..MAX_TABLE_SEEDS).find(|&seeds| row_count(pits, seeds + 1) > 300 || seeds == 14).unwrap();
        let (mover, other) = (rng.usize(1..=most), rng.usize(1..=most));
        let total = mover + other;
        let index = RowIndex::new(pits, total + rng.usize(0..3).min(MAX_TABLE_SEEDS - total));
        let rows_of = |seeds: usize| -> Vec<TableRow> {
            (0..row_count(pits, seeds) as u32).map(|rank| index.unrank(seeds, rank)).collect()
        };
        let (movers, others) = (rows_of(mover), rows_of(other));
        let moves = random_moves(rng, movers.len(), |_, row| {
            let reaches = |pit: &u32| usize::from(movers[row as usize][*pit as usize]) + *pit as usize > pits;
            (0..pits as u32).filter(reaches).collect()
        });
        let mut operand = Operand::new(rng);
        for to_move in 0..total {
            for waiting in 0..total {
                let frame = Frame { pits, mover: to_move, other: waiting };
                if to_move + waiting >= total || (rng.u8(0..4) == 0) {
                    operand.push_absent();
                    absent += 1;
                } else if to_move == 0 || waiting == 0 {
                    operand.push_over(to_move as u32);
                    seen.over += 1;
                } else if frame.positions() > 30_000 {
                    operand.push_absent();
                } else {
                    operand.push(rng, frame);
                }
            }
        }
        seen.exceptions += operand.exceptions;
        let words = |row: &TableRow| {
            let mut bytes = [0; 8];
            bytes[..row.len()].copy_from_slice(row);
            bytemuck::cast::<[u8; 8], [u32; 2]>(bytes)
        };
        let rows: Vec<[u32; 2]> = movers.iter().chain(&others).map(words).collect();
        let (ranks, levels_at) = index.words();
        let frames_at = rng.u32(0..5);
        let [operand, frames] = operand.buffers(rng, frames_at);
        let params = Forward {
            others: others.len() as u32,
            // By which the stage numbers frames.
            total: total as u32,
            map_at: NO_MAP,
            frames_at,
            pits: pits as u32,
            max_seeds: index.max_seeds() as u32,
            stride: index.potentials() as u32,
            levels_at,
            others_at: 2 * movers.len() as u32,
            moves_again: rng.u32(0..=1),
            ..Forward::default()
        };
        let more = vec![rows.as_flattened().to_vec(), at_least_four(ranks)];
        run_forward(rng, Stage::ForwardRelay, params, moves, [operand, frames, vec![0; 4]], more, &mut seen)
    });
    assert_seen(&seen, false);
    assert!(adapter::shared().is_none() || absent > 0);
}

fn at_least_four(mut words: Vec<u32>) -> Vec<u32> {
    words.resize(words.len().max(4), 0);
    words
}

/// Quiet moves of `rows` rows to rows below `bound` of theirs: where those of each begin, then the moves.
fn quiet_moves(rng: &mut Rng, rows: usize, pits: u32, bound: impl Fn(u32) -> Range<u32>) -> (Vec<u32>, u32) {
    let (mut words, mut quiet) = (vec![0], Vec::new());
    for row in 0..rows as u32 {
        let own = bound(row);
        if !own.is_empty() {
            quiet.extend(some(rng, |rng| rng.u32(own.clone()) | rng.u32(0..=pits) << RANK_BITS));
        }
        words.push(quiet.len() as u32);
    }
    let at = words.len() as u32;
    words.extend(quiet);
    (at_least_four(words), at)
}

/// What a pit of each row holds.
fn captures(rng: &mut Rng, pits: u32, rows: usize) -> Vec<u32> {
    let place = |rng: &mut Rng| (rng.u32(..) % 1000) | if rng.bool() { 0 } else { rng.u32(1..40) << RANK_BITS };
    (0..pits as usize * rows.next_multiple_of(4)).map(|_| place(rng)).collect()
}

/// Quiet moves of rows, four rows at a time, after some other words; and where they begin.
fn quads(rng: &mut Rng, rows: usize, pits: u32) -> (Vec<u32>, u32) {
    let at = 4 * rng.usize(0..3);
    let mut words = random_words(rng, at);
    words.truncate(at);
    let mut entries: Vec<u32> = Vec::new();
    let first = (at / 4 + rows.div_ceil(4)) as u32;
    for four in 0..rows.div_ceil(4) {
        let begin = first + entries.len() as u32 / 4;
        let count = rng.usize(0..6);
        for row in (0..count).flat_map(|_| 4 * four..4 * four + 4) {
            let row = row.min(rows - 1) as u32;
            let is_move = row > 0 && rng.u8(0..4) > 0;
            entries.push(if is_move {
                rng.u32(0..row) | rng.u32(0..=pits) << RANK_BITS
            } else {
                row | NO_MOVE << RANK_BITS
            });
        }
        words.extend([begin, begin + count as u32, rng.u32(..), rng.u32(..)]);
    }
    words.extend(entries);
    (words, at as u32)
}

/// Words before the first row that a window may have.
fn base_before(rng: &mut Rng, first: usize) -> usize {
    if rng.bool() { 0 } else { rng.usize(first.saturating_sub(16)..=first) }
}

#[test]
fn quiet_large() {
    let mut raised = 0;
    until_enough(5, |rng| {
        let (rows, columns) = random_shape(rng, 60_000);
        let (words, pits) = (columns.div_ceil(4), rng.u32(1..=6));
        let part = random_part(rng, rows);
        let lowest = rng.usize(0..=part.start);
        let (moves, entries_at) = quiet_moves(rng, rows, pits, |_| lowest as u32..part.start as u32);
        let map = captures(rng, pits, columns);
        let (small_base, large_base) = (base_before(rng, lowest * words), base_before(rng, part.start * words));
        let small = random_scores(rng, (part.end * words).saturating_sub(small_base), TOTAL);
        let large = random_scores(rng, part.end * words - large_base, 20);
        let params = QuietLarge {
            threads: (part.len() * words) as u32,
            first_row: part.start as u32,
            words: words as u32,
            total: TOTAL,
            entries_at,
            small_base: small_base as u32,
            large_base: large_base as u32,
        };
        let made = run(Stage::QuietLarge, &params, workgroups(params.threads), vec![moves, map, small, large.clone()]);
        raised += made[3].iter().zip(&large).filter(|(a, b)| a != b).count();
        part.len() * words
    });
    assert!(adapter::shared().is_none() || raised > ENOUGH / 10);
}

#[test]
fn quiet_small() {
    let mut raised = 0;
    until_enough(6, |rng| {
        let (rows, columns) = random_shape(rng, 60_000);
        let (words, pits) = (columns.div_ceil(4), rng.u32(1..=6));
        let part = random_part(rng, rows);
        let (moves, quads_at) = quads(rng, columns, pits);
        let map = captures(rng, pits, rows);
        let bases = [(); 2].map(|()| base_before(rng, part.start * words));
        let large = random_scores(rng, part.end * words - bases[0], TOTAL);
        let small = random_scores(rng, part.end * words - bases[1], 20);
        let params = QuietSmall {
            threads: (part.len() * words) as u32,
            first_row: part.start as u32,
            words: words as u32,
            total: TOTAL,
            quads_at,
            map_stride: rows.next_multiple_of(4) as u32,
            small_base: bases[1] as u32,
            large_base: bases[0] as u32,
        };
        let made = run(Stage::QuietSmall, &params, workgroups(params.threads), vec![moves, map, large, small.clone()]);
        raised += made[3].iter().zip(&small).filter(|(a, b)| a != b).count();
        part.len() * words
    });
    assert!(adapter::shared().is_none() || raised > ENOUGH / 10);
}

#[test]
fn transpose() {
    until_enough(7, |rng| {
        let (rows, columns) = random_shape(rng, 90_000);
        let tile = TILE as usize;
        // Parts begin with a tile, and end with one or with the matrix.
        let tiles = |rng: &mut Rng, count: usize| {
            let part = random_part(rng, count.div_ceil(tile));
            part.start * tile..(part.end * tile).min(count)
        };
        let (some_rows, some_columns) = (tiles(rng, rows), tiles(rng, columns));
        let (from_words, to_words) = (columns.div_ceil(4), rows.div_ceil(4));
        let from_base = base_before(rng, some_rows.start * from_words);
        let to_base = base_before(rng, some_columns.start * to_words);
        let from = random_words(rng, some_rows.end * from_words - from_base);
        let to = random_words(rng, some_columns.end * to_words - to_base);
        let across = some_columns.len().div_ceil(tile);
        let params = Transpose {
            rows: some_rows.end as u32,
            columns: some_columns.end as u32,
            first_row: some_rows.start as u32,
            first_column: some_columns.start as u32,
            tiles: across as u32,
            from_words: from_words as u32,
            from_base: from_base as u32,
            to_words: to_words as u32,
            to_base: to_base as u32,
        };
        let workgroups = (across * some_rows.len().div_ceil(tile)) as u32;
        let made = run(Stage::Transpose, &params, workgroups, vec![from.clone(), to]);
        // The expected result, computed independently.
        let byte = |words: &[u32], at: usize| words[at / 4].to_le_bytes()[at % 4];
        for row in some_rows.clone() {
            for column in some_columns.clone() {
                let there = byte(&made[1], 4 * (column * to_words - to_base) + row);
                assert_eq!(there, byte(&from, 4 * (row * from_words - from_base) + column));
            }
        }
        some_columns.len() * some_rows.len().div_ceil(4)
    });
}

#[test]
fn profile() {
    until_enough(8, |rng| {
        let columns = rng.usize(1..30_000);
        let rows = rng.usize(1..400);
        let words = columns.div_ceil(4);
        let part = random_part(rng, rows);
        let base = base_before(rng, part.start * words);
        let scores = random_scores(rng, part.end * words - base, 255);
        let params = Profile {
            threads: (words * part.len().div_ceil(PROFILE_ROWS as usize)) as u32,
            words: words as u32,
            first_row: part.start as u32,
            end_row: part.end as u32,
            base: base as u32,
        };
        let sums = if rng.bool() { vec![0; 4 * words] } else { (0..4 * words).map(|_| rng.u32(0..1 << 30)).collect() };
        run(Stage::Profile, &params, workgroups(params.threads), vec![scores, sums]);
        4 * words
    });
}

#[test]
fn mean() {
    until_enough(9, |rng| {
        let rows = rng.usize(1..100_000);
        let others = rng.u32(1..1_100_000);
        let sums: Vec<u32> = (0..rows.max(4)).map(|_| rng.u32(0..=others * TOTAL)).collect();
        let words = rows.next_multiple_of(64) / 4;
        let params = Mean { threads: words as u32, rows: rows as u32, others };
        let after = rng.usize(0..100);
        let head = random_words(rng, words + after);
        let made = run(Stage::Mean, &params, workgroups(params.threads), vec![sums.clone(), head.clone()]);
        assert_eq!(made[1][words..], head[words..]);
        for (row, sum) in sums.iter().enumerate().take(rows) {
            assert_eq!(u32::from(made[1][row / 4].to_le_bytes()[row % 4]), sum / others);
        }
        words
    });
}

/// The scores of a frame and all that packing them makes up to the stage under test.
struct Packing {
    rows: usize,
    words: usize,
    positions: usize,
    /// Runs, each padded.
    scores: Vec<u32>,
    /// The profile; groups to come.
    head: Vec<u32>,
    groups_at: usize,
    groups: usize,
}

fn packing(rng: &mut Rng) -> Packing {
    let (runs, rows) = random_shape(rng, 200_000);
    let (words, positions) = (rows.div_ceil(4), runs * rows);
    let profile: Vec<u8> = (0..rows.next_multiple_of(64)).map(|_| rng.u8(8..36)).collect();
    let wild = *rng.choice([0.0, 0.001, 0.05, 1.0].iter()).unwrap();
    let mut scores = vec![0u8; 4 * words * runs];
    for run in 0..runs {
        for row in 0..rows {
            let near = profile[row] - 7 + rng.u8(0..15);
            scores[4 * words * run + row] = if rng.f64() < wild { rng.u8(0..=TOTAL as u8) } else { near };
        }
    }
    let groups_at = profile.len() / 4;
    let groups = positions.div_ceil(GROUP_POSITIONS as usize);
    let mut head: Vec<u32> = bytemuck::pod_collect_to_vec(&profile);
    head.extend(random_words(rng, groups * GROUP_WORDS as usize));
    head.truncate(groups_at + groups * GROUP_WORDS as usize);
    Packing {
        rows,
        words,
        positions,
        scores: at_least_four(bytemuck::pod_collect_to_vec(&scores)),
        head,
        groups_at,
        groups,
    }
}

impl Packing {
    /// The parameters for some groups, and the words of scores that these need, beginning in the middle.
    fn part(&self, rng: &mut Rng, groups: &Range<usize>) -> (Encode, Vec<u32>) {
        let group = GROUP_POSITIONS as usize;
        let runs = groups.start * group / self.rows..(groups.end * group).min(self.positions).div_ceil(self.rows);
        let base = base_before(rng, runs.start * self.words);
        let params = Encode {
            threads: groups.len() as u32,
            first_group: groups.start as u32,
            rows: self.rows as u32,
            words: self.words as u32,
            base: base as u32,
            positions: self.positions as u32,
            groups_at: self.groups_at as u32,
        };
        (params, at_least_four(self.scores[base..runs.end * self.words].to_vec()))
    }
}

#[test]
fn encode() {
    let (mut plain, mut patched) = (0, 0);
    until_enough(10, |rng| {
        let packing = packing(rng);
        let groups = random_part(rng, packing.groups);
        let (params, scores) = packing.part(rng, &groups);
        let sizes = random_words(rng, packing.groups);
        let made =
            run(Stage::Encode, &params, workgroups(params.threads), vec![scores, packing.head.clone(), sizes.clone()]);
        assert_eq!(made[2][..groups.start], sizes[..groups.start]);
        assert_eq!(made[2][groups.end..], sizes[groups.end..]);
        plain += made[2][groups.clone()].iter().filter(|&&size| size == 0).count();
        patched += made[2][groups.clone()].iter().filter(|&&size| size > 0).count();
        groups.len() * (GROUP_WORDS as usize + 1)
    });
    assert!(adapter::shared().is_none() || (plain > 100 && patched > 100));
}

/// The prefix sums, and the total.
fn sums_before(numbers: &[u32], block: usize) -> (Vec<u32>, Vec<u32>) {
    let mut before = Vec::new();
    let mut sums = Vec::new();
    for numbers in numbers.chunks(block) {
        let mut sum = 0u32;
        for number in numbers {
            before.push(sum);
            sum += number;
        }
        sums.push(sum);
    }
    (before, sums)
}

#[test]
fn scan() {
    until_enough(11, |rng| {
        let block = SCAN_BLOCK as usize;
        let any = rng.usize(1..70_000);
        let count = *rng.choice([1, 3, 4, 5, 1023, 1024, 1025, 4096, any].iter()).unwrap();
        let blocks = random_part(rng, count.div_ceil(block));
        let numbers: Vec<u32> = (0..count).map(|_| if rng.bool() { 0 } else { rng.u32(0..100_000) }).collect();
        let params = Scan { numbers: count as u32, first_block: blocks.start as u32 };
        let sums = random_words(rng, count.div_ceil(block));
        let made = run(Stage::Scan, &params, blocks.len() as u32, vec![at_least_four(numbers.clone()), sums]);
        let (before, sums) = sums_before(&numbers, block);
        let scanned = blocks.start * block..(blocks.end * block).min(count);
        assert_eq!(made[0][scanned.clone()], before[scanned.clone()]);
        assert_eq!(made[0][scanned.end..count], numbers[scanned.end..]);
        assert_eq!(made[1][blocks.clone()], sums[blocks]);
        scanned.len()
    });
}

#[test]
fn patch() {
    let mut patched = 0;
    until_enough(12, |rng| {
        let packing = packing(rng);
        let (all, scores) = packing.part(rng, &(0..packing.groups));
        let mut encoded = vec![scores, packing.head.clone(), vec![0; packing.groups.max(4)]];
        for workgroup in 0..workgroups(all.threads) {
            Stage::Encode.kernel().twin()(workgroup, bytemuck::cast_slice(&[all]), &mut encoded);
        }
        let block = SCAN_BLOCK as usize;
        let (sizes, sums) = sums_before(&encoded[2], block);
        let (block_sums, sums) = sums_before(&sums, block);
        let (superblock_sums, sums) = sums_before(&sums, block);
        patched += encoded[2].iter().filter(|&&size| size > 0).count();

        let groups = random_part(rng, packing.groups);
        let (params, scores) = packing.part(rng, &groups);
        let params: Patch = params;
        let patches = vec![0; (sums[0] as usize).div_ceil(4).max(4)];
        let (written, head) = (patches.len(), encoded[1].clone());
        let sums = [sizes, block_sums, superblock_sums].map(at_least_four);
        let buffers = [scores, head].into_iter().chain(sums).chain([patches]).collect();
        run(Stage::Patch, &params, workgroups(params.threads), buffers);
        written
    });
    assert!(adapter::shared().is_none() || patched > 1000);
}
