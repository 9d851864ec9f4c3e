use std::io::Write;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::cli::help::examples;
use crate::cli::process::outcome::Outcome;

/// Print a script that completes commands and flags in a shell
///
/// Save it where the shell looks for such scripts: for bash in ~/.local/share/bash-completion/completions/kalah.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Complete in this bash session", "eval \"$(kalah completions bash)\""),
    ("Print the script for zsh", "kalah completions zsh"),
]))]
pub struct Completions {
    /// Shell
    shell: Shell,
}

impl Completions {
    pub fn run(self, mut command: Command) -> anyhow::Result<Outcome> {
        // Generated first and printed afterwards, since the generator panics if the reader closes the pipe.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "kalah", &mut script);
        std::io::stdout().lock().write_all(&script)?;
        Ok(Outcome::Done)
    }
}
