//! Runs the program in separate processes, and checks the files that they leave.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(crate) use kalah_tests::files::{assert_same_files, files};
use kalah_tests::program::{self, Ran, Run};

pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// Command that runs the program on one CPU thread, with its tables in `directory`.
pub(crate) fn kalah(directory: &Path, args: &[&str]) -> Command {
    let mut command = program::command();
    command.args(args).args(["--backend", "cpu", "--threads", "1"]).env("KALAH_TABLES", directory);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The files of a build by one process.
pub(crate) fn whole(flags: &[&str]) -> Files {
    let directory = tempfile::tempdir().unwrap();
    kalah(directory.path(), &[&["build"], flags].concat()).run().success();
    files(directory.path())
}

/// Fails unless the directory has these tables and no leftovers of pieces.
#[track_caller]
pub(crate) fn assert_complete(directory: &Path, whole: &Files, what: &str) {
    assert_same_files(whole, &files(directory), what);
    for entry in std::fs::read_dir(directory).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(![".piece", ".tmp", ".lease"].iter().any(|end| name.ends_with(end)), "{what}: {name}");
    }
}

/// A PATH that begins with `directory`, followed by the folder of the `kalah` under test.
pub(crate) fn path(directory: Option<&Path>) -> std::ffi::OsString {
    let paths = program::search_path();
    std::env::join_paths(directory.map(PathBuf::from).into_iter().chain(std::env::split_paths(&paths))).unwrap()
}
