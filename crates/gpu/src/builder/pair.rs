//! The scores of one pair of mirrored frames.
//!
//! Moves to lower layers come first, in bulk. Quiet moves follow, level by level as on the CPU (see
//! [`kalah_tables::builder::cpu::compute_pair`]). For each row of the large side, both frames have
//! a run of scores over the small side's rows. All data of a level is therefore contiguous.

use kalah_base::progress::Pulse;
use kalah_core::game::Capture;
use kalah_core::index::Frame;
use kalah_core::table::Tables;
use kalah_tables::builder::ComputeError;

use super::classes::ClassKind;
use super::lists::Class;
use super::lower::{Loaded, Lower};
use super::matrix::Matrix;
use super::memory::DeviceMemory;
use super::prefetcher::Key;
use super::rows::{DeviceRelays, DeviceRows};
use super::stages::{AGAIN_GROUPS, AGAIN_WORDS, Forward, NO_MAP, Quiet, Stage, TILE, Transpose};
use crate::device::{Bound, Gpu, GpuError, MAX_WORKGROUPS, Recorder, WORKGROUP, Window};

/// Memory for the scores of a pair.
pub(super) struct Pair {
    /// The small side to move, after everything is computed.
    pub small_moves: Matrix,
    /// The large side to move.
    pub large_moves: Matrix,
}

/// A pair of frames to compute.
#[derive(Clone, Copy)]
pub(super) struct NumberedPair {
    /// Number of the pair in its layer.
    pub number: u32,
    /// The frame in which the side with fewer seeds moves. The other one is its mirror image.
    pub small: Frame,
}

impl Pair {
    pub(super) fn new(gpu: &Gpu, memory: &DeviceMemory) -> Result<Pair, GpuError> {
        let matrix = || Matrix::new(gpu, &memory.matrix_bytes);
        Ok(Pair { small_moves: matrix()?, large_moves: matrix()? })
    }

    /// Computes the scores of both frames of a pair.
    pub(super) fn compute(
        &mut self,
        recorder: &mut Recorder,
        lower: &mut Lower,
        rows: &mut DeviceRows,
        tables: &Tables,
        NumberedPair { number, small: frame }: NumberedPair,
        pulse: &Pulse,
    ) -> Result<(), ComputeError> {
        let (small_rows, large_rows) = (frame.mover_rows(), frame.mirrored().mover_rows());
        // A run for each mover's row, in the order of the children; then transposed.
        self.large_moves.shape(small_rows, large_rows);
        lower.resident.begin(2 * number);
        forward(recorder, lower, rows, tables, frame, &self.large_moves, pulse)?;
        self.small_moves.shape(large_rows, small_rows);
        transpose(recorder, &self.large_moves, &self.small_moves)?;
        self.large_moves.shape(large_rows, small_rows);
        lower.resident.begin(2 * number + 1);
        forward(recorder, lower, rows, tables, frame.mirrored(), &self.large_moves, pulse)?;
        self.quiet(recorder, rows, tables, frame, pulse)
    }

