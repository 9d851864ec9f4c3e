//! The moves of rows and the maps of ranks as stages read them: words, made on all cores.
//!
//! Rows are processed in chunks of the same size for any number of threads, and put together in
//! order.

use std::collections::BTreeMap;
use std::ops::Range;

use kalah_core::game::Rules;
use kalah_core::index::{RowIndex, TableRow};
use kalah_tables::rows::{Crossing, Crossings, Kind, Moves, RowMaps};
use rayon::prelude::*;

use super::classes::{ClassKey, ClassKind};
use super::stages::{EVEN_EMPTY, NO_MOVE, RANK_BITS};

/// Rows that a thread processes at once: a multiple of four, since quiet moves are listed for four
/// rows at a time.
const CHUNK: usize = 4096;

/// A class of moves: those of one kind that sow the same number of seeds into the other row and
/// leave the same number in the mover's. All relays are one class, since the destination of their
/// seeds depends on the other row.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Class {
    pub kind: ClassKind,
    /// Seeds sown into the other row.
    pub spilled: usize,
    /// Seeds left in the mover's row.
    pub left: usize,
    /// Start of its groups. For each row with such moves, a group has the rank of the row and the
    /// start of its entries; one more follows. For relays: for each crossing, the seeds spilled and
    /// the start of its entries, which are the ranks of mover's rows.
    pub groups_at: u32,
    /// For relays: start of the mover's rows at the crossings, two words each, one byte per pit.
    pub crossings_at: u32,
    /// Start of its entries.
    pub entries_at: u32,
    pub groups: Groups,
}

/// The groups of a class, by the scores that they raise.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Groups {
    /// Each group raises the scores of one row. Ranks of these rows, ascending.
    OfRows(Vec<u32>),
    /// Each group raises the scores of several rows. Ranges of groups in which no two share a row.
    Rounds(Vec<Range<u32>>),
}

impl Groups {
    /// Returns ranges of groups, each of which may be processed at once. Together they have all
    /// groups that raise scores of some of these `rows`, and perhaps others.
    pub(super) fn parallel_ranges(&self, rows: Range<u32>) -> Vec<Range<u32>> {
        match self {
            Groups::OfRows(all) => {
                let group = |row| all.partition_point(|&other| other < row) as u32;
                std::iter::once(group(rows.start)..group(rows.end)).collect()
            }
            Groups::Rounds(rounds) => rounds.clone(),
        }
    }
}

/// The moves of all rows with the same seeds, and their places in the words.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MoveLists {
    /// Start of the quiet moves. Before them are the starts of each row's quiet moves.
    pub quiet_at: u32,
    /// Start of the quiet moves for four rows at once: see
    /// [`Quiet`](super::stages::Quiet).
    pub quads_at: u32,
    /// For each level, the lowest rank that its quiet moves lead to. Without quiet moves, the
    /// level's own first rank.
    pub lowest_child: Vec<u32>,
    pub classes: Vec<Class>,
}

/// The moves of a class in a chunk.
#[derive(Default)]
struct Members {
    /// For each row with such moves, its rank and the start of its entries in the chunk.
    groups: Vec<[u32; 2]>,
    entries: Vec<u32>,
}

/// The moves of a chunk of rows.
#[derive(Default)]
struct Chunk {
    /// End of the quiet moves of each row.
    ends: Vec<u32>,
    quiet: Vec<u32>,
    /// For each four rows, their entries; and all entries.
    ranges: Vec<Range<u32>>,
    quads: Vec<[u32; 4]>,
    classes: BTreeMap<ClassKey, Members>,
    /// Crossings of relays, each with the rank of its mover's row.
    relays: Vec<(Crossing, u32)>,
}

