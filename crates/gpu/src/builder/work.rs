//! The work of a device in a build, counted without a device: every dispatch and every copy of a
//! layer.
//!
//! The counts follow [`super::pair`], [`super::packer`] and [`super::lower`]. A test compares them
//! with those of builds.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use kalah_core::game::{Capture, Rules};
use kalah_core::index::{Frame, RowIndex, layer_frames, layer_positions};
use kalah_tables::builder::Residency;
use kalah_tables::rows::RowMaps;

use super::classes::{ClassKind, in_files, read_steps};
use super::lists::{list_captures, list_moves, list_spill};
use super::lower::{HEADROOM, lowest_first};
use super::memory::{DeviceMemory, likely_bytes, with_patches};
use super::packer::{groups, head_bytes};
use super::pair::forward_unit;
use super::prefetcher::Key;
use super::stages::{GROUP_POSITIONS, PROFILE_ROWS, SCAN_BLOCK, Stage, TILE};
use crate::device::{MAX_WORKGROUPS, WORKGROUP};

/// One dispatch.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Dispatch {
    /// The stage.
    pub stage: Stage,
    /// Threads; a workgroup has 256.
    pub threads: u64,
    /// Mean variable work of a thread: moves of its row; for `forward_relay` the mover's rows that
    /// have its crossing, for `encode` and `patch` positions, for `profile` runs.
    pub entries: f64,
}

/// The work of the device for a layer.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LayerWork {
    /// Seeds in play.
    pub seeds: usize,
    /// Positions.
    pub positions: u64,
    /// All dispatches, in order.
    pub dispatches: Vec<Dispatch>,
    /// Bytes of lower frames that stages read, by classes of moves. Frames that several classes
    /// read count several times.
    pub read: u64,
    /// Bytes of lower frames copied to operands, if all frames are on the device. A class that
    /// reads one frame reads it in place.
    pub copied: u64,
    /// Number of the copies in [`LayerWork::copied`].
    pub copies: u64,
    /// Bytes of the layer's own frames.
    pub packed: u64,
}

/// Data uploaded to the device for a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Uploads {
    /// Bytes of lower frames that are copied from their files.
    pub bytes: u64,
    /// The same, each frame once: the bytes compared with checksums.
    pub checked: u64,
    /// Number of waits for the device, when frames must first give way.
    pub waits: u64,
}

/// Counts the work of the layers of a board.
#[derive(Debug)]
pub struct BoardWork {
    rules: Rules,
    pits: usize,
    rows: RowIndex,
    /// By seeds.
    moves: Vec<RowWork>,
}

/// The moves of all rows with the same seeds.
#[derive(Debug, Default)]
struct RowWork {
    classes: Vec<ClassWork>,
    /// Quiet moves, and the entries that they take for four rows at a time.
    quiet: u64,
    quads: u64,
    /// Seconds to list them.
    seconds: f64,
}

#[derive(Debug)]
struct ClassWork {
    kind: ClassKind,
    spilled: usize,
    left: usize,
    /// Numbers of groups processed at once, one round after the other. Only relays have more than
    /// one.
    groups: Vec<u64>,
    entries: u64,
}

impl BoardWork {
    /// Counts the layers up to `seeds` of a board with `pits` pits a side. Takes seconds for 40
    /// seeds at 6 pits. `None` if tables cannot have as many pits or seeds.
    pub fn new(rules: Rules, pits: usize, seeds: usize) -> Option<BoardWork> {
        let (rows, index) = (RowIndex::new(pits, seeds)?, Arc::new(RowIndex::new(pits, seeds)?));
        let moves = (0..seeds).map(|seeds| {
            if seeds == 0 {
                return RowWork::default();
            }
            // One for each number of seeds, so that nothing is kept.
            let maps = RowMaps::new(Arc::clone(&index));
            let began = Instant::now();
            let (_, lists) = list_moves(rules, &maps, seeds);
            let seconds = began.elapsed().as_secs_f64();
            let classes = lists.classes.iter().map(|class| ClassWork {
                kind: class.kind,
                spilled: class.spilled,
                left: class.left,
                groups: class.groups.parallel_ranges(0..u32::MAX).iter().map(|range| range.len() as u64).collect(),
                entries: class.entries.into(),
            });
            RowWork { classes: classes.collect(), quiet: lists.quiet.into(), quads: lists.quads.into(), seconds }
        });
        Some(BoardWork { rules, pits, moves: moves.collect(), rows })
    }

    /// Counts the work of the layer of `seeds` seeds, on a device with `budget` bytes of memory
    /// whose stages use at most `max_binding` bytes of a buffer.
    pub fn layer(&self, seeds: usize, budget: u64, max_binding: u64) -> LayerWork {
        let memory = DeviceMemory::new(self.pits, seeds, Some(budget), max_binding);
        let mut layer = LayerWork { seeds, positions: layer_positions(self.pits, seeds), ..LayerWork::default() };
        for small in 1..=seeds / 2 {
            let frame = Frame { pits: self.pits, mover: small, other: seeds - small };
            self.forward(&mut layer, frame, memory.operand_bytes);
            layer.transpose(frame.mover_rows(), frame.mirrored().mover_rows());
            self.forward(&mut layer, frame.mirrored(), memory.operand_bytes);
            self.quiet(&mut layer, frame);
            layer.pack(frame);
            if frame != frame.mirrored() {
                layer.transpose(frame.mirrored().mover_rows(), frame.mover_rows());
                layer.pack(frame.mirrored());
            }
        }
        layer
    }

