//! All commands, in the program's own list, so that tests leave none out.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use kalah::build::build;
use kalah::game::Rules;
use kalah_tests::program::{self, Ran, Run};

/// Command that runs the program without settings from the environment.
pub(crate) fn program<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = program::command();
    command.args(args).stdin(Stdio::null());
    command
}

/// Runs the program in `directory` with the words of a line.
pub(crate) fn run(directory: &Path, line: &str) -> Output {
    program(line.split_whitespace()).current_dir(directory).run()
}

/// Names of all commands. Subcommands follow a space: `book show`. Each has a manual page.
pub(crate) fn all() -> &'static [String] {
    static ALL: LazyLock<Vec<String>> = LazyLock::new(|| {
        let directory = tempfile::tempdir().unwrap();
        assert!(run(directory.path(), "man .").status.success());
        let pages = std::fs::read_dir(directory.path()).unwrap().map(|page| page.unwrap().file_name());
        let names =
            pages.filter_map(|page| Some(page.to_str()?.strip_prefix("kalah-")?.strip_suffix(".1")?.to_owned()));
        let mut names: Vec<String> = names.map(|name| spaced(&name)).collect();
        names.sort();
        // A command that only groups others does nothing itself.
        let groups: Vec<String> = names.iter().filter_map(|name| Some(name.split_once(' ')?.0.to_owned())).collect();
        names.retain(|name| !groups.contains(name));
        assert!(names.len() > 30, "{names:?}");
        names
    });
    &ALL
}

/// Words of the command whose page has this name. A dash may also belong to a word.
fn spaced(page: &str) -> String {
    let is_command = |line: &str| {
        let words: Vec<&str> = ["help"].into_iter().chain(line.split(' ')).collect();
        program(words).run().status.success()
    };
    let spaced = page.replacen('-', " ", 1);
    if spaced != page && is_command(&spaced) { spaced } else { page.to_owned() }
}

/// Long help of a command.
pub(crate) fn help(command: &str) -> String {
    let output = program(command.split(' ').chain(["--help"])).run();
    assert!(output.status.success(), "{command}: {}", output.stderr());
    output.stdout()
}

/// Returns true if a command has a flag, such as `--json`.
pub(crate) fn takes(command: &str, flag: &str) -> bool {
    help(command).split(|sign: char| sign.is_whitespace() || "[=,".contains(sign)).any(|word| word == flag)
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
