use std::sync::Arc;

use kalah_base::progress::Pulse;
use kalah_base::system::OutOfMemory;
use kalah_core::index::Frame;
use kalah_core::isa::Isa;
use kalah_core::table::Tables;
use parking_lot::Mutex;

use super::pair::compute_pair_in;
use super::workspace::{Evaluator, PairSpace, Workspace};
use crate::builder::computer::{ComputeError, Computer, FrameOutput};
use crate::table::PackedFrame;

/// Computes frames on the CPU, on the threads of the current pool.
///
/// Call it from inside the pool, where the many small parallel steps start without waking a thread.
#[derive(Debug)]
pub struct CpuComputer {
    isa: Isa,
    evaluator: Evaluator,
    workspace: Workspace,
}

impl CpuComputer {
    /// Makes a computer for the layers up to `seeds` of the board and rules of `tables`, and
    /// allocates all of its memory.
    pub(crate) fn new(isa: Isa, tables: &Tables, seeds: usize) -> Result<CpuComputer, OutOfMemory> {
        let mut workspace = Workspace::default();
        workspace.reserve(tables.pits(), seeds)?;
        let evaluator = Evaluator::new(isa, tables.rules(), Arc::clone(tables.rows()));
        Ok(CpuComputer { isa, evaluator, workspace })
    }
}

impl Computer for CpuComputer {
    fn compute_ahead(
        &mut self,
        tables: &Tables,
        frames: &[Frame],
        pulse: &Pulse,
        output: &dyn FrameOutput,
    ) -> Result<(), ComputeError> {
        let CpuComputer { isa, evaluator, workspace } = self;
        let job = Job { isa: *isa, evaluator, tables, pulse, output };
        for batch in batches(&pairs(frames)) {
            let seeds: Vec<(usize, usize)> = batch.iter().map(|pair| sides(pair)).collect();
            let mut spaces = workspace.divide(tables.pits(), &seeds)?;
            match (batch, spaces.pop()) {
                ([pair], Some(space)) => job.run(pair, space, |packed| output.take(packed))?,
                (_, last) => ParallelPairs::new(&job, batch).run(spaces.into_iter().chain(last).collect())?,
            }
        }
        Ok(())
    }
}

/// Shared inputs for computing all pairs.
pub(super) struct Job<'a> {
    pub isa: Isa,
    pub evaluator: &'a Evaluator,
    pub tables: &'a Tables,
    pub pulse: &'a Pulse,
    pub output: &'a dyn FrameOutput,
}

impl Job<'_> {
    /// Computes a pair, packs its frames, and passes each to `take`.
    pub(super) fn run(
        &self,
        pair: Wanted,
        space: PairSpace,
        mut take: impl FnMut(PackedFrame) -> Result<(), ComputeError>,
    ) -> Result<(), ComputeError> {
        let (small, large) = sides(pair);
        self.output.pair(pair[0]);
        let scores = compute_pair_in(self.evaluator, self.tables, small, large, space, self.pulse)?;
        for &frame in pair {
            let scores = if frame.mover == small { scores.small_moves } else { scores.large_moves };
            take(PackedFrame::pack_in(self.isa, frame, scores, self.output.memory().bytes))?;
        }
        Ok(())
    }
}

type Finished = Result<Vec<PackedFrame>, ComputeError>;

pub(super) struct ParallelPairs<'a> {
    job: &'a Job<'a>,
    pairs: &'a [Wanted<'a>],
    /// Result of each finished pair.
    finished: Vec<Mutex<Option<Finished>>>,
    /// Number of pairs handed over, in order, and the reason if no more are wanted.
    handed_over: Mutex<(usize, Result<(), ComputeError>)>,
}

