//! Reporting the errors of commands.

use kalah::printable::printable;

use crate::cli::failure::Failure;
use crate::cli::flags::positions::LineOfFile;
use crate::cli::output;
use crate::cli::process::outcome::Outcome;

/// Maximum characters of a line of an error.
const MAX_LINE: usize = 4000;

/// Prints the message of an error that ends a command. Returns the outcome of the command.
pub(super) fn failure(error: &Failure) -> Outcome {
    let outcome = error.outcome();
    // Nobody reads the end of an output whose pipe is closed.
    if outcome != Outcome::Done {
        // File names and quoted input may contain control characters, which must not reach a terminal.
        let lines: Vec<String> = error.message().lines().map(|line| printable(line, MAX_LINE)).collect();
        output::message(format_args!("kalah: {}", lines.join("\n")));
    }
    outcome
}

/// Reports why there is no answer for the position of `place`. Returns the outcome for the command, which goes on
/// with the others.
pub(super) fn refusal(place: Option<&LineOfFile>, error: &Failure) -> Outcome {
    let (message, outcome) = (error.message(), error.outcome());
    match place {
        Some(place) => output::message(format_args!("kalah: {place}: {message}")),
        None => output::message(format_args!("kalah: {message}")),
    }
    // A fault in a file is not a fault of the command line.
    if place.is_some() && outcome == Outcome::Usage { Outcome::Failed } else { outcome }
}
