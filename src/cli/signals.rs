//! Ctrl-C and the signal to end.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use kalah::play::engine::kill_engines;
use kalah::progress::Pulse;

/// Has the first of these signals call `stop`, and a second one end the program: whoever asks twice does not wait for what is
/// left to do.
pub fn on_signal(mut stop: impl FnMut() + Send + 'static) -> anyhow::Result<()> {
    let mut asked = false;
    let handler = move || {
        if std::mem::replace(&mut asked, true) {
            kill_engines();
            process::exit(1);
        }
        stop();
    };
    ctrlc::set_handler(handler).context("cannot listen for Ctrl-C")
}

/// Has the first of these signals set `stop`, and a second one end the program.
pub fn stop_on_signal(stop: &Arc<AtomicBool>) -> anyhow::Result<()> {
    let stop = Arc::clone(stop);
    on_signal(move || stop.store(true, Ordering::Relaxed))
}

/// A pulse that the first of these signals stops, and a second one ends the program: frames under way are lost, no more.
pub fn stopped_by_signal() -> anyhow::Result<Arc<Pulse>> {
    let pulse = Arc::new(Pulse::default());
    let handler = Arc::clone(&pulse);
    on_signal(move || handler.stop())?;
    Ok(pulse)
}
