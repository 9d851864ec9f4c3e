use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use kalah_core::file::{found, open};

const MAGIC_BYTES: usize = 8;

/// Bytes of an archive before its magic number: the prefix of a skippable zstd frame.
const SKIPPABLE_PREFIX_BYTES: usize = 8;

/// First bytes, without white space, of the JSON files in which commands save their progress.
const STATES: [&[u8]; 2] = [b"{\"format\":\"kalah", b"{\"opening_scan\":"];

/// Beginning of a line in the log of a directory of tables, and in a manifest.
const RECORD: &[u8] = b"{\"rules\":\"";

/// Fields of such a line, in this order, within the first bytes that are read.
const RECORD_FIELDS: [&str; 3] = ["\",\"pits\":", ",\"seeds\":", ",\"positions\":"];

/// First bytes of exported scores: CSV, JSON lines, an array for numpy, Parquet.
const EXPORTS: [&[u8]; 3] = [b"mover1,", b"{\"mover\":[", b"\x93NUMPY\x01"];
const PARQUET: &[u8] = b"PAR1";

/// Name of a column of exported scores, and bytes at the end of a Parquet file that have it.
const PARQUET_COLUMN: &[u8] = b"mover1";
const PARQUET_END: i64 = 1 << 13;

/// Beginning of the title in a manual page.
const MANUAL_TITLE: &[u8] = b"\n.TH kalah";

/// Bytes read to recognize a file.
const FIRST_BYTES: u64 = 64;

/// The contents of a file of this program, by its first bytes or by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileContent {
    /// Scores of a layer.
    Table,
    /// Bounds of the scores of a layer.
    BoundTable,
    /// A compressed table.
    Archive,
    /// Bounds of positions near a start.
    Book,
    /// Evaluation networks.
    Network,
    /// Proved claims.
    Certificate,
    /// The entries of a transposition table.
    Transpositions,
    /// Some frames of a table, or the list of the frames of an unfinished archive.
    Part,
    /// Records of tables: the log of a directory, or a manifest.
    Records,
    /// The lock of a directory of tables.
    Lock,
    /// Progress of a command: a checkpoint, a proof, a job, the state of a check, of a scan or of
    /// game values.
    State,
    /// Scores for other programs, as `kalah export` writes them.
    Scores,
    /// Games as text that begin with a header.
    Games,
    /// A page of the manual.
    Manual,
    /// A file that only another version of the program can read.
    Unknown,
}

impl FileContent {
    /// Content of the file at `path`; `None` if it does not exist, or is not a file of this
    /// program.
    ///
    /// # Errors
    /// When `path` is something other than a regular file, or it cannot be read.
    pub fn of(path: &Path) -> io::Result<Option<FileContent>> {
        let Some(mut file) = found(open(path))? else { return Ok(None) };
        let mut bytes = Vec::new();
        (&mut file).take(FIRST_BYTES).read_to_end(&mut bytes)?;
        if bytes.starts_with(PARQUET) && has_parquet_column(&mut file)? {
            return Ok(Some(FileContent::Scores));
        }
        Ok(FileContent::of_bytes(&bytes).or_else(|| FileContent::of_name(path)))
    }

    /// Content of a file with this name that has no magic number.
    fn of_name(path: &Path) -> Option<FileContent> {
        let name = path.file_name()?.to_str()?;
        // An unfinished archive gets its first bytes at the end.
        let is_part = name.ends_with(".partial") && name.contains(".kalah.");
        match name {
            "build.lock" => Some(FileContent::Lock),
            _ => is_part.then_some(FileContent::Part),
        }
    }

    /// Content of a file that begins with `bytes`.
    fn of_bytes(bytes: &[u8]) -> Option<FileContent> {
        let compact: Vec<u8> = bytes.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        if STATES.iter().any(|state| compact.starts_with(state)) {
            return Some(FileContent::State);
        }
        if is_record(bytes) {
            return Some(FileContent::Records);
        }
        if EXPORTS.iter().any(|export| bytes.starts_with(export)) {
            return Some(FileContent::Scores);
        }
        if is_header(bytes) {
            return Some(FileContent::Games);
        }
        if bytes.windows(MANUAL_TITLE.len()).any(|part| part == MANUAL_TITLE) {
            return Some(FileContent::Manual);
        }
        let code = |bytes: &[u8]| {
            let code = bytes.get(..MAGIC_BYTES)?.strip_prefix(b"KALAH")?.strip_suffix(b"\n")?;
            code.try_into().ok()
        };
        let code: [u8; 2] = code(bytes).or_else(|| code(bytes.get(SKIPPABLE_PREFIX_BYTES..)?))?;
        Some(match &code {
            b"TB" => FileContent::Table,
            b"BD" => FileContent::BoundTable,
            b"AR" => FileContent::Archive,
            b"BK" => FileContent::Book,
            b"NN" => FileContent::Network,
            b"CT" => FileContent::Certificate,
            b"TT" => FileContent::Transpositions,
            b"PC" | b"AF" => FileContent::Part,
            _ => FileContent::Unknown,
        })
    }
}

/// Returns true if `bytes` begin a line about a table.
fn is_record(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(RECORD) else { return false };
    let rest = String::from_utf8_lossy(rest);
    let places = RECORD_FIELDS.map(|field| rest.find(field));
    places.iter().all(Option::is_some) && places.is_sorted()
}

/// Returns true if `bytes` begin with the header of a game, such as `[Rules "standard"]`.
fn is_header(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.trim_ascii_start().strip_prefix(b"[") else { return false };
    let end = rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').unwrap_or(rest.len());
    end > 0 && rest[end..].starts_with(b" \"")
}

/// Returns true if the Parquet file `file` lists a column of exported scores at its end.
fn has_parquet_column(file: &mut File) -> io::Result<bool> {
    let bytes = i64::try_from(file.metadata()?.len()).unwrap_or(i64::MAX);
    file.seek(SeekFrom::End(-bytes.min(PARQUET_END)))?;
    let mut end = Vec::new();
    file.take(PARQUET_END as u64).read_to_end(&mut end)?;
    Ok(end.windows(PARQUET_COLUMN.len()).any(|part| part == PARQUET_COLUMN))
}

impl fmt::Display for FileContent {
    /// Writes a name: "a table".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileContent::Table => "a table",
            FileContent::BoundTable => "a bound table",
            FileContent::Archive => "an archive",
            FileContent::Book => "a book",
            FileContent::Network => "an evaluation network",
            FileContent::Certificate => "a certificate",
            FileContent::Transpositions => "a saved transposition table",
            FileContent::Part => "a part of a table",
            FileContent::Records => "a log or manifest of tables",
            FileContent::Lock => "the lock of a directory of tables",
            FileContent::State => "a saved state of kalah",
            FileContent::Scores => "exported scores",
            FileContent::Games => "a file of games",
            FileContent::Manual => "a manual page of kalah",
            FileContent::Unknown => "a file of another version of kalah",
        })
    }
}