impl Chunk {
    /// Lists the moves of these rows, the first of which has the rank `first`.
    fn new(rules: Rules, maps: &RowMaps, first: u32, rows: &[TableRow]) -> Chunk {
        let mut chunk = Chunk::default();
        let (mut forward, mut quiet) = (Vec::new(), Vec::new());
        for (rank, row) in (first..).zip(rows) {
            forward.clear();
            quiet.clear();
            Moves::of_row(rules, maps.rows(), row, &mut forward, &mut quiet);
            for next in &quiet {
                let only_if_empty = next.only_if_empty.map_or(0, |pit| u32::from(pit) + 1);
                chunk.quiet.push(next.own | only_if_empty << RANK_BITS);
            }
            chunk.ends.push(chunk.quiet.len() as u32);
            chunk.relays.extend(Crossing::all(&forward).map(|crossing| (crossing, rank)));
            for next in &forward {
                let entry = match next.kind {
                    Kind::Pass => next.own,
                    Kind::Again => next.own | u32::from(next.stored) << RANK_BITS,
                    Kind::Capture { pit, even_empty } => {
                        next.own | u32::from(pit) << RANK_BITS | if even_empty { EVEN_EMPTY } else { 0 }
                    }
                    Kind::Relay { .. } => continue,
                };
                let members = chunk.classes.entry(ClassKind::of(next)).or_default();
                if members.groups.last().is_none_or(|group| group[0] != rank) {
                    members.groups.push([rank, members.entries.len() as u32]);
                }
                members.entries.push(entry);
            }
        }
        (chunk.ranges, chunk.quads) = quads(first, &chunk.ends, &chunk.quiet);
        chunk
    }
}

/// Lists the moves of all rows with `seeds` seeds, on all threads of the current pool. Returns the
/// words that stages read, and the places in them.
pub(super) fn list_moves(rules: Rules, maps: &RowMaps, seeds: usize) -> (Vec<u32>, MoveLists) {
    let rows = maps.all(seeds);
    let chunks: Vec<Chunk> = rows
        .par_chunks(CHUNK)
        .enumerate()
        .map(|(number, rows)| Chunk::new(rules, maps, (number * CHUNK) as u32, rows))
        .collect();

    let mut words = Vec::with_capacity(chunks.iter().map(Chunk::most_words).sum());
    words.push(0);
    let mut before = 0;
    for chunk in &chunks {
        words.extend(chunk.ends.iter().map(|end| before + end));
        before += chunk.quiet.len() as u32;
    }
    let quiet_at = words.len() as u32;
    chunks.iter().for_each(|chunk| words.extend_from_slice(&chunk.quiet));
    let levels = maps.rows().level_bounds(seeds);
    let lowest_child = levels
        .windows(2)
        .map(|level| {
            let [first, end] = [level[0], level[1]].map(|row| (quiet_at + words[row as usize]) as usize);
            let children = words[first..end].iter().map(|entry| entry & ((1 << RANK_BITS) - 1));
            children.min().unwrap_or(level[0])
        })
        .collect();
    words.resize(words.len().next_multiple_of(4), 0);
    let quads_at = words.len() as u32;
    let ranges: usize = chunks.iter().map(|chunk| chunk.ranges.len()).sum();
    let mut first = quads_at / 4 + ranges as u32;
    for chunk in &chunks {
        words.extend(chunk.ranges.iter().flat_map(|range| [first + range.start, first + range.end, 0, 0]));
        first += chunk.quads.len() as u32;
    }
    chunks.iter().for_each(|chunk| words.extend_from_slice(chunk.quads.as_flattened()));

    let mut keys: Vec<ClassKey> = chunks.iter().flat_map(|chunk| chunk.classes.keys().copied()).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut classes = Vec::with_capacity(keys.len());
    for key in keys {
        let members: Vec<&Members> = chunks.iter().filter_map(|chunk| chunk.classes.get(&key)).collect();
        let groups_at = words.len() as u32;
        let mut rows = Vec::with_capacity(members.iter().map(|members| members.groups.len()).sum());
        let mut entries = 0;
        for members in &members {
            rows.extend(members.groups.iter().map(|group| group[0]));
            words.extend(members.groups.iter().flat_map(|&[row, first]| [row, entries + first]));
            entries += members.entries.len() as u32;
        }
        words.extend([u32::MAX, entries]);
        let entries_at = words.len() as u32;
        members.iter().for_each(|members| words.extend_from_slice(&members.entries));
        let (kind, spilled, left) = key;
        let groups = Groups::OfRows(rows);
        classes.push(Class { kind, spilled, left, groups_at, crossings_at: 0, entries_at, groups });
    }
    let relays: Vec<(Crossing, u32)> = chunks.into_iter().flat_map(|chunk| chunk.relays).collect();
    if !relays.is_empty() {
        classes.push(list_relays(maps.rows(), rows.len(), relays, &mut words));
    }
    (words, MoveLists { quiet_at, quads_at, lowest_child, classes })
}

