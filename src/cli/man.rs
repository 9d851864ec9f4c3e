use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Command};

use super::outcome::Outcome;
use super::output;

/// Write the manual pages: kalah.1 and one for every command
#[derive(Args)]
pub struct Manual {
    /// Directory of the pages, made if it is not there
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

impl Manual {
    pub fn run(self, command: Command) -> anyhow::Result<Outcome> {
        let directory = &self.directory;
        let failed = || format!("cannot write manual pages to {}", directory.display());
        std::fs::create_dir_all(directory).with_context(failed)?;
        let pages = command.get_subcommands().count() + 1;
        clap_mangen::generate_to(command.clone(), directory).with_context(failed)?;
        // What stands after the flags goes by no name there.
        for name in command.get_subcommands().map(|command| format!("kalah-{}", command.get_name())) {
            rename_heading(&directory.join(name + ".1"), "EXAMPLES").with_context(failed)?;
        }
        rename_heading(&directory.join("kalah.1"), "EXIT STATUS").with_context(failed)?;
        output::line(format_args!("{} in {}", output::count(pages, "manual page"), directory.display()))?;
        Ok(Outcome::Done)
    }
}

/// Gives the last part of a page its name.
fn rename_heading(path: &Path, name: &str) -> io::Result<()> {
    let page = std::fs::read_to_string(path)?;
    std::fs::write(path, page.replace(".SH EXTRA\n", &format!(".SH {name}\n")))
}