    /// Applies quiet moves, level by level of the large side's rows.
    fn quiet(
        &self,
        recorder: &mut Recorder,
        rows: &mut DeviceRows,
        tables: &Tables,
        frame: Frame,
        pulse: &Pulse,
    ) -> Result<(), ComputeError> {
        let Frame { mover: small, other: large, .. } = frame;
        let (small_list, large_list) = (rows.moves(recorder, small)?, rows.moves(recorder, large)?);
        let nothing = rows.nothing.window();
        let (small_map, large_map) = if rows.prefetcher.board.rules.capture() == Capture::OppositeSeeds {
            (rows.map(recorder, Key::Capture(small, 0))?.window(), rows.map(recorder, Key::Capture(large, 0))?.window())
        } else {
            (nothing.clone(), nothing)
        };
        let (words, total) = (self.small_moves.words(), (small + large) as u32);
        let (small_rows, large_rows) = (self.small_moves.columns as u32, self.small_moves.rows as u32);
        let (mut large_bound, mut small_bound) = (None, None);
        for (level, &lowest) in tables.rows().level_bounds(large).windows(2).zip(&large_list.lists.lowest_child) {
            let level = level[0] as usize..level[1] as usize;
            let parts = self.large_moves.parts(level.clone()).zip(self.small_moves.parts(level.clone()));
            for (own, waiting) in parts {
                pulse.check()?;
                let (first, count) = (own.rows.start as u32, own.rows.len() as u64);
                let threads = count * u64::from(words);
                let params = Quiet { words, total, small_base: waiting.base, large_base: own.base, ..Quiet::default() };
                let run = |recorder: &mut Recorder, bound: &Bound, params: Quiet| {
                    recorder.dispatch_threads(bound, threads, words.into(), |thread, threads| Quiet {
                        threads,
                        first_row: first + (thread / u64::from(words)) as u32,
                        ..params
                    })
                };
                for children in self.small_moves.parts(lowest as usize..level.start) {
                    let windows = [large_list.buffer.window(), small_map.clone(), children.window, own.window.clone()];
                    let bound = self.bind(recorder, &mut large_bound, Stage::QuietLarge, &windows);
                    let large = Quiet {
                        moves_at: large_list.lists.quiet_at,
                        small_base: children.base,
                        first_child: children.rows.start as u32,
                        child_rows: children.rows.len() as u32,
                        ..params
                    };
                    run(recorder, &bound, large)?;
                }
                let windows = [small_list.buffer.window(), large_map.clone(), own.window, waiting.window];
                let bound = self.bind(recorder, &mut small_bound, Stage::QuietSmall, &windows);
                let map_stride = large_rows.next_multiple_of(4);
                run(recorder, &bound, Quiet { moves_at: small_list.lists.quads_at, map_stride, ..params })?;
                let sides = if small == large { 1 } else { 2 };
                let positions = count * u64::from(small_rows) * sides;
                pulse.positions.fetch_add(positions, std::sync::atomic::Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// Binds a stage for quiet moves. If stages can use the matrices at once, that is done only for
    /// the first level.
    fn bind(&self, recorder: &Recorder, first: &mut Option<Bound>, stage: Stage, windows: &[Window]) -> Bound {
        if !self.small_moves.is_whole() {
            return recorder.bind(stage.kernel(), windows);
        }
        first.get_or_insert_with(|| recorder.bind(stage.kernel(), windows)).clone()
    }

    /// Transposes the scores with the large side to move into index order. They replace the scores
    /// with the small side to move.
    pub(super) fn transpose_large(&mut self, recorder: &mut Recorder) -> Result<&Matrix, GpuError> {
        let (large_rows, small_rows) = (self.large_moves.rows, self.large_moves.columns);
        self.small_moves.shape(small_rows, large_rows);
        transpose(recorder, &self.large_moves, &self.small_moves)?;
        Ok(&self.small_moves)
    }
}

/// Sets `scores` to those of the moves of `frame` to lower layers: for each mover's row, a run over
/// the other rows.
fn forward(
    recorder: &mut Recorder,
    lower: &mut Lower,
    rows: &mut DeviceRows,
    tables: &Tables,
    frame: Frame,
    scores: &Matrix,
    pulse: &Pulse,
) -> Result<(), ComputeError> {
    for part in scores.all() {
        recorder.clear(&part.window)?;
    }
    let moves = rows.moves(recorder, frame.mover)?;
    for class in &moves.lists.classes {
        let (stage, count, children) = class.kind.children(frame, class.spilled, class.left);
        let (params, map, more) = inputs(recorder, rows, frame, class, scores)?;
        let words = u64::from(scores.words());
        let mut stopped = Ok(());
        lower.load(recorder, tables, count, &children, |recorder, Loaded { window: operand, frames_at, rows }| {
            let waiting = rows.unwrap_or(0..u32::MAX);
            for part in scores.all() {
                let (first_row, end_row, base) = (part.rows.start as u32, part.rows.end as u32, part.base);
                let mut windows =
                    vec![operand.clone(), recorder.records_window(), moves.buffer.window(), map.clone(), part.window];
                windows.extend(more.iter().cloned());
                let bound = recorder.bind(stage.kernel(), &windows);
                for range in class.groups.parallel_ranges(first_row..end_row) {
                    stopped = stopped.and_then(|()| pulse.check());
                    if stopped.is_err() {
                        return Ok(());
                    }
                    let (first, count) = (u64::from(range.start), range.len() as u64);
                    let (unit, groups) = forward_unit(stage, words);
                    let threads = count.div_ceil(groups) * unit;
                    recorder.dispatch_threads(&bound, threads, unit, |thread, threads| {
                        let done = thread / unit * groups;
                        Forward {
                            threads,
                            base,
                            frames_at,
                            first_waiting: waiting.start,
                            waiting_rows: waiting.end - waiting.start,
                            first_group: (first + done) as u32,
                            groups: (u64::from(threads) / unit * groups).min(count - done) as u32,
                            first_row,
                            end_row,
                            ..params
                        }
                    })?;
                }
            }
            Ok(())
        })?;
        stopped?;
    }
    Ok(())
}

/// Inputs of a stage for a class of moves, besides moves and frames: parameters (some are set for
/// each dispatch), a map of ranks, and for relays two more buffers.
fn inputs(
    recorder: &mut Recorder,
    rows: &mut DeviceRows,
    frame: Frame,
    class: &Class,
    scores: &Matrix,
) -> Result<(Forward, Window, Vec<Window>), GpuError> {
    let (map, map_at) = match Key::of_class(class.kind, frame.other, class.spilled) {
        Some(key) => (rows.map(recorder, key)?.window(), 0),
        None => (rows.nothing.window(), NO_MAP),
    };
    let params = Forward {
        words: scores.words(),
        others: scores.columns as u32,
        total: (frame.mover + frame.other) as u32,
        groups_at: class.groups_at,
        entries_at: class.entries_at,
        map_at,
        crossings_at: class.crossings_at,
        moves_again: rows.prefetcher.board.rules.moves_again().into(),
        ..Forward::default()
    };
    if class.kind != ClassKind::Relay {
        return Ok((params, map, Vec::new()));
    }
    let relays = rows.relays(recorder)?;
    let DeviceRelays { pits, hands, max_seeds, stride, .. } = *relays;
    let more = vec![rows.relay_rows(recorder, frame.other)?.window(), relays.ranks.window()];
    Ok((Forward { pits, hands, max_seeds, stride, ..params }, relays.sowings.window(), more))
}

/// Granularity of dispatches of a stage for moves to lower layers, if a run has `words` words:
/// threads, and the groups that they process.
fn forward_unit(stage: Stage, words: u64) -> (u64, u64) {
    if stage == Stage::ForwardAgain {
        let workgroups = words.div_ceil(AGAIN_WORDS.into());
        return (workgroups * u64::from(WORKGROUP), AGAIN_GROUPS.into());
    }
    (words, 1)
}

/// Transposes a matrix into another one of suitable shape.
fn transpose(recorder: &mut Recorder, from: &Matrix, to: &Matrix) -> Result<(), GpuError> {
    assert_eq!((from.rows, from.columns), (to.columns, to.rows));
    let kernel = Stage::Transpose.kernel();
    let (tile, workgroup) = (TILE as usize, u64::from(WORKGROUP));
    for (from_part, to_part) in from.all().flat_map(|part| to.all().map(move |other| (part.clone(), other))) {
        let bound = recorder.bind(kernel, &[from_part.window, to_part.window]);
        let mut first_column = to_part.rows.start;
        while first_column < to_part.rows.end {
            // A row of tiles may also take long.
            let quick = (recorder.threads_at_once(kernel) / workgroup).clamp(1, MAX_WORKGROUPS.into()) as usize;
            let end_column = to_part.rows.end.min(first_column + quick * tile);
            let tiles = (end_column - first_column).div_ceil(tile);
            let row_of_tiles = tiles as u64 * workgroup;
            let threads = from_part.rows.len().div_ceil(tile) as u64 * row_of_tiles;
            recorder.dispatch_threads(&bound, threads, row_of_tiles, |thread, _| Transpose {
                rows: from_part.rows.end as u32,
                columns: end_column as u32,
                first_row: from_part.rows.start as u32 + (thread / row_of_tiles) as u32 * TILE,
                first_column: first_column as u32,
                tiles: tiles as u32,
                from_words: from.words(),
                from_base: from_part.base,
                to_words: to.words(),
                to_base: to_part.base,
            })?;
            first_column = end_column;
        }
    }
    Ok(())
}
