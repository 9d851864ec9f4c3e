//! The open connections: at most so many. When all slots are taken, the connection that has waited longest for its client is
//! closed in favour of the next one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until, timeout};

/// How long a connection may wait for its client before it can be closed in favour of another.
const UNDISTURBED: Duration = Duration::from_secs(2);

/// How long to wait for a connection that was asked to leave before another one is asked.
const LEAVING: Duration = Duration::from_millis(100);

/// Room for so many connections.
pub(super) struct Slots {
    most: u32,
    free: Arc<Semaphore>,
    waiting: Arc<Mutex<Waiting>>,
}

/// The connections that wait for their clients: for a request, for the rest of one, or until an answer is read.
#[derive(Default)]
struct Waiting {
    /// By rising numbers: the first one has waited longest.
    connections: BTreeMap<u64, (Instant, Arc<Notify>)>,
    next: u64,
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Slots {
    pub fn new(most: u32) -> Slots {
        Slots { most, free: Arc::new(Semaphore::new(most as usize)), waiting: Arc::default() }
    }

    /// A slot, as soon as one is free; when none is, the connection that has waited longest for its client is asked to leave.
    pub async fn take(&self) -> Slot {
        let mut give_way = Duration::ZERO;
        loop {
            let permit = Arc::clone(&self.free).acquire_owned();
            if let Ok(permit) = timeout(give_way, permit).await {
                let leave = Arc::default();
                let permit = permit.expect("it is never closed");
                let slot = Slot { waiting: Arc::clone(&self.waiting), place: Mutex::new(None), leave, _permit: permit };
                slot.wait();
                return slot;
            }
            let first = lock(&self.waiting).connections.first_key_value().map(|(&place, (since, _))| (place, *since));
            let due = first.map_or_else(Instant::now, |(_, since)| since) + UNDISTURBED;
            tokio::select! {
                permit = self.free.acquire() => drop(permit),
                () = sleep_until(due) => {
                    let leaving = first.and_then(|(place, _)| lock(&self.waiting).connections.remove(&place));
                    leaving.into_iter().for_each(|(_, leave)| leave.notify_one());
                }
            }
            give_way = LEAVING;
        }
    }

    /// Waits until all are free.
    pub async fn all_free(&self) {
        let _ = self.free.acquire_many(self.most).await;
    }
}

/// The right to one connection.
pub(super) struct Slot {
    waiting: Arc<Mutex<Waiting>>,
    /// Its number among those that wait.
    place: Mutex<Option<u64>>,
    leave: Arc<Notify>,
    _permit: OwnedSemaphorePermit,
}

impl Slot {
    /// The connection waits for its client from now on.
    fn wait(&self) {
        let mut waiting = lock(&self.waiting);
        let place = waiting.next;
        waiting.next += 1;
        waiting.connections.insert(place, (Instant::now(), Arc::clone(&self.leave)));
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = Some(place);
    }

    /// The connection no longer waits for its client.
    fn stop_waiting(&self) {
        let place = self.place.lock().unwrap_or_else(PoisonError::into_inner).take();
        place.and_then(|place| lock(&self.waiting).connections.remove(&place));
    }

    /// The connection does not wait for its client while the returned value lives: the server is at work for it.
    pub fn work(self: &Arc<Self>) -> Work {
        self.stop_waiting();
        Work(Arc::clone(self))
    }

    /// Returns when the connection is to give way.
    pub async fn asked_to_leave(&self) {
        self.leave.notified().await;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.stop_waiting();
    }
}

/// A request that is being answered.
pub(super) struct Work(Arc<Slot>);

impl Drop for Work {
    fn drop(&mut self) {
        self.0.wait();
    }
}
