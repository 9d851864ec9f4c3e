//! Positions from the command line: as arguments, one a line in files, or on standard input.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use kalah::game::Position;

use crate::cli::{Failure, Outcome, bail, failed, failure, message, usage};

/// Maximum length of a line in bytes. A position of the most pits and seeds takes 400.
const LONGEST: u64 = 1 << 16;

/// Takes a position, or the reason why it cannot be read, with the line of a file that it is from, such as `FILE:3`.
type Take<'a> = &'a mut dyn FnMut(Option<String>, failure::Result<Position>) -> failure::Result<()>;

/// Passes every position of `arguments` to `take` as soon as it is read.
///
/// An argument that can be read as a position is one. `-` is standard input, and any other argument names a file
/// (write `./6x4` for a file that is named like a position). Files have one position a line; `#` begins a comment,
/// and blank lines are skipped. Without arguments standard input is read.
///
/// # Errors
/// Only those of `take`, which also receives whatever cannot be read or understood.
fn read(arguments: &[OsString], take: Take<'_>) -> failure::Result<()> {
    let standard_input = [OsString::from("-")];
    for argument in if arguments.is_empty() { &standard_input } else { arguments } {
        let text = argument.to_string_lossy();
        if text == "-" {
            lines("standard input", io::stdin().lock(), take)?;
            continue;
        }
        match text.parse::<Position>() {
            Ok(position) => take(None, Ok(position))?,
            // An argument that begins with a bracket is meant as a position, not as a file.
            Err(error) if text.trim_start().starts_with('<') => take(None, Err(usage(error)))?,
            Err(error) => match open(argument) {
                Ok(Some(file)) => lines(&text, BufReader::new(file), take)?,
                Ok(None) => take(None, Err(usage(format_args!("{error}; there is no file of that name"))))?,
                Err(error) => take(None, Err(error))?,
            },
        }
    }
    Ok(())
}

/// Opens the file that `argument` names; `None` if there is no such file.
fn open(argument: &OsStr) -> failure::Result<Option<File>> {
    let (path, name) = (Path::new(argument), argument.to_string_lossy());
    let opened = match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => bail!("{name} is a directory: give a file with one position a line"),
        Ok(_) => File::open(path),
        // Also names that no file can have: too long, with a zero byte, or below a file as if it were a directory.
        Err(error) if error.kind() != io::ErrorKind::PermissionDenied => return Ok(None),
        Err(error) => Err(error),
    };
    opened.map(Some).map_err(|error| failed(format_args!("{name}: {error}")))
}

/// Passes the positions of a file to `take`, each as soon as its line is read.
fn lines(name: &str, mut file: impl BufRead, take: Take<'_>) -> failure::Result<()> {
    let mut bytes = Vec::new();
    for line in 1.. {
        let place = Some(format!("{name}:{line}"));
        bytes.clear();
        match file.by_ref().take(LONGEST).read_until(b'\n', &mut bytes) {
            Ok(0) => return Ok(()),
            Ok(read) if read as u64 == LONGEST || bytes.contains(&0) => {
                let error = failed("this is not text with one position a line; the rest is not read");
                return take(place, Err(error));
            }
            Ok(_) => {}
            Err(error) => return take(place, Err(failed(format_args!("{name}: {error}")))),
        }
        let text = bytes.split(|&byte| byte == b'#').next().unwrap_or_default();
        match std::str::from_utf8(text).map(str::trim) {
            Ok("") => {}
            Ok(text) => take(place, text.parse().map_err(usage))?,
            Err(_) => take(place, Err(failed("this line is not UTF-8 text")))?,
        }
    }
    Ok(())
}

/// Answers every position of `arguments`. What cannot be read, and what `answer` refuses, is reported, and the others
/// are answered all the same. Returns the outcome, and true if any position was answered.
///
/// # Errors
/// Those of `answer`, which end the command.
pub(crate) fn answer_each(
    arguments: &[OsString],
    mut answer: impl FnMut(&Position) -> failure::Result<Option<Failure>>,
) -> failure::Result<(Outcome, bool)> {
    let (mut outcome, mut is_answered) = (Outcome::Done, false);
    read(arguments, &mut |place, position| {
        let refusal = match position {
            Ok(position) => answer(&position)?,
            Err(error) => Some(error),
        };
        match (refusal, place) {
            (None, _) => is_answered = true,
            (Some(refusal), None) => {
                message!("kalah: {}", refusal.message);
                outcome = outcome.and(refusal.outcome);
            }
            (Some(refusal), Some(place)) => {
                message!("kalah: {place}: {}", refusal.message);
                // A fault in a file is not a fault of the command line.
                let is_usage = refusal.outcome == Outcome::Usage;
                outcome = outcome.and(if is_usage { Outcome::Failed } else { refusal.outcome });
            }
        }
        Ok(())
    })?;
    Ok((outcome, is_answered))
}
