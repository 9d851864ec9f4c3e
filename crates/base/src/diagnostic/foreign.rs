use kalah_core::cancel::Stopped;
use kalah_core::evaluation::{NetworkError, NetworkFileError, NetworkFileReason};
use kalah_core::game::{IllegalMove, ParseError, PositionError, UnknownRules};

use super::{Commands, Diagnosis, Diagnostic, Outcome, USE_NEWER};

impl Diagnostic for IllegalMove {}
impl Diagnostic for ParseError {}
impl Diagnostic for PositionError {}
impl Diagnostic for UnknownRules {}

impl Diagnostic for Stopped {
    fn diagnosis(&self, _: &dyn Commands) -> Diagnosis {
        Outcome::Stopped.into()
    }
}

/// Only a network that is certainly damaged is to be deleted.
impl Diagnostic for NetworkFileError {
    fn diagnosis(&self, commands: &dyn Commands) -> Diagnosis {
        match &self.reason {
            NetworkFileReason::Io(error) => error.diagnosis(commands),
            NetworkFileReason::Network(NetworkError::Header(error)) if error.is_newer() => {
                Outcome::Wrong.help(format!("{USE_NEWER}, or choose another file"))
            }
            NetworkFileReason::Network(NetworkError::Damaged | NetworkError::Length { .. }) => {
                Outcome::Wrong.help(format!("delete {}, or replace it with `kalah train`", self.path.display()))
            }
            NetworkFileReason::Network(_) => {
                Outcome::Wrong.help("choose another file, or move it away from the tables")
            }
            NetworkFileReason::Other { found: (rules, pits), .. } => Outcome::Failed.help(format!(
                "give its board with --rules {rules} --pits {pits}, choose another file, or move it away and make one \
                 with `kalah train`"
            )),
            _ => Outcome::Failed.into(),
        }
    }
}
