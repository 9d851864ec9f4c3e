//! Runs commands in a separate folder.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use kalah_tests::program::{self, Ran, Run, search_path};
use tempfile::TempDir;

use crate::root;

/// A folder, and the state of the shell between two commands.
pub(super) struct Shell {
    directory: TempDir,
}

/// Builds a folder with tables of Kalah with 6 pits a side by `empty-capture`.
pub(super) fn tables(seeds: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("documented-tables-{seeds}"));
    program::command()
        .args(["build", "--backend", "cpu", "--seeds", seeds, "--tables"])
        .arg(&directory)
        .run()
        .success();
    directory
}

/// Message of the program about a command or flag in `arguments` that it does not have.
pub(super) fn fault_of_flags(arguments: &[String]) -> Option<String> {
    let errors = program::command().args(arguments).arg("--help").run().stderr();
    ["unexpected argument", "unrecognized subcommand"].iter().any(|fault| errors.contains(fault)).then_some(errors)
}

impl Shell {
    /// Opens a shell in a new folder that links to the contents of `tables`.
    pub(super) fn new(tables: &Path) -> Shell {
        let directory = tempfile::tempdir().unwrap();
        let copies = directory.path().join("tables");
        std::fs::create_dir(&copies).unwrap();
        for file in tables.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
            if file.extension().is_some_and(|end| end == "kalah") {
                std::fs::hard_link(&file, copies.join(file.file_name().unwrap())).unwrap();
            }
        }
        symlink(root().join("certificates"), directory.path().join("certificates")).unwrap();
        Shell { directory }
    }

    /// Runs a command. Returns its output, including errors, and its exit code. Exported variables and the current
    /// folder carry over to the next command.
    pub(super) fn run(&mut self, command: &str) -> (String, i32) {
        let directory = self.directory.path();
        let script = format!(
            "state={0}/.state; [ -f $state ] && . $state; set -o pipefail\n{{\n{command}\n}} >{0}/.output 2>&1; \
                code=$?\n\
             {{ export -p; echo \"cd '$PWD'\"; }} >$state; exit $code",
            directory.display()
        );
        let mut shell = Command::new("bash");
        shell.args(["-c", &script]).current_dir(directory).env("PATH", search_path()).env_remove("KALAH_TABLES");
        let code = shell.run().code();
        let output = std::fs::read(directory.join(".output")).unwrap();
        (String::from_utf8_lossy(&output).into_owned(), code)
    }
}
