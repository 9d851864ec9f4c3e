use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Command};
use kalah::file::require_replaceable;

use crate::cli::help::examples;
use crate::cli::output;
use crate::cli::process::outcome::Outcome;

/// Write manual pages: kalah.1 and one for every command
///
/// Packages use this to install the pages; they have the same text as `kalah help`.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Write the pages and read one", "kalah man man && man -l man/kalah-build.1"),
    ("Install them for this user", "kalah man ~/.local/share/man/man1"),
]))]
pub struct Manual {
    /// Directory to write to, created if missing
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Environment variables of the program, with their meanings.
pub const ENVIRONMENT: [(&str, &str); 8] = [
    ("KALAH_MODULE", "The engine of a static page, kalah_wasm.wasm, unless --module is given."),
    (
        "KALAH_TABLES",
        "Directory of the tables or their address, or several, separated as in PATH, unless --tables is given.",
    ),
    ("KALAH_CACHE", "Directory that keeps blocks of tables at an address, unless --cache is given."),
    (
        "KALAH_ADAPTER",
        "The GPU to use, by its number, PCI address or part of its name in `kalah gpu`, unless --adapter is given.",
    ),
    (
        "KALAH_ISA",
        "Instruction set of the inner loops, of those that the processor has: baseline, avx2 or avx512. \
         The default is the best one. Results do not depend on it.",
    ),
    ("KGP_HOST", "Server of `kalah kgp`, unless --host is given."),
    ("KGP_PORT", "Port of the server of `kalah kgp`, unless --port is given."),
    ("KGP_TOKEN", "Token by which the server recognises the player, unless --token is given."),
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

/// Section of the first page about files.
const FILES: &str = ".SH FILES\nThe pages, scripts and tables of the repository that are mentioned here, such as \
    docs/engine.md, come with the program: beside it in its archive, and in /usr/share/doc/kalah in the Debian \
    package.\n";

/// Returns the commands with the names of their pages, each before its own subcommands.
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

/// Renames the section after the flags, which clap_mangen calls EXTRA, and inserts `environment` before it.
fn complete(path: &Path, heading: &str, environment: &str) -> io::Result<()> {
    let page = std::fs::read_to_string(path)?;
    std::fs::write(path, page.replace(".SH EXTRA\n", &format!("{environment}.SH {heading}\n")))
}

/// Returns the section about the environment variables that `is_used` selects; empty without any.
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
