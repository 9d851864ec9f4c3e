//! The command that was given, and its arguments.

use clap::{ArgMatches, Command};

/// The innermost command that was given, such as `build` for `kalah plan build`.
pub(crate) struct Given<'a> {
    pub command: &'a Command,
    pub matches: &'a ArgMatches,
    /// Names of the commands from the outermost on, such as `plan` and `build`.
    pub names: Vec<&'a str>,
}

impl<'a> Given<'a> {
    /// Finds the command in those of the program.
    pub(crate) fn new(program: &'a Command, matches: &'a ArgMatches) -> Given<'a> {
        let mut given = Given { command: program, matches, names: Vec::new() };
        while let Some((name, inner)) = given.matches.subcommand()
            && let Some(command) = given.command.find_subcommand(name)
        {
            (given.command, given.matches) = (command, inner);
            given.names.push(name);
        }
        given
    }

    /// Returns true if the command has the flag `--tables`.
    pub(crate) fn takes_tables(&self) -> bool {
        self.command.get_arguments().any(|argument| argument.get_long() == Some("tables"))
    }

    /// Returns true if the command has this flag, which takes no value, and it was given.
    pub(crate) fn is_set(&self, flag: &str) -> bool {
        self.matches.try_get_one::<bool>(flag).ok().flatten() == Some(&true)
    }
}
