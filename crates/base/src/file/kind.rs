use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use kalah_core::file::{found, open};
use kalah_core::header::Kind;

/// First bytes of a lock and of a lease. The number of a process follows.
const PROCESS: &[u8] = b"process ";

/// First bytes, without white space, of the JSON files in which commands save their progress.
const STATE: &[u8] = b"{\"format\":\"kalah";

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
pub(super) const FIRST_BYTES: u64 = 64;

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
    /// Some frames of a table.
    Part,
    /// Records of tables: the log of a directory, or a manifest.
    Records,
    /// A lock: the process that holds or held it.
    Lock,
    /// A lease: the process that does a piece of work.
    Lease,
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
        // An unfinished table may still be empty.
        let is_part = name.ends_with(".partial") && name.contains(".kalah.");
        match name {
            "build.lock" => Some(FileContent::Lock),
            _ => is_part.then_some(FileContent::Part),
        }
    }

    /// Returns true if a companion file that begins with `bytes` may be one of this program with
    /// this content. It may be empty or full of zeros after a power failure, and the magic number of
    /// a binary file may be damaged.
    #[must_use]
    pub fn may_begin(self, bytes: &[u8]) -> bool {
        let is_near = |bytes: &[u8], mark: &[u8]| {
            let pairs = || bytes.iter().zip(mark);
            2 * pairs().filter(|(byte, mark)| **byte != 0 && byte != mark).count() < pairs().len()
        };
        if bytes.iter().all(|&byte| byte == 0) {
            return true;
        }
        match self {
            FileContent::Table => is_near(bytes, &Kind::Table.magic()),
            FileContent::Archive => is_near(bytes, &Kind::Archive.magic()),
            FileContent::Lock => names_process(bytes, b" ("),
            FileContent::Lease => names_process(bytes, b" on "),
            content => FileContent::of_bytes(bytes) == Some(content),
        }
    }

    /// Content of a file that begins with `bytes`.
    fn of_bytes(bytes: &[u8]) -> Option<FileContent> {
        let compact: Vec<u8> = bytes.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        if compact.starts_with(STATE) {
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
        let magic: &[u8; 8] = bytes.first_chunk()?;
        match Kind::ALL.into_iter().find(|kind| kind.magic() == *magic) {
            Some(kind) => Some(FileContent::of_kind(kind)),
            None => (magic.starts_with(b"KALAH") && magic.ends_with(b"\n")).then_some(FileContent::Unknown),
        }
    }

    /// Content of a binary file.
    fn of_kind(kind: Kind) -> FileContent {
        match kind {
            Kind::Table => FileContent::Table,
            Kind::Piece => FileContent::Part,
            Kind::BoundTable => FileContent::BoundTable,
            Kind::Archive => FileContent::Archive,
            Kind::Network => FileContent::Network,
            Kind::Book => FileContent::Book,
            Kind::Certificate => FileContent::Certificate,
            _ => FileContent::Unknown,
        }
    }
}

/// Returns true if `bytes` begin a line about a table.
fn is_record(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(RECORD) else { return false };
    let rest = String::from_utf8_lossy(rest);
    let places = RECORD_FIELDS.map(|field| rest.find(field));
    places.iter().all(Option::is_some) && places.is_sorted()
}

/// Returns true if `bytes` name a process, and then `rest` follows; or if they were cut short before.
fn names_process(bytes: &[u8], rest: &[u8]) -> bool {
    let Some(number) = bytes.strip_prefix(PROCESS) else { return PROCESS.starts_with(bytes) };
    let digits = number.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let found = &number[digits..];
    rest.starts_with(found) || found.starts_with(rest)
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
            FileContent::Part => "a part of a table",
            FileContent::Records => "a log or manifest of tables",
            FileContent::Lock => "a lock of kalah",
            FileContent::Lease => "a lease of kalah",
            FileContent::State => "a saved state of kalah",
            FileContent::Scores => "exported scores",
            FileContent::Games => "a file of games",
            FileContent::Manual => "a manual page of kalah",
            FileContent::Unknown => "a file of another version of kalah",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First bytes of companions.
    const COMPANIONS: [(FileContent, &[u8]); 6] = [
        (FileContent::Table, b"KALAHTB\n\x01\0\0\0\x02\x06\x18"),
        (FileContent::Archive, b"KALAHAR\n\x01\0\0\0"),
        (FileContent::Part, b"KALAHPC\n\x01\0\0\0"),
        (FileContent::Lock, b"process 4711 (kalah build --seeds 20)\n"),
        (FileContent::Lease, b"process 4711 on node12, 0123456789abcdef: 0000000007\n"),
        (FileContent::Records, b"{\"rules\":\"standard\",\"pits\":6,\"seeds\":9,\"positions\":1,"),
    ];

    #[test]
    fn companions_are_known_even_after_a_power_failure() {
        for (content, bytes) in COMPANIONS {
            assert!(content.may_begin(bytes) && content.may_begin(&[0; 64]) && content.may_begin(b""), "{content}");
        }
        // Those that are written piece by piece may be cut, and lose blocks.
        for (content, bytes) in [COMPANIONS[0], COMPANIONS[1], COMPANIONS[3], COMPANIONS[4]] {
            for cut in 0..bytes.len() {
                assert!(content.may_begin(&bytes[..cut]), "{content}, cut to {cut}");
            }
        }
        for at in 0..8 {
            let mut bytes = *b"KALAHTB\n";
            bytes[at] ^= 1;
            assert!(FileContent::Table.may_begin(&bytes), "byte {at}");
        }
    }

    #[test]
    fn other_files_are_no_companions() {
        let others = [
            "x",
            "mine\n",
            "[[package]]\n",
            "process the data\n",
            "process 12: done\n",
            "{}",
            "{\"rules\":[]}",
            "K2\n",
        ];
        for (content, own) in COMPANIONS {
            let ours = COMPANIONS.iter().map(|(_, bytes)| *bytes).filter(|bytes| *bytes != own);
            // Magic numbers differ in two bytes, so damage can make one of the other.
            let is_magic = |bytes: &&[u8]| bytes.starts_with(b"KALAH");
            for other in others.iter().map(|text| text.as_bytes()).chain(ours.filter(|bytes| !is_magic(bytes))) {
                assert!(!content.may_begin(other), "{content}: {}", String::from_utf8_lossy(other));
            }
        }
    }
}
