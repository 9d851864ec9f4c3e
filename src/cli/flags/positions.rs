//! Positions from the command line: as arguments, one a line in files, or on standard input.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::path::Path;

use kalah::game::Position;

use crate::cli::{Failure, Outcome, bail, failed, failure, message, note, usage};

/// The argument that stands for standard input.
const STDIN: &str = "-";

/// Maximum length of a line in bytes. A position of the most pits and seeds takes 400.
const LONGEST: u64 = 1 << 16;

/// Mark that editors on Windows write at the start of a text.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A position, or the reason why it cannot be read. Only an argument that is itself wrong is an error of usage, not the
/// contents of a file.
struct Given {
    /// Line of a file that it is from, such as `FILE:3`; `None` for an argument.
    place: Option<String>,
    position: failure::Result<Position>,
}

/// Passes every position of `arguments` to `take` as soon as it is read.
///
/// An argument that can be read as a position is one. `-` is standard input, and any other argument names a file
/// (write `./6x4` for a file that is named like a position). Files have one position a line; `#` begins a comment,
/// and blank lines are skipped. Without arguments standard input is read.
///
/// # Errors
/// Only those of `take`, which also receives whatever cannot be read or understood.
fn read(arguments: &[OsString], mut take: impl FnMut(Given) -> failure::Result<()>) -> failure::Result<()> {
    if arguments.is_empty() {
        return standard_input(&mut take);
    }
    for argument in arguments {
        if argument == STDIN {
            standard_input(&mut take)?;
            continue;
        }
        let text = argument.to_string_lossy();
        let given = |position| Given { place: None, position };
        let parsed = argument.to_str().map(str::parse::<Position>);
        match parsed {
            Some(Ok(position)) => take(given(Ok(position)))?,
            // An argument that begins with a bracket is meant as a position, not as a file.
            Some(Err(error)) if text.trim_start().starts_with('<') => take(given(Err(usage(error))))?,
            parsed => match open(argument) {
                Ok(Some(file)) => lines(&text, BufReader::new(file), &mut take)?,
                Ok(None) => {
                    let why = match parsed {
                        Some(Err(error)) => format!("{error}; there is no file of that name"),
                        _ => format!("'{text}' is not UTF-8, so it is no position, and there is no file of that name"),
                    };
                    take(given(Err(usage(why))))?;
                }
                Err(error) => take(given(Err(error)))?,
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

fn standard_input(take: &mut impl FnMut(Given) -> failure::Result<()>) -> failure::Result<()> {
    if io::stdin().is_terminal() {
        note!("positions, one a line; end with Ctrl-D:");
    }
    lines("standard input", io::stdin().lock(), take)
}

/// Passes the positions of a file to `take`, each as soon as its line is read.
fn lines(
    name: &str,
    mut file: impl BufRead,
    take: &mut impl FnMut(Given) -> failure::Result<()>,
) -> failure::Result<()> {
    let mut bytes = Vec::new();
    for line in 1.. {
        let given = |position| Given { place: Some(format!("{name}:{line}")), position };
        bytes.clear();
        let read = file.by_ref().take(LONGEST).read_until(b'\n', &mut bytes);
        let long = bytes.len() as u64 == LONGEST && !bytes.ends_with(b"\n");
        let end = match read {
            Ok(0) => return Ok(()),
            Ok(_) if bytes.contains(&0) => Some(failed(
                "this is not text, since it contains a zero byte: write one position a line in UTF-8; the rest is not \
                 read",
            )),
            Ok(_) if long => Some(failed(format_args!(
                "this line is longer than {LONGEST} bytes: no position is that long; the rest is not read"
            ))),
            Ok(_) => None,
            Err(error) => Some(failed(format_args!("{name}: {error}"))),
        };
        if let Some(error) = end {
            return take(given(Err(error)));
        }
        let text = match bytes.strip_prefix(BYTE_ORDER_MARK) {
            Some(text) if line == 1 => text,
            _ => &bytes,
        };
        let text = text.split(|&byte| byte == b'#').next().unwrap_or_default();
        let Ok(text) = std::str::from_utf8(text) else {
            take(given(Err(failed("this line is not UTF-8 text"))))?;
            continue;
        };
        let text = text.trim();
        if !text.is_empty() {
            take(given(text.parse().map_err(usage)))?;
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
    read(arguments, |Given { place, position }| {
        let refusal = match position {
            Ok(position) => answer(&position)?,
            Err(error) => Some(error),
        };
        match refusal {
            Some(refusal) => outcome = outcome.and(refused(place.as_deref(), &refusal)),
            None => is_answered = true,
        }
        Ok(())
    })?;
    Ok((outcome, is_answered))
}

/// Reports why there is no answer for the position of `place`. Returns the outcome for the command, which goes on
/// with the others.
fn refused(place: Option<&str>, error: &Failure) -> Outcome {
    let (message, outcome) = (error.message(), error.outcome());
    match place {
        Some(place) => message!("kalah: {place}: {message}"),
        None => message!("kalah: {message}"),
    }
    // A fault in a file is not a fault of the command line.
    if place.is_some() && outcome == Outcome::Usage { Outcome::Failed } else { outcome }
}
