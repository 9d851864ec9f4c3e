//! Hints for arguments in the wrong place.

use std::ffi::OsString;

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Adds a hint to the error of a number that a command does not take, if `--seeds` takes one: `kalah build 30`.
pub fn hint(error: &mut clap::Error, command: &Command, arguments: &[OsString]) {
    if error.kind() != ErrorKind::UnknownArgument {
        return;
    }
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else { return };
    if argument.parse::<u32>().is_ok() && takes_seeds(command, arguments) {
        let tip = StyledStr::from(format!("a number of seeds follows its flag: '--seeds {argument}'"));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
}

/// Returns true if the innermost command of `arguments` has a flag `--seeds`.
fn takes_seeds(command: &Command, arguments: &[OsString]) -> bool {
    let found = arguments.iter().enumerate().skip(1).find_map(|(at, name)| Some((at, command.find_subcommand(name)?)));
    match found {
        Some((at, inner)) => takes_seeds(inner, &arguments[at..]),
        None => command.get_arguments().any(|flag| flag.get_long() == Some("seeds")),
    }
}
