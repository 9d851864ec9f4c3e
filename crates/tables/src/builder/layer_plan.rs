//! Predicts the memory to build a layer, and its reads and writes in order.

use std::collections::{BTreeMap, HashMap, HashSet};

use kalah_core::index::Frame;
use kalah_core::isa::Isa;
use serde::{Serialize, Serializer};

use super::backend::Backend;
use super::dependencies::lower_frames;
use super::frame_cache::{FrameCache, archived_frames, frame_bytes, steps};
use super::sizes::{packed_bytes, working_memory};
use crate::file::LEAST_DIRECT_BYTES;
use crate::table::TableKey;
use crate::table::archive::{CHUNK_SIDE, decompress_frame_memory, write_memory};

/// Bits a position of archives, rounded up. They grow more slowly with each seed.
const ARCHIVE_BITS: f64 = 2.6;

/// Page cache that makes [`LayerPlan::read`] match measurements, as a multiple of the reads of one
/// step (docs/measurements.md, "Memory of builds"). With twice the reads, up to twice the plan was
/// read; with less than that, far more.
const CACHED_STEPS: f64 = 2.6;

/// One step of a layer: the computation of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StepPlan {
    /// The frame; in JSON the seeds in the mover's row and in the other.
    #[serde(serialize_with = "rows_of")]
    pub frame: Frame,
    /// Number of lower frames from which it is computed.
    pub frames: usize,
    /// Positions of these frames.
    pub positions: u64,
    /// Bytes of these frames in tables. They are read run by run, in the order of the rows, several
    /// times each.
    pub bytes: u64,
    /// Number of frames of archived layers that are decompressed before the step.
    #[serde(rename = "unpacked")]
    pub decompressed: usize,
    /// Positions of these.
    #[serde(rename = "unpacked_positions")]
    pub decompressed_positions: u64,
}

/// Resources for building a layer on the CPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LayerPlan {
    /// The layer; in JSON its seeds.
    #[serde(rename = "seeds", serialize_with = "seeds_of")]
    pub key: TableKey,
    /// Number of positions in the layer.
    pub positions: u64,
    /// Minimum bytes of memory: the frames being computed, maps of rows and the program. For
    /// archived layers also the decompressed frames from which a step is computed.
    pub memory: u64,
    /// Maximum bytes of lower tables that one step reads. With this much page cache, a step reads
    /// nothing from disk twice.
    pub step_bytes: u64,
    /// Bytes of all lower tables that the layer reads, each frame counted once. The disk reads this
    /// much if the page cache holds everything.
    pub read_once: u64,
    /// Bytes of all lower tables that the steps read, a frame counted for each step. The disk reads
    /// this much if the page cache holds the reads of one step and nothing for the next.
    pub read_by_step: u64,
    /// Bytes of tables and archives that the disk reads, if the page cache has the memory left over
    /// by `memory`. It is assumed to hold the frames read last, and small frames written last. On a
    /// slow disk large frames are also written through the page cache, and less is read.
    pub read: u64,
    /// True if the disk may read much more than `read`, because the page cache is smaller than a
    /// few times the table reads of a step. A step reads its frames run by run, in several places
    /// at once.
    pub may_read_more: bool,
    /// Number of archived frames that are decompressed.
    #[serde(rename = "unpacked")]
    pub decompressed: usize,
    /// Positions of these.
    #[serde(rename = "unpacked_positions")]
    pub decompressed_positions: u64,
    /// Bytes of the new table; 0 for an archived layer.
    pub table: u64,
    /// Bytes of the new archive; 0 for a layer kept as a table.
    pub archive: u64,
    /// The steps in order.
    pub steps: Vec<StepPlan>,
}

fn rows_of<S: Serializer>(frame: &Frame, serializer: S) -> Result<S::Ok, S::Error> {
    [frame.mover, frame.other].serialize(serializer)
}

fn seeds_of<S: Serializer>(key: &TableKey, serializer: S) -> Result<S::Ok, S::Error> {
    key.seeds.serialize(serializer)
}

/// Plans for the layers up to `last` that are not `finished`. Those from `archives` seeds up are
/// archives, with `memory` bytes for everything, page cache included.
pub fn layer_plans(
    last: TableKey,
    archives: Option<usize>,
    (memory, threads): (u64, usize),
    finished: impl Fn(TableKey) -> bool,
) -> Vec<LayerPlan> {
    let first = archives.unwrap_or(usize::MAX);
    let budget = archives.map_or(0, |first| memory.saturating_sub(without_frames(last, first, threads)));
    let mut cache = FrameCache::new(last.rules, first, budget);
    let mut pages = PageCache::default();
    let mut plans = Vec::new();
    for seeds in 2..=last.seeds {
        let key = TableKey { seeds, ..last };
        if !finished(key) {
            // Decompressed frames take all remaining memory.
            let most = if seeds > first { 0 } else { memory.saturating_sub(layer_memory(key, first, threads)) };
            pages.budget = most;
            plans.push(LayerPlan::new(key, &mut cache, &mut pages, first, threads));
        }
    }
    plans
}

