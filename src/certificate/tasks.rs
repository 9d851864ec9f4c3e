use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::check::Reason;
use crate::file::{Document, DocumentError};

/// Claims of a task: what is checked by one thread without a break, and saved as a whole.
pub(super) const TASK_CLAIMS: u64 = 16;

/// How often the state of a check is saved.
const SAVE_EVERY: Duration = Duration::from_secs(10);

/// The file with the state of a check.
const STATE: Document = Document { format: "kalah check", version: 1 };

/// What a check has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Tally {
    /// Claims that hold.
    pub claims: u64,
    /// Bounds that follow in one ply from other claims, ends of games and tables.
    pub one_ply: u64,
    /// Bounds that a search shows.
    pub searched: u64,
    /// Bounds that follow in one ply from other claims, ends, tables and searches.
    pub one_ply_and_search: u64,
    /// Bounds that the tables contain.
    pub in_tables: u64,
    /// Nodes of all searches.
    pub nodes: u64,
}

impl Tally {
    pub(super) fn count(&mut self, reason: Reason) {
        match reason {
            Reason::Trivial | Reason::Claim => {}
            Reason::Table => self.in_tables += 1,
            Reason::OnePly => self.one_ply += 1,
            Reason::Search => self.searched += 1,
            Reason::OnePlyAndSearch => self.one_ply_and_search += 1,
        }
    }

    pub(super) fn add(&mut self, more: &Tally) {
        let Tally { claims, one_ply, searched, one_ply_and_search, in_tables, nodes } = more;
        self.claims += claims;
        self.one_ply += one_ply;
        self.searched += searched;
        self.one_ply_and_search += one_ply_and_search;
        self.in_tables += in_tables;
        self.nodes += nodes;
    }
}

/// Which claims of a certificate were checked, in tasks of 16, and what was counted.
#[derive(Clone, Debug)]
pub struct Tasks {
    digest: [u8; 32],
    /// Claims of the certificate.
    claims: u64,
    done: Vec<bool>,
    tally: Tally,
    saved: Instant,
}

/// Why the state of a check cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TasksError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The file is something else, or damaged.
    #[error("it cannot be used: {0}")]
    Document(#[from] DocumentError),
    /// It is the state of the check of another certificate.
    #[error("it belongs to the check of another certificate, with digest {0}")]
    Other(String),
    /// Its checksum is right, but it cannot be the state of a check.
    #[error("it cannot be used: it does not contain the state of a check")]
    Content,
}

/// The state as it is stored.
#[derive(Serialize, Deserialize)]
struct Stored {
    certificate: String,
    claims: u64,
    task_claims: u64,
    /// The tasks that are done: first and last of each run of them.
    done: Vec<(usize, usize)>,
    tally: Tally,
}

impl Tasks {
    /// The tasks of a certificate with this digest and so many claims; none is done.
    pub fn new(digest: [u8; 32], claims: u64) -> Tasks {
        let tasks = claims.div_ceil(TASK_CLAIMS) as usize;
        Tasks { digest, claims, done: vec![false; tasks], tally: Tally::default(), saved: Instant::now() }
    }

    /// The state that is stored at `path`, if the file exists, otherwise as [`Tasks::new`].
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or belongs to another certificate.
    pub fn read(path: &Path, digest: [u8; 32], claims: u64) -> Result<Tasks, TasksError> {
        let mut tasks = Tasks::new(digest, claims);
        let bytes = match crate::file::read(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(tasks),
            bytes => bytes?,
        };
        let stored: Stored = STATE.parse(&bytes)?;
        if stored.certificate != tasks.hex() {
            return Err(TasksError::Other(stored.certificate));
        }
        if (stored.claims, stored.task_claims) != (claims, TASK_CLAIMS) {
            return Err(TasksError::Content);
        }
        for (first, last) in stored.done {
            let run = if first <= last { tasks.done.get_mut(first..=last) } else { None };
            run.ok_or(TasksError::Content)?.fill(true);
        }
        tasks.tally = stored.tally;
        if tasks.tally.claims != tasks.checked() {
            return Err(TasksError::Content);
        }
        Ok(tasks)
    }

    /// Stores the state at `path`.
    ///
    /// # Errors
    /// When it cannot be written; the old file stays unchanged.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        let numbered: Vec<(usize, bool)> = self.done.iter().copied().enumerate().collect();
        let runs = numbered.chunk_by(|one, two| one.1 == two.1).filter(|run| run[0].1);
        let stored = Stored {
            certificate: self.hex(),
            claims: self.claims,
            task_claims: TASK_CLAIMS,
            done: runs.map(|run| (run[0].0, run[run.len() - 1].0)).collect(),
            tally: self.tally,
        };
        STATE.write(path, &stored)
    }

    /// Claims of the tasks that are done.
    pub fn checked(&self) -> u64 {
        let size = |task: usize| TASK_CLAIMS.min(self.claims - task as u64 * TASK_CLAIMS);
        (0..self.done.len()).filter(|&task| self.done[task]).map(size).sum()
    }

    /// Whether all claims were checked.
    pub fn is_complete(&self) -> bool {
        self.done.iter().all(|&done| done)
    }

    /// What was counted, in all runs of the check.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    pub(super) fn is_done(&self, task: usize) -> bool {
        self.done[task]
    }

    /// Notes a task that is done now.
    pub(super) fn add(&mut self, task: usize, tally: &Tally) {
        self.done[task] = true;
        self.tally.add(tally);
    }

    /// Whether it is time to save, which is not so again for a while.
    pub(super) fn is_due(&mut self) -> bool {
        let due = self.saved.elapsed() >= SAVE_EVERY;
        if due {
            self.saved = Instant::now();
        }
        due
    }

    fn hex(&self) -> String {
        blake3::Hash::from_bytes(self.digest).to_hex().to_string()
    }
}
