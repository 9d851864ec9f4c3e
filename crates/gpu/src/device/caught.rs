use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static CATCHES: Cell<bool> = const { Cell::new(false) };
}

/// Returns true if a panic of this thread becomes a [`super::GpuError`], so that a panic hook
/// should print nothing.
pub fn catches_panics() -> bool {
    CATCHES.get()
}

/// Runs a call that panics when the driver reports a fault. The error is the last line of the
/// panic's message.
pub(super) fn caught<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    let before = CATCHES.replace(true);
    let result = catch_unwind(AssertUnwindSafe(call));
    CATCHES.set(before);
    result.map_err(|panic| {
        let owned = || panic.downcast_ref::<String>().map(String::as_str);
        let text = panic.downcast_ref::<&str>().copied().or_else(owned).unwrap_or_default();
        text.trim_end().lines().next_back().unwrap_or("for an unknown reason").trim().to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::{catches_panics, caught};

    #[test]
    fn a_panic_becomes_an_error() {
        assert_eq!(caught(catches_panics), Ok(true));
        let lost = || -> u32 { panic!("Error in {}: Validation Error\n\nCaused by:\n  Device is lost\n", "poll") };
        assert_eq!(caught(lost), Err("Device is lost".to_owned()));
        assert_eq!(caught(|| panic!("")), Err::<(), _>("for an unknown reason".to_owned()));
        assert!(!catches_panics());
    }
}
