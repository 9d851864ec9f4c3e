//! The program in a process of its own, and its output as text.

use std::ffi::OsStr;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Command that runs the program without tables and other settings from the environment.
pub fn kalah<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("kalah"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("KALAH_") {
            command.env_remove(name);
        }
    }
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Returns the output of a program that succeeded.
///
/// # Panics
/// If it failed, with its messages.
#[track_caller]
pub fn success(output: Output) -> Output {
    assert!(output.status.success(), "{}: {}", output.status, stderr(&output));
    output
}

/// Standard output as text.
#[track_caller]
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("the output is text")
}

/// Messages as text.
#[track_caller]
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("messages are text")
}

/// The document on standard output.
///
/// # Panics
/// If that is not one JSON document.
#[track_caller]
pub fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", stdout(output), stderr(output)))
}
