use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::check::{Checker, Reason};
use super::claim::{Bound, Claim};
use super::statement::{Certificate, Goal, StatementError};
use super::tasks::{TASK_CLAIMS, Tally, Tasks};
use crate::game::{Bounds, Position};
use crate::progress::Pulse;
use crate::random::generator;
use crate::table::{TableError, TableKey, Tables};

/// What a check of a certificate found, or why it could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// A claim does not hold: of those checked, the first in the order of the file.
    #[error("claim {number}: the score of {} is {bound}: {why}", claim.position)]
    Claim {
        /// Its number, counted from 1.
        number: u64,
        /// The claim.
        claim: Box<Claim>,
        /// Which of its bounds.
        bound: Bound,
        /// Why it does not.
        why: Unproved,
    },
    /// The statement does not follow from the claims.
    #[error("{}: the score of {} is {}: {why}", goal_name(goal), goal.position, goal.bound)]
    Statement {
        /// The part of the statement that does not.
        goal: Box<Goal>,
        /// Why it does not.
        why: Unproved,
    },
    /// What is stated is not a statement: only of a certificate that was not read from a file.
    #[error("what the certificate states is not valid: {0}")]
    Invalid(#[from] StatementError),
    /// A table is not the one that the proof rests on.
    #[error("{key}: the table has another digest than the one that the proof rests on")]
    OtherTable {
        /// The table.
        key: TableKey,
    },
    /// A table is missing or cannot be read.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The state of the check cannot be saved.
    #[error("the state of the check cannot be saved: {0}")]
    Save(std::io::Error),
}

impl CheckError {
    /// Whether the certificate or a table is wrong (false if the check could not be made).
    pub fn is_wrong(&self) -> bool {
        match self {
            CheckError::Claim { .. }
            | CheckError::Statement { .. }
            | CheckError::Invalid(_)
            | CheckError::OtherTable { .. } => true,
            CheckError::Table(error) => error.is_damage(),
            CheckError::Save(_) => false,
        }
    }
}

/// Why a bound is not proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unproved {
    /// The tables, or the end of the game, give this score.
    Exact(u32),
    /// It does not follow in one ply, and searches with this effort do not show it.
    Effort(u32),
    /// A search with this effort shows the contrary.
    Wrong(u32),
}

impl std::fmt::Display for Unproved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unproved::Exact(score) => write!(f, "wrong, the score is {score}"),
            Unproved::Effort(effort) => {
                write!(f, "not proved, neither by one ply from other claims nor by a search of 2^{effort} nodes")
            }
            Unproved::Wrong(effort) => write!(f, "wrong, as a search of at most 2^{effort} nodes shows"),
        }
    }
}

/// The part of a statement that a goal is.
fn goal_name(goal: &Goal) -> String {
    match goal.opening {
        Some(opening) => format!("opening {} of the statement", opening + 1),
        None => "the statement".to_owned(),
    }
}

/// The check of a certificate: every claim on its own, on all threads.
#[derive(Debug)]
pub struct Check<'a> {
    certificate: &'a Certificate,
    tables: Option<&'a Tables>,
}