impl Chunk {
    /// Upper bound of the words in the list of all moves.
    fn most_words(&self) -> usize {
        let classes = self.classes.values().map(|members| 2 * members.groups.len() + members.entries.len() + 2);
        let moves = self.ends.len() + self.quiet.len() + 4 * (self.ranges.len() + self.quads.len());
        // Counts a separate crossing for each relay.
        moves + classes.sum::<usize>() + 5 * self.relays.len() + 8
    }
}

/// Appends the class of the `relays` from some of `rows` rows to the `words`.
fn list_relays(index: &RowIndex, rows: usize, relays: Vec<(Crossing, u32)>, words: &mut Vec<u32>) -> Class {
    let crossings = Crossings::of(relays);
    let rounds = edge_colouring(&crossings, rows);
    let in_rounds = || rounds.iter().flatten().map(|&crossing| crossing as usize);
    let groups_at = words.len() as u32;
    let mut entries = 0;
    for crossing in in_rounds() {
        words.extend([crossings.all()[crossing].spilled.into(), entries]);
        entries += crossings.movers(crossing).len() as u32;
    }
    words.extend([u32::MAX, entries]);
    let crossings_at = words.len() as u32;
    for Crossing { left, own, .. } in in_rounds().map(|crossing| crossings.all()[crossing]) {
        words.extend(row_words(&index.unrank(left.into(), own)));
    }
    let entries_at = words.len() as u32;
    in_rounds().for_each(|crossing| words.extend_from_slice(crossings.movers(crossing)));
    let mut end = 0;
    let ranges = rounds.iter().map(|round| {
        let first = end;
        end += round.len() as u32;
        first..end
    });
    let groups = Groups::Rounds(ranges.collect());
    Class { kind: ClassKind::Relay, spilled: 0, left: 0, groups_at, crossings_at, entries_at, groups }
}

/// Packs a row into two words, one byte per pit.
pub(super) fn row_words(row: &TableRow) -> [u32; 2] {
    let mut bytes = [0; 8];
    bytes[..row.len()].copy_from_slice(row);
    bytemuck::cast(bytes)
}

/// For each row with `seeds` seeds, its rank when `spilled` more are sown into it. The last rank is
/// repeated up to a whole number of words of scores.
pub(super) fn list_spill(maps: &RowMaps, seeds: usize, spilled: usize) -> Vec<u32> {
    let mut words = maps.spill(seeds, spilled).ranks().to_vec();
    fill_word(&mut words);
    words
}

/// Lists captures for each pit and each row with `seeds` seeds, after `spilled` more were sown into
/// it and then the pit was captured. An entry is the rank of the remaining row in [`RANK_BITS`]
/// bits, with the captured seeds above. For each pit the last entry is repeated up to a whole
/// number of words of scores.
pub(super) fn list_captures(maps: &RowMaps, seeds: usize, spilled: usize) -> Vec<u32> {
    let spill = maps.spill(seeds, spilled);
    let run = spill.ranks().len().next_multiple_of(4);
    let all = maps.all(seeds + spilled);
    let mut words = vec![0; maps.rows().pits() * run];
    for (pit, words) in words.chunks_exact_mut(run).enumerate() {
        let remainders = maps.remainders(seeds + spilled, pit);
        let (ranks, filling) = words.split_at_mut(spill.ranks().len());
        let chunks = ranks.par_chunks_mut(CHUNK).zip(spill.ranks().par_chunks(CHUNK));
        chunks.for_each(|(words, ranks)| {
            for (word, &rank) in words.iter_mut().zip(ranks) {
                let captured = u32::from(all[rank as usize][pit]);
                *word = remainders[rank as usize] | captured << RANK_BITS;
            }
        });
        filling.fill(*ranks.last().expect("every number of seeds has a row"));
    }
    words
}

