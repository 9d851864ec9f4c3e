use std::fmt;
use std::time::{Duration, Instant};

use kalah_core::game::{Pit, Position};
use kalah_tables::printable::printable;
use parking_lot::Mutex;

/// Maximum characters shown of a server's text.
const MAX_SHOWN: usize = 200;

/// Number of events caused by the server that are reported at once. Further ones are reported at intervals of
/// [`PAUSE`].
const AT_ONCE: u32 = 20;

/// Interval at which one more event is reported.
const PAUSE: Duration = Duration::from_secs(1);

/// Event of a session.
///
/// Texts are those of the server, unchanged, and may contain terminal escape sequences. The `Display` of an
/// event escapes them.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum KgpEvent<'e> {
    /// The server greeted.
    Greeted {
        /// Its version of the protocol.
        version: &'e str,
    },
    /// A move was chosen.
    Moved {
        /// The position.
        position: &'e Position,
        /// The move.
        pit: Pit,
    },
    /// An error reported by the server.
    Error(&'e str),
    /// A line that is not understood and is ignored.
    Ignored(&'e str),
    /// A position that is not searched because too many are waiting. A legal move was sent.
    Refused {
        /// The server's id of the position.
        id: u64,
    },
    /// Number of events that were not reported, because the server caused too many.
    Hidden(u64),
}

impl fmt::Display for KgpEvent<'_> {
    /// A line for a user.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KgpEvent::Greeted { version } => write!(f, "connected; protocol {}", printable(version, MAX_SHOWN)),
            KgpEvent::Moved { position, pit } => write!(f, "{position}  {pit}"),
            KgpEvent::Error(text) => write!(f, "error from the server: {}", printable(text, MAX_SHOWN)),
            KgpEvent::Ignored(line) => write!(f, "not understood: {}", printable(line, MAX_SHOWN)),
            KgpEvent::Refused { id } => write!(f, "too many positions are waiting: {id} is answered without a search"),
            KgpEvent::Hidden(1) => write!(f, "one more message is not shown"),
            KgpEvent::Hidden(count) => write!(f, "{count} more messages are not shown"),
        }
    }
}

/// Reports the events caused by the server, at a limited rate.
pub(super) struct Reports<'s> {
    on_event: &'s (dyn Fn(KgpEvent) + Sync),
    /// Shared by the thread that listens and the threads that search.
    rate: Mutex<Rate>,
}

/// Number of recent reports.
struct Rate {
    /// Number of events that may still be reported.
    left: u32,
    /// Start of the interval after which one more may be reported.
    since: Instant,
    hidden: u64,
}

impl<'s> Reports<'s> {
    pub fn new(on_event: &'s (dyn Fn(KgpEvent) + Sync)) -> Reports<'s> {
        Reports { on_event, rate: Mutex::new(Rate { left: AT_ONCE, since: Instant::now(), hidden: 0 }) }
    }

    /// Reports an event, unless too many were reported recently.
    pub fn report(&self, event: KgpEvent) {
        let mut rate = self.rate.lock();
        let due = rate.since.elapsed().as_secs() / PAUSE.as_secs();
        if due > 0 {
            rate.left = u32::try_from(due).unwrap_or(AT_ONCE).saturating_add(rate.left).min(AT_ONCE);
            rate.since = Instant::now();
        }
        if rate.left == 0 {
            rate.hidden += 1;
            return;
        }
        self.report_hidden(&mut rate);
        rate.left -= 1;
        (self.on_event)(event);
    }

    fn report_hidden(&self, rate: &mut Rate) {
        if rate.hidden > 0 {
            (self.on_event)(KgpEvent::Hidden(std::mem::take(&mut rate.hidden)));
        }
    }
}

impl Drop for Reports<'_> {
    fn drop(&mut self) {
        let mut rate = self.rate.lock();
        self.report_hidden(&mut rate);
    }
}
