use std::ops::Range;

use fastrand::Rng;
use kalah::build::gpu::stages::{
    ABSENT, AGAIN_GROUPS, AGAIN_WORDS, EVEN_EMPTY, Forward, NO_MAP, OVER, RANK_BITS, Stage, sowings,
};
use kalah::index::{Frame, MAX_TABLE_PITS, MAX_TABLE_SEEDS, RowIndex, TableRow, row_count};

use super::operand::Operand;
use super::{
    Run, TOTAL, at_least_four, base_before, random_part, random_scores, random_words, some, until_enough, workgroups,
};

/// Moves of a class, and the parameters that give their places.
struct Moves {
    words: Vec<u32>,
    groups_at: u32,
    entries_at: u32,
    /// Row of each group.
    rows: Vec<u32>,
}

/// Makes moves of some of `rows` rows, one to six for each, with `entry`.
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

/// A window of scores: the rows of some groups. It begins in the middle of a run, as aligned windows do.
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
    // Other moves have updated a part of it already.
    let greatest = if rng.bool() { 0 } else { greatest };
    Some(Part { groups, base: base as u32, scores: random_scores(rng, end - base, greatest) })
}

/// Makes a map of other rows to ranks below `bound`, after some other words, or no map.
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

/// Chooses a frame of a lower layer with some thousand positions.
fn random_frame(rng: &mut Rng) -> Frame {
    let pits = rng.usize(2..=MAX_TABLE_PITS);
    let least_rows = |rng: &mut Rng| {
        let most = (1..MAX_TABLE_SEEDS).find(|&seeds| row_count(pits, seeds + 1) > 130).unwrap_or(MAX_TABLE_SEEDS);
        rng.usize(1..=most)
    };
    Frame { pits, mover: least_rows(rng), other: least_rows(rng) }
}

/// Cases that a test of moves to lower layers has met.
#[derive(Default)]
struct Seen {
    exceptions: u64,
    no_map: u32,
    map: u32,
    over: u32,
    raised: usize,
}

/// Runs a stage for moves to lower layers over a part of its groups. Returns the words that it could write.
fn run_forward(
    on: &mut impl Run,
    rng: &mut Rng,
    stage: Stage,
    params: Forward,
    moves: Moves,
    [operand, frames, map]: [Vec<u32>; 3],
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
        groups: part.groups.len() as u32,
        ..params
    };
    let buffers = vec![operand, frames, moves.words, map, part.scores.clone()];
    let workgroups = match stage {
        Stage::ForwardAgain => params.groups.div_ceil(AGAIN_GROUPS) * params.words.div_ceil(AGAIN_WORDS),
        _ => workgroups(threads),
    };
    let made = on.run(stage, &params, workgroups, buffers);
    seen.raised += made[4].iter().zip(&part.scores).filter(|(a, b)| a != b).count();
    threads as usize
}

/// Tests moves that lead to one frame: those that end the turn or end in the store.
fn forward_to_one_frame(on: &mut impl Run, rng: &mut Rng, stage: Stage, seen: &mut Seen) -> usize {
    let frame = random_frame(rng);
    let (movers, waiting) = (frame.mover_rows(), frame.mirrored().mover_rows());
    let again = stage == Stage::ForwardAgain;
    // One of the child's two rows is the mover's after the move, the other is the opponent's.
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
    let mut params =
        Forward { others: others as u32, total: TOTAL, map_at, waiting_rows: u32::MAX, ..Forward::default() };
    // One frame in five has finished games.
    if (seen.map + seen.no_map) % 5 == 2 {
        operand.push_over(rng.u32(0..=TOTAL));
        seen.over += 1;
    } else {
        operand.push_part(rng, frame, &mut params);
    }
    seen.exceptions += operand.exceptions;
    let frames_at = rng.u32(0..5);
    let [operand, frames] = operand.buffers(rng, frames_at);
    params.frames_at = frames_at;
    run_forward(on, rng, stage, params, moves, [operand, frames, map], seen)
}