impl LayerPlan {
    fn new(
        key: TableKey,
        cache: &mut FrameCache<()>,
        pages: &mut PageCache,
        first: usize,
        threads: usize,
    ) -> LayerPlan {
        let pairs = key.pairs().map(|pair| (pair.small, pair.large()));
        let order = steps(key.pits, pairs);
        let bytes = |frames: &[Frame]| frames.iter().map(|frame| packed_bytes(frame.positions())).sum::<u64>();
        let positions = |frames: &[Frame]| frames.iter().map(|frame| frame.positions()).sum::<u64>();
        cache.begin(&order);
        let mut once = HashSet::new();
        // Table reads go through the page cache: the maximum of a step, and the reads from disk.
        // Then the reads of archives.
        let (mut of_step, mut of_lower, mut of_archives) = (0, 0, 0);
        let steps: Vec<StepPlan> = order
            .iter()
            .map(|&frame| {
                let dependencies = lower_frames(key.rules, frame);
                once.extend(dependencies.iter().copied());
                let decompressed = cache.advance(frame);
                decompressed.iter().for_each(|&frame| cache.insert(frame, ()));
                let of_tables = dependencies.iter().filter(|frame| frame.mover + frame.other < first);
                of_step = of_step.max(of_tables.clone().map(|frame| packed_bytes(frame.positions())).sum());
                of_lower += of_tables
                    .filter(|&&frame| pages.touch(frame))
                    .map(|frame| packed_bytes(frame.positions()))
                    .sum::<u64>();
                of_archives += decompressed.iter().map(|frame| archived(frame.positions())).sum::<u64>();
                // Data written past the page cache is read from the disk once.
                if packed_bytes(frame.positions()) < LEAST_DIRECT_BYTES as u64 {
                    pages.touch(frame);
                }
                StepPlan {
                    frame,
                    frames: dependencies.len(),
                    positions: positions(&dependencies),
                    bytes: bytes(&dependencies),
                    decompressed: decompressed.len(),
                    decompressed_positions: positions(&decompressed),
                }
            })
            .collect();
        let sum = |of: fn(&StepPlan) -> u64| steps.iter().map(of).sum::<u64>();
        let table = packed_bytes(sum(|step| step.frame.positions()));
        let archived = key.seeds >= first;
        LayerPlan {
            key,
            positions: sum(|step| step.frame.positions()),
            memory: layer_memory(key, first, threads),
            step_bytes: steps.iter().map(|step| step.bytes).max().unwrap_or(0),
            read_once: once.iter().map(|frame| packed_bytes(frame.positions())).sum(),
            read_by_step: sum(|step| step.bytes),
            read: of_lower + of_archives,
            may_read_more: of_lower > 0 && (pages.budget as f64) < CACHED_STEPS * of_step as f64,
            decompressed: steps.iter().map(|step| step.decompressed).sum(),
            decompressed_positions: sum(|step| step.decompressed_positions),
            table: if archived { 0 } else { table },
            archive: if archived { archive_bytes(sum(|step| step.frame.positions())) } else { 0 },
            steps,
        }
    }
}

/// Bytes of the archive of `positions` positions, rounded up.
pub(super) fn archive_bytes(positions: u64) -> u64 {
    archived(positions) + (1 << 16)
}

/// The same for some of its positions.
fn archived(positions: u64) -> u64 {
    (positions as f64 * ARCHIVE_BITS / 8.0) as u64
}

/// Frames of tables in the page cache: those last written through it or read.
#[derive(Default)]
struct PageCache {
    budget: u64,
    used: u64,
    /// Time of last use by frame, and the frames by that time.
    times: HashMap<Frame, u64>,
    frames: BTreeMap<u64, Frame>,
    clock: u64,
}

impl PageCache {
    /// Records that a frame is read, or written through the page cache. Returns true if it was not
    /// cached.
    fn touch(&mut self, frame: Frame) -> bool {
        self.clock += 1;
        let before = self.times.insert(frame, self.clock);
        self.frames.insert(self.clock, frame);
        match before {
            Some(time) => _ = self.frames.remove(&time),
            None => self.used += packed_bytes(frame.positions()),
        }
        while self.used > self.budget
            && let Some((_, oldest)) = self.frames.pop_first()
        {
            self.times.remove(&oldest);
            self.used -= packed_bytes(oldest.positions());
        }
        before.is_none()
    }
}

/// Bytes of memory for a layer in a build of archives, decompressed frames excluded.
pub(super) fn without_frames(key: TableKey, first: usize, threads: usize) -> u64 {
    working_memory(key, &Backend::Cpu(Isa::detect()))
        + decompressing(key, first, threads).max(write_memory(key, threads))
}

/// Maximum bytes of memory for a layer with as few decompressed frames as possible.
pub(super) fn layer_memory(key: TableKey, first: usize, threads: usize) -> u64 {
    if key.seeds < first {
        return working_memory(key, &Backend::Cpu(Isa::detect()));
    }
    let of_step = |frame| archived_frames(key.rules, first, frame).into_iter().map(frame_bytes).sum::<u64>();
    let frames = key.frames().map(of_step).max().unwrap_or(0);
    without_frames(key, first, threads) + frames
}

/// Bytes to decompress a frame of the archives below a layer.
fn decompressing(key: TableKey, first: usize, threads: usize) -> u64 {
    let layers = (first..key.seeds).map(|seeds| TableKey { seeds, ..key });
    let frames = layers.flat_map(TableKey::frames);
    frames.map(|frame| decompress_frame_memory(frame, CHUNK_SIDE, threads)).max().unwrap_or(0)
}
