use std::io::Write;

use clap::Args;
use clap_complete::Shell;

use super::{Outcome, help};

/// Print a script that completes commands and flags in a shell
///
/// Load it where the shell looks for such scripts, for example for bash:
/// kalah completions bash > ~/.local/share/bash-completion/completions/kalah
#[derive(Args)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub fn run(self) -> anyhow::Result<Outcome> {
        // Made first and printed then: a reader that has had enough is no reason to panic.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut help::command(), "kalah", &mut script);
        std::io::stdout().lock().write_all(&script)?;
        Ok(Outcome::Done)
    }
}
