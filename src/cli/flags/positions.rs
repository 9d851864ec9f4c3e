//! Positions as commands are given them: as arguments, one a line in files, or on standard input.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::path::Path;

use kalah::game::{ParseError, Position};

use crate::cli::output;

/// The argument that stands for standard input.
const STDIN: &str = "-";

/// The longest line that is read, in bytes: a position of the most pits and seeds takes 400.
const LONGEST: u64 = 1 << 16;

/// What editors on Windows write at the start of a text.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineOfFile {
    /// The file as it was named, or `standard input`.
    pub file: String,
    /// Counted from 1.
    pub line: u64,
}

impl fmt::Display for LineOfFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A position, or what was found where one should be.
pub struct Given {
    /// Where it was written; `None` for an argument.
    pub place: Option<LineOfFile>,
    pub position: Result<Position, Unusable>,
}

/// Why there is no position.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    #[error("{0}")]
    Position(#[from] ParseError),
    #[error("{0}; and there is no file of that name")]
    NeitherPositionNorFile(ParseError),
    #[error("'{0}' is neither a position nor the name of a file, and it is not UTF-8")]
    NotText(String),
    #[error("{0} is a directory: name a file with positions, one a line")]
    Directory(String),
    #[error("this line is not UTF-8 text")]
    LineNotText,
    #[error("this line is longer than {LONGEST} bytes, which no position is")]
    LongLine,
    #[error(
        "this is not a text, it holds a zero byte: write positions in UTF-8, one a line; the rest of it is not read"
    )]
    Binary,
    #[error("{0}: {1}")]
    At(LineOfFile, Box<Unusable>),
    #[error("{0} holds no position")]
    Empty(String),
    #[error("{0} holds {1} positions, and here only one can be given; `kalah probe` and `kalah move` take several")]
    Several(String, usize),
    #[error("{0}: {1}")]
    Io(String, io::Error),
}

impl Unusable {
    /// Returns true if the argument is at fault, not what a file holds or whether it can be read.
    pub fn is_usage(&self) -> bool {
        matches!(self, Unusable::Position(_) | Unusable::NeitherPositionNorFile(_) | Unusable::NotText(_))
    }
}

/// Hands every position of `arguments` to `take`, one after the other, as they are read.
///
/// An argument that can be read as a position is one. `-` is standard input, and any other argument names a file (write
/// `./6x4` for a file that is named like a position). Files hold a position a line; what follows `#` is a comment, and
/// blank lines are skipped. Without arguments standard input is read.
///
/// # Errors
/// What `take` returns; what cannot be read or understood is handed to it.
pub fn read(arguments: &[OsString], mut take: impl FnMut(Given) -> anyhow::Result<()>) -> anyhow::Result<()> {
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
            // What begins like a position in brackets is meant as one.
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

/// The one position that `argument` is, or that the file it names holds.
///
/// # Errors
/// When there is none, or several.
pub fn one(argument: &OsStr) -> Result<Position, Unusable> {
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
    read.expect("nothing stops it");
    match found {
        Some(Ok(_)) if count > 1 => Err(Unusable::Several(name(argument), count)),
        Some(found) => found,
        None => Err(Unusable::Empty(name(argument))),
    }
}

/// What to call the file that `argument` names.
fn name(argument: &OsStr) -> String {
    if argument == STDIN { "standard input".to_owned() } else { argument.to_string_lossy().into_owned() }
}

/// Opens the file that `argument` names; `Err(None)` when there is none.
fn open(argument: &OsStr) -> Result<File, Option<Unusable>> {
    let (path, name) = (Path::new(argument), argument.to_string_lossy());
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => return Err(Some(Unusable::Directory(name.into_owned()))),
        Ok(_) => {}
        // No name that could be a file's, or none of one: too long, a zero byte in it, a file taken for a directory.
        Err(error) if error.kind() != io::ErrorKind::PermissionDenied => return Err(None),
        Err(error) => return Err(Some(Unusable::Io(name.into_owned(), error))),
    }
    File::open(path).map_err(|error| Some(Unusable::Io(name.into_owned(), error)))
}

fn standard_input(take: &mut impl FnMut(Given) -> anyhow::Result<()>) -> anyhow::Result<()> {
    if io::stdin().is_terminal() {
        output::note("positions, one a line; end with Ctrl-D:");
    }
    lines("standard input", io::stdin().lock(), take)
}

/// Hands over the positions of a file, each as soon as its line is read.
fn lines(name: &str, mut file: impl BufRead, take: &mut impl FnMut(Given) -> anyhow::Result<()>) -> anyhow::Result<()> {
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
            Ok(_) if long => {
                take(unusable(Unusable::LongLine))?;
                if let Err(error) = skip_line(&mut file) {
                    return take(unusable(Unusable::Io(name.to_owned(), error)));
                }
                continue;
            }
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

/// Reads on to the end of the line without keeping it.
fn skip_line(file: &mut impl BufRead) -> io::Result<()> {
    loop {
        let bytes = file.fill_buf()?;
        let end = bytes.iter().position(|&byte| byte == b'\n');
        let (length, over) = (end.map_or(bytes.len(), |end| end + 1), end.is_some() || bytes.is_empty());
        file.consume(length);
        if over {
            return Ok(());
        }
    }
}
