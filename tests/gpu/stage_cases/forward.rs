use fastrand::Rng;
use kalah::build::gpu::stages::{
    ABSENT, AGAIN_GROUPS, AGAIN_WORDS, EVEN_EMPTY, Forward, NO_MAP, OVER, RANK_BITS, Stage, sowings,
};
use kalah::index::{Frame, MAX_TABLE_PITS, MAX_TABLE_SEEDS, RowIndex, TableRow, row_count};

use super::operand::Operand;
use super::{Run, TOTAL, at_least_four, changed, random_part, some, until_enough, window, words_before, workgroups};

/// Moves of a class, and the parameters that give their places.
struct Moves {
    words: Vec<u32>,
    groups_at: u32,
    entries_at: u32,
    /// Row of each group.
    rows: Vec<u32>,
}

/// Makes moves of some of `rows` rows, up to six for each.
fn random_moves(rng: &mut Rng, mut entry: impl FnMut(&mut Rng) -> u32) -> Moves {
    let (rows, before) = (rng.u32(1..400), rng.usize(4..10));
    let mut words = words_before(rng, before);
    let groups_at = words.len() as u32;
    let (mut entries, mut rows_with_moves) = (Vec::new(), Vec::new());
    for row in 0..rows {
        let found = some(rng, &mut entry);
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

/// Chooses a frame of a lower layer with some thousand positions.
fn random_frame(rng: &mut Rng) -> Frame {
    let pits = rng.usize(2..=MAX_TABLE_PITS);
    let most = (1..MAX_TABLE_SEEDS).find(|&seeds| row_count(pits, seeds + 1) > 130).unwrap_or(MAX_TABLE_SEEDS);
    Frame { pits, mover: rng.usize(1..=most), other: rng.usize(1..=most) }
}

/// Cases that a test of moves to lower layers has met.
#[derive(Default)]
struct Seen {
    exceptions: u64,
    absent: usize,
    over: usize,
    raised: usize,
}

impl Seen {
    fn count(&mut self, operand: &Operand) {
        let frames = |kind: u32| operand.frames.iter().filter(|frame| frame.rows == kind).count();
        self.exceptions += operand.exceptions;
        self.absent += frames(ABSENT);
        self.over += frames(OVER);
    }

    /// Checks that the input had all edge cases.
    fn assert_all(&self, on: &impl Run) {
        let Seen { exceptions, over, raised, .. } = *self;
        assert!(exceptions > 100 && over > 0 && raised > on.enough() / 10, "{exceptions} {over} {raised}");
    }
}

/// Runs a stage over a part of the groups of its moves. Returns the words that it could write.
fn run_forward(
    on: &mut impl Run,
    rng: &mut Rng,
    stage: Stage,
    params: Forward,
    moves: Moves,
    [operand, frames, map]: [Vec<u32>; 3],
    seen: &mut Seen,
) -> usize {
    if moves.rows.is_empty() {
        return 0;
    }
    let words = params.others.div_ceil(4);
    let groups = random_part(rng, moves.rows.len());
    let rows = moves.rows[groups.start] as usize..moves.rows[groups.end - 1] as usize + 1;
    // Other moves may have updated a part of it already.
    let greatest = if rng.bool() { 0 } else { 20 };
    let (base, scores) = window(rng, &rows, words as usize, greatest);
    let params = Forward {
        threads: groups.len() as u32 * words,
        words,
        base,
        total: TOTAL,
        groups_at: moves.groups_at,
        entries_at: moves.entries_at,
        first_group: groups.start as u32,
        groups: groups.len() as u32,
        ..params
    };
    let workgroups = match stage {
        Stage::ForwardAgain => params.groups.div_ceil(AGAIN_GROUPS) * words.div_ceil(AGAIN_WORDS),
        _ => workgroups(params.threads),
    };
    let made = on.run(stage, &params, workgroups, vec![operand, frames, moves.words, map, scores.clone()]);
    seen.raised += changed(&made[4], &scores);
    params.threads as usize
}

/// Moves that lead to one frame: those that end the turn or end in the store.
pub(super) fn to_one_frame(on: &mut impl Run, stage: Stage, seed: u64) {
    let again = stage == Stage::ForwardAgain;
    let (mut seen, mut rounds, mut maps) = (Seen::default(), 0, 0);
    until_enough(on, seed, |on, rng| {
        let frame = random_frame(rng);
        let (movers, waiting) = (frame.mover_rows(), frame.mirrored().mover_rows());
        // One of the child's two rows is the mover's after the move, the other is the opponent's.
        let (own, opponent) = if again { (movers, waiting) } else { (waiting, movers) };
        let others = if rng.bool() { opponent } else { rng.usize(1..300) };
        let moves =
            random_moves(rng, |rng| rng.u32(0..own as u32) | if again { rng.u32(0..20) << RANK_BITS } else { 0 });
        // A map of other rows to ranks of the opponent's, after some other words, or no map.
        let (mut map, mut map_at) = (vec![0; 4], NO_MAP);
        if others > opponent || rng.bool() {
            map_at = 4 * rng.u32(0..3);
            map = words_before(rng, map_at as usize);
            map.extend((0..others.next_multiple_of(4)).map(|_| rng.u32(0..opponent as u32)));
            maps += 1;
        }
        rounds += 1;
        let mut operand = Operand::new(rng);
        let mut params = Forward { others: others as u32, map_at, waiting_rows: u32::MAX, ..Forward::default() };
        // One frame in five has finished games.
        if rounds % 5 == 3 {
            operand.push_over(rng.u32(0..=TOTAL));
        } else {
            operand.push_part(rng, frame, &mut params);
        }
        seen.count(&operand);
        let [operand, frames] = operand.buffers(rng, &mut params);
        run_forward(on, rng, stage, params, moves, [operand, frames, map], &mut seen)
    });
    seen.assert_all(on);
    assert!(maps > 0 && maps < rounds);
}

pub(super) fn capture(on: &mut impl Run) {
    let mut seen = Seen::default();
    until_enough(on, 3, |on, rng| {
        let Frame { pits, mover, other } = random_frame(rng);
        let own = row_count(pits, other) as u32;
        let others = rng.usize(1..300);
        // For each number of captured seeds, a frame with that many fewer seeds in the row to move.
        let mut operand = Operand::new(rng);
        let map_at = 4 * rng.u32(0..3);
        let mut params = Forward { others: others as u32, map_at, waiting_rows: u32::MAX, ..Forward::default() };
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
        seen.count(&operand);
        let mut map = words_before(rng, map_at as usize);
        for _ in 0..pits * others.next_multiple_of(4) {
            let captured = if rng.bool() { 0 } else { rng.u32(0..=mover as u32) };
            let rows = row_count(pits, mover - captured as usize) as u32;
            map.push(rng.u32(0..rows) | captured << RANK_BITS);
        }
        let moves = random_moves(rng, |rng| {
            let even_empty = if rng.bool() { EVEN_EMPTY } else { 0 };
            rng.u32(0..own) | rng.u32(0..pits as u32) << RANK_BITS | even_empty
        });
        let [operand, frames] = operand.buffers(rng, &mut params);
        run_forward(on, rng, Stage::ForwardCapture, params, moves, [operand, frames, map], &mut seen)
    });
    seen.assert_all(on);
    assert!(seen.absent > 0);
}

pub(super) fn relay(on: &mut impl Run) {
    let mut seen = Seen::default();
    until_enough(on, 4, |on, rng| {
        let pits = rng.usize(1..=MAX_TABLE_PITS);
        let most = (1..MAX_TABLE_SEEDS).find(|&seeds| row_count(pits, seeds + 1) > 300 || seeds == 14).unwrap();
        let (mover, other) = (rng.usize(2..=most), rng.usize(1..=most));
        let total = mover + other;
        let index = RowIndex::new(pits, total + rng.usize(0..3).min(MAX_TABLE_SEEDS - total)).unwrap();
        let others: Vec<[u32; 2]> =
            (0..row_count(pits, other) as u32).map(|rank| row_words(&index.unrank(other, rank))).collect();
        let crossings = random_crossings(rng, pits, mover);
        let mut operand = Operand::new(rng);
        let mut part = Forward { waiting_rows: u32::MAX, ..Forward::default() };
        // A part of a frame is alone.
        let in_part = (rng.u8(0..4) == 0).then(|| (rng.usize(1..total), rng.usize(1..total)));
        for (to_move, waiting) in (0..total).flat_map(|to_move| (0..total).map(move |waiting| (to_move, waiting))) {
            let frame = Frame { pits, mover: to_move, other: waiting };
            if to_move + waiting >= total || (rng.u8(0..4) == 0) {
                operand.push_absent();
            } else if to_move == 0 || waiting == 0 {
                operand.push_over(to_move as u32);
            } else if frame.positions() > 30_000 || in_part.is_some_and(|part| part != (to_move, waiting)) {
                operand.push_absent();
            } else if in_part.is_some() {
                operand.push_part(rng, frame, &mut part);
            } else {
                operand.push(rng, frame);
            }
        }
        seen.count(&operand);
        let [operand, frames] = operand.buffers(rng, &mut part);
        let words = others.len().div_ceil(4);
        let (raised, groups) = (random_part(rng, crossings.rows), random_part(rng, crossings.groups));
        let greatest = if rng.bool() { 0 } else { 20 };
        let (base, scores) = window(rng, &raised, words, greatest);
        let params = Forward {
            threads: (groups.len() * words) as u32,
            words: words as u32,
            others: others.len() as u32,
            base,
            // The stage numbers frames by this total.
            total: total as u32,
            groups_at: crossings.groups_at,
            first_group: groups.start as u32,
            groups: groups.len() as u32,
            entries_at: crossings.entries_at,
            map_at: NO_MAP,
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
            at_least_four(others.into_flattened()),
            at_least_four(index.rank_terms()),
        ];
        let made = on.run(Stage::ForwardRelay, &params, workgroups(params.threads), buffers);
        seen.raised += changed(&made[4], &scores);
        params.threads as usize
    });
    seen.assert_all(on);
    assert!(seen.absent > 0);
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
    let (rows, before) = (rng.usize(1..100), rng.usize(4..10));
    let mut words = words_before(rng, before);
    let mut shuffled: Vec<u32> = (0..rows as u32).collect();
    rng.shuffle(&mut shuffled);
    let (mut entries, mut groups, mut own_rows) = (Vec::new(), Vec::new(), Vec::new());
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
