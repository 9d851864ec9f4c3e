//! Output of commands: answers on stdout, everything else on stderr.
//!
//! | module | contents |
//! |---|---|
//! | `progress` | progress of long work, such as a search |
//! | `build_progress` | plan and progress of a build |

pub(super) mod build_progress;
pub(super) mod progress;

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use comfy_table::{CellAlignment, ContentArrangement, presets};
use kalah::game::{Position, Rules};
use kalah::printable::printable;
pub(super) use kalah::printable::{hex, many, signed as value};
pub(super) use kalah::text::count;
use serde::Serialize;

use crate::cli::{Failure, Outcome, usage};

/// Prints lines without control characters, which file names may contain.
///
/// Unlike `println!` it does not panic if the reader closed the pipe.
pub(super) fn line(text: impl std::fmt::Display) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{}", shown(&text))
}

/// Lines, notes and messages that are formatted as by `println!`.
pub(super) mod formatted {
    macro_rules! line {
        ($($text:tt)*) => { $crate::cli::output::line(format_args!($($text)*)) };
    }

    macro_rules! note {
        ($($text:tt)*) => { $crate::cli::output::note(format_args!($($text)*)) };
    }

    macro_rules! message {
        ($($text:tt)*) => { $crate::cli::output::message(format_args!($($text)*)) };
    }

    pub(crate) use {line, message, note};
}

/// Returns a text without control characters within its lines.
fn shown(text: &dyn std::fmt::Display) -> String {
    let text = text.to_string();
    let lines: Vec<String> = text.split('\n').map(|line| printable(line, usize::MAX)).collect();
    lines.join("\n")
}

/// Returns true if a flag names standard output: `-`, or its names in the file system, which not every kind of output
/// can open.
pub(super) fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

/// True if notes and progress are left out.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Turns notes and progress off.
pub(super) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Returns true if notes and progress are left out.
pub(super) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Prints a note on stderr, unless --quiet was given.
pub(super) fn note(text: impl std::fmt::Display) {
    if !is_quiet() {
        message(text);
    }
}

/// Prints a message on stderr, even with --quiet: an error.
///
/// Unlike `eprintln!` it does not panic if the reader closed the pipe (`kalah build 2>&1 | head`).
pub(super) fn message(text: impl std::fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{}", shown(&text));
}

/// Prints the message of an error that ends a command. Returns the outcome of the command.
pub(super) fn failure(error: &Failure) -> Outcome {
    // Nobody reads the end of an output whose pipe is closed.
    if error.outcome != Outcome::Done {
        message(format_args!("kalah: {}", error.message));
    }
    error.outcome
}

/// True if the command line names no rule set.
static DEFAULT_RULES: AtomicBool = AtomicBool::new(false);

/// Records that the command line names no rule set, so that answers name it.
pub(super) fn name_rules() {
    DEFAULT_RULES.store(true, Ordering::Relaxed);
}

/// Prints the rule set of an answer, unless it was named on the command line.
pub(super) fn default_rules(rules: Rules) -> io::Result<()> {
    let other = Rules::Standard;
    let hint = format!("; most people play --rules {other}, see kalah rules");
    match DEFAULT_RULES.load(Ordering::Relaxed) {
        true => line(format_args!("under {rules}{}", if rules.is_default() { &hint } else { "" })),
        false => Ok(()),
    }
}

/// Returns an error if the command line names other rules than a game or certificate has. `given` are those of its
/// flag, perhaps by default.
pub(super) fn require_rules_of(what: impl std::fmt::Display, rules: Rules, given: Rules) -> Result<(), Failure> {
    match rules == given || DEFAULT_RULES.load(Ordering::Relaxed) {
        true => Ok(()),
        false => Err(usage(format_args!("{what} is under {rules}: leave out --rules {given}"))),
    }
}

/// Wraps a text into lines of at most 80 characters, each indented by `indent` spaces.
pub(super) fn wrapped(text: &str, indent: usize) -> String {
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

/// Joins things with `between` between them.
pub(super) fn joined(things: impl IntoIterator<Item = impl std::fmt::Display>, between: &str) -> String {
    things.into_iter().map(|thing| thing.to_string()).collect::<Vec<_>>().join(between)
}

/// Prints a JSON document on one line.
pub(super) fn json(document: &impl Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, document)?;
    writeln!(out)
}

/// Prints an answer: one JSON document, or `text`.
pub(super) fn answer<E: From<io::Error>>(
    is_json: bool,
    document: &impl Serialize,
    text: impl FnOnce() -> Result<(), E>,
) -> Result<(), E> {
    if is_json { Ok(json(document)?) } else { text() }
}

/// Rows of cells under a heading.
pub(super) struct Grid {
    heading: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// Returns a grid without rows.
    pub(super) fn new<S: Into<String>>(heading: impl IntoIterator<Item = S>) -> Grid {
        Grid { heading: heading.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub(super) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Prints the grid for a terminal: the first column aligned left, others right.
    pub(super) fn print(&self) -> io::Result<()> {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(&self.heading);
        table.add_rows(&self.rows);
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_cell_alignment(if index == 0 { CellAlignment::Left } else { CellAlignment::Right });
            column.set_padding((if index == 0 { 0 } else { 1 }, 1));
        }
        table.lines().try_for_each(|row| line(row.trim_end()))
    }
}

/// Rounds bits a position to three places.
pub(super) fn bits(bits: f64) -> f64 {
    (bits * 1000.0).round() / 1000.0
}

/// Formats a rate as millions of positions a second.
pub(super) fn rate(positions: u64, seconds: f64) -> String {
    format!("{:.1} million positions/s", positions as f64 / seconds.max(1e-9) / 1e6)
}

/// Draws `position` with South, who is its mover, below: move numbers outside, stores at the ends.
pub(super) fn draw(position: &Position) -> String {
    let widest = position.seeds().max(position.mover_store()).max(position.other_store());
    let width = widest.to_string().len().max(2);
    let cells = |numbers: &mut dyn Iterator<Item = u32>| joined(numbers.map(|it| format!("{it:>width$}")), "  ");
    let pits = position.pits() as u32;
    // North sows from right to left as South sees it.
    let north = cells(&mut position.other().seeds().iter().rev().copied());
    let south = cells(&mut position.mover().seeds().iter().copied());
    let (own, other, gap) = (position.mover_store(), position.other_store(), " ".repeat(north.len() + 4));
    [
        format!("{:width$}         {}  move", "", cells(&mut (1..=pits).rev())),
        format!("{:width$}  North [{north}]", ""),
        format!("{other:>width$}      {gap}{own:>width$}"),
        format!("{:width$}        [{south}] South", ""),
        format!("{:width$}         {}  move", "", cells(&mut (1..=pits))),
    ]
    .join("\n")
}
