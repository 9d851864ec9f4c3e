//! All commands, so that tests leave none out.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output};

use kalah::build::build;
use kalah::game::Rules;
use kalah_tests::program::{self, Ran, Run};

/// Command that runs the program without settings from the environment.
pub(crate) fn program<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = program::command();
    command.args(args);
    command
}

/// Runs the program in `directory` with the words of a line.
pub(crate) fn run(directory: &Path, line: &str) -> Output {
    program(line.split_whitespace()).current_dir(directory).run()
}

/// All commands of a program with all features, except `help`, in the order of its help. `cli_help` compares them with
/// the help and the manual pages.
const COMMANDS: &str = "build plan train bounds verify info export archive fetch publish gpu bench probe solve prove \
    review search check book play move tournament puzzles serve export-site engine analyse rules completions man";

/// Commands with subcommands.
pub(crate) const GROUPS: [(&str, &str); 4] = [
    ("plan", "build search"),
    ("archive", "pack unpack"),
    ("analyse", "values graph complexity opening-scan"),
    ("book", "show make check import"),
];

/// The commands of this program, except `help`.
pub(crate) fn commands() -> Vec<&'static str> {
    let is_there = |name: &&str| match *name {
        "fetch" => cfg!(feature = "remote"),
        "gpu" => cfg!(feature = "gpu"),
        _ => true,
    };
    COMMANDS.split(' ').filter(is_there).collect()
}

/// All commands that do work. Subcommands follow a space: `book show`.
pub(crate) fn all() -> Vec<String> {
    let within = |name: &str| match GROUPS.iter().find(|(group, _)| *group == name) {
        Some((_, names)) => names.split(' ').map(|inner| format!("{name} {inner}")).collect(),
        None => vec![name.to_owned()],
    };
    commands().into_iter().flat_map(within).collect()
}

/// Returns true if a command has a flag, such as `--json`.
pub(crate) fn takes(command: &str, flag: &str) -> bool {
    let help = program(command.split(' ').chain(["--help"])).run().printed();
    help.split(|sign: char| sign.is_whitespace() || "[=,".contains(sign)).any(|word| word == flag)
}

/// Commands that a message suggests.
pub(crate) fn suggested(message: &str) -> Vec<String> {
    message.split('`').skip(1).step_by(2).filter(|part| part.starts_with("kalah ")).map(str::to_owned).collect()
}

/// Runs a suggested command unchanged in a shell.
pub(crate) fn follow(directory: &Path, command: &str) -> Output {
    let mut shell = program::without_settings("sh");
    shell.args(["-c", command]).env("PATH", program::search_path()).current_dir(directory).run()
}

/// Makes a directory whose folder `tables` has tables to `seeds` seeds of the default rules.
pub(crate) fn directory_with_tables(seeds: usize) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let tables = directory.path().join("tables");
    std::fs::create_dir(&tables).unwrap();
    build(&tables, Rules::EmptyCapture, 6, seeds).unwrap();
    directory
}
