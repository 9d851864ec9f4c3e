//! Commands about this program.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_complete::Shell;
use kalah::file::{FileContent, refuse_link, replace, require_replaceable};
use kalah::game::{Pit, Played, Position, Rules};
use kalah::isa::Isa;

use crate::cli::{Context, Outcome, examples, failed, failure, line, output};

/// Explain the rule sets, with examples
///
/// Use this to find the --rules name of the rules that you play.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Explain all rule sets", "kalah rules"),
    ("Explain one rule set", "kalah rules standard"),
]))]
pub(super) struct Explain {
    /// Rule set to explain [default: all]
    #[arg(value_name = "NAME")]
    rules: Option<Rules>,
}

/// Position in which the rule sets differ, and moves that show it.
const POSITION: &str = "1,0,1,0,3,1/2,0,0,0,4,0";
const MOVES: [(usize, &str); 4] = [
    (1, "the last seed falls into South's empty pit 2, opposite four seeds"),
    (3, "the last seed falls into South's empty pit 4, opposite an empty pit"),
    (5, "the last seed falls into North's pit 1, which has two seeds"),
    (6, "the last seed falls into South's store"),
];

impl Explain {
    pub(super) fn run(self) -> failure::Result<Outcome> {
        let start: Position = POSITION.parse()?;
        let (alone, explained) = (self.rules.is_some(), self.rules.map_or(Rules::ALL.to_vec(), |rules| vec![rules]));
        output::line(output::wrapped(Rules::COMMON, 0))?;
        if !alone {
            line!("\nRule sets differ in the effect of the last seed of a sowing:")?;
        }
        for rules in &explained {
            let default = if rules.is_default() { ", the default" } else { "" };
            line!("\n{rules}{default}: {}", rules.played_by())?;
            output::line(output::wrapped(rules.summary(), 2))?;
        }
        let by = if alone { "" } else { " under each rule set" };
        line!("\nMoves of South{by}:\n\n{}", output::draw(&start))?;
        for (number, what) in MOVES {
            line!("\nMove {number}: {what}")?;
            for &rules in &explained {
                let played = Pit::from_number(number).and_then(|pit| start.play(rules, pit).ok());
                let Some(Played { position, again, .. }) = played else { continue };
                let (after, again) = if again { (position, ", moves again") } else { (position.turned(), "") };
                line!("  {:<14} {after}{again}", rules.name())?;
            }
        }
        line!("\nPositions are <pits, South's store, North's store, South's pits, North's pits>.")?;
        Ok(Outcome::Done)
    }
}

/// Print a script that completes commands and flags in a shell
///
/// Save it where the shell looks for such scripts: for bash in ~/.local/share/bash-completion/completions/kalah.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Complete in this bash session", "eval \"$(kalah completions bash)\""),
    ("Print the script for zsh", "kalah completions zsh"),
]))]
pub(super) struct Completions {
    /// Shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, mut command: Command) -> failure::Result<Outcome> {
        // Generated first and printed afterwards, since the generator panics if the reader closes the pipe.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "kalah", &mut script);
        std::io::stdout().lock().write_all(&script)?;
        Ok(Outcome::Done)
    }
}

/// Write manual pages: kalah.1 and one for every command
///
/// Packages use this to install the pages; they have the same text as `kalah help`.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Write the pages and read one", "kalah man man && man -l man/kalah-build.1"),
    ("Install them for this user", "kalah man ~/.local/share/man/man1"),
]))]
pub(super) struct Manual {
    /// Directory to write to, created if missing
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Environment variables of the program, with their meanings.
pub(super) const ENVIRONMENT: [(&str, &str); 4] = [
    ("KALAH_MODULE", "The engine of a static page, kalah_wasm.wasm, unless --module is given."),
    ("KALAH_TABLES", "Directory of the tables, or their address, unless --tables is given."),
    ("KALAH_CACHE", "Directory that keeps blocks of tables at an address, unless --cache is given."),
    ("KALAH_ADAPTER", "The GPU to use, by its number or part of its name in `kalah gpu`, unless --adapter is given."),
];

impl Manual {
    /// Writes the pages of `command` and its subcommands.
    pub(super) fn run(self, command: Command) -> failure::Result<Outcome> {
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
        line!("{} in {}", output::count(count, "manual page"), directory.display())?;
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
fn page(command: Command, is_first: bool) -> failure::Result<String> {
    let variables: Vec<_> = command.get_arguments().filter_map(|argument| argument.get_env()?.to_str()).collect();
    let (more, heading) = if is_first {
        (environment(|_| true) + FILES, "EXIT STATUS")
    } else {
        (environment(|name| variables.contains(&name)), "EXAMPLES")
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    Ok(String::from_utf8(page).map_err(failed)?.replace(".SH EXTRA\n", &format!("{more}.SH {heading}\n")))
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

/// Features that the program was compiled with.
const FEATURES: [(&str, bool); 5] = [
    ("cli", cfg!(feature = "cli")),
    ("gpu", cfg!(feature = "gpu")),
    ("parquet", cfg!(feature = "parquet")),
    ("remote", cfg!(feature = "remote")),
    ("serve", cfg!(feature = "serve")),
];

/// Returns version and commit briefly, for files that belong to one build of the program.
pub(super) fn short_version() -> String {
    format!("{} ({})", env!("CARGO_PKG_VERSION"), option_env!("KALAH_COMMIT").unwrap_or("unknown"))
}

/// Returns version, commit and features, the instruction set in use, and those of the machine.
pub(super) fn long_version() -> String {
    let features: Vec<&str> = FEATURES.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect();
    let isa: Vec<&str> = Isa::available().map(Isa::name).collect();
    format!(
        "{}\ncommit: {}\nfeatures: {}\ninstruction set: {}, of {}",
        env!("CARGO_PKG_VERSION"),
        option_env!("KALAH_COMMIT").unwrap_or("unknown"),
        features.join(", "),
        Isa::detect().name(),
        isa.join(", ")
    )
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
