use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Command};
use kalah::file::require_replaceable;

use crate::cli::help::examples;
use crate::cli::output;
use crate::cli::process::outcome::Outcome;

/// Write the manual pages: kalah.1 and one for every command
#[derive(Args)]
#[command(after_help = examples(&[
    ("Write the pages and read one", "kalah man man && man -l man/kalah-build.1"),
]))]
pub struct Manual {
    /// Directory of the pages, created if missing
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// The environment variables that the program reads, and what each of them does.
pub const ENVIRONMENT: [(&str, &str); 6] = [
    ("KALAH_TABLES", "The directory of the tables where --tables is not given."),
    ("KALAH_ADAPTER", "The GPU where --adapter is not given: a part of its name, as `kalah gpu` lists it."),
    (
        "KALAH_ISA",
        "The instruction set that the inner loops use, of those that the processor has: baseline, avx2 or avx512. \
         Without it the best one. Results do not depend on it.",
    ),
    ("KGP_HOST", "The server of `kalah kgp` where --host is not given."),
    ("KGP_PORT", "Its port where --port is not given."),
    ("KGP_TOKEN", "The token by which it recognises the player where --token is not given."),
];

impl Manual {
    /// Writes the pages of `command` and its subcommands.
    pub fn run(self, command: Command) -> anyhow::Result<Outcome> {
        let directory = &self.directory;
        let failed = || format!("cannot write manual pages to {}", directory.display());
        std::fs::create_dir_all(directory).with_context(failed)?;
        for name in ["kalah".to_owned()].into_iter().chain(all(&command).into_iter().map(|(name, _)| name)) {
            let path = directory.join(format!("{name}.1"));
            require_replaceable(&path, None).with_context(|| format!("cannot write {}", path.display()))?;
        }
        clap_mangen::generate_to(command.clone(), directory).with_context(failed)?;
        let page = |name: &str| directory.join(format!("{name}.1"));
        complete(&page("kalah"), "EXIT STATUS", &(environment(|_| true) + FILES)).with_context(failed)?;
        let mut pages = 1;
        for (name, command) in all(&command) {
            let takes = |name: &str| {
                command.get_arguments().any(|argument| argument.get_env().is_some_and(|variable| variable == name))
            };
            pages += 1;
            let path = page(&name);
            complete(&path, "EXAMPLES", &environment(takes)).with_context(failed)?;
        }
        output::line(format_args!("{} in {}", output::count(pages, "manual page"), directory.display()))?;
        Ok(Outcome::Done)
    }
}

/// The part of the first page about the files that pages name.
const FILES: &str = ".SH FILES\nPages, scripts and tables of the repository that are named here, such as docs/engine.md, come with the \
    program: beside it in its archive, in /usr/share/doc/kalah in the Debian package.\n";

/// The commands with the names of their pages, each before its own subcommands.
fn all(command: &Command) -> Vec<(String, &Command)> {
    let mut found: Vec<(String, &Command)> = Vec::new();
    let mut open = vec![("kalah".to_owned(), command)];
    while let Some((name, command)) = open.pop() {
        for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
            let name = format!("{name}-{}", inner.get_name());
            found.push((name.clone(), inner));
            open.push((name, inner));
        }
    }
    found
}

/// Names the part of a page that stands after the flags, for which clap_mangen has no name, and puts `environment` in front
/// of it.
fn complete(path: &Path, heading: &str, environment: &str) -> io::Result<()> {
    let page = std::fs::read_to_string(path)?;
    std::fs::write(path, page.replace(".SH EXTRA\n", &format!("{environment}.SH {heading}\n")))
}

/// The part of a page about the environment variables that `is_used` selects; empty without any.
fn environment(is_used: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    for (name, meaning) in ENVIRONMENT.iter().filter(|(name, _)| is_used(name)) {
        if text.is_empty() {
            text += ".SH ENVIRONMENT\n";
        }
        text += &format!(".TP\n\\fB{name}\\fR\n{}\n", meaning.replace('-', "\\-"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_of_a_flag_is_explained() {
        let command = crate::cli::command();
        let variables: Vec<&str> = command
            .get_subcommands()
            .flat_map(Command::get_arguments)
            .filter_map(|argument| argument.get_env()?.to_str())
            .collect();
        assert!(variables.contains(&"KALAH_TABLES"));
        for variable in variables {
            assert!(ENVIRONMENT.iter().any(|(name, _)| *name == variable), "{variable}");
        }
    }
}