/// Repeats the last element up to a multiple of four: the positions of a word of scores.
fn fill_word(ranks: &mut Vec<u32>) {
    if let Some(&last) = ranks.last() {
        ranks.resize(ranks.len().next_multiple_of(4), last);
    }
}

/// Lists the quiet moves of four rows at once, from the ends of the moves of each row and the
/// moves. `first_row` is the rank of the first row. Returns the entries of each four rows, and all
/// entries.
fn quads(first_row: u32, ends: &[u32], quiet: &[u32]) -> (Vec<Range<u32>>, Vec<[u32; 4]>) {
    let rows = ends.len();
    let moves = |row: usize| &quiet[if row == 0 { 0 } else { ends[row - 1] as usize }..ends[row] as usize];
    let (mut ranges, mut entries) = (Vec::new(), Vec::new());
    for first in (0..rows).step_by(4) {
        let four = [0, 1, 2, 3].map(|lane| (first + lane).min(rows - 1));
        let most = four.iter().map(|&row| moves(row).len()).max().unwrap_or(0);
        let begin = entries.len() as u32;
        entries.extend((0..most).map(|number| {
            let quiet = |row: usize| moves(row).get(number).copied();
            four.map(|row| quiet(row).unwrap_or((first_row + row as u32) | NO_MOVE << RANK_BITS))
        }));
        ranges.push(begin..entries.len() as u32);
    }
    (ranges, entries)
}

