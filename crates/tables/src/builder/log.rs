use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use kalah_base::printable::printable;
use kalah_core::file;
use kalah_core::table::TableKey;
use serde::{Deserialize, Serialize};

/// Name of the log in a directory of tables: one JSON object per line.
const LOG_FILE: &str = "builds.jsonl";

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
    pub version: String,
    /// The commit that this version was compiled from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Time of completion in UTC, such as 2026-11-25T16:40:12Z.
    pub finished: String,
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
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: option_env!("KALAH_COMMIT").map(str::to_owned),
            finished: String::new(),
        }
    }

    /// Adds the times of a layer that was begun at `start` and has just been written.
    pub(super) fn written(self, start: Instant) -> BuildRecord {
        let finished = humantime::format_rfc3339_seconds(SystemTime::now().max(UNIX_EPOCH)).to_string();
        BuildRecord { seconds: start.elapsed().as_secs_f64(), finished, ..self }
    }

    /// Adds the record to the log of `directory`.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub fn append(&self, directory: &Path) -> io::Result<()> {
        let mut file = file::open_with(&directory.join(LOG_FILE), File::options().append(true).create(true))?;
        file.write_all((serde_json::to_string(self)? + "\n").as_bytes())
    }

    /// Shortens the texts and makes them printable, since anyone may have written them.
    fn printable(mut self) -> BuildRecord {
        for text in [&mut self.backend, &mut self.version, &mut self.finished].into_iter().chain(&mut self.commit) {
            *text = printable(text, MOST_TEXT);
        }
        self
    }
}

/// The last record of each table in the log of a directory.
#[derive(Clone, Debug, Default)]
pub struct BuildLog(HashMap<TableKey, BuildRecord>);

impl BuildLog {
    /// Reads the log of `directory`. Lines that are no records are skipped, and an unreadable log is empty.
    pub fn read(directory: &Path) -> BuildLog {
        let bytes = file::read(&directory.join(LOG_FILE)).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let records = text.lines().filter_map(|line| serde_json::from_str::<BuildRecord>(line).ok());
        BuildLog(records.map(|record| (record.key, record.printable())).collect())
    }

    /// The last record of a table.
    pub fn last(&self, key: TableKey) -> Option<&BuildRecord> {
        self.0.get(&key)
    }
}
