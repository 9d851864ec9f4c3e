//! The program in a process of its own, and its output as text.

use std::ffi::OsStr;
use std::io::Write;
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

/// Runs a command with this text as its input.
pub fn fed(command: &mut Command, input: &str) -> Output {
    let mut child = command.stdin(Stdio::piped()).spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    let input = input.to_owned();
    // It may end before it has read everything.
    let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().expect("it is the test's own process");
    writer.join().expect("it does not panic");
    output
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

/// Exit code.
///
/// # Panics
/// If the program was killed by a signal.
#[track_caller]
pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("killed: {}: {}", output.status, stderr(output)))
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