impl<'a> Check<'a> {
    /// The check of `certificate`. The digests of the tables that it rests on are compared; those are among `tables`.
    ///
    /// That a table has its digest does not show that its contents match it: `kalah verify` does. Whatever the check
    /// reads of a table is compared with its checksums.
    ///
    /// # Errors
    /// When a table that the proof rests on is missing, or has another digest.
    pub fn new(certificate: &'a Certificate, tables: Option<&'a Tables>) -> Result<Check<'a>, CheckError> {
        let head = &certificate.head;
        for (seeds, digest) in (2..).zip(&head.tables) {
            let position = &head.statement.position;
            let key = TableKey { rules: head.statement.rules, pits: position.pits(), seeds };
            let Some(tables) = tables else {
                let missing = (2..=head.table_seeds()).collect();
                return Err(TableError::Missing { directory: Default::default(), key, missing }.into());
            };
            if tables.require(seeds)?.header().digest != *digest || tables.key(seeds) != key {
                return Err(CheckError::OtherTable { key });
            }
        }
        Ok(Check { certificate, tables: tables.filter(|_| !head.tables.is_empty()) })
    }

    /// A checker of this certificate's claims.
    pub fn checker(&self) -> Checker<'a> {
        let head = &self.certificate.head;
        let pits = head.statement.position.pits();
        Checker::new(head.statement.rules, pits, self.tables, head.table_seeds(), head.effort)
    }

    /// Checks that the statement follows from the claims: each of its bounds, for every opening and for the position
    /// itself, is that of a claim, or follows as a claim must. Returns the parts of the statement that are not trivial.
    ///
    /// # Errors
    /// The first part of the statement that does not follow, or a table that cannot be read.
    pub fn statement(&self) -> Result<Vec<(Goal, Reason)>, CheckError> {
        let mut checker = self.checker();
        let goals = self.certificate.head.statement.goals()?;
        let follows = |goal: Goal| match goal.reason(&mut checker, &self.certificate.claims)? {
            Some(reason) => Ok((goal, reason)),
            None => {
                let why = unproved(&mut checker, &goal.position, goal.bound)?;
                Err(CheckError::Statement { goal: Box::new(goal), why })
            }
        };
        goals.into_iter().map(follows).collect()
    }

    /// Checks all claims except those of `tasks` that are done. Adds every claim to `pulse.positions`, and calls `save`
    /// with what is done now and then and at the end; an error of it ends the check. If `pulse` stops it, the result is
    /// not complete.
    ///
    /// # Errors
    /// The first claim that does not hold, in the order of the file; a table that cannot be read; or an error of
    /// `save`. If `pulse` stopped the check, there may be one before.
    pub fn claims(
        &self,
        tasks: Tasks,
        pulse: &Pulse,
        save: &(dyn Fn(&Tasks) -> std::io::Result<()> + Sync),
    ) -> Result<Tasks, CheckError> {
        let claims = &self.certificate.claims;
        // Where each task begins.
        let firsts: Vec<u128> = claims.packed().map(|(key, _)| key).step_by(TASK_CLAIMS as usize).collect();
        let claims_of = |task: usize| {
            let numbers = task as u64 * TASK_CLAIMS..;
            numbers.zip(claims.iter_from(firsts[task])).take(TASK_CLAIMS as usize).collect()
        };
        let tasks = Mutex::new(tasks);
        let is_done = |task| lock(&tasks).is_done(task);
        let done = |task, tally: &Tally| {
            let mut tasks = lock(&tasks);
            tasks.add(task, tally);
            if tasks.is_due() { save(&tasks).map_err(CheckError::Save) } else { Ok(()) }
        };
        self.in_parallel(firsts.len(), &is_done, &claims_of, &done, pulse)?;
        let tasks = tasks.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        save(&tasks).map_err(CheckError::Save)?;
        Ok(tasks)
    }

    /// Checks `count` claims drawn at random, or all if there are no more; the same `seed` draws the same. `None` if
    /// `pulse` stopped it.
    ///
    /// # Errors
    /// The first of these claims that does not hold, in the order of the file, or a table that cannot be read.
    pub fn sample(&self, count: u64, seed: u64, pulse: &Pulse) -> Result<Option<Tally>, CheckError> {
        /// Claims that a thread takes at a time.
        const TOGETHER: usize = 16;
        let all = self.certificate.claims.len() as u64;
        let mut random = generator(seed);
        let mut drawn = BTreeSet::new();
        // Floyd's sampling without repetition.
        for most in all.saturating_sub(count)..all {
            if !drawn.insert(random.u64(0..=most)) {
                drawn.insert(most);
            }
        }
        let numbered = (0..).zip(self.certificate.claims.iter());
        let drawn: Vec<(u64, Claim)> = numbered.filter(|(number, _)| drawn.contains(number)).collect();
        let parts: Vec<_> = drawn.chunks(TOGETHER).collect();
        let tally = Mutex::new(Tally::default());
        let done = |_, more: &Tally| {
            lock(&tally).add(more);
            Ok(())
        };
        self.in_parallel(parts.len(), &|_| false, &|part| parts[part].to_vec(), &done, pulse)?;
        let tally = tally.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok((tally.claims == drawn.len() as u64).then_some(tally))
    }

    /// Checks the claims of so many tasks on all threads, tasks with lower numbers first. Those are left out that come
    /// after one with a claim that does not hold.
    fn in_parallel(
        &self,
        tasks: usize,
        is_done: &(dyn Fn(usize) -> bool + Sync),
        claims_of: &(dyn Fn(usize) -> Vec<(u64, Claim)> + Sync),
        done: &(dyn Fn(usize, &Tally) -> Result<(), CheckError> + Sync),
        pulse: &Pulse,
    ) -> Result<(), CheckError> {
        let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
        let first: Mutex<Option<(usize, CheckError)>> = Mutex::new(None);
        let work = || {
            let mut checker = self.checker();
            loop {
                let task = next.fetch_add(1, Ordering::Relaxed);
                if task >= tasks.min(failed.load(Ordering::Relaxed)) || pulse.is_stopped() {
                    return;
                }
                if is_done(task) {
                    continue;
                }
                let checked = self.task(&mut checker, &claims_of(task), pulse);
                let checked = checked.and_then(|tally| tally.map_or(Ok(()), |tally| done(task, &tally)));
                if let Err(error) = checked {
                    failed.fetch_min(task, Ordering::Relaxed);
                    let mut first = lock(&first);
                    if first.as_ref().is_none_or(|(before, _)| task < *before) {
                        *first = Some((task, error));
                    }
                }
            }
        };
        rayon::scope(|scope| (0..rayon::current_num_threads()).for_each(|_| scope.spawn(|_| work())));
        let first = first.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        first.map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Checks some claims; `None` if `pulse` stopped it.
    fn task(&self, checker: &mut Checker, claims: &[(u64, Claim)], pulse: &Pulse) -> Result<Option<Tally>, CheckError> {
        let known = |position: &Position| self.certificate.claims.get(position);
        let mut tally = Tally::default();
        let before = checker.nodes();
        for &(number, claim) in claims {
            if pulse.is_stopped() {
                pulse.positions.fetch_sub(tally.claims, Ordering::Relaxed);
                return Ok(None);
            }
            for bound in claim.parts() {
                match checker.reason(&claim.position, bound, &known)? {
                    Some(reason) => tally.count(reason),
                    None => {
                        let why = unproved(checker, &claim.position, bound)?;
                        return Err(CheckError::Claim { number: number + 1, claim: Box::new(claim), bound, why });
                    }
                }
            }
            tally.claims += 1;
            pulse.positions.fetch_add(1, Ordering::Relaxed);
        }
        tally.nodes = checker.nodes() - before;
        Ok(Some(tally))
    }
}

/// Why a bound that does not follow does not.
fn unproved(checker: &mut Checker, position: &Position, bound: Bound) -> Result<Unproved, TableError> {
    if let Some(exact) = checker.exact(position)? {
        return Ok(Unproved::Exact(exact));
    }
    let effort = checker.effort();
    let asked = match bound {
        Bound::AtLeast(score) => score,
        Bound::AtMost(score) => score.saturating_add(1),
    };
    let research = checker.reaches(position, asked)?;
    let Bounds { lower, upper } = research.bounds;
    let contrary = match bound {
        Bound::AtLeast(score) => upper < score,
        Bound::AtMost(score) => lower > score,
    };
    Ok(if contrary { Unproved::Wrong(effort) } else { Unproved::Effort(effort) })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