/// Colours `crossings` one after the other, so that no two of one colour share one of the `rows`
/// mover's rows. Threads that evaluate a colour therefore do not race. Returns the crossings of
/// each colour by their indices, ascending.
pub(super) fn edge_colouring(crossings: &Crossings, rows: usize) -> Vec<Vec<u32>> {
    // Last colour that raises each row, counted from 1.
    let mut last = vec![0u32; rows];
    let mut left: Vec<u32> = (0..crossings.all().len() as u32).collect();
    let mut colours = Vec::new();
    while !left.is_empty() {
        let number = colours.len() as u32 + 1;
        let (now, later) = left.into_iter().partition(|&crossing| {
            let movers = crossings.movers(crossing as usize);
            let is_free = movers.iter().all(|&row| last[row as usize] != number);
            if is_free {
                movers.iter().for_each(|&row| last[row as usize] = number);
            }
            is_free
        });
        colours.push(now);
        left = later;
    }
    colours
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use kalah_tables::rows::RowMove;

    fn maps(pits: usize, seeds: usize) -> RowMaps {
        RowMaps::new(Arc::new(RowIndex::new(pits, seeds).unwrap()))
    }

    fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
    }

    /// Boards with more rows than a chunk has, and with fewer.
    const BOARDS: [(usize, usize); 4] = [(6, 13), (3, 9), (2, 30), (1, 5)];

    #[test]
    fn lists_are_the_same_whatever_the_number_of_threads() {
        for rules in Rules::ALL {
            for (pits, seeds) in BOARDS {
                // The lists that one thread makes of all rows at once.
                let one = maps(pits, seeds);
                let whole = Chunk::new(rules, &one, 0, &one.all(seeds));
                let moves = in_pool(1, || list_moves(rules, &one, seeds));
                let quiet_at = moves.1.quiet_at as usize;
                assert_eq!(moves.0[1..quiet_at], whole.ends, "{rules}, {pits} pits");
                assert_eq!(moves.0[quiet_at..][..whole.quiet.len()], whole.quiet, "{rules}, {pits} pits");
                assert_eq!(moves.1.classes.len(), whole.classes.len() + usize::from(!whole.relays.is_empty()));
                for (class, (key, members)) in moves.1.classes.iter().zip(&whole.classes) {
                    assert_eq!((class.kind, class.spilled, class.left), *key);
                    let words = |at: u32, count: usize| &moves.0[at as usize..][..count];
                    assert_eq!(words(class.groups_at, 2 * members.groups.len()), members.groups.as_flattened());
                    assert_eq!(words(class.entries_at, members.entries.len()), members.entries);
                }
                let captures = (rules.capture() != kalah_core::game::Capture::Never)
                    .then(|| in_pool(1, || list_captures(&one, seeds - 1, 1)));
                let spill = in_pool(1, || list_spill(&one, seeds - 1, 1));
                for threads in [2, 3, 7] {
                    let maps = maps(pits, seeds);
                    assert!(in_pool(threads, || list_moves(rules, &maps, seeds)) == moves, "{rules}, {pits} pits");
                    assert!(in_pool(threads, || list_spill(&maps, seeds - 1, 1)) == spill);
                    let found = captures.as_ref().map(|_| in_pool(threads, || list_captures(&maps, seeds - 1, 1)));
                    assert!(found == captures);
                }
            }
        }
    }

    #[test]
    fn relays_are_listed_by_their_crossings() {
        for (pits, seeds) in [(6, 11), (8, 6), (3, 9), (1, 5)] {
            let maps = maps(pits, seeds);
            let (words, lists) = list_moves(Rules::SKalaha, &maps, seeds);
            let class = lists.classes.iter().find(|class| class.kind == ClassKind::Relay).unwrap();
            let Groups::Rounds(rounds) = &class.groups else { panic!("relays without rounds") };
            let mut found: BTreeMap<(u32, [u32; 2]), Vec<u32>> = BTreeMap::new();
            let mut end = 0;
            for round in rounds {
                assert_eq!(round.start, end, "rounds follow each other");
                end = round.end;
                let mut raised = Vec::new();
                for group in round.clone() {
                    let head = &words[(class.groups_at + 2 * group) as usize..][..4];
                    let own = &words[(class.crossings_at + 2 * group) as usize..][..2];
                    let movers = &words[class.entries_at as usize..][head[1] as usize..head[3] as usize];
                    raised.extend_from_slice(movers);
                    assert_eq!(found.insert((head[0], [own[0], own[1]]), movers.to_vec()), None, "a crossing twice");
                }
                // The threads of a round do not race.
                raised.sort_unstable();
                assert!(raised.windows(2).all(|two| two[0] < two[1]), "{pits} pits: a row twice in a round");
            }
            let mut expected: BTreeMap<(u32, [u32; 2]), Vec<u32>> = BTreeMap::new();
            for (mover, row) in (0..).zip(maps.all(seeds).iter()) {
                for (_, row_move) in RowMove::all(Rules::SKalaha, pits, row) {
                    let RowMove::Relay { own, spilled } = row_move else { continue };
                    let movers = expected.entry((spilled.into(), row_words(&own))).or_default();
                    if movers.last() != Some(&mover) {
                        movers.push(mover);
                    }
                }
            }
            assert_eq!(found, expected, "{pits} pits, {seeds} seeds");
        }
    }

    #[test]
    fn quiet_moves_of_four_rows_are_those_of_each() {
        let maps = maps(6, 13);
        let (words, lists) = list_moves(Rules::Standard, &maps, 13);
        let rows = maps.rows().rows(13);
        for row in 0..rows {
            let own = &words[(lists.quiet_at + words[row]) as usize..(lists.quiet_at + words[row + 1]) as usize];
            let range = &words[lists.quads_at as usize + row / 4 * 4..];
            let quads = (range[0]..range[1]).map(|quad| words[4 * quad as usize + row % 4]);
            let filled: Vec<u32> = quads.collect();
            assert_eq!(filled[..own.len()], *own, "row {row}");
            assert!(filled[own.len()..].iter().all(|&entry| entry == row as u32 | NO_MOVE << RANK_BITS));
        }
    }
}
