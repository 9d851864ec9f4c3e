use std::collections::VecDeque;
use std::time::Instant;

use kalah_core::cancel::Cancel;
use kalah_core::game::Position;
use parking_lot::{Condvar, Mutex};

/// Maximum positions that wait for a thread. A tournament has at most one for each game.
pub(super) const MAX_WAITING: usize = 256;

/// A position that the server wants a move for.
#[derive(Clone)]
pub(super) struct MoveRequest {
    /// The server's id of the position.
    pub id: u64,
    /// The position. The client is South and to move.
    pub position: Position,
    /// Time at which the move is due.
    pub deadline: Instant,
    /// Cancelled when the server no longer wants a move.
    pub cancel: Cancel,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<MoveRequest>,
    /// Requests that a thread is working on.
    under_way: Vec<MoveRequest>,
    closed: bool,
}

/// All positions that the server wants moves for, shared by the thread that reads and the threads that search.
/// Their ids differ, and at most [`MAX_WAITING`] are waiting.
#[derive(Default)]
pub(super) struct Requests {
    queue: Mutex<Queue>,
    news: Condvar,
}

impl Requests {
    /// Returns true if a request with this id is waiting or in work.
    pub fn contains(&self, id: u64) -> bool {
        let queue = self.queue.lock();
        queue.waiting.iter().chain(&queue.under_way).any(|request| request.id == id)
    }

    /// Adds a request with a new id. Returns false if too many are waiting.
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

    /// Waits for the next request to work on; `None` once the session is over.
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

    /// Removes an answered request.
    pub fn done(&self, id: u64) {
        self.queue.lock().under_way.retain(|request| request.id != id);
    }

    /// Cancels a request that the server no longer wants.
    pub fn stop(&self, id: u64) {
        let mut queue = self.queue.lock();
        queue.waiting.retain(|request| request.id != id);
        queue.under_way.iter().filter(|request| request.id == id).for_each(|request| request.cancel.cancel());
    }

    /// Cancels all requests and ends the session.
    pub fn close(&self) {
        let mut queue = self.queue.lock();
        queue.closed = true;
        queue.waiting.clear();
        queue.under_way.iter().for_each(|request| request.cancel.cancel());
        self.news.notify_all();
    }
}
