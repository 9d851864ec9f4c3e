//! Commands about this program.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;
use kalah::game::{Pit, Played, Position, Rules};
use kalah::isa::Isa;

use crate::cli::{Context, Outcome, command, examples, failure, line, output};

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
    pub(super) fn run(self) -> failure::Result<Outcome> {
        // Generated first and printed afterwards, since the generator panics if the reader closes the pipe.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command(), "kalah", &mut script);
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

/// Environment variables of the program.
pub(super) const ENVIRONMENT: [&str; 4] = ["KALAH_MODULE", "KALAH_TABLES", "KALAH_CACHE", "KALAH_ADAPTER"];

impl Manual {
    pub(super) fn run(self) -> failure::Result<Outcome> {
        let directory = self.directory.display();
        std::fs::create_dir_all(&self.directory)
            .and_then(|()| clap_mangen::generate_to(command(), &self.directory))
            .with_context(|| format!("cannot write manual pages to {directory}"))?;
        line!("manual pages in {directory}")?;
        Ok(Outcome::Done)
    }
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
