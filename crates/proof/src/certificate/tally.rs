use std::path::Path;

use kalah_base::file::{Document, StateError, StateFile};
use serde::{Deserialize, Serialize};

use super::check::Reason;

/// The file with the state of a check: the counts, again and again. The last ones count.
const STATE: Document = Document { format: "kalah check", version: 3 };

/// Identity of a check. A saved state is used only for the same check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckIdentity {
    /// The program, with version and commit.
    pub program: String,
    /// The digest of the certificate, in hexadecimal.
    pub certificate: String,
    /// The [digest of the tables](super::Check::tables_digest) that are used, in hexadecimal; `None` without tables.
    pub tables: Option<String>,
}

/// Counts of a check, whose claims are the first ones of the file.
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

impl CheckIdentity {
    /// Opens or creates the state of this check, of a certificate with `claims` claims. Returns the counts of earlier
    /// runs.
    ///
    /// # Errors
    /// As [`StateFile::open`]; also if it counts more claims than there are.
    pub fn open_state(&self, path: &Path, claims: u64) -> Result<(StateFile, CheckTally), StateError> {
        let (file, saved) = StateFile::open::<CheckTally>(path, STATE, self)?;
        let done = saved.last().copied().unwrap_or_default();
        if done.claims > claims {
            return Err(StateError::damaged_record(
                file.path(),
                saved.len() - 1,
                "it counts more claims than there are",
            ));
        }
        Ok((file, done))
    }
}
