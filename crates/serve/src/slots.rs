//! The open connections: at most so many. When all slots are taken, the connection that has waited longest for its client is
//! closed in favour of the next one.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

/// How long a connection may wait for its client before it can be closed in favour of another.
const UNDISTURBED: Duration = Duration::from_secs(2);

/// How long to wait for a connection that was asked to leave before another one is asked.
const LEAVING: Duration = Duration::from_millis(100);

/// Room for so many connections.
pub(super) struct Slots {
    most: u32,
    free: Arc<Semaphore>,
    /// Has a permit while a connection is to leave. Those that wait for their clients queue for it: the first one has waited
    /// longest.
    leave: Arc<Semaphore>,
}

impl Slots {
    pub fn new(most: u32) -> Slots {
        Slots { most, free: Arc::new(Semaphore::new(most as usize)), leave: Arc::new(Semaphore::new(0)) }
    }

    /// A slot, as soon as one is free; when none is, the connection that has waited longest for its client is asked to leave.
    pub async fn take(&self) -> Arc<Slot> {
        let mut patience = Duration::ZERO;
        loop {
            let free = timeout(patience, Arc::clone(&self.free).acquire_owned()).await;
            // Nobody took it.
            self.leave.forget_permits(1);
            if let Ok(permit) = free {
                let permit = permit.expect("it is never closed");
                let (busy, leave) = (watch::Sender::new(false), Arc::clone(&self.leave));
                return Arc::new(Slot { busy, leave, _permit: permit });
            }
            self.leave.add_permits(1);
            patience = LEAVING;
        }
    }

    /// Waits until all are free.
    pub async fn all_free(&self) {
        let _ = self.free.acquire_many(self.most).await;
    }
}

/// The right to one connection.
pub(super) struct Slot {
    /// Whether the server is at work for the client. Otherwise the connection waits for its client: for a request, for the
    /// rest of one, or until an answer is read.
    busy: watch::Sender<bool>,
    leave: Arc<Semaphore>,
    _permit: OwnedSemaphorePermit,
}

impl Slot {
    /// The connection does not wait for its client while the returned value lives: the server is at work for it.
    pub fn work(self: &Arc<Self>) -> Work {
        self.busy.send_replace(true);
        Work(Arc::clone(self))
    }

    /// Returns when the connection is to give way.
    pub async fn asked_to_leave(&self) {
        let mut busy = self.busy.subscribe();
        loop {
            let waits = !*busy.borrow_and_update();
            let asked = async {
                sleep(UNDISTURBED).await;
                self.leave.acquire().await.expect("it is never closed").forget();
            };
            tokio::select! {
                () = asked, if waits => return,
                _ = busy.changed() => {}
            }
        }
    }
}

/// A request that is being answered.
pub(super) struct Work(Arc<Slot>);

impl Drop for Work {
    fn drop(&mut self) {
        self.0.busy.send_replace(false);
    }
}
