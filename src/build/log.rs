use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::file;
use crate::table::TableKey;

/// The name of the log in a directory of tables: one JSON object per line.
const LOG_FILE: &str = "builds.jsonl";

/// How one layer was built. Logged separately, since the bytes of tables depend on neither time nor machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BuildRecord {
    /// The rule set.
    pub rules: String,
    /// Pits a side.
    pub pits: usize,
    /// Seeds in play.
    pub seeds: usize,
    /// Positions computed: fewer than the layer has if an earlier run computed some.
    pub positions: u64,
    /// Seconds from the first position to the last byte written. The disk is waited for while the next layer is computed.
    pub seconds: f64,
    /// Threads.
    pub threads: usize,
    /// What computed it: an instruction set of the CPU (see [`crate::isa::Isa`]) or a GPU.
    #[serde(alias = "isa")]
    pub backend: String,
}

impl BuildRecord {
    /// The record of a layer that the threads of the current pool began to build at `start` and have just finished.
    pub(super) fn new(key: TableKey, positions: u64, start: Instant, backend: &str) -> BuildRecord {
        BuildRecord {
            rules: key.rules.name().to_owned(),
            pits: key.pits,
            seeds: key.seeds,
            positions,
            seconds: start.elapsed().as_secs_f64(),
            threads: rayon::current_num_threads(),
            backend: backend.to_owned(),
        }
    }

    /// Positions per second.
    pub fn rate(&self) -> f64 {
        self.positions as f64 / self.seconds
    }

    /// Adds the record to the log of `directory`.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub fn append(&self, directory: &Path) -> io::Result<()> {
        let mut file = file::open_with(&directory.join(LOG_FILE), OpenOptions::new().append(true).create(true))?;
        writeln!(file, "{}", serde_json::to_string(self)?)
    }

    /// The last record of a table in the log of `directory`; `None` if there is none, or no log.
    pub fn last(directory: &Path, key: TableKey) -> Option<BuildRecord> {
        let file = file::open(&directory.join(LOG_FILE)).ok()?;
        BufReader::new(file)
            .lines()
            .map_while(Result::ok)
            .filter_map(|line| serde_json::from_str::<BuildRecord>(&line).ok())
            .filter(|record| record.rules == key.rules.name() && record.pits == key.pits && record.seeds == key.seeds)
            .last()
    }
}
