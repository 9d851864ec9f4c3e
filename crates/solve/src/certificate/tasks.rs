use std::path::Path;
use std::time::{Duration, Instant};

use kalah_tables::file::{Document, DocumentError};
use serde::{Deserialize, Serialize};

use super::check::Reason;

/// Claims of a task: what is checked by one thread without a break, and saved as a whole.
pub(super) const TASK_CLAIMS: u64 = 16;

/// How often the state of a check is saved.
const SAVE_EVERY: Duration = Duration::from_secs(10);

/// The file with the state of a check.
const STATE: Document = Document { format: "kalah check", version: 2 };

/// The check that a state belongs to: what it found counts for no other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckIdentity {
    /// The program, with version and commit.
    pub program: String,
    /// The digest of the certificate, in hexadecimal.
    pub certificate: String,
    /// The [digest of the tables](super::Head::tables_digest) that it rests on, in hexadecimal; `None` without tables.
    pub tables: Option<String>,
    /// Whether the tables are trusted ([`super::Check::trusting`]).
    pub trusts_tables: bool,
}

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
    identity: CheckIdentity,
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
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The file is something else, or damaged.
    #[error("it cannot be used: {0}")]
    Document(#[from] DocumentError),
    /// It is the state of the check of another certificate.
    #[error("it belongs to the check of another certificate, with digest {0}")]
    Other(String),
    /// It is the state of a check by another program.
    #[error("it belongs to a check by kalah {found}, and this is {known}")]
    OtherProgram {
        /// The program that made it.
        found: String,
        /// The program that reads it.
        known: String,
    },
    /// It is the state of a check on other tables.
    #[error("it belongs to a check on other tables")]
    OtherTables,
    /// It is the state of a check that trusted the tables, and this one does not, or the other way round.
    #[error("it belongs to a check that {} the tables", if *trusted { "trusted" } else { "compared" })]
    OtherTrust {
        /// Whether that check did.
        trusted: bool,
    },
    /// Its checksum is right, but it cannot be the state of a check.
    #[error("it cannot be used: it does not contain the state of a check")]
    Content,
}

impl TasksError {
    /// Returns true if the file is damaged, rather than that of another check or version.
    pub fn is_damage(&self) -> bool {
        match self {
            TasksError::Document(error) => !matches!(error, DocumentError::Version { .. }),
            error => matches!(error, TasksError::Content),
        }
    }
}

/// The state as it is stored.
#[derive(Serialize, Deserialize)]
struct Stored {
    identity: CheckIdentity,
    claims: u64,
    task_claims: u64,
    /// The tasks that are done: first and last of each run of them.
    done: Vec<(usize, usize)>,
    tally: Tally,
}

impl Tasks {
    /// The tasks of the check of a certificate with so many claims; none is done.
    pub fn new(identity: CheckIdentity, claims: u64) -> Tasks {
        let tasks = claims.div_ceil(TASK_CLAIMS) as usize;
        Tasks { identity, claims, done: vec![false; tasks], tally: Tally::default(), saved: Instant::now() }
    }

    /// The state that is stored at `path`, if the file exists, otherwise as [`Tasks::new`].
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or belongs to another check.
    pub fn read(path: &Path, identity: CheckIdentity, claims: u64) -> Result<Tasks, TasksError> {
        let mut tasks = Tasks::new(identity, claims);
        let bytes = match kalah_tables::file::read(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(tasks),
            bytes => bytes?,
        };
        let stored: Stored = STATE.parse(&bytes)?;
        tasks.identity.require(stored.identity)?;
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
            identity: self.identity.clone(),
            claims: self.claims,
            task_claims: TASK_CLAIMS,
            done: runs.map(|run| (run[0].0, run[run.len() - 1].0)).collect(),
            tally: self.tally,
        };
        STATE.write(path, &stored)
    }

    /// Claims of the certificate.
    pub fn claims(&self) -> u64 {
        self.claims
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

    /// Returns true if it is time to save, which is not so again for `every`, or for some seconds if that is less.
    pub(super) fn is_due(&mut self, every: Duration) -> bool {
        let due = self.saved.elapsed() >= every.max(SAVE_EVERY);
        if due {
            self.saved = Instant::now();
        }
        due
    }
}

impl CheckIdentity {
    /// Returns an error that names the first difference if `found` is the identity of another check.
    fn require(&self, found: CheckIdentity) -> Result<(), TasksError> {
        let CheckIdentity { program, certificate, tables, trusts_tables } = found;
        if certificate != self.certificate {
            return Err(TasksError::Other(certificate));
        }
        if program != self.program {
            return Err(TasksError::OtherProgram { found: program, known: self.program.clone() });
        }
        if tables != self.tables {
            return Err(TasksError::OtherTables);
        }
        if trusts_tables != self.trusts_tables {
            return Err(TasksError::OtherTrust { trusted: trusts_tables });
        }
        Ok(())
    }
}
