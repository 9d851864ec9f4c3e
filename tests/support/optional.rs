//! Tools that a machine may lack, or have in a version that cannot do what a test needs: browsers, drivers, Python.
//! Such tests are skipped with a line that says why.

use std::fmt::Display;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// Maximum characters of a reason.
const LONGEST_REASON: usize = 500;

/// Needs of every script in Python here, for [`has_python`].
pub const PYTHON: &str = "import sys; assert sys.version_info >= (3, 8), 'it is version %d.%d' % sys.version_info[:2]";

/// Needs of the reader of certificates, which unpacks blocks with one of two modules or a program.
pub const PYTHON_WITH_ZSTD: &str = "import math, shutil; from importlib.util import find_spec as has; math.comb; \
    assert any(map(has, ('compression', 'zstandard'))) or shutil.which('zstd'), 'there is no zstd'";

/// Says that the running test, or a part of it, is skipped. Fails instead if `KALAH_REQUIRE_{tool}` is set.
#[track_caller]
pub fn skip(tool: &str, reason: impl Display) {
    assert!(!is_required(tool), "KALAH_REQUIRE_{tool} is set, but {reason}");
    announce(reason);
}

/// Says that the running test, or a part of it, is skipped.
pub fn announce(reason: impl Display) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    // One line, however long the message of a tool is.
    let words: String = reason.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    let reason: String = words.chars().take(LONGEST_REASON).collect();
    // Not by `eprintln`, whose output the test harness hides when a test passes.
    let _ = std::io::stderr().write_all(format!("\n*** SKIPPED: {test}: {reason}\n").as_bytes());
}

/// Returns true if tests that cannot use a tool must fail.
fn is_required(tool: &str) -> bool {
    std::env::var_os(format!("KALAH_REQUIRE_{tool}")).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Paths of the tracked files below `root`, each with a zero byte behind it. `None` if git does not list them, as in an
/// archive of the sources. Then the test is skipped.
#[track_caller]
pub fn tracked(root: &Path) -> Option<String> {
    match Command::new("git").args(["ls-files", "-z"]).current_dir(root).output() {
        Ok(output) if output.status.success() => return String::from_utf8(output.stdout).ok(),
        Ok(output) => skip("GIT", format_args!("git lists no files: {}", String::from_utf8_lossy(&output.stderr))),
        Err(error) => skip("GIT", format_args!("git cannot be started: {error}")),
    }
    None
}

/// Returns true if there is a `python3` that runs the statement `needs`, such as the import of a module. Otherwise the
/// test is skipped.
#[track_caller]
pub fn has_python(needs: &str) -> bool {
    let reason = match Command::new("python3").args(["-c", needs]).output() {
        Ok(output) if output.status.success() => return true,
        Ok(output) => {
            let messages = String::from_utf8_lossy(&output.stderr).into_owned();
            let last = messages.lines().last().map(str::to_owned);
            format!("python3 does not suffice: {}", last.unwrap_or_else(|| output.status.to_string()))
        }
        Err(error) => format!("python3 cannot be started: {error}"),
    };
    skip("PYTHON", reason);
    false
}
