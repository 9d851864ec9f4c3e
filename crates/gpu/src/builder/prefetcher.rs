//! Makes lists of moves and maps of ranks on the processor while the device computes earlier steps.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kalah_core::game::Capture;
use kalah_core::index::Frame;
use kalah_tables::rows::BoardRows;
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::classes::ClassKind;
use super::lists::{MoveLists, list_captures, list_moves, list_spill};

/// Making pauses while this many bytes wait.
const MOST_BYTES: usize = 256 << 20;

/// Time that a thread of the pool waits at a time for another thread's result, if the pool has no
/// other work.
const PAUSE: Duration = Duration::from_micros(50);

/// Data that stages read besides frames and scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// Moves of the rows with these seeds.
    Moves(usize),
    /// Ranks of the rows with the first number of seeds after the second number was sown into them.
    Spill(usize, usize),
    /// The same after a pit is then captured.
    Capture(usize, usize),
}

impl Key {
    /// Returns the map that a class of moves needs for the other row's `seeds`, if it needs one.
    pub(super) fn of_class(kind: ClassKind, seeds: usize, spilled: usize) -> Option<Key> {
        match kind {
            ClassKind::Capture => Some(Key::Capture(seeds, spilled)),
            ClassKind::Pass | ClassKind::Again => (spilled > 0).then_some(Key::Spill(seeds, spilled)),
            ClassKind::Relay => None,
        }
    }
}

/// State of prefetching, shared by the thread that prefetches and the one that takes.
pub(super) struct Prefetcher {
    pub board: BoardRows,
    state: Mutex<State>,
    /// Signals that something was made or taken, or that prefetching has ended.
    changed: Condvar,
    is_over: AtomicBool,
}

#[derive(Default)]
struct State {
    /// Keys that are made, being made, or taken already.
    begun: HashSet<Key>,
    /// Key that the prefetching thread is making.
    making: Option<Key>,
    /// Words that are made and not taken yet.
    made: HashMap<Key, Vec<u32>>,
    bytes: usize,
    /// Places in the words of moves; kept.
    lists: HashMap<usize, Arc<MoveLists>>,
}

impl Prefetcher {
    /// Starts with nothing made.
    pub(super) fn new(board: BoardRows) -> Prefetcher {
        Prefetcher { board, state: Mutex::default(), changed: Condvar::new(), is_over: AtomicBool::new(false) }
    }

    /// Makes the data that the pairs of these frames need and no previous layer had, in order. Runs
    /// on a thread beside the one that computes. Returns at [`Prefetcher::end`] at the latest, or
    /// soon after it.
    pub(super) fn run(&self, frames: impl IntoIterator<Item = Frame>) {
        for frame in frames {
            let small = if frame.mover <= frame.other { frame } else { frame.mirrored() };
            for frame in [small, small.mirrored()] {
                self.make_ahead(Key::Moves(frame.mover));
                let lists = self.state.lock().lists.get(&frame.mover).cloned();
                let classes = lists.iter().flat_map(|lists| &lists.classes);
                let maps = classes.filter_map(|class| Key::of_class(class.kind, frame.other, class.spilled));
                maps.for_each(|key| self.make_ahead(key));
            }
            if self.board.rules.capture() == Capture::OppositeSeeds {
                self.make_ahead(Key::Capture(small.mover, 0));
                self.make_ahead(Key::Capture(small.other, 0));
            }
            if self.is_over() {
                return;
            }
        }
    }

    /// Lets [`Prefetcher::run`] continue.
    pub(super) fn begin(&self) {
        self.is_over.store(false, Ordering::Relaxed);
    }

