//! Progress of work of unknown length on stderr: a changing line on a terminal, otherwise a note from time to time.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use kalah::watcher::watched;

use crate::cli::output;

/// Interval of updates on a terminal.
const TICK: Duration = Duration::from_millis(200);

/// Time before the first note, since quick answers need none.
const FIRST_NOTE: Duration = Duration::from_secs(1);

/// Interval of later notes.
const NOTE_EVERY: Duration = Duration::from_secs(10);

/// Runs `work` and shows its elapsed time meanwhile.
pub fn watch<T>(subject: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    watch_text(FIRST_NOTE, || format!("{subject}: {:.0} s", start.elapsed().as_secs_f64()), work)
}

/// Runs `work` and shows `text` meanwhile, in notes from the time `first` on.
pub fn watch_text<T>(first: Duration, text: impl Fn() -> String + Sync, work: impl FnOnce() -> T) -> T {
    let ((bar, terminal), start, mut next) = (spinner(), Instant::now(), first);
    let poll = || {
        if terminal {
            bar.set_message(text());
            bar.tick();
        } else if start.elapsed() >= next {
            next = start.elapsed() + NOTE_EVERY;
            output::note(text());
        }
        Some(TICK)
    };
    // If the system starts no thread, the work runs without progress.
    let result = watched(TICK, poll, |_| (), work);
    bar.finish_and_clear();
    result
}

/// Returns a line that changes, and true if a terminal shows it.
pub fn spinner() -> (ProgressBar, bool) {
    let terminal = std::io::stderr().is_terminal() && !output::is_quiet();
    let bar = if terminal { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
    bar.set_style(ProgressStyle::with_template("{spinner} {wide_msg}").expect("the template is sound"));
    (bar, terminal)
}
