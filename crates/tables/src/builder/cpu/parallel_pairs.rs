use kalah_base::lock::Mutex;

use super::batch::Wanted;
use super::job::Job;
use super::workspace::PairSpace;
use crate::builder::computer::ComputeError;
use crate::table::PackedFrame;

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
    pub fn new(job: &'a Job<'a>, pairs: &'a [Wanted<'a>]) -> ParallelPairs<'a> {
        let finished = pairs.iter().map(|_| Mutex::default()).collect();
        ParallelPairs { job, pairs, finished, handed_over: Mutex::new((0, Ok(()))) }
    }

    /// Computes all pairs, each in its space, and hands them over in order.
    ///
    /// # Errors
    /// The error of the first pair that fails or is not taken. The pairs before it were handed
    /// over.
    pub fn run(self, spaces: Vec<PairSpace>) -> Result<(), ComputeError> {
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