pub(crate) fn forward_pass(on: &mut impl Run) {
    let mut seen = Seen::default();
    until_enough(on, 1, |on, rng| forward_to_one_frame(on, rng, Stage::ForwardPass, &mut seen));
    assert_seen(on, &seen, true);
}

pub(crate) fn forward_again(on: &mut impl Run) {
    let mut seen = Seen::default();
    until_enough(on, 2, |on, rng| forward_to_one_frame(on, rng, Stage::ForwardAgain, &mut seen));
    assert_seen(on, &seen, true);
}

/// Checks that the input had all edge cases.
fn assert_seen(on: &impl Run, seen: &Seen, maps: bool) {
    let Seen { exceptions, over, raised, .. } = *seen;
    assert!(exceptions > 100 && over > 0 && raised > on.enough() / 10, "{exceptions} {over} {raised}");
    assert!(!maps || (seen.map > 0 && seen.no_map > 0));
}

pub(crate) fn forward_capture(on: &mut impl Run) {
    let (mut seen, mut absent) = (Seen::default(), 0);
    until_enough(on, 3, |on, rng| {
        let Frame { pits, mover, other } = random_frame(rng);
        let own = row_count(pits, other) as u32;
        let others = rng.usize(1..300);
        // For each number of captured seeds, a frame with that many fewer seeds in the row to move.
        let mut operand = Operand::new(rng);
        let mut params = Forward { others: others as u32, total: TOTAL, waiting_rows: u32::MAX, ..Forward::default() };
        // A part of a frame is alone.
        let in_part = rng.bool().then(|| rng.usize(0..mover));
        for captured in 0..=mover {
            let frame = Frame { pits, mover: mover - captured, other };
            match rng.u8(0..4) {
                _ if frame.mover == 0 => operand.push_over(rng.u32(0..=TOTAL)),
                _ if in_part == Some(captured) => operand.push_part(rng, frame, &mut params),
                0 => operand.push_over(rng.u32(0..=TOTAL)),
                1 => operand.push_absent(),
                _ if in_part.is_some() => operand.push_absent(),
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
        (params.map_at, params.frames_at) = (map_at as u32, frames_at);
        run_forward(on, rng, Stage::ForwardCapture, params, moves, [operand, frames, map], &mut seen)
    });
    assert_seen(on, &seen, false);
    assert!(absent > 0);
}

pub(crate) fn forward_relay(on: &mut impl Run) {
    let (mut seen, mut absent) = (Seen::default(), 0);
    until_enough(on, 4, |on, rng| {
        let pits = rng.usize(1..=MAX_TABLE_PITS);
        let most = (1..MAX_TABLE_SEEDS).find(|&seeds| row_count(pits, seeds + 1) > 300 || seeds == 14).unwrap();
        let (mover, other) = (rng.usize(2..=most), rng.usize(1..=most));
        let total = mover + other;
        let index = RowIndex::new(pits, total + rng.usize(0..3).min(MAX_TABLE_SEEDS - total)).unwrap();
        let rows_of = |seeds: usize| -> Vec<TableRow> {
            (0..row_count(pits, seeds) as u32).map(|rank| index.unrank(seeds, rank)).collect()
        };
        let (others, crossings) = (rows_of(other), random_crossings(rng, pits, mover));
        let mut operand = Operand::new(rng);
        let mut part = Forward { waiting_rows: u32::MAX, ..Forward::default() };
        // A part of a frame is alone.
        let in_part = (rng.u8(0..4) == 0).then(|| (rng.usize(1..total), rng.usize(1..total)));
        for to_move in 0..total {
            for waiting in 0..total {
                let frame = Frame { pits, mover: to_move, other: waiting };
                if to_move + waiting >= total || (rng.u8(0..4) == 0) {
                    operand.push_absent();
                    absent += 1;
                } else if to_move == 0 || waiting == 0 {
                    operand.push_over(to_move as u32);
                    seen.over += 1;
                } else if frame.positions() > 30_000 || in_part.is_some_and(|part| part != (to_move, waiting)) {
                    operand.push_absent();
                } else if in_part.is_some() {
                    operand.push_part(rng, frame, &mut part);
                } else {
                    operand.push(rng, frame);
                }
            }
        }
        seen.exceptions += operand.exceptions;
        let rows: Vec<[u32; 2]> = others.iter().map(row_words).collect();
        let frames_at = rng.u32(0..5);
        let [operand, frames] = operand.buffers(rng, frames_at);
        // A window of the scores: those of some rows.
        let words = others.len().div_ceil(4);
        let raised = random_part(rng, crossings.rows);
        let base = base_before(rng, raised.start * words);
        let greatest = if rng.bool() { 0 } else { 20 };
        let scores = random_scores(rng, raised.end * words - base, greatest);
        let groups = random_part(rng, crossings.groups);
        let threads = (groups.len() * words) as u32;
        let params = Forward {
            threads,
            words: words as u32,
            others: others.len() as u32,
            base: base as u32,
            // The stage numbers frames by this total.
            total: total as u32,
            groups_at: crossings.groups_at,
            first_group: groups.start as u32,
            groups: groups.len() as u32,
            entries_at: crossings.entries_at,
            map_at: NO_MAP,
            frames_at,
            pits: pits as u32,
            max_seeds: index.max_seeds() as u32,
            stride: index.potentials() as u32,
            hands: total as u32 + 1,
            crossings_at: crossings.crossings_at,
            first_row: raised.start as u32,
            end_row: raised.end as u32,
            moves_again: rng.u32(0..=1),
            ..part
        };
        let buffers = vec![
            operand,
            frames,
            crossings.words,
            sowings(pits, total + 1),
            scores.clone(),
            at_least_four(rows.as_flattened().to_vec()),
            at_least_four(index.rank_terms()),
        ];
        let made = on.run(Stage::ForwardRelay, &params, workgroups(threads), buffers);
        seen.raised += made[4].iter().zip(&scores).filter(|(a, b)| a != b).count();
        threads as usize
    });
    assert_seen(on, &seen, false);
    assert!(absent > 0);
}

/// Crossings in the form that the stage reads. No two raise the scores of the same row of the mover.
struct RelayMoves {
    words: Vec<u32>,
    groups_at: u32,
    groups: usize,
    crossings_at: u32,
    entries_at: u32,
    /// Number of the mover's rows.
    rows: usize,
}

/// Makes crossings of relays from rows with `mover` seeds, at least two. One of these seeds is stored first.
fn random_crossings(rng: &mut Rng, pits: usize, mover: usize) -> RelayMoves {
    let before = rng.usize(1..10);
    let mut words = random_words(rng, before);
    let rows = rng.usize(1..100);
    let mut shuffled: Vec<u32> = (0..rows as u32).collect();
    rng.shuffle(&mut shuffled);
    let mut entries = Vec::new();
    let (mut groups, mut own_rows) = (Vec::new(), Vec::new());
    while entries.len() < rows {
        let left = rng.usize(0..=mover - 2);
        groups.push([rng.u32(1..=(mover - 1 - left) as u32), entries.len() as u32]);
        let mut row = TableRow::default();
        (0..left).for_each(|_| row[rng.usize(0..pits)] += 1);
        own_rows.push(row_words(&row));
        let end = (entries.len() + rng.usize(1..=5)).min(rows);
        let mut movers = shuffled[entries.len()..end].to_vec();
        movers.sort_unstable();
        entries.extend(movers);
    }
    let groups_at = words.len() as u32;
    words.extend(groups.as_flattened());
    words.extend([u32::MAX, entries.len() as u32]);
    let crossings_at = words.len() as u32;
    words.extend(own_rows.as_flattened());
    let entries_at = words.len() as u32;
    words.extend(entries);
    RelayMoves { words, groups_at, groups: groups.len(), crossings_at, entries_at, rows }
}

/// Packs a row into two words, one byte per pit.
fn row_words(row: &TableRow) -> [u32; 2] {
    let mut bytes = [0; 8];
    bytes[..row.len()].copy_from_slice(row);
    bytemuck::cast(bytes)
}
