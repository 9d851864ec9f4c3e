use std::io::Write;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::cli::help::examples;
use crate::cli::process::outcome::Outcome;

/// Print a script that completes commands and flags in a shell
///
/// Load it where the shell looks for such scripts, for example for bash:
/// kalah completions bash > ~/.local/share/bash-completion/completions/kalah
#[derive(Args)]
#[command(after_help = examples(&[
    ("For bash, until it is closed", "eval \"$(kalah completions bash)\""),
]))]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub fn run(self, mut command: Command) -> anyhow::Result<Outcome> {
        // Made first and printed then: a reader that has had enough is no reason to panic.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "kalah", &mut script);
        std::io::stdout().lock().write_all(&script)?;
        Ok(Outcome::Done)
    }
}
