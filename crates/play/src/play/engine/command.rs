use std::fmt;
use std::str::FromStr;

/// The command line of an external engine: a program and its arguments, split at spaces. Quotes and backslashes
/// keep words together as in a POSIX shell. No shell runs, so nothing is expanded.
///
/// ```
/// # use kalah_play::play::engine::EngineCommand;
/// let command: EngineCommand = "python3 'my engine.py' --depth 3".parse().unwrap();
/// assert_eq!(command.program(), "python3");
/// assert_eq!(command.arguments(), ["my engine.py", "--depth", "3"]);
/// assert_eq!(command.to_string(), "python3 'my engine.py' --depth 3");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EngineCommand {
    text: String,
    program: String,
    arguments: Vec<String>,
}

/// Error: a text that is not a command line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a command line: give a program and its arguments, and close every quote")]
pub struct BadEngineCommand(String);

impl EngineCommand {
    /// The program: a path, or a name that is searched for in PATH.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Its arguments.
    pub fn arguments(&self) -> &[String] {
        &self.arguments
    }
}

impl FromStr for EngineCommand {
    type Err = BadEngineCommand;

    fn from_str(text: &str) -> Result<EngineCommand, BadEngineCommand> {
        let mut words = shlex::split(text).unwrap_or_default().into_iter();
        let program = words.next().filter(|program| !program.is_empty() && !text.contains('\0'));
        let program = program.ok_or_else(|| BadEngineCommand(text.to_owned()))?;
        Ok(EngineCommand { text: text.trim().to_owned(), program, arguments: words.collect() })
    }
}

impl fmt::Display for EngineCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_no_program_is_refused() {
        for text in ["", "  ", "'open", "\"open", "''", "a\0b"] {
            assert!(text.parse::<EngineCommand>().is_err(), "{text}");
        }
    }
}
