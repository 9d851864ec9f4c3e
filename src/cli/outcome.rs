use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy)]
pub enum Outcome {
    Done,
    /// Something could not be answered; told where it happened.
    Failed,
    /// Some input could not be read; told where it happened.
    Usage,
    /// A check found a wrong score or damage; told where it happened.
    Wrong,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        ExitCode::from(match outcome {
            Outcome::Done => 0,
            Outcome::Failed => 1,
            Outcome::Usage => 2,
            Outcome::Wrong => 3,
        })
    }
}
