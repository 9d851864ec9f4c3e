//! The moves of rows and the maps of ranks that stages need: made on the CPU on first use, and kept on the device.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::stages::{EVEN_EMPTY, NO_MOVE, RANK_BITS};
use crate::game::Rules;
use crate::gpu::{DeviceBuffer, Gpu, GpuError, Recorder};
use crate::index::TableRow;
use crate::rows::{BoardRows, ForwardMove, Kind};

/// The kind of a class of moves: it determines the stage, and the frames that the moves lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ClassKind {
    Pass,
    Again,
    Capture,
    Relay,
}

impl ClassKind {
    /// The class of a move: its kind, the seeds that it sows into the other row, and those that it leaves in the
    /// mover's.
    pub fn of(next: &ForwardMove) -> (ClassKind, usize, usize) {
        let kind = match next.kind {
            Kind::Pass => ClassKind::Pass,
            Kind::Again => ClassKind::Again,
            Kind::Capture { .. } => ClassKind::Capture,
            // Where the seeds go depends on the other row.
            Kind::Relay { .. } => return (ClassKind::Relay, 0, 0),
        };
        (kind, usize::from(next.spilled), usize::from(next.left))
    }
}

/// A class of moves: those of one kind that sow the same number of seeds into the other row and leave the same number
/// in the mover's.
pub(super) struct Class {
    pub kind: ClassKind,
    /// Seeds sown into the other row.
    pub spilled: usize,
    /// Seeds left in the mover's row.
    pub left: usize,
    /// Where its groups begin: for each row with such moves, its rank and where its entries begin; then one more.
    pub groups_at: u32,
    /// Where its entries begin.
    pub entries_at: u32,
    /// The row of each group.
    pub rows: Vec<u32>,
}

/// The moves of all rows with the same seeds.
pub(super) struct RowMoves {
    /// Where the quiet moves of each row begin; the quiet moves; the same for four rows at once; the groups and entries
    /// of all classes.
    pub buffer: DeviceBuffer,
    /// Where the quiet moves begin.
    pub quiet_at: u32,
    /// Where the quiet moves for four rows at once begin: see [`QuietSmall`](super::stages::QuietSmall).
    pub quads_at: u32,
    /// For each level, the lowest rank that its quiet moves lead to; the level's own first rank if there are none.
    pub lowest_child: Vec<u32>,
    pub classes: Vec<Class>,
}

/// The moves and maps that are on the device.
pub(super) struct DeviceRows {
    board: BoardRows,
    moves: HashMap<usize, Arc<RowMoves>>,
    spills: HashMap<(usize, usize), Arc<DeviceBuffer>>,
    captures: HashMap<(usize, usize), Arc<DeviceBuffer>>,
    relay_rows: HashMap<(usize, usize), Arc<DeviceBuffer>>,
    ranks: Option<Arc<DeviceBuffer>>,
    /// A placeholder for a buffer that a stage does not need.
    pub nothing: DeviceBuffer,
}

impl DeviceRows {
    pub fn new(gpu: &Gpu, board: BoardRows) -> Result<DeviceRows, GpuError> {
        Ok(DeviceRows {
            board,
            moves: HashMap::new(),
            spills: HashMap::new(),
            captures: HashMap::new(),
            relay_rows: HashMap::new(),
            ranks: None,
            nothing: gpu.storage("nothing", 16)?,
        })
    }

    pub fn rules(&self) -> Rules {
        self.board.rules
    }

    /// The moves of the rows with `seeds` seeds.
    pub fn moves(&mut self, recorder: &mut Recorder, seeds: usize) -> Result<Arc<RowMoves>, GpuError> {
        if let Some(found) = self.moves.get(&seeds) {
            return Ok(Arc::clone(found));
        }
        let made = Arc::new(self.make_moves(recorder, seeds)?);
        self.moves.insert(seeds, Arc::clone(&made));
        Ok(made)
    }

