//! Runs commands in a separate folder.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A folder, and the state of the shell between two commands.
pub(super) struct Shell {
    directory: TempDir,
}

/// Builds a folder with tables of Kalah with 6 pits a side by `empty-capture`.
pub(super) fn tables(seeds: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("documented-tables-{seeds}"));
    let output =
        program().args(["build", "--backend", "cpu", "--seeds", seeds, "--tables"]).arg(&directory).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    directory
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kalah"));
    command.env_remove("KALAH_TABLES");
    command
}

impl Shell {
    /// Opens a shell in a new folder that links to the contents of `tables`.
    pub(super) fn new(tables: &Path) -> Shell {
        let directory = tempfile::tempdir().unwrap();
        let copies = directory.path().join("tables");
        std::fs::create_dir(&copies).unwrap();
        for file in tables.read_dir().into_iter().flatten().map(|entry| entry.unwrap().path()) {
            if file.extension().is_some_and(|end| end == "kalah") {
                std::fs::hard_link(&file, copies.join(file.file_name().unwrap())).unwrap();
            }
        }
        let certificates = Path::new(env!("CARGO_MANIFEST_DIR")).join("certificates");
        std::os::unix::fs::symlink(certificates, directory.path().join("certificates")).unwrap();
        Shell { directory }
    }

    /// Runs a command. Returns its output, including errors, and its exit code. Exported variables and the current
    /// folder carry over to the next command.
    pub(super) fn run(&mut self, command: &str) -> (String, i32) {
        let program = Path::new(env!("CARGO_BIN_EXE_kalah")).parent().unwrap();
        let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
        let script = format!(
            "state={0}/.state; [ -f $state ] && . $state; set -o pipefail\n{{\n{command}\n}} >{0}/.output 2>&1; \
                code=$?\n\
             {{ export -p; echo \"cd '$PWD'\"; }} >$state; exit $code",
            self.directory.path().display()
        );
        let mut shell = Command::new("bash");
        shell.args(["-c", &script]).current_dir(self.directory.path()).env("PATH", path).env_remove("KALAH_TABLES");
        let status = shell.stdin(Stdio::null()).status().expect("bash runs");
        let output = std::fs::read(self.directory.path().join(".output")).unwrap();
        (String::from_utf8_lossy(&output).into_owned(), status.code().unwrap_or(-1))
    }

    /// Message of the program about a command or flag in `arguments` that it does not have.
    pub(super) fn fault_of_flags(&mut self, arguments: &[String]) -> Option<String> {
        let output = program().args(arguments).arg("--help").stdin(Stdio::null()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let unknown = ["unexpected argument", "unrecognized subcommand"].iter().any(|fault| errors.contains(fault));
        unknown.then_some(errors)
    }
}