impl<'a> ParallelPairs<'a> {
    /// Prepares to compute `pairs`.
    pub(super) fn new(job: &'a Job<'a>, pairs: &'a [Wanted<'a>]) -> ParallelPairs<'a> {
        let finished = pairs.iter().map(|_| Mutex::default()).collect();
        ParallelPairs { job, pairs, finished, handed_over: Mutex::new((0, Ok(()))) }
    }

    /// Computes all pairs, each in its space, and hands them over in order.
    ///
    /// # Errors
    /// The error of the first pair that fails or is not taken. The pairs before it were handed
    /// over.
    pub(super) fn run(self, spaces: Vec<PairSpace>) -> Result<(), ComputeError> {
        let this = &self;
        rayon::scope(|scope| {
            // Idle threads begin the pair spawned first: the largest one, so that the last tasks
            // are small.
            for (number, space) in spaces.into_iter().enumerate().rev() {
                scope.spawn(move |_| this.compute(number, space));
            }
        });
        let mut handed_over = self.handed_over.lock();
        self.hand_over(&mut handed_over);
        let (count, taken) = &mut *handed_over;
        std::mem::replace(taken, Ok(()))?;
        let next = self.finished.get(*count).and_then(|next| next.lock().take());
        next.map_or(Ok(()), |finished| finished.map(drop))
    }

    /// Computes and packs a pair, and hands over finished pairs.
    fn compute(&self, number: usize, space: PairSpace) {
        let mut packed = Vec::new();
        let all = self.job.run(self.pairs[number], space, |frame| {
            packed.push(frame);
            Ok(())
        });
        *self.finished[number].lock() = Some(all.map(|()| packed));
        // If another thread is handing over, that thread or a later one will find this pair.
        if let Some(mut handed_over) = self.handed_over.try_lock() {
            self.hand_over(&mut handed_over);
        }
    }

    /// Hands over the next pairs, as far as they are finished.
    fn hand_over(&self, (count, taken): &mut (usize, Result<(), ComputeError>)) {
        while taken.is_ok()
            && let Some(next) = self.finished.get(*count)
        {
            let mut next = next.lock();
            let Some(Ok(frames)) = &mut *next else { return };
            *taken = frames.drain(..).try_for_each(|frame| self.job.output.take(frame));
            *count += usize::from(taken.is_ok());
        }
    }
}

/// Pairs with fewer positions are not worth computing in parallel with others.
const LEAST_POSITIONS: u64 = 1 << 16;

/// The frames to make of a pair of mirrored frames, in file order. One of them may exist already.
pub(super) type Wanted<'f> = &'f [Frame];

/// Groups `frames`, which are in the order of [`kalah_core::table::TableKey::frames`], into pairs.
pub(super) fn pairs(frames: &[Frame]) -> Vec<Wanted<'_>> {
    frames.chunk_by(|a, b| *b == a.mirrored()).collect()
}

/// Seeds of the side with fewer, and of the other side.
pub(super) fn sides(pair: Wanted) -> (usize, usize) {
    let Frame { mover, other, .. } = pair[0];
    (mover.min(other), mover.max(other))
}

fn bytes(pair: Wanted) -> u64 {
    let (small, large) = sides(pair);
    Workspace::bytes(pair[0].pits, small, large)
}

/// Divides `pairs` into batches. Batches are computed one after the other, the pairs of a batch in
/// parallel. A batch takes no more memory than the largest pair alone.
///
/// A pair in which one side has few seeds has many levels of few rows, which cannot keep many
/// threads busy. Several such pairs can.
pub(super) fn batches<'a>(pairs: &'a [Wanted<'a>]) -> Vec<&'a [Wanted<'a>]> {
    let most_positions = pairs.iter().map(|pair| pair[0].positions()).max().unwrap_or(0);
    let most_bytes = pairs.iter().map(|pair| bytes(pair)).max().unwrap_or(0);
    let (mut batches, mut rest) = (Vec::new(), pairs);
    while !rest.is_empty() {
        let (mut positions, mut together, mut count) = (0, 0, 0);
        for pair in rest {
            positions += pair[0].positions();
            together += bytes(pair);
            let fits = positions <= most_positions && together <= most_bytes;
            if count > 0 && !(fits && rest[0][0].positions() >= LEAST_POSITIONS) {
                break;
            }
            count += 1;
        }
        let (batch, later) = rest.split_at(count);
        batches.push(batch);
        rest = later;
    }
    batches
}
