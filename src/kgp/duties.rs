use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::game::Position;

/// The most positions that wait for a thread. A tournament has one for each game at the most.
pub(super) const MAX_WAITING: usize = 256;

/// A position that the server waits for.
#[derive(Clone)]
pub(super) struct Duty {
    /// The server's id of it.
    pub id: u64,
    /// The client South, and to move.
    pub position: Position,
    /// When the move has to be there.
    pub deadline: Instant,
    /// Whether the server wants no more of it.
    pub stop: Arc<AtomicBool>,
}

#[derive(Default)]
struct Open {
    waiting: VecDeque<Duty>,
    /// Those that are being thought about.
    under_way: Vec<Duty>,
    closed: bool,
}

/// All positions that the server waits for, shared by the thread that reads and those that think. Their ids differ, and
/// not more than [`MAX_WAITING`] wait.
#[derive(Default)]
pub(super) struct Duties {
    open: Mutex<Open>,
    news: Condvar,
}

impl Duties {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is one with this id, waiting or thought about.
    pub fn knows(&self, id: u64) -> bool {
        let open = self.lock();
        open.waiting.iter().chain(&open.under_way).any(|duty| duty.id == id)
    }

    /// Adds one whose id is not known; false if as many wait as may.
    #[must_use]
    pub fn add(&self, duty: Duty) -> bool {
        let mut open = self.lock();
        let room = open.waiting.len() < MAX_WAITING;
        if room {
            open.waiting.push_back(duty);
            self.news.notify_one();
        }
        room
    }

    /// The next one to think about, when there is one; `None` once all is over.
    pub fn take(&self) -> Option<Duty> {
        let mut open = self.lock();
        loop {
            if open.closed {
                return None;
            }
            if let Some(duty) = open.waiting.pop_front() {
                open.under_way.push(duty.clone());
                return Some(duty);
            }
            open = self.news.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Says that a duty is done.
    pub fn done(&self, id: u64) {
        self.lock().under_way.retain(|duty| duty.id != id);
    }

    /// The server wants no more of one.
    pub fn stop(&self, id: u64) {
        let mut open = self.lock();
        open.waiting.retain(|duty| duty.id != id);
        open.under_way.iter().filter(|duty| duty.id == id).for_each(|duty| duty.stop.store(true, Ordering::Relaxed));
    }

    /// Ends everything.
    pub fn close(&self) {
        let mut open = self.lock();
        open.closed = true;
        open.waiting.clear();
        open.under_way.iter().for_each(|duty| duty.stop.store(true, Ordering::Relaxed));
        self.news.notify_all();
    }
}