    /// Ends [`Prefetcher::run`]. Data already made is kept.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        // The lock ensures that no thread is between checking and waiting.
        drop(self.state.lock());
        self.changed.notify_all();
    }

    /// Returns the words of `key`: prefetched ones as soon as they are ready, otherwise made now.
    pub(super) fn take(&self, key: Key) -> Vec<u32> {
        let mut state = self.state.lock();
        loop {
            if let Some(words) = state.made.remove(&key) {
                state.bytes -= size_of_val(&words[..]);
                self.changed.notify_all();
                return words;
            }
            if state.making != Some(key) {
                // Or it was taken already, and there was no memory for it on the device.
                state.begun.insert(key);
                drop(state);
                return self.make(key);
            }
            self.wait(&mut state);
        }
    }

    /// Places in the words of the moves of the rows with `seeds` seeds, after [`Prefetcher::take`].
    pub(super) fn lists(&self, seeds: usize) -> Arc<MoveLists> {
        Arc::clone(&self.state.lock().lists[&seeds])
    }

    /// Makes a key that no thread has begun, once there is space for it.
    fn make_ahead(&self, key: Key) {
        let mut state = self.state.lock();
        while state.bytes > MOST_BYTES && !self.is_over() && !state.begun.contains(&key) {
            self.changed.wait(&mut state);
        }
        if self.is_over() || !state.begun.insert(key) {
            return;
        }
        state.making = Some(key);
        drop(state);
        /// Ends the wait for a key being made, even when making it panics.
        struct Making<'a>(&'a Prefetcher);
        impl Drop for Making<'_> {
            fn drop(&mut self) {
                self.0.state.lock().making = None;
                self.0.changed.notify_all();
            }
        }
        let making = Making(self);
        let words = self.make(key);
        let mut state = self.state.lock();
        state.bytes += size_of_val(&words[..]);
        state.made.insert(key, words);
        drop(state);
        drop(making);
    }

    /// Makes the words of `key` on all threads of the current pool.
    fn make(&self, key: Key) -> Vec<u32> {
        let BoardRows { rules, maps, .. } = &self.board;
        match key {
            Key::Moves(seeds) => {
                let (words, lists) = list_moves(*rules, maps, seeds);
                self.state.lock().lists.insert(seeds, Arc::new(lists));
                words
            }
            Key::Spill(seeds, spilled) => list_spill(maps, seeds, spilled),
            Key::Capture(seeds, spilled) => list_captures(maps, seeds, spilled),
        }
    }

    /// Waits until something may have changed.
    fn wait(&self, state: &mut MutexGuard<'_, State>) {
        if rayon::current_thread_index().is_none() {
            return self.changed.wait(state);
        }
        // The awaited data may be work for this very thread.
        MutexGuard::unlocked(state, || {
            if rayon::yield_now() != Some(rayon::Yield::Executed) {
                std::thread::sleep(PAUSE);
            }
        });
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kalah_core::game::Rules;
    use kalah_core::index::RowIndex;

    const SEEDS: usize = 12;

    fn prefetcher() -> Prefetcher {
        Prefetcher::new(BoardRows::new(Rules::Standard, Arc::new(RowIndex::new(4, SEEDS).unwrap())))
    }

    fn frames() -> impl Iterator<Item = Frame> {
        (1..SEEDS).map(|mover| Frame { pits: 4, mover, other: SEEDS - mover })
    }

    /// Takes the data that the frames need, in order.
    fn take_all(prefetcher: &Prefetcher) -> Vec<Vec<u32>> {
        let mut taken = Vec::new();
        for frame in frames() {
            taken.push(prefetcher.take(Key::Moves(frame.mover)));
            for class in &prefetcher.lists(frame.mover).classes {
                taken.extend(Key::of_class(class.kind, frame.other, class.spilled).map(|key| prefetcher.take(key)));
            }
        }
        taken
    }

    #[test]
    fn what_was_made_ahead_is_what_is_made_when_it_is_needed() {
        let right = take_all(&prefetcher());
        let (made, beside) = (prefetcher(), prefetcher());
        made.run(frames());
        assert!(made.state.lock().bytes > 0);
        assert!(take_all(&made) == right);
        std::thread::scope(|scope| {
            scope.spawn(|| beside.run(frames()));
            assert!(take_all(&beside) == right);
        });
    }

    /// A pool of one thread, too: that thread may have to do the work for which it waits.
    #[test]
    fn threads_of_a_pool_can_wait() {
        let right = take_all(&prefetcher());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        for _ in 0..20 {
            let beside = prefetcher();
            let taken = std::thread::scope(|scope| {
                scope.spawn(|| pool.install(|| beside.run(frames())));
                pool.install(|| take_all(&beside))
            });
            assert!(taken == right);
        }
    }

    #[test]
    fn an_end_wakes_what_waits_for_room() {
        let full = prefetcher();
        full.state.lock().bytes = MOST_BYTES + 1;
        std::thread::scope(|scope| {
            let running = scope.spawn(|| full.run(frames()));
            std::thread::sleep(Duration::from_millis(20));
            assert!(!running.is_finished());
            full.end();
        });
        assert!(full.state.lock().made.is_empty());
    }
}
