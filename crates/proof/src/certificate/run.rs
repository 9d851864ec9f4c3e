use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use kalah_base::file::{Document, StateError, StateFile};
use kalah_base::progress::Pulse;
use kalah_core::game::{Bounds, Position};
use kalah_core::table::{TableError, TableKey, Tables};
use kalah_solve::bounds::{Claim, CodedClaim};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::check::{Checker, Checkers, Reason};
use super::error::CheckError;
use super::statement::{Goal, Head, Statement};
use super::stored::{Known, StoredCertificate};

/// Claims that one thread checks without a break.
const TASK_CLAIMS: usize = 16;

/// Claims that are checked at a time, after which a check may be saved.
pub(crate) const PART_CLAIMS: usize = 1 << 12;

/// Interval at which the state of a check is saved.
const SAVE_EVERY: Duration = Duration::from_secs(10);

/// The file with the state of a check: the counts, again and again. The last ones count.
const STATE: Document = Document { format: "kalah check", version: 3 };

/// The check of a certificate: every claim on its own, on all threads.
#[derive(Debug)]
pub struct Check<'a> {
    certificate: &'a StoredCertificate,
    tables: Option<&'a Tables>,
    checkers: Checkers<'a>,
}

impl<'a> Check<'a> {
    /// A check of `certificate`, which rests on some of `tables`. The tables are compared with their digests,
    /// frame by frame, and the digests with those in the certificate. Adds the bytes compared to
    /// `pulse.positions`. The files must not be written to until the check ends.
    ///
    /// # Errors
    /// If one of these tables is missing, has another digest, or has a frame that does not match;
    /// [`CheckError::Stopped`] if `pulse` was stopped.
    pub fn new(
        certificate: &'a StoredCertificate,
        tables: Option<&'a Tables>,
        pulse: &Pulse,
    ) -> Result<Check<'a>, CheckError> {
        let head = certificate.head();
        compare_digests(head, tables)?;
        tables.map_or(Ok(()), |tables| compare_frames(tables, head.table_seeds(), pulse))?;
        let TableKey { rules, pits, seeds } = key(head, head.table_seeds());
        Ok(Check { certificate, tables, checkers: Checkers::new(rules, pits, tables, seeds, head.effort) })
    }

    /// Checks that the statement follows from the claims. Each of its bounds, for every opening and for the
    /// position itself, must be that of a claim or follow as a claim must.
    ///
    /// # Errors
    /// For the first part of the statement that does not follow, a table that cannot be read, or a statement
    /// with only trivial parts.
    pub fn statement(&self) -> Result<(), CheckError> {
        let goals = self.certificate.head().statement.goals().expect("it was validated with the file");
        if goals.is_empty() {
            let what = "the certificate states nothing: every game has a value within its bounds";
            return Err(CheckError::Statement(what.to_owned()));
        }
        let (mut asking, asked) = (checker(self.certificate.head(), self.tables, 0), RefCell::new(Vec::new()));
        for goal in &goals {
            goal.reason(&mut asking, &|position| {
                asked.borrow_mut().extend(self.certificate.keys().key(position));
                None
            })?;
        }
        let known = self.certificate.look_up(asked.into_inner(), &Pulse::default())?;
        check_goals(&self.checkers, &goals, &|at| known.get(at))
    }

    /// Checks the claims in the order of the file, without the first ones, which are `done`. Adds every claim to
    /// `pulse.positions`. One window of claims is in memory at a time, and the claims about the positions after
    /// their moves.
    ///
    /// From time to time and at the end it saves its counts in `state`. If `pulse` stops the check, the result is
    /// incomplete.
    ///
    /// # Errors
    /// For the first claim in the file that does not hold, a table that cannot be read, or a state that cannot be
    /// saved.
    pub fn claims(
        &self,
        mut done: CheckTally,
        pulse: &Pulse,
        mut state: Option<&mut StateFile>,
    ) -> Result<CheckTally, CheckError> {
        match self.windows(&mut done, pulse, &mut state) {
            Err(CheckError::Stopped(_)) => {}
            checked => checked?,
        }
        state.map_or(Ok(()), |state| state.append(&done))?;
        Ok(done)
    }

    /// Checks the claims that are not `done`, a window at a time.
    fn windows(
        &self,
        done: &mut CheckTally,
        pulse: &Pulse,
        state: &mut Option<&mut StateFile>,
    ) -> Result<(), CheckError> {
        let mut saved = Instant::now();
        for window in self.certificate.windows() {
            if window.end <= done.claims {
                continue;
            }
            let (start, claims) = (window.start, self.certificate.read(window)?);
            let left = &claims[(done.claims - start) as usize..];
            let known = self.asked_by(left, pulse)?;
            for part in left.chunks(PART_CLAIMS) {
                let claims = part.par_iter().map(|&coded| self.certificate.claim(coded));
                check_claims(&self.checkers, claims, &|at| known.get(at), done, pulse)?;
                if let Some(state) = state
                    && saved.elapsed() >= SAVE_EVERY
                {
                    state.append(done)?;
                    saved = Instant::now();
                }
            }
        }
        Ok(())
    }

    /// Looks up the claims that the checks of `claims` may ask for.
    fn asked_by(&self, claims: &[CodedClaim], pulse: &Pulse) -> Result<Known, CheckError> {
        let (checker, keys) = (checker(self.certificate.head(), self.tables, 0), self.certificate.keys());
        let asked = claims.par_iter().flat_map_iter(|&coded| {
            let position = self.certificate.claim(coded).position;
            checker.asked(&position).filter_map(|position| keys.key(&position)).collect::<Vec<_>>()
        });
        self.certificate.look_up(asked.collect(), pulse)
    }
}

