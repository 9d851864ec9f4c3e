use std::time::{Duration, Instant};

use kalah_core::cancel::Cancel;

use super::answer::TICK;
use super::error::RemoteError;

/// Tries of a request in a row without progress.
const TRIES: u32 = 5;

/// Wait before the second try; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(200);

/// Tries of a request in a row without progress.
#[derive(Debug, Default)]
pub(crate) struct Tries(u32);

impl Tries {
    /// Waits after a try, which made `progress` or not: as long as the server asks for, or longer each time, and by
    /// chance, so that many clients do not come back at once.
    ///
    /// # Errors
    /// `error`, if no further try can help; [`RemoteError::Stopped`] as soon as `cancel` is cancelled.
    pub(crate) fn wait(&mut self, progress: bool, error: RemoteError, cancel: &Cancel) -> Result<(), RemoteError> {
        self.0 = if progress { 1 } else { self.0 + 1 };
        if !error.is_passing() || self.0 >= TRIES {
            return Err(error);
        }
        let own = (FIRST_WAIT * 2u32.pow(self.0 - 1)).mul_f64(0.5 + fastrand::f64());
        let asked = if let RemoteError::Busy { wait, .. } = error { wait } else { Duration::ZERO };
        let end = Instant::now() + own.max(asked);
        loop {
            cancel.check()?;
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(TICK));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancelled_wait_ends_at_once_and_a_long_one_does_not_begin() {
        let (cancel, start) = (Cancel::new(), Instant::now());
        let busy = |seconds| RemoteError::Busy { status: 503, wait: Duration::from_secs(seconds) };
        assert!(matches!(Tries::default().wait(false, busy(61), &cancel), Err(RemoteError::Busy { .. })));
        cancel.cancel();
        assert!(matches!(Tries::default().wait(false, busy(60), &cancel), Err(RemoteError::Stopped(_))));
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}
