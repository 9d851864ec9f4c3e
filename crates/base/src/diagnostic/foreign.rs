use kalah_core::cancel::Stopped;
use kalah_core::evaluation::{NetworkError, NetworkFileError, NetworkFileReason};
use kalah_core::game::{IllegalMove, ParseError, PositionError, UnknownRules};

use super::{Commands, Diagnostic, Outcome, USE_NEWER};

impl Diagnostic for IllegalMove {}
impl Diagnostic for ParseError {}
impl Diagnostic for PositionError {}
impl Diagnostic for UnknownRules {}

impl Diagnostic for Stopped {
    fn is_stop(&self) -> bool {
        true
    }
}

/// Only a network that is certainly damaged is to be deleted.
impl Diagnostic for NetworkFileError {
    fn outcome(&self) -> Outcome {
        match self.reason {
            NetworkFileReason::Network(_) => Outcome::Wrong,
            _ => Outcome::Failed,
        }
    }

    fn help(&self, _: &dyn Commands) -> Option<String> {
        Some(match self.reason {
            NetworkFileReason::Io(_) => return None,
            NetworkFileReason::Network(NetworkError::Header(error)) if error.is_newer() => {
                format!("{USE_NEWER}, or choose another file")
            }
            NetworkFileReason::Network(NetworkError::Damaged | NetworkError::Length { .. }) => {
                format!("delete {}, or replace it with `kalah train`", self.path.display())
            }
            NetworkFileReason::Other { found: (rules, pits), .. } => {
                format!(
                    "give its board with --rules {rules} --pits {pits}, choose another file, or move it away and make \
                     one with `kalah train`"
                )
            }
            _ => "choose another file, or move it away from the tables".to_owned(),
        })
    }

    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        match &self.reason {
            NetworkFileReason::Io(error) => Some(error),
            _ => None,
        }
    }
}
