use std::process::ExitCode;

/// The exit code of a check that found a wrong value or damage.
pub const EXIT_DAMAGE: u8 = 3;

/// How a command ended.
#[derive(Clone, Copy, Debug)]
pub enum Outcome {
    Done,
    /// Something could not be answered; reported where it happened.
    Failed,
    /// Some input could not be read; reported where it happened.
    Usage,
    /// A check found a wrong score or damage; reported where it happened.
    Wrong,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        ExitCode::from(match outcome {
            Outcome::Done => 0,
            Outcome::Failed => 1,
            Outcome::Usage => 2,
            Outcome::Wrong => EXIT_DAMAGE,
        })
    }
}
