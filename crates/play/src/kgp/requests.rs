use std::collections::VecDeque;
use std::time::Instant;

use kalah_core::cancel::Cancel;
use kalah_core::game::Position;
use parking_lot::{Condvar, Mutex};

/// The most positions that wait for a thread. A tournament has one for each game at the most.
pub(super) const MAX_WAITING: usize = 256;

/// A position that the server waits for.
#[derive(Clone)]
pub(super) struct MoveRequest {
    /// The server's id of it.
    pub id: u64,
    /// The client South, and to move.
    pub position: Position,
    /// When the move has to be there.
    pub deadline: Instant,
    /// Cancelled when the server wants no more of it.
    pub cancel: Cancel,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<MoveRequest>,
    /// Those that a thread thinks about.
    under_way: Vec<MoveRequest>,
    closed: bool,
}

/// All positions that the server waits for, shared by the thread that reads and those that think. Their ids differ, and
/// not more than [`MAX_WAITING`] wait.
#[derive(Default)]
pub(super) struct Requests {
    queue: Mutex<Queue>,
    news: Condvar,
}

impl Requests {
    /// Whether there is one with this id, waiting or thought about.
    pub fn knows(&self, id: u64) -> bool {
        let queue = self.queue.lock();
        queue.waiting.iter().chain(&queue.under_way).any(|request| request.id == id)
    }

    /// Adds one whose id is not known; false if as many wait as may.
    #[must_use]
    pub fn add(&self, request: MoveRequest) -> bool {
        let mut queue = self.queue.lock();
        let room = queue.waiting.len() < MAX_WAITING;
        if room {
            queue.waiting.push_back(request);
            self.news.notify_one();
        }
        room
    }

    /// The next one to think about, when there is one; `None` once all is over.
    pub fn take(&self) -> Option<MoveRequest> {
        let mut queue = self.queue.lock();
        loop {
            if queue.closed {
                return None;
            }
            if let Some(request) = queue.waiting.pop_front() {
                queue.under_way.push(request.clone());
                return Some(request);
            }
            self.news.wait(&mut queue);
        }
    }

    /// Forgets a request that is answered.
    pub fn done(&self, id: u64) {
        self.queue.lock().under_way.retain(|request| request.id != id);
    }

    /// The server wants no more of one.
    pub fn stop(&self, id: u64) {
        let mut queue = self.queue.lock();
        queue.waiting.retain(|request| request.id != id);
        queue.under_way.iter().filter(|request| request.id == id).for_each(|request| request.cancel.cancel());
    }

    /// Ends everything.
    pub fn close(&self) {
        let mut queue = self.queue.lock();
        queue.closed = true;
        queue.waiting.clear();
        queue.under_way.iter().for_each(|request| request.cancel.cancel());
        self.news.notify_all();
    }
}
