//! A limited number of open connections. When all are in use, those that have waited a while for their clients close.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::sleep;

/// Time that a connection waits for its client before it closes in favour of another.
const UNDISTURBED: Duration = Duration::from_secs(2);

/// Slots for a number of connections.
pub(super) struct Slots {
    most: u32,
    free: Arc<Semaphore>,
    /// True while a client waits for a slot.
    pub wanted: watch::Sender<bool>,
}

impl Slots {
    pub(crate) fn new(most: u32) -> Slots {
        Slots { most, free: Arc::new(Semaphore::new(most as usize)), wanted: watch::Sender::new(false) }
    }

    /// Returns the right to one connection as soon as there is one.
    pub(crate) async fn take(&self) -> OwnedSemaphorePermit {
        self.wanted.send_replace(self.free.available_permits() == 0);
        let slot = Arc::clone(&self.free).acquire_owned().await;
        self.wanted.send_replace(false);
        slot.expect("it is never closed")
    }

    /// Waits until all slots are free.
    pub(crate) async fn all_free(&self) {
        let _ = self.free.acquire_many(self.most).await;
    }
}

/// Connection of a client.
#[derive(Clone)]
pub(super) struct Client {
    /// Address of the server on it.
    pub local: IpAddr,
    /// True while the server works on an answer. False while it waits for the client: for a request, for the rest of
    /// one, or for the client to read an answer.
    works: watch::Sender<bool>,
}

impl Client {
    pub(crate) fn new(local: IpAddr) -> Client {
        Client { local, works: watch::Sender::new(false) }
    }

    /// Marks the connection as not waiting for its client while the returned value lives.
    pub(crate) fn work(&self) -> Work {
        self.works.send_replace(true);
        Work(self.works.clone())
    }

    /// Waits until the connection must close in favour of another.
    pub(crate) async fn asked_to_leave(&self, mut wanted: watch::Receiver<bool>) {
        let mut works = self.works.subscribe();
        loop {
            let is_waiting = !*works.borrow_and_update();
            let asked = async {
                sleep(UNDISTURBED).await;
                let _ = wanted.wait_for(|&wanted| wanted).await;
            };
            tokio::select! {
                () = asked, if is_waiting => return,
                _ = works.changed() => {}
            }
        }
    }
}

/// Request that is being answered.
pub(super) struct Work(watch::Sender<bool>);

impl Drop for Work {
    fn drop(&mut self) {
        self.0.send_replace(false);
    }
}