    /// Counts the moves of a frame to lower layers.
    fn forward(&self, layer: &mut LayerWork, frame: Frame, operand_bytes: u64) {
        let words = (frame.mirrored().mover_rows() as u64).div_ceil(4);
        for class in &self.moves[frame.mover].classes {
            let (stage, _, children) = class.kind.children(frame, class.spilled, class.left);
            let (mut parts, mut filled) = (1, 0);
            let children: Vec<Frame> = in_files(children).collect();
            for &child in &children {
                layer.read += with_patches(child);
            }
            for &child in children.iter().filter(|_| children.len() > 1) {
                let bytes = likely_bytes(child);
                if filled > 0 && filled + bytes > operand_bytes {
                    (parts, filled) = (parts + 1, 0);
                }
                filled += bytes;
                layer.copied += with_patches(child);
                layer.copies += 1;
            }
            let entries = class.entries as f64 / class.groups.iter().sum::<u64>() as f64;
            let (unit, groups) = forward_unit(stage, words);
            for _ in 0..parts {
                for at_once in &class.groups {
                    layer.threads(stage, at_once.div_ceil(groups) * unit, unit, entries);
                }
            }
        }
    }

    /// Counts the quiet moves of a pair, level by level.
    fn quiet(&self, layer: &mut LayerWork, frame: Frame) {
        let (small, large) = (&self.moves[frame.mover], &self.moves[frame.other]);
        let (small_rows, large_rows) = (frame.mover_rows() as u64, frame.mirrored().mover_rows() as u64);
        let words = small_rows.div_ceil(4);
        for level in self.rows.level_bounds(frame.other).windows(2) {
            let threads = u64::from(level[1] - level[0]) * words;
            layer.threads(Stage::QuietLarge, threads, words, large.quiet as f64 / large_rows as f64);
            layer.threads(Stage::QuietSmall, threads, words, small.quads as f64 / words as f64);
        }
    }

    /// Lowest layer whose frames stay on the device during the layer of `seeds` seeds; `seeds` or
    /// more if none stays. All layers below were built in the same run, which ends with that of
    /// `last` seeds.
    ///
    /// The layer's own frames also stay while lower ones can give way. The exception is the last
    /// layer, which no other reads.
    pub fn lowest_resident(&self, seeds: usize, last: usize, budget: u64, max_binding: u64) -> usize {
        let least = DeviceMemory::new(self.pits, last, Some(budget), max_binding).least();
        let mut free = (budget - budget / HEADROOM).saturating_sub(least);
        let bytes = |seeds: usize| layer_frames(self.pits, seeds).map(with_patches).sum::<u64>();
        let end = if seeds < last { seeds + 1 } else { seeds };
        (2..end).rev().take_while(|&seeds| take(&mut free, bytes(seeds))).last().unwrap_or(end)
    }

    /// Counts the uploads for the layer of `seeds` seeds, if all layers below were built in the
    /// same run, which ends with it.
    pub fn uploads(&self, seeds: usize, budget: u64, max_binding: u64) -> Uploads {
        let least = DeviceMemory::new(self.pits, seeds, Some(budget), max_binding).least();
        let room = (budget - budget / HEADROOM).saturating_sub(least);
        let frames = |seeds: usize| layer_frames(self.pits, seeds);
        // The highest of the layers below the last two. The last but one is treated like the last.
        let mut residency = Residency::new(lowest_first);
        for frame in (2..seeds.saturating_sub(1)).rev().flat_map(frames) {
            if residency.bytes() + with_patches(frame) <= room {
                residency.insert(frame, (), with_patches(frame));
            }
        }
        let mut uploads = Uploads::default();
        for layer in seeds.saturating_sub(1).max(2)..=seeds {
            let mut seen = HashSet::new();
            uploads = Uploads::default();
            let pairs = || (1..=layer / 2).map(|small| Frame { pits: self.pits, mover: small, other: layer - small });
            residency.plan(read_steps(self.rules, &self.rows, pairs()));
            let place = |residency: &mut Residency<()>, frame: Frame| {
                let bytes = with_patches(frame);
                let missing = (residency.bytes() + bytes).saturating_sub(room);
                let Some(yielding) = (if missing > 0 { residency.yielding(frame, missing) } else { Some(Vec::new()) })
                else {
                    return 0;
                };
                yielding.iter().for_each(|&frame| residency.remove(frame));
                residency.insert(frame, (), bytes);
                u64::from(missing > 0)
            };
            for (number, small) in (0..).zip(pairs()) {
                for (side, frame) in (0..).zip([small, small.mirrored()]) {
                    residency.begin(2 * number + side);
                    for class in &self.moves[frame.mover].classes {
                        for child in in_files(class.kind.children(frame, class.spilled, class.left).2) {
                            if residency.read(child).is_none() {
                                uploads.waits += place(&mut residency, child);
                                uploads.bytes += with_patches(child);
                                uploads.checked += if seen.insert(child) { with_patches(child) } else { 0 };
                            }
                        }
                    }
                }
                if layer < seeds {
                    place(&mut residency, small);
                    if small != small.mirrored() {
                        place(&mut residency, small.mirrored());
                    }
                }
            }
        }
        uploads
    }

