use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use kalah_base::file;
use kalah_base::printable::printable;
use kalah_core::table::TableKey;
use serde::{Deserialize, Serialize};

/// Name of the log in a directory of tables: one JSON object per line.
const LOG_FILE: &str = "builds.jsonl";

/// Maximum bytes read from the end of a log: some 50,000 records.
const MOST_BYTES: u64 = 16 << 20;

/// Maximum bytes of a record. A longer line of text is ignored.
const MOST_RECORD_BYTES: usize = 4096;

/// Maximum characters kept of a text in a record.
const MOST_TEXT: usize = 80;

/// The record of a layer's build. It is logged separately, since the bytes of tables depend on
/// neither time nor machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BuildRecord {
    /// The table.
    #[serde(flatten)]
    pub key: TableKey,
    /// Positions computed. Fewer than the layer has if another run computed some.
    pub positions: u64,
    /// Seconds from the first position to the last byte written. The last writes overlap with the
    /// next layer.
    pub seconds: f64,
    /// Threads.
    pub threads: usize,
    /// Backend: an instruction set of the CPU (see [`kalah_core::isa::Isa`]) or a GPU.
    pub backend: String,
    /// The version of kalah that built it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The commit that this version was compiled from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Time of completion in UTC, such as 2026-11-25T16:40:12Z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished: Option<String>,
}

impl BuildRecord {
    /// Makes the record of a layer that the threads of the current pool have computed.
    pub(super) fn new(key: TableKey, positions: u64, backend: &str) -> BuildRecord {
        BuildRecord {
            key,
            positions,
            seconds: 0.0,
            threads: rayon::current_num_threads(),
            backend: backend.to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            commit: option_env!("KALAH_COMMIT").map(str::to_owned),
            finished: None,
        }
    }

    /// Adds the times of a layer that was begun at `start` and has just been written.
    pub(super) fn written(self, start: Instant) -> BuildRecord {
        let finished = humantime::format_rfc3339_seconds(SystemTime::now().max(UNIX_EPOCH)).to_string();
        BuildRecord { seconds: start.elapsed().as_secs_f64(), finished: Some(finished), ..self }
    }

    /// Adds the record to the log of `directory`.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub fn append(&self, directory: &Path) -> io::Result<()> {
        let mut file = file::open_with(&directory.join(LOG_FILE), OpenOptions::new().append(true).create(true))?;
        file.write_all((serde_json::to_string(self)? + "\n").as_bytes())
    }

    /// Shortens the texts and makes them printable, since anyone may have written them.
    fn printable(mut self) -> BuildRecord {
        let texts = [&mut self.version, &mut self.commit, &mut self.finished];
        for text in texts.into_iter().flatten().chain([&mut self.backend]) {
            *text = printable(text, MOST_TEXT);
        }
        self
    }
}

/// The last record of each table in the log of a directory.
#[derive(Clone, Debug, Default)]
pub struct BuildLog(HashMap<TableKey, BuildRecord>);

impl BuildLog {
    /// Reads the log of `directory`, or its last 16 MiB. Invalid records are skipped, and a missing
    /// log is empty.
    pub fn read(directory: &Path) -> BuildLog {
        let mut log = BuildLog::default();
        // The log is a convenience, so an unreadable log counts as empty.
        let _ = log.read_file(&directory.join(LOG_FILE));
        log
    }

    fn read_file(&mut self, path: &Path) -> io::Result<()> {
        let mut file = file::open(path)?;
        let begin = file.metadata()?.len().saturating_sub(MOST_BYTES);
        file.seek(SeekFrom::Start(begin))?;
        let mut bytes = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut bytes)?;
        // The first line may be cut off, and the last one still be written.
        let lines = bytes.split_inclusive(|&byte| byte == b'\n').skip(usize::from(begin > 0));
        for line in lines.filter(|line| line.ends_with(b"\n") && line.len() <= MOST_RECORD_BYTES) {
            if let Some(record) =
                serde_json::from_slice::<BuildRecord>(line).ok().filter(|record| record.seconds >= 0.0)
            {
                self.0.insert(record.key, record.printable());
            }
        }
        Ok(())
    }

    /// The last record of a table.
    pub fn last(&self, key: TableKey) -> Option<&BuildRecord> {
        self.0.get(&key)
    }
}

#[cfg(test)]
mod tests {
    use kalah_core::game::Rules;

    use super::*;

    const RECORD: &str =
        r#"{"rules":"standard","pits":6,"seeds":9,"positions":1,"seconds":2.5,"threads":1,"backend":"x"}"#;

    fn seconds(log: &[u8]) -> Option<f64> {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(LOG_FILE), log).unwrap();
        let key = TableKey { rules: Rules::Standard, pits: 6, seeds: 9 };
        BuildLog::read(directory.path()).last(key).map(|record| record.seconds)
    }

    #[test]
    fn what_is_no_record_is_left_out() {
        let record = RECORD.as_bytes();
        assert_eq!(seconds(record), None, "it may still be written");
        assert_eq!(seconds(&[record, b"\n"].concat()), Some(2.5));
        let later = RECORD.replace("2.5", "3.5") + "\n";
        let impossible = RECORD.replace("2.5", "-1") + "\n" + &RECORD.replace("2.5", "1e999") + "\n";
        for between in [&b"\xff\0[[[[\n"[..], &[b'['; 1 << 20], impossible.as_bytes(), b"\n\n"] {
            let log = [record, b"\n", between, b"\n", later.as_bytes(), between].concat();
            assert_eq!(seconds(&log), Some(3.5));
        }
        // A record within a line of text that is too long does not count.
        let padded = |at: usize| [&vec![b' '; at][..], later.as_bytes()].concat();
        assert_eq!(seconds(&padded(1000)), Some(3.5));
        assert_eq!([4096, 4096 - 50, 8192].map(|at| seconds(&padded(at))), [None; 3]);
    }

    /// A file with a hole has any size without taking the disk's space.
    #[test]
    fn of_a_log_of_any_size_the_end_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let mut file = std::fs::File::create(directory.path().join(LOG_FILE)).unwrap();
        writeln!(file, "{}", RECORD.replace("standard", "s-kalaha")).unwrap();
        file.set_len(1 << 36).unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        writeln!(file, "\n{RECORD}").unwrap();
        let log = BuildLog::read(directory.path());
        let key = |rules| TableKey { rules, pits: 6, seeds: 9 };
        assert!(log.last(key(Rules::Standard)).is_some() && log.last(key(Rules::SKalaha)).is_none());
    }

    #[test]
    fn texts_are_printable() {
        let directory = tempfile::tempdir().unwrap();
        let text = RECORD.replace("\"x\"", &format!("\"\\u001b[2J{}\",\"version\":\"\\u0007\"", "y".repeat(3000)));
        std::fs::write(directory.path().join(LOG_FILE), text + "\n").unwrap();
        let log = BuildLog::read(directory.path());
        let record = log.last(TableKey { rules: Rules::Standard, pits: 6, seeds: 9 }).unwrap();
        assert!(record.backend.starts_with("\\u{1b}[2J") && record.backend.len() <= MOST_TEXT, "{}", record.backend);
        assert_eq!(record.version.as_deref(), Some("\\u{7}"));
    }
}
