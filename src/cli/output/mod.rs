//! What commands print: answers on stdout, everything else on stderr.
//!
//! | module | what it holds |
//! |---|---|
//! | `progress` | progress of long work |
//! | `waiting` | work whose length is not known |
//! | `search_progress` | progress of a search |
//! | `thinking` | what a player has found so far |
//! | `report` | tables for a terminal, CSV, JSON, charts |
//! | `chart` | charts |
//! | `board_view` | a board between its players |

pub mod board_view;
pub mod chart;
pub mod progress;
pub mod report;
pub mod search_progress;
pub mod thinking;
pub mod waiting;

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::HumanCount;
use kalah::printable::{printable, signed};
use serde::Serialize;

/// Prints lines, without characters that a terminal would obey: names of files may hold them.
///
/// Unlike `println!` it does not panic when nobody reads any more.
pub fn line(text: impl std::fmt::Display) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{}", shown(&text))
}

/// A text whose lines are fit to be shown.
fn shown(text: &dyn std::fmt::Display) -> String {
    let text = text.to_string();
    let lines: Vec<String> = text.split('\n').map(|line| printable(line, usize::MAX)).collect();
    lines.join("\n")
}

/// Whether the file that a flag names is standard output: `-`, or its name in the file system, which cannot be opened for every
/// kind of output.
pub fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

/// Whether notes and progress are left out.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Leaves out notes and progress from now on.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether notes and progress are left out.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Prints a note on stderr, unless --quiet was given.
pub fn note(text: impl std::fmt::Display) {
    if !is_quiet() {
        tell(text);
    }
}

/// Prints on stderr what must not be missed: an error.
///
/// Unlike `eprintln!` it does not panic when nobody reads there any more (`kalah build 2>&1 | head`).
pub fn tell(text: impl std::fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{}", shown(&text));
}

/// A text in lines of at most 80 characters, each after `indent` spaces.
pub fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = vec![" ".repeat(indent)];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is one");
        let empty = line.len() == indent;
        if empty || line.chars().count() + 1 + word.chars().count() <= 80 {
            line.push_str(if empty { "" } else { " " });
            line.push_str(word);
        } else {
            lines.push(" ".repeat(indent) + word);
        }
    }
    lines.join("\n")
}

/// A number of things, such as "1 layer" or "3 layers".
pub fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// A large number of things, with commas: "1 claim", "1,776 claims".
pub fn many(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", HumanCount(number), if number == 1 { "" } else { "s" })
}

/// A value with its sign; that of a draw is 0.
pub fn value(value: i64) -> String {
    signed(value)
}

/// Things in a row, with `between` between them.
pub fn joined(things: impl IntoIterator<Item = impl std::fmt::Display>, between: &str) -> String {
    things.into_iter().map(|thing| thing.to_string()).collect::<Vec<_>>().join(between)
}

/// Prints a JSON document on a line.
pub fn json(document: &impl Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, document)?;
    writeln!(out)
}

/// A digest in hexadecimal.
pub fn hex(digest: &[u8; 32]) -> String {
    blake3::Hash::from_bytes(*digest).to_hex().to_string()
}

/// Bits a position, to three places.
pub fn bits(bits: f64) -> f64 {
    (bits * 1000.0).round() / 1000.0
}

/// A rate a person can read: positions a second in millions.
pub fn rate(positions: u64, seconds: f64) -> String {
    format!("{:.1} million positions/s", positions as f64 / seconds.max(1e-9) / 1e6)
}
