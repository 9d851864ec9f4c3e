//! Exit codes of outcomes. docs/commands.md lists the exit codes.

use std::process::ExitCode;

pub(crate) use kalah::diagnostic::Outcome;

/// Exit code of a check that found a wrong value or damage.
pub(crate) const EXIT_DAMAGE: u8 = 3;

/// Added to the number of a signal that ended the program, as in shells.
const EXIT_SIGNAL: i32 = 128;

fn code(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Done => 0,
        Outcome::Stopped | Outcome::Failed => 1,
        Outcome::Usage => 2,
        Outcome::Wrong => EXIT_DAMAGE,
        Outcome::Interrupted(signal) => u8::try_from(EXIT_SIGNAL + signal).unwrap_or(u8::MAX),
    }
}

/// Returns the exit code for `main`. After a GPU has hung this ends the process at once, since destructors of a
/// working driver may crash.
pub(crate) fn leave(outcome: Outcome) -> ExitCode {
    #[cfg(all(unix, feature = "gpu"))]
    if kalah::gpu::has_hung() {
        // A failure cannot be reported any more.
        let _ = std::io::Write::flush(&mut std::io::stdout());
        // SAFETY: it ends the process without running any more of its code.
        unsafe { libc::_exit(code(outcome).into()) }
    }
    ExitCode::from(code(outcome))
}
