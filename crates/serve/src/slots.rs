//! The open connections: at most so many. When all slots are taken, the connection that has waited longest for its client is
//! closed in favour of the next one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// How long a connection may wait for its client before it can be closed in favour of another.
const UNDISTURBED: Duration = Duration::from_secs(2);

/// How long to wait for a connection that was asked to leave before another one is asked.
const LEAVING: Duration = Duration::from_millis(100);

/// Room for so many connections.
pub(super) struct Slots {
    most: u32,
    free: Arc<Semaphore>,
    taken: Mutex<Vec<Weak<Slot>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Slots {
    pub fn new(most: u32) -> Slots {
        Slots { most, free: Arc::new(Semaphore::new(most as usize)), taken: Mutex::default() }
    }

    /// A slot, as soon as one is free; when none is, the connection that has waited longest for its client is asked to leave.
    pub async fn take(&self) -> Arc<Slot> {
        let mut patience = Duration::ZERO;
        loop {
            let permit = Arc::clone(&self.free).acquire_owned();
            if let Ok(permit) = timeout(patience, permit).await {
                let permit = permit.expect("it is never closed");
                let waits = Mutex::new(Some(Instant::now()));
                let slot = Arc::new(Slot { waits, leave: Notify::new(), _permit: permit });
                let mut taken = lock(&self.taken);
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

    /// The slot of the connection that has waited longest, if that is long enough.
    fn longest_waiting(&self) -> Option<Arc<Slot>> {
        let taken = lock(&self.taken);
        let waiting = taken.iter().filter_map(Weak::upgrade).filter_map(|slot| {
            let since = *lock(&slot.waits);
            since.filter(|since| since.elapsed() >= UNDISTURBED).map(|since| (since, slot))
        });
        waiting.min_by_key(|&(since, _)| since).map(|(_, slot)| slot)
    }

    /// Waits until all are free.
    pub async fn all_free(&self) {
        let _ = self.free.acquire_many(self.most).await;
    }
}

/// The right to one connection.
pub(super) struct Slot {
    /// Since when the connection waits for its client: for a request, for the rest of one, or until an answer is read.
    /// `None` while the server is at work for it.
    waits: Mutex<Option<Instant>>,
    leave: Notify,
    _permit: OwnedSemaphorePermit,
}

impl Slot {
    /// The connection does not wait for its client while the returned value lives: the server is at work for it.
    pub fn work(self: &Arc<Self>) -> Work {
        *lock(&self.waits) = None;
        Work(Arc::clone(self))
    }

    /// Returns when the connection is to give way.
    pub async fn asked_to_leave(&self) {
        self.leave.notified().await;
    }
}

/// A request that is being answered.
pub(super) struct Work(Arc<Slot>);

impl Drop for Work {
    fn drop(&mut self) {
        *lock(&self.0.waits) = Some(Instant::now());
    }
}