/// Checks that these parts of a statement follow from the claims that `known` returns.
///
/// # Errors
/// For the first one that does not follow, or a table that cannot be read.
pub(crate) fn check_goals(
    checkers: &Checkers,
    goals: &[Goal],
    known: &impl Fn(&Position) -> Option<Bounds>,
) -> Result<(), CheckError> {
    checkers.with(|checker| {
        for goal in goals {
            if goal.reason(checker, known)?.is_none() {
                let why = unproved(checker, &goal.position)?;
                return Err(CheckError::Statement(format!("{goal}: {why}")));
            }
        }
        Ok(())
    })
}

/// Checks at most [`PART_CLAIMS`] claims, which follow those of `done`, on all threads. `known` returns the claims
/// about other positions. Adds the counts of the first ones to `done`, up to the first that is wrong or not finished.
///
/// # Errors
/// For the first claim that does not hold, or a table that cannot be read; [`CheckError::Stopped`] if `pulse` was
/// stopped.
pub(crate) fn check_claims(
    checkers: &Checkers,
    claims: impl IndexedParallelIterator<Item = Claim>,
    known: &(impl Fn(&Position) -> Option<Bounds> + Sync),
    done: &mut CheckTally,
    pulse: &Pulse,
) -> Result<(), CheckError> {
    let first = done.claims + 1;
    let task = |(task, claims): (usize, Vec<Claim>)| {
        checkers.with(|checker| {
            let (mut tally, before) = (CheckTally::default(), checker.nodes);
            for (number, claim) in (first + (task * TASK_CLAIMS) as u64..).zip(claims) {
                pulse.check()?;
                for bound in claim.parts() {
                    let Some(reason) = checker.reason(&claim.position, bound, known)? else {
                        let why = unproved(checker, &claim.position)?;
                        return Err(CheckError::Claim { number, claim: Box::new(claim), bound, why });
                    };
                    tally.count(reason);
                }
                tally.claims += 1;
                pulse.positions.fetch_add(1, Ordering::Relaxed);
            }
            tally.nodes = checker.nodes - before;
            Ok(tally)
        })
    };
    for tally in claims.chunks(TASK_CLAIMS).enumerate().map(task).collect::<Vec<_>>() {
        done.add(&tally?);
    }
    Ok(())
}