    fn make_moves(&self, recorder: &mut Recorder, seeds: usize) -> Result<RowMoves, GpuError> {
        let moves = self.board.moves(seeds);
        let rows = self.board.maps.rows();
        let count = rows.rows(seeds) as u32;
        let mut words = vec![0];
        let mut quiet = Vec::new();
        for row in 0..count {
            for next in moves.quiet(row) {
                let only_if_empty = next.only_if_empty.map_or(0, |pit| u32::from(pit) + 1);
                quiet.push(next.own | only_if_empty << RANK_BITS);
            }
            words.push(quiet.len() as u32);
        }
        let quiet_at = words.len() as u32;
        let (ranges, entries) = quads(&words, &quiet);
        words.append(&mut quiet);
        words.resize(words.len().next_multiple_of(4), 0);
        let quads_at = words.len() as u32;
        let first = quads_at / 4 + ranges.len() as u32;
        words.extend(ranges.iter().flat_map(|range| [first + range.start, first + range.end, 0, 0]));
        words.extend(entries.as_flattened());
        let levels = rows.level_bounds(seeds).windows(2);
        let lowest_child = levels
            .map(|level| {
                let children = (level[0]..level[1]).flat_map(|row| moves.quiet(row)).map(|next| next.own);
                children.min().unwrap_or(level[0])
            })
            .collect();

        let mut members: std::collections::BTreeMap<_, Vec<(u32, u32)>> = Default::default();
        for row in 0..count {
            for next in moves.forward(row) {
                let entry = match next.kind {
                    Kind::Pass => next.own,
                    Kind::Again => next.own | u32::from(next.stored) << RANK_BITS,
                    Kind::Capture { pit, even_empty } => {
                        next.own | u32::from(pit) << RANK_BITS | if even_empty { EVEN_EMPTY } else { 0 }
                    }
                    Kind::Relay { pit } => pit.into(),
                };
                members.entry(ClassKind::of(next)).or_default().push((row, entry));
            }
        }
        let mut classes = Vec::new();
        for ((kind, spilled, left), members) in members {
            let groups_at = words.len() as u32;
            let groups = members.chunk_by(|a, b| a.0 == b.0);
            let mut first = 0;
            let mut rows = Vec::new();
            for group in groups {
                words.extend([group[0].0, first]);
                rows.push(group[0].0);
                first += group.len() as u32;
            }
            words.extend([u32::MAX, first]);
            let entries_at = words.len() as u32;
            words.extend(members.iter().map(|member| member.1));
            classes.push(Class { kind, spilled, left, groups_at, entries_at, rows });
        }
        let buffer = recorder.storage_of("moves", &words)?;
        Ok(RowMoves { buffer, quiet_at, quads_at, lowest_child, classes })
    }

    /// For each row with `seeds` seeds, its rank when `spilled` more are sown into it; the last rank is repeated up to a
    /// whole number of words of scores.
    pub fn spill(
        &mut self,
        recorder: &mut Recorder,
        seeds: usize,
        spilled: usize,
    ) -> Result<Arc<DeviceBuffer>, GpuError> {
        let maps = &self.board.maps;
        kept(&mut self.spills, (seeds, spilled), || {
            let mut words = maps.spill(seeds, spilled).ranks().to_vec();
            fill_word(&mut words);
            recorder.storage_of("a map of spills", &words)
        })
    }

    /// For each pit and each row with `seeds` seeds, after `spilled` more were sown into it and then the pit was
    /// captured: the seeds captured, above [`RANK_BITS`] bits of the rank of the remaining row. For each pit the last one is
    /// repeated up to a whole number of words of scores.
    pub fn capture(
        &mut self,
        recorder: &mut Recorder,
        seeds: usize,
        spilled: usize,
    ) -> Result<Arc<DeviceBuffer>, GpuError> {
        let maps = &self.board.maps;
        kept(&mut self.captures, (seeds, spilled), || {
            let rows = maps.rows();
            let spill = maps.spill(seeds, spilled);
            let mut words = Vec::with_capacity(rows.pits() * spill.ranks().len());
            for pit in 0..rows.pits() {
                let map = maps.capture(seeds + spilled, pit);
                fill_word(&mut words);
                let mut captured = map.segments().iter().map(|segment| segment.start).collect::<Vec<u32>>();
                captured.push(u32::MAX);
                words.extend(spill.ranks().iter().map(|&rank| {
                    let place = map.places()[rank as usize];
                    let taken = captured.partition_point(|&start| start <= place) - 1;
                    (place - captured[taken]) | ((taken as u32) << RANK_BITS)
                }));
            }
            fill_word(&mut words);
            recorder.storage_of("a map of captures", &words)
        })
    }