    /// Seconds that this machine took, on all its cores, to list the moves of the rows with `seeds`
    /// seeds.
    pub fn moves_seconds(&self, seeds: usize) -> f64 {
        self.moves[seeds].seconds
    }

    /// Seconds to make the maps of ranks that the layer of `seeds` seeds needs and no layer below
    /// it, on all cores of this machine; and their bytes.
    pub fn map_seconds(&self, seeds: usize) -> (f64, u64) {
        let maps = RowMaps::new(Arc::new(RowIndex::new(self.pits, seeds).expect("pits and seeds of tables")));
        (1..seeds).for_each(|seeds| drop(maps.all(seeds)));
        let keys = |mover: usize| {
            let other = seeds - mover;
            let classes = self.moves[mover].classes.iter().map(move |class| (class.kind, class.spilled));
            let own = self.rules.capture() == Capture::OppositeSeeds;
            classes
                .filter_map(move |(kind, spilled)| Key::of_class(kind, other, spilled))
                .chain(own.then_some(Key::Capture(other, 0)))
        };
        let (began, mut bytes) = (Instant::now(), 0);
        for mover in 1..seeds {
            let other = seeds - mover;
            // Lower layers have the same rows beside rows with fewer seeds.
            let before: HashSet<Key> = (1..mover)
                .flat_map(|mover| self.moves[mover].classes.iter())
                .filter_map(|class| Key::of_class(class.kind, other, class.spilled))
                .collect();
            let mut new: Vec<Key> = keys(mover).filter(|key| !before.contains(key)).collect();
            new.sort_unstable();
            new.dedup();
            for key in new {
                bytes += match key {
                    Key::Spill(seeds, spilled) => size_of_val(&list_spill(&maps, seeds, spilled)[..]),
                    Key::Capture(seeds, spilled) => size_of_val(&list_captures(&maps, seeds, spilled)[..]),
                    Key::Moves(_) => 0,
                };
            }
        }
        (began.elapsed().as_secs_f64(), bytes as u64)
    }

    /// Minimum device memory for the layers up to `seeds`, in bytes: see `memory.rs`.
    pub fn least_memory(&self, seeds: usize, budget: u64, max_binding: u64) -> u64 {
        DeviceMemory::new(self.pits, seeds, Some(budget), max_binding).least()
    }
}

/// Takes `bytes` from the free bytes, if there are enough.
fn take(free: &mut u64, bytes: u64) -> bool {
    let left = free.checked_sub(bytes);
    *free = left.unwrap_or(*free);
    left.is_some()
}

impl LayerWork {
    /// Counts dispatches over `threads` threads, in parts that are multiples of `unit` threads: see
    /// [`crate::device::Recorder::dispatch_threads`].
    fn threads(&mut self, stage: Stage, threads: u64, unit: u64, entries: f64) {
        let most = u64::from(MAX_WORKGROUPS * WORKGROUP) / unit * unit;
        for first in (0..threads).step_by(most as usize) {
            self.dispatches.push(Dispatch { stage, threads: most.min(threads - first), entries });
        }
    }

    fn transpose(&mut self, rows: usize, columns: usize) {
        let tiles = columns.div_ceil(TILE as usize) as u64 * u64::from(WORKGROUP);
        self.threads(Stage::Transpose, rows.div_ceil(TILE as usize) as u64 * tiles, tiles, 0.0);
    }

    fn pack(&mut self, frame: Frame) {
        let (rows, others) = (frame.mover_rows() as u64, frame.mirrored().mover_rows() as u64);
        let words = rows.div_ceil(4);
        let runs = others.div_ceil(PROFILE_ROWS.into());
        self.threads(Stage::Profile, words * runs, words, others as f64 / runs as f64);
        self.threads(Stage::Mean, rows.next_multiple_of(64) / 4, 1, 0.0);
        let groups = groups(frame);
        self.threads(Stage::Encode, groups, 1, GROUP_POSITIONS.into());
        let mut numbers = groups;
        for _ in 0..3 {
            numbers = numbers.div_ceil(SCAN_BLOCK.into());
            self.threads(Stage::Scan, numbers * u64::from(WORKGROUP), WORKGROUP.into(), 0.0);
        }
        // Frames of very few groups have no exception, and no dispatch for patches.
        self.threads(Stage::Patch, groups, 1, 0.0);
        self.packed += with_patches(frame).max(head_bytes(frame));
    }
}
