//! Positions from the command line: as arguments, one a line in files, or on standard input.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::path::Path;

use kalah::diagnostic::{Commands, Diagnosis, Diagnostic, Outcome};
use kalah::game::{ParseError, Position};

use crate::cli::{Failure, failure, message, note};

/// The argument that stands for standard input.
const STDIN: &str = "-";

/// Maximum length of a line in bytes. A position of the most pits and seeds takes 400.
const LONGEST: u64 = 1 << 16;

/// Mark that editors on Windows write at the start of a text.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineOfFile {
    /// The file as it was named, or `standard input`.
    pub file: String,
    /// Number of the line, from 1.
    pub line: u64,
}

impl fmt::Display for LineOfFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A position, or the reason why it cannot be read.
struct Given {
    /// Line that it is from; `None` for an argument.
    pub place: Option<LineOfFile>,
    pub position: Result<Position, Unusable>,
}

/// Reasons why an argument or a line is no position.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unusable {
    #[error("{0}")]
    Position(#[from] ParseError),
    #[error("{0}; there is no file of that name")]
    NeitherPositionNorFile(ParseError),
    #[error("'{0}' is not UTF-8, so it is no position, and there is no file of that name")]
    NotText(String),
    #[error("{0} is a directory: give a file with one position a line")]
    Directory(String),
    #[error("this line is not UTF-8 text")]
    LineNotText,
    #[error("this line is longer than {LONGEST} bytes: no position is that long; the rest is not read")]
    LongLine,
    #[error(
        "this is not text, since it contains a zero byte: write one position a line in UTF-8; the rest is not read"
    )]
    Binary,
    #[error("{0}: {1}")]
    At(LineOfFile, Box<Unusable>),
    #[error("{0} contains no position")]
    Empty(String),
    #[error("{0} contains {1} positions, but this command takes one; `kalah probe` and `kalah move` take several")]
    Several(String, usize),
    #[error("{0}: {1}")]
    Io(String, io::Error),
}

/// Only an argument that is itself wrong is an error of usage, not the contents of a file.
impl Diagnostic for Unusable {
    fn diagnosis(&self, _: &dyn Commands) -> Diagnosis {
        match self {
            Unusable::Position(_) | Unusable::NeitherPositionNorFile(_) | Unusable::NotText(_) => Outcome::Usage.into(),
            _ => Outcome::Failed.into(),
        }
    }
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
        let text = argument.to_string_lossy().into_owned();
        let given = |position| Given { place: None, position };
        let parsed = argument.to_str().map(str::parse::<Position>);
        match parsed {
            Some(Ok(position)) => take(given(Ok(position)))?,
            // An argument that begins with a bracket is meant as a position, not as a file.
            Some(Err(error)) if text.trim_start().starts_with('<') => take(given(Err(error.into())))?,
            parsed => match open(argument) {
                Ok(file) => lines(&text, BufReader::new(file), &mut take)?,
                Err(unusable) => {
                    let unusable = match (unusable, parsed) {
                        (None, Some(Err(error))) => Unusable::NeitherPositionNorFile(error),
                        (None, _) => Unusable::NotText(text.clone()),
                        (Some(unusable), _) => unusable,
                    };
                    take(given(Err(unusable)))?;
                }
            },
        }
    }
    Ok(())
}

/// Returns the position that `argument` is, or the only one in the file that it names.
///
/// # Errors
/// If there is no position, or several.
pub(crate) fn one(argument: &OsStr) -> Result<Position, Unusable> {
    let mut found: Option<Result<Position, Unusable>> = None;
    let mut count = 0;
    let read = read(&[argument.to_owned()], |given| {
        count += 1;
        found.get_or_insert(given.position.map_err(|error| match given.place {
            Some(place) => Unusable::At(place, error.into()),
            None => error,
        }));
        Ok(())
    });
    read.expect("the closure returns no error");
    match found {
        Some(Ok(_)) if count > 1 => Err(Unusable::Several(name(argument), count)),
        Some(found) => found,
        None => Err(Unusable::Empty(name(argument))),
    }
}

/// Returns the name of `argument` in messages.
fn name(argument: &OsStr) -> String {
    if argument == STDIN { "standard input".to_owned() } else { argument.to_string_lossy().into_owned() }
}

/// Opens the file that `argument` names; `Err(None)` if there is no such file.
fn open(argument: &OsStr) -> Result<File, Option<Unusable>> {
    let (path, name) = (Path::new(argument), argument.to_string_lossy());
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => return Err(Some(Unusable::Directory(name.into_owned()))),
        Ok(_) => {}
        // Also names that no file can have: too long, with a zero byte, or below a file as if it were a directory.
        Err(error) if error.kind() != io::ErrorKind::PermissionDenied => return Err(None),
        Err(error) => return Err(Some(Unusable::Io(name.into_owned(), error))),
    }
    File::open(path).map_err(|error| Some(Unusable::Io(name.into_owned(), error)))
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
        let place = || Some(LineOfFile { file: name.to_owned(), line });
        bytes.clear();
        let read = file.by_ref().take(LONGEST).read_until(b'\n', &mut bytes);
        let long = bytes.len() as u64 == LONGEST && !bytes.ends_with(b"\n");
        let unusable = |unusable| Given { place: place(), position: Err(unusable) };
        match read {
            Ok(0) => return Ok(()),
            Ok(_) if bytes.contains(&0) => return take(unusable(Unusable::Binary)),
            Ok(_) if long => return take(unusable(Unusable::LongLine)),
            Ok(_) => {}
            Err(error) => return take(unusable(Unusable::Io(name.to_owned(), error))),
        }
        let text = match bytes.strip_prefix(BYTE_ORDER_MARK) {
            Some(text) if line == 1 => text,
            _ => &bytes,
        };
        let text = text.split(|&byte| byte == b'#').next().unwrap_or_default();
        let Ok(text) = std::str::from_utf8(text) else {
            take(unusable(Unusable::LineNotText))?;
            continue;
        };
        let text = text.trim();
        if !text.is_empty() {
            let position = text.parse().map_err(Unusable::Position);
            take(Given { place: place(), position })?;
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
            Err(unusable) => Some(unusable.into()),
        };
        match refusal {
            Some(refusal) => outcome = outcome.and(refused(place.as_ref(), &refusal)),
            None => is_answered = true,
        }
        Ok(())
    })?;
    Ok((outcome, is_answered))
}

/// Reports why there is no answer for the position of `place`. Returns the outcome for the command, which goes on
/// with the others.
fn refused(place: Option<&LineOfFile>, error: &Failure) -> Outcome {
    let (message, outcome) = (error.message(), error.outcome());
    match place {
        Some(place) => message!("kalah: {place}: {message}"),
        None => message!("kalah: {message}"),
    }
    // A fault in a file is not a fault of the command line.
    if place.is_some() && outcome == Outcome::Usage { Outcome::Failed } else { outcome }
}