    /// The rows with `mover` seeds, then those with `other`: two words each, one byte per pit.
    pub fn relay_rows(
        &mut self,
        recorder: &mut Recorder,
        mover: usize,
        other: usize,
    ) -> Result<Arc<DeviceBuffer>, GpuError> {
        let maps = &self.board.maps;
        kept(&mut self.relay_rows, (mover, other), || {
            let words = |row: &TableRow| {
                let mut bytes = [0; 8];
                bytes[..row.len()].copy_from_slice(row);
                bytemuck::cast::<[u8; 8], [u32; 2]>(bytes)
            };
            let all: Vec<[u32; 2]> = maps.all(mover).iter().chain(maps.all(other).iter()).map(words).collect();
            recorder.storage_of("rows", all.as_flattened())
        })
    }

    /// The counts and levels from which ranks are computed: see `shaders/shared/rank.wgsl`.
    pub fn ranks(&mut self, recorder: &mut Recorder) -> Result<(Arc<DeviceBuffer>, RankParams), GpuError> {
        let rows = self.board.maps.rows();
        let (words, levels_at) = rows.words();
        let params = RankParams {
            pits: rows.pits() as u32,
            max_seeds: rows.max_seeds() as u32,
            stride: rows.potentials() as u32,
            levels_at,
        };
        if self.ranks.is_none() {
            self.ranks = Some(Arc::new(recorder.storage_of("ranks", &words)?));
        }
        Ok((Arc::clone(self.ranks.as_ref().expect("made above")), params))
    }

    /// Drops maps that only some pairs need.
    pub fn forget_relay_rows(&mut self) {
        self.relay_rows.clear();
    }
}

/// Repeats the last element up to a multiple of four: the positions of a word of scores.
fn fill_word(ranks: &mut Vec<u32>) {
    if let Some(&last) = ranks.last() {
        ranks.resize(ranks.len().next_multiple_of(4), last);
    }
}

/// The quiet moves of four rows at once, from where the moves of each row begin and the moves: the entries of each four
/// rows, and all entries.
pub(super) fn quads(starts: &[u32], quiet: &[u32]) -> (Vec<Range<u32>>, Vec<[u32; 4]>) {
    let rows = starts.len() - 1;
    let moves = |row: usize| &quiet[starts[row] as usize..starts[row + 1] as usize];
    let (mut ranges, mut entries) = (Vec::new(), Vec::new());
    for first in (0..rows).step_by(4) {
        let four = [0, 1, 2, 3].map(|lane| (first + lane).min(rows - 1));
        let most = four.iter().map(|&row| moves(row).len()).max().unwrap_or(0);
        let begin = entries.len() as u32;
        entries.extend((0..most).map(|number| {
            let quiet = |row: usize| moves(row).get(number).copied();
            four.map(|row| quiet(row).unwrap_or(row as u32 | NO_MOVE << RANK_BITS))
        }));
        ranges.push(begin..entries.len() as u32);
    }
    (ranges, entries)
}

/// How the counts for ranks are laid out.
#[derive(Clone, Copy, Default)]
pub(super) struct RankParams {
    pub pits: u32,
    pub max_seeds: u32,
    pub stride: u32,
    pub levels_at: u32,
}

/// The buffer of `key`, made with `make` if it does not exist.
fn kept<K: Copy + Eq + std::hash::Hash>(
    buffers: &mut HashMap<K, Arc<DeviceBuffer>>,
    key: K,
    make: impl FnOnce() -> Result<DeviceBuffer, GpuError>,
) -> Result<Arc<DeviceBuffer>, GpuError> {
    if let Some(found) = buffers.get(&key) {
        return Ok(Arc::clone(found));
    }
    let made = Arc::new(make()?);
    buffers.insert(key, Arc::clone(&made));
    Ok(made)
}
