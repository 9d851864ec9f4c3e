use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Command};
use kalah::file::{FileContent, refuse_link, replace, require_replaceable};

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
pub const ENVIRONMENT: [(&str, &str); 5] = [
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
];

impl Manual {
    /// Writes the pages of `command` and its subcommands.
    pub fn run(self, command: Command) -> anyhow::Result<Outcome> {
        let directory = &self.directory;
        let failed = || format!("cannot write manual pages to {}", directory.display());
        std::fs::create_dir_all(directory).with_context(failed)?;
        let pages: Vec<_> = all(command.disable_help_subcommand(true))
            .into_iter()
            .map(|(name, command)| (directory.join(format!("{name}.1")), command))
            .collect();
        let cannot = |path: &Path| format!("cannot write {}", path.display());
        for (path, _) in &pages {
            refuse_link(path)
                .and_then(|()| require_replaceable(path, Some(FileContent::Manual)))
                .with_context(|| cannot(path))?;
        }
        let count = pages.len();
        for (number, (path, command)) in pages.into_iter().enumerate() {
            let text = page(command, number == 0).with_context(failed)?;
            replace(&path, Some(FileContent::Manual), |file| file.write_all(text.as_bytes()))
                .with_context(|| cannot(&path))?;
        }
        output::line(format_args!("{} in {}", output::count(count, "manual page"), directory.display()))?;
        Ok(Outcome::Done)
    }
}

/// Section of the first page about files.
const FILES: &str = ".SH FILES\nThe pages, scripts and tables of the repository that are mentioned here, such as \
    docs/engine.md, come with the program: beside it in its archive, and in /usr/share/doc/kalah in the Debian \
    package.\n";

/// Returns the command and all below it, with the names of their pages, each before its own subcommands.
fn all(mut command: Command) -> Vec<(String, Command)> {
    command.build();
    let mut found = Vec::new();
    let mut open = vec![("kalah".to_owned(), command)];
    while let Some((name, command)) = open.pop() {
        let shown = command.get_subcommands().filter(|inner| !inner.is_hide_set());
        open.extend(shown.map(|inner| (format!("{name}-{}", inner.get_name()), inner.clone())));
        found.push((name, command));
    }
    found
}

/// Returns the page of a command. In place of the heading EXTRA of clap_mangen, it has the sections about the
/// environment and about files.
fn page(command: Command, is_first: bool) -> anyhow::Result<String> {
    let variables: Vec<_> = command.get_arguments().filter_map(|argument| argument.get_env()?.to_str()).collect();
    let (more, heading) = if is_first {
        (environment(|_| true) + FILES, "EXIT STATUS")
    } else {
        (environment(|name| variables.contains(&name)), "EXAMPLES")
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    Ok(String::from_utf8(page)?.replace(".SH EXTRA\n", &format!("{more}.SH {heading}\n")))
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
