//! A limited number of open connections. If all slots are taken, the connection that has waited longest for its
//! client is closed in favour of the next one.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Time that a connection waits for its client before it can be closed in favour of another.
const UNDISTURBED: Duration = Duration::from_secs(2);

/// Time to wait for a connection that was asked to close, before another one is asked.
const LEAVING: Duration = Duration::from_millis(100);

/// Slots for a number of connections.
pub(super) struct Slots {
    most: u32,
    free: Arc<Semaphore>,
    taken: Mutex<Vec<Weak<Slot>>>,
}

impl Slots {
    pub fn new(most: u32) -> Slots {
        Slots { most, free: Arc::new(Semaphore::new(most as usize)), taken: Mutex::default() }
    }

    /// Returns a slot as soon as one is free. If none is, the connection that has waited longest for its client is
    /// asked to close.
    pub async fn take(&self) -> Arc<Slot> {
        let mut patience = Duration::ZERO;
        loop {
            let permit = Arc::clone(&self.free).acquire_owned();
            if let Ok(permit) = timeout(patience, permit).await {
                let permit = permit.expect("it is never closed");
                let waits = Mutex::new(Some(Instant::now()));
                let slot = Arc::new(Slot { waits, leave: Notify::new(), _permit: permit });
                let mut taken = self.taken.lock();
                taken.retain(|slot| slot.strong_count() > 0);
                taken.push(Arc::downgrade(&slot));
                return slot;
            }
            if let Some(slot) = self.longest_waiting() {
                slot.leave.notify_one();
            }
            patience = LEAVING;
        }
    }

    /// Returns the slot of the connection that has waited longest, if that is long enough.
    fn longest_waiting(&self) -> Option<Arc<Slot>> {
        let taken = self.taken.lock();
        let waiting = taken.iter().filter_map(Weak::upgrade).filter_map(|slot| {
            let since = *slot.waits.lock();
            since.filter(|since| since.elapsed() >= UNDISTURBED).map(|since| (since, slot))
        });
        waiting.min_by_key(|&(since, _)| since).map(|(_, slot)| slot)
    }

    /// Waits until all slots are free.
    pub async fn all_free(&self) {
        let _ = self.free.acquire_many(self.most).await;
    }
}

/// Right to one connection.
pub(super) struct Slot {
    /// Time since which the connection waits for its client: for a request, for the rest of one, or for the client to
    /// read an answer. `None` while the server works on an answer.
    waits: Mutex<Option<Instant>>,
    leave: Notify,
    _permit: OwnedSemaphorePermit,
}

impl Slot {
    /// Marks the connection as not waiting for its client while the returned value lives.
    pub fn work(self: &Arc<Self>) -> Work {
        *self.waits.lock() = None;
        Work(Arc::clone(self))
    }

    /// Waits until the connection must close in favour of another.
    pub async fn asked_to_leave(&self) {
        self.leave.notified().await;
    }
}

/// Request that is being answered.
pub(super) struct Work(Arc<Slot>);

impl Drop for Work {
    fn drop(&mut self) {
        *self.0.waits.lock() = Some(Instant::now());
    }
}
