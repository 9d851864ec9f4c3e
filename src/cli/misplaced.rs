//! Hints for arguments in the wrong place, and for commands that are elsewhere.

use std::ffi::OsString;

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Commands of optional features of the program: the name, the feature, and true if it is there.
const OPTIONAL: [(&str, &str, bool); 3] = [
    ("fetch", "remote", cfg!(feature = "remote")),
    ("serve", "serve", cfg!(feature = "serve")),
    ("export-site", "serve", cfg!(feature = "serve")),
];

/// Adds a hint to the error of a number that a command does not take, if `--seeds` takes one: `kalah build 30`. Adds
/// one to the error of a command that is there under other words: `kalah graph`.
pub fn hint(error: &mut clap::Error, command: &Command, arguments: &[OsString]) {
    let tips = match error.kind() {
        ErrorKind::UnknownArgument => {
            let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else { return };
            let is_seeds = argument.parse::<u32>().is_ok() && takes_seeds(command, arguments);
            is_seeds.then(|| format!("a number of seeds follows its flag: '--seeds {argument}'")).into_iter().collect()
        }
        ErrorKind::InvalidSubcommand => {
            let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else { return };
            elsewhere(command, name, &OPTIONAL)
        }
        _ => return,
    };
    if !tips.is_empty() {
        // Similar names do not help then.
        error.remove(ContextKind::SuggestedSubcommand);
        let tips = tips.into_iter().map(StyledStr::from).collect();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
}

/// Hints for a command that is in another place, or in a program with more features.
fn elsewhere(command: &Command, name: &str, optional: &[(&str, &str, bool)]) -> Vec<String> {
    let lacking = optional.iter().filter(|(optional, _, is_there)| *optional == name && !is_there);
    let lacking = lacking.map(|(_, feature, _)| {
        format!("this program was compiled without its feature '{feature}': add '--features {feature}'")
    });
    let mut tips: Vec<String> = lacking.collect();
    let mut groups = vec![(command, command.get_name().to_owned())];
    while let Some((group, words)) = groups.pop() {
        for inner in group.get_subcommands().filter(|inner| inner.get_name() != "help") {
            let words = format!("{words} {}", inner.get_name());
            if inner.get_name() == name {
                tips.push(format!("the command is '{words}'"));
            }
            groups.push((inner, words));
        }
    }
    tips
}

/// Returns true if the innermost command of `arguments` has a flag `--seeds`.
fn takes_seeds(command: &Command, arguments: &[OsString]) -> bool {
    let found = arguments.iter().enumerate().skip(1).find_map(|(at, name)| Some((at, command.find_subcommand(name)?)));
    match found {
        Some((at, inner)) => takes_seeds(inner, &arguments[at..]),
        None => command.get_arguments().any(|flag| flag.get_long() == Some("seeds")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_of_an_absent_feature_names_it() {
        let command = crate::cli::command();
        let tips = |is_there| elsewhere(&command, "fly", &[("fly", "wings", is_there)]);
        assert_eq!(tips(true), [""; 0]);
        let [tip] = &tips(false)[..] else { panic!("one tip") };
        assert!(tip.contains("without its feature 'wings'"), "{tip}");
    }
}
