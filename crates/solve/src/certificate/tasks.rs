use std::path::Path;
use std::time::{Duration, Instant};

use kalah_base::file::{Document, StateError, StateKind, found, read};
use serde::{Deserialize, Serialize};

use super::check::Reason;

/// Claims of a task, which one thread checks without a break and which is saved as a whole.
pub(super) const TASK_CLAIMS: u64 = 16;

/// Interval at which the state of a check is saved.
const SAVE_EVERY: Duration = Duration::from_secs(10);

/// The file with the state of a check.
const STATE: Document = Document { format: "kalah check", version: 2 };

/// Identity of a check. A saved state is used only for the same check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckIdentity {
    /// The program, with version and commit.
    pub program: String,
    /// The digest of the certificate, in hexadecimal.
    pub certificate: String,
    /// The [digest of the tables](super::Check::tables_digest) that are used, in hexadecimal; `None` without tables.
    pub tables: Option<String>,
    /// True if the tables are trusted ([`super::Check::trusting`]).
    pub trusts_tables: bool,
}

/// Counts of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CheckTally {
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

impl CheckTally {
    pub(super) fn count(&mut self, reason: Reason) {
        match reason {
            Reason::Trivial | Reason::Claim => {}
            Reason::Table => self.in_tables += 1,
            Reason::OnePly => self.one_ply += 1,
            Reason::Search => self.searched += 1,
            Reason::OnePlyAndSearch => self.one_ply_and_search += 1,
        }
    }

    pub(super) fn add(&mut self, more: &CheckTally) {
        let CheckTally { claims, one_ply, searched, one_ply_and_search, in_tables, nodes } = more;
        self.claims += claims;
        self.one_ply += one_ply;
        self.searched += searched;
        self.one_ply_and_search += one_ply_and_search;
        self.in_tables += in_tables;
        self.nodes += nodes;
    }
}

/// The claims of a certificate that are checked, in tasks of 16, and the counts so far.
#[derive(Clone, Debug)]
pub struct Tasks {
    identity: CheckIdentity,
    /// Claims of the certificate.
    claims: u64,
    done: Vec<bool>,
    tally: CheckTally,
    saved: Instant,
}

/// The state as it is stored.
#[derive(Serialize, Deserialize)]
struct Stored {
    identity: CheckIdentity,
    claims: u64,
    task_claims: u64,
    /// The finished tasks: first and last of each run.
    done: Vec<(usize, usize)>,
    tally: CheckTally,
}

impl Tasks {
    /// No finished tasks of the check of a certificate with `claims` claims.
    pub fn new(identity: CheckIdentity, claims: u64) -> Tasks {
        let tasks = claims.div_ceil(TASK_CLAIMS) as usize;
        Tasks { identity, claims, done: vec![false; tasks], tally: CheckTally::default(), saved: Instant::now() }
    }

    /// Reads the state stored at `path`; without a file, as [`Tasks::new`].
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or belongs to another check.
    pub fn read(path: &Path, identity: CheckIdentity, claims: u64) -> Result<Tasks, StateError> {
        let mut tasks = Tasks::new(identity, claims);
        let Some(bytes) = found(read(path)).map_err(StateError::io(path))? else { return Ok(tasks) };
        let stored: Stored =
            STATE.parse(&bytes).map_err(|error| StateError::document(StateKind::Check, path, &error))?;
        tasks.identity.require(path, &stored.identity)?;
        let impossible = || StateError::damaged(StateKind::Check, path, "it is not the state of a check");
        if (stored.claims, stored.task_claims) != (claims, TASK_CLAIMS) {
            return Err(impossible());
        }
        for (first, last) in stored.done {
            let run = if first <= last { tasks.done.get_mut(first..=last) } else { None };
            run.ok_or_else(impossible)?.fill(true);
        }
        tasks.tally = stored.tally;
        if tasks.tally.claims != tasks.checked() {
            return Err(impossible());
        }
        Ok(tasks)
    }

    /// Stores the state at `path`.
    ///
    /// # Errors
    /// If it cannot be written; the old file stays unchanged.
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

    /// Claims of the finished tasks.
    pub fn checked(&self) -> u64 {
        let size = |task: usize| TASK_CLAIMS.min(self.claims - task as u64 * TASK_CLAIMS);
        (0..self.done.len()).filter(|&task| self.done[task]).map(size).sum()
    }

    /// Returns true if all claims are checked.
    pub fn is_complete(&self) -> bool {
        self.done.iter().all(|&done| done)
    }

    /// Counts of all runs of the check.
    pub fn tally(&self) -> &CheckTally {
        &self.tally
    }

    pub(super) fn is_done(&self, task: usize) -> bool {
        self.done[task]
    }

    /// Adds a finished task.
    pub(super) fn add(&mut self, task: usize, tally: &CheckTally) {
        self.done[task] = true;
        self.tally.add(tally);
    }

    /// Returns true if it is time to save. It is time again after `every`, or after some seconds if that is
    /// less.
    pub(super) fn is_due(&mut self, every: Duration) -> bool {
        let due = self.saved.elapsed() >= every.max(SAVE_EVERY);
        if due {
            self.saved = Instant::now();
        }
        due
    }
}

impl CheckIdentity {
    /// Returns an error that names the first difference if `found`, in the file `path`, identifies another
    /// check.
    fn require(&self, path: &Path, found: &CheckIdentity) -> Result<(), StateError> {
        let CheckIdentity { program, certificate, tables, trusts_tables } = found;
        if *certificate != self.certificate {
            let what = format!("belongs to the check of another certificate, with digest {certificate}");
            return Err(StateError::other(StateKind::Check, path, what));
        }
        let what = if *program != self.program {
            format!("belongs to a check by kalah {program}, but this is {}", self.program)
        } else if *tables != self.tables {
            "belongs to a check on other tables".to_owned()
        } else if *trusts_tables != self.trusts_tables {
            format!("belongs to a check that {} the tables", if *trusts_tables { "trusted" } else { "compared" })
        } else {
            return Ok(());
        };
        Err(StateError::Stale { path: path.to_owned(), what })
    }
}