/// The table of a certificate's board with this number of seeds.
fn key(head: &Head, seeds: usize) -> TableKey {
    let Statement { rules, position, .. } = &head.statement;
    TableKey { rules: *rules, pits: position.pits(), seeds }
}

/// Compares the digests of the tables that a proof rests on with those of its certificate.
///
/// # Errors
/// If one of these tables is missing or has another digest.
pub(super) fn compare_digests(head: &Head, tables: Option<&Tables>) -> Result<(), CheckError> {
    let seeds = head.table_seeds();
    if let Some(tables) = tables.filter(|_| !head.tables.is_empty()) {
        tables.require(seeds)?;
    }
    for (digest, key) in head.tables.iter().zip((2..).map(|seeds| key(head, seeds))) {
        let Some(tables) = tables else {
            return Err(TableError::Missing { directory: "".into(), key, missing: (2..=seeds).collect() }.into());
        };
        let table = tables.require(key.seeds)?;
        if tables.key(key.seeds) != key || *digest != table.header().digest {
            return Err(CheckError::OtherTable(key));
        }
        table.blocks().expect_random_reads();
    }
    Ok(())
}

/// Compares all frames of the tables up to `seeds` seeds with their digests, on all threads. Adds the bytes compared
/// to `pulse.positions`.
///
/// # Errors
/// For the first frame in the order of the files that does not match or cannot be read.
fn compare_frames(tables: &Tables, seeds: usize, pulse: &Pulse) -> Result<(), TableError> {
    let blocks = tables.layers().iter().take(seeds.saturating_sub(1)).map(|table| table.blocks());
    let frames: Vec<_> =
        blocks.flat_map(|blocks| (1..=blocks.sections().len()).map(move |frame| (blocks, frame))).collect();
    let count = |part: &[u8]| {
        pulse.positions.fetch_add(part.len() as u64, Ordering::Relaxed);
        Ok(pulse.check()?)
    };
    let compared = frames.par_iter().map(|(blocks, frame)| blocks.check_digest(*frame, count));
    compared.find_first(Result::is_err).unwrap_or(Ok(()))
}

/// A checker of a certificate's claims over the tables that the proof rests on, whose digests were compared. With
/// effort 0, it asks for each claim that others may need.
pub(super) fn checker<'a>(head: &Head, tables: Option<&'a Tables>, effort: u32) -> Checker<'a> {
    let TableKey { rules, pits, seeds } = key(head, head.table_seeds());
    let tables = tables.filter(|_| seeds > 0);
    Checker::new(rules, pits, tables, seeds, effort).expect("the tables are for this board")
}

/// Reason why a bound does not follow.
fn unproved(checker: &Checker, position: &Position) -> Result<String, TableError> {
    Ok(match (checker.exact(position)?, checker.effort) {
        (Some(score), _) => format!("wrong, the score is {score}"),
        (None, 0) => "not proved in one ply from other claims".to_owned(),
        (None, effort) => {
            format!("not proved, neither in one ply from other claims nor by a search of 2^{effort} nodes")
        }
    })
}

/// Identity of a check. A saved state is used only for the same check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckIdentity {
    /// The program, with version and commit.
    pub program: String,
    /// The digest of the certificate, in hexadecimal.
    pub certificate: String,
    /// The [digest of the tables](super::digest_of_tables) of the proof, in hexadecimal; `None` without tables.
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
    fn count(&mut self, reason: Reason) {
        match reason {
            Reason::Trivial | Reason::Claim => {}
            Reason::Table => self.in_tables += 1,
            Reason::OnePly => self.one_ply += 1,
            Reason::Search => self.searched += 1,
            Reason::OnePlyAndSearch => self.one_ply_and_search += 1,
        }
    }

    fn add(&mut self, more: &CheckTally) {
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
