//! Ctrl-C and the other signals that ask a program to end.
//!
//! The program listens from its start, so every command ends in the same way. The first signal stops the command if
//! it can be stopped, and otherwise ends the program at once, as a second signal does. The exit code is 128 plus the
//! number of the signal.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicI32, Ordering};

use kalah::cancel::Cancel;
use kalah::play::engine::kill_engines;
use kalah::progress::Pulse;
use parking_lot::Mutex;

/// Number of the first signal; 0 if there was none.
static RECEIVED: AtomicI32 = AtomicI32::new(0);

/// Cancelled by the first signal.
static CANCELLED: LazyLock<Cancel> = LazyLock::new(Cancel::new);

/// Returns a cancellation that the first signal requests, whatever else it does.
#[cfg(feature = "remote")]
pub(crate) fn cancelled() -> &'static Cancel {
    &CANCELLED
}

/// Callback that stops a command.
type Stop = Box<dyn FnMut() + Send>;

/// Callback of the running command; `None` if it can only be killed.
static STOP: Mutex<Option<Stop>> = Mutex::new(None);

/// Starts listening. If the system does not allow that, signals have their usual effect.
pub(crate) fn listen() {
    #[cfg(unix)]
    unix::listen();
    #[cfg(not(unix))]
    // The only one here is Ctrl-C.
    let _ = ctrlc::set_handler(|| arrived(2));
}

/// Returns the number of the signal that asked the program to end, if there was one.
pub(crate) fn received() -> Option<i32> {
    Some(RECEIVED.load(Ordering::Relaxed)).filter(|&signal| signal != 0)
}

/// Makes the first signal call `stop`. A second one ends the program without waiting for the rest of the work.
pub(crate) fn on_signal(stop: impl FnMut() + Send + 'static) {
    *STOP.lock() = Some(Box::new(stop));
}

/// Makes the first signal cancel `cancel`, and a second one end the program.
pub(crate) fn cancel_on_signal(cancel: &Cancel) {
    let cancel = cancel.clone();
    on_signal(move || cancel.cancel());
}

/// Returns a cancellation that the first signal requests. A second signal ends the program.
pub(crate) fn cancelled_by_signal() -> Cancel {
    let cancel = Cancel::new();
    cancel_on_signal(&cancel);
    cancel
}

/// Returns a pulse that the first signal stops. A second signal ends the program, which loses only the frames in
/// progress.
pub(crate) fn stopped_by_signal() -> Pulse {
    Pulse::new(cancelled_by_signal())
}

/// Reacts to a signal.
fn arrived(signal: i32) {
    let is_first = RECEIVED.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed).is_ok();
    CANCELLED.cancel();
    match STOP.lock().as_mut() {
        Some(stop) if is_first => stop(),
        _ => {
            kill_engines();
            end(128 + signal);
        }
    }
}

/// Ends the program without waiting for its threads, and without exit handlers of drivers, whose threads may be
/// working.
fn end(code: i32) -> ! {
    #[cfg(unix)]
    // SAFETY: it ends the process without running any more of its code.
    unsafe {
        libc::_exit(code)
    }
    #[cfg(not(unix))]
    std::process::exit(code)
}

#[cfg(unix)]
mod unix {
    use std::mem::MaybeUninit;
    use std::thread;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    /// Stack size of the listening thread, in bytes. It is small, since limits of memory may be tight.
    const STACK: usize = 256 << 10;

    /// Starts a thread that waits for signals.
    pub(super) fn listen() {
        let heard: Vec<i32> = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_ignored(signal)).collect();
        let Ok(mut signals) = Signals::new(heard) else { return };
        let work = move || signals.forever().for_each(super::arrived);
        let _ = thread::Builder::new().name("signals".to_owned()).stack_size(STACK).spawn(work);
    }

    /// Returns true if the program was started with this signal ignored, as `nohup` does.
    fn is_ignored(signal: i32) -> bool {
        let mut action = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: without a new action the call only writes the present one.
        unsafe {
            libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0
                && action.assume_init().sa_sigaction == libc::SIG_IGN
        }
    }
}
