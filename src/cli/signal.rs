//! Ctrl-C and the signal to end: the first stops work in an orderly way, a second one ends the program.

use std::sync::Arc;

use anyhow::Context;
use kalah::progress::Pulse;

/// Has the first signal call `stop`, and the second end the program. `stop` returns whether it was called before.
pub fn on_signal(mut stop: impl FnMut() -> bool + Send + 'static) -> anyhow::Result<()> {
    let on_signal = move || {
        // Who asks twice will not wait: what is under way is lost, no more.
        if stop() {
            std::process::exit(1);
        }
    };
    ctrlc::set_handler(on_signal).context("cannot listen for Ctrl-C")
}

/// A pulse that a signal stops.
pub fn stopped_by_signal() -> anyhow::Result<Arc<Pulse>> {
    let pulse = Arc::new(Pulse::default());
    let handler = Arc::clone(&pulse);
    on_signal(move || {
        let again = handler.is_stopped();
        handler.stop();
        again
    })?;
    Ok(pulse)
}
