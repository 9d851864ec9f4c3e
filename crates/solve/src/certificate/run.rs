use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kalah_base::lock::Mutex;
use kalah_base::progress::Pulse;
use kalah_base::random::generator;
use kalah_core::game::{Bounds, Position};
use kalah_core::table::{TableError, TableKey, Tables};

use super::check::{Checker, Reason};
use super::check_error::{CheckError, Unproved};
use super::claim::{Bound, Claim};
use super::compared::ComparedTables;
use super::statement::{Goal, Head, Statement, digest_of_tables};
use super::stored::StoredCertificate;
use super::tasks::{CheckTally, Tasks};

/// A check is saved at most once in this multiple of the time that comparing the tables again takes.
const SAVES_WITHIN: u32 = 20;

/// Callback by which a check saves its finished tasks.
pub type SaveTasks<'a> = dyn Fn(&Tasks) -> std::io::Result<()> + Sync + 'a;

/// Callback that returns true for tasks that are done.
pub(super) type IsDone<'c> = dyn Fn(usize) -> bool + Sync + 'c;

/// Callback for a finished task.
pub(super) type Done<'c> = dyn Fn(usize, &CheckTally) -> Result<(), CheckError> + Sync + 'c;

/// Callback that returns the bounds claimed for a position.
pub(super) type Claimed<'c> = dyn Fn(&Position) -> Option<Bounds> + Sync + 'c;

/// The check of a certificate: every claim on its own, on all threads.
pub struct Check<'a> {
    pub(super) certificate: &'a StoredCertificate,
    tables: Option<&'a Tables>,
    /// Seeds of the largest table that is used; 0 for none.
    table_seeds: usize,
    /// `None` if the tables are trusted.
    compared: Option<ComparedTables<'a>>,
}

impl<'a> Check<'a> {
    /// A check of `certificate`, which rests on some of `tables`. The tables are compared with their digests,
    /// frame by frame, and the digests with those in the certificate. Adds the bytes compared to
    /// `pulse.positions`.
    ///
    /// It uses the tables up to `seeds` seeds, even if the proof rests on fewer. Then searches are shorter, and the
    /// result rests on these tables ([`Check::tables_digest`]). With 0 seeds, it uses those that the proof rests on.
    ///
    /// Tables in memory ([`super::open_copied`]) are compared once, mapped ones again after use.
    ///
    /// # Errors
    /// If one of these tables is missing, has another digest, or has a frame that does not match;
    /// [`CheckError::Stopped`] if `pulse` was stopped.
    pub fn new(
        certificate: &'a StoredCertificate,
        tables: Option<&'a Tables>,
        seeds: usize,
        pulse: &Pulse,
    ) -> Result<Check<'a>, CheckError> {
        let check = Check::trusting(certificate, tables, seeds)?;
        let compare = |tables| ComparedTables::new(tables, check.table_seeds, pulse);
        Ok(Check { compared: tables.map(compare).transpose()?, ..check })
    }

    /// As [`Check::new`], but it compares only the digests in the headers of tables, and the checksums of
    /// blocks when they are first read. So anyone who can write to the tables can make any certificate pass.
    ///
    /// # Errors
    /// If one of these tables is missing or has another digest.
    pub fn trusting(
        certificate: &'a StoredCertificate,
        tables: Option<&'a Tables>,
        seeds: usize,
    ) -> Result<Check<'a>, CheckError> {
        let table_seeds = certificate.head().table_seeds().max(seeds);
        compare_digests(certificate.head(), tables, table_seeds)?;
        Ok(Check { certificate, tables, table_seeds, compared: None })
    }

    /// [One digest](digest_of_tables) for all tables that are used; `None` without tables.
    pub fn tables_digest(&self) -> Option<[u8; 32]> {
        let used = self.tables?.layers().iter().take(self.table_seeds.checked_sub(1)?);
        let digests: Vec<[u8; 32]> = used.map(|table| table.header().digest).collect();
        digest_of_tables(&digests)
    }

    /// A checker over all tables that are used.
    fn checker(&self) -> Checker<'a> {
        let head = self.certificate.head();
        checker(head, self.tables, self.table_seeds, head.effort)
    }

    /// A checker that asks for each claim that a check may need: it has only the tables that the proof rests on.
    pub(super) fn asking_checker(&self) -> Checker<'a> {
        let head = self.certificate.head();
        checker(head, self.tables, head.table_seeds(), 0)
    }

    /// Checks that the statement follows from the claims. Each of its bounds, for every opening and for the
    /// position itself, must be that of a claim or follow as a claim must. Returns the parts of the statement
    /// that are not trivial. Only [`Check::claims`] and [`Check::sample`] compare mapped tables again.
    ///
    /// # Errors
    /// For the first part of the statement that does not follow, a table that cannot be read, or a statement
    /// with only trivial parts.
    pub fn statement(&self) -> Result<Vec<(Goal, Reason)>, CheckError> {
        self.blaming_tables(self.parts_of_statement())
    }

    fn parts_of_statement(&self) -> Result<Vec<(Goal, Reason)>, CheckError> {
        let goals = self.certificate.head().statement.goals().expect("it was validated with the file");
        if goals.is_empty() {
            return Err(CheckError::StatesNothing);
        }
        let mut asking = self.asking_checker();
        let asked = RefCell::new(Vec::new());
        for goal in &goals {
            goal.reason(&mut asking, &|position| {
                asked.borrow_mut().extend(self.certificate.keys().key(position));
                None
            })?;
        }
        let known = self.certificate.look_up(asked.into_inner(), &Pulse::default())?;
        let mut checker = self.checker();
        let follows = |goal: Goal| match self.first_reason(&mut checker, |by| goal.reason(by, &|at| known.get(at)))? {
            Some(reason) => Ok((goal, reason)),
            None => {
                let why = unproved(&mut checker, &goal.position, goal.bound)?;
                Err(CheckError::Statement { goal: Box::new(goal), why })
            }
        };
        goals.into_iter().map(follows).collect()
    }

    /// Asks `checker` for the reason of a bound. With larger tables, a search remembers other positions and might
    /// need more nodes. So a bound that it cannot prove is searched again over the tables that the proof rests on.
    fn first_reason(
        &self,
        checker: &mut Checker<'a>,
        reason: impl Fn(&mut Checker) -> Result<Option<Reason>, TableError>,
    ) -> Result<Option<Reason>, TableError> {
        let (found, head) = (reason(checker)?, self.certificate.head());
        if found.is_some() || head.table_seeds() == self.table_seeds {
            return Ok(found);
        }
        let mut second = self::checker(head, self.tables, head.table_seeds(), head.effort);
        let found = reason(&mut second)?;
        checker.add_nodes(second.nodes());
        Ok(found)
    }

    /// Checks all claims except those done in `tasks`. Adds every claim to `pulse.positions`.
    ///
    /// From time to time and at the end it compares mapped tables again and calls `save` with the finished
    /// tasks. An error of `save` ends the check. If `pulse` stops the check, the result is incomplete.
    ///
    /// # Errors
    /// For the first claim in the file that does not hold, a table that cannot be read or was changed, or an
    /// error of `save`. If `pulse` stopped the check, an earlier claim may be wrong too.
    pub fn claims(&self, tasks: Tasks, pulse: &Pulse, save: Option<&SaveTasks>) -> Result<Tasks, CheckError> {
        let tasks = Mutex::new(tasks);
        let is_done = |task| tasks.lock().is_done(task);
        let every = self.compared.as_ref().map_or(Duration::ZERO, |compared| SAVES_WITHIN * compared.duration());
        let done = |task, tally: &CheckTally| {
            let mut tasks = tasks.lock();
            tasks.add(task, tally);
            match save {
                Some(save) if tasks.is_due(every) => self.save(&tasks, save),
                _ => Ok(()),
            }
        };
        match self.all_claims(&is_done, &done, pulse) {
            Err(CheckError::Stopped(_)) => {}
            checked => self.blaming_tables(checked)?,
        }
        let tasks = tasks.into_inner();
        match save {
            Some(save) => self.save(&tasks, save)?,
            None if tasks.is_complete() => self.compare_again()?,
            // This says nothing about the certificate.
            None => {}
        }
        Ok(tasks)
    }

    /// Saves the finished tasks, after making sure that the tables were the right ones until then.
    fn save(&self, tasks: &Tasks, save: &SaveTasks) -> Result<(), CheckError> {
        self.compare_again()?;
        save(tasks).map_err(CheckError::Save)
    }

    fn compare_again(&self) -> Result<(), CheckError> {
        self.compared.as_ref().map_or(Ok(()), ComparedTables::compare_again)
    }

    /// Returns `result`, or an error of the tables if they were changed meanwhile.
    fn blaming_tables<T>(&self, result: Result<T, CheckError>) -> Result<T, CheckError> {
        if result.is_err() {
            self.compare_again()?;
        }
        result
    }

    /// Checks `count` random claims, or all if there are fewer. The same `seed` draws the same claims.
    ///
    /// # Errors
    /// For the first of these claims in the file that does not hold, or a table that cannot be read or was
    /// changed; [`CheckError::Stopped`] if `pulse` was stopped.
    pub fn sample(&self, count: u64, seed: u64, pulse: &Pulse) -> Result<CheckTally, CheckError> {
        let all = self.certificate.claims();
        let mut random = generator(seed);
        let mut drawn = BTreeSet::new();
        // Floyd's sampling without repetition.
        for most in all.saturating_sub(count)..all {
            if !drawn.insert(random.u64(0..=most)) {
                drawn.insert(most);
            }
        }
        let tally = Mutex::new(CheckTally::default());
        let done = |_, more: &CheckTally| {
            tally.lock().add(more);
            Ok(())
        };
        match self.drawn_claims(&drawn, &done, pulse) {
            Err(CheckError::Stopped(stopped)) => return Err(stopped.into()),
            checked => self.blaming_tables(checked)?,
        }
        self.compare_again()?;
        Ok(tally.into_inner())
    }

    /// Checks the claims of tasks on all threads, tasks with lower numbers first. Tasks after a wrong claim are
    /// left out. A wrong claim is reported rather than a stop.
    pub(super) fn in_parallel(
        &self,
        tasks: Range<usize>,
        is_done: &IsDone,
        claims_of: &(dyn Fn(usize) -> Vec<(u64, Claim)> + Sync),
        claimed: &Claimed,
        done: &Done,
        pulse: &Pulse,
    ) -> Result<(), CheckError> {
        let (next, failed) = (AtomicUsize::new(tasks.start), AtomicUsize::new(usize::MAX));
        let first: Mutex<Option<(usize, CheckError)>> = Mutex::new(None);
        let work = || {
            let mut checker = self.checker();
            loop {
                let task = next.fetch_add(1, Ordering::Relaxed);
                if task >= tasks.end.min(failed.load(Ordering::Relaxed)) {
                    return;
                }
                if is_done(task) {
                    continue;
                }
                let checked = pulse.check().map_err(CheckError::from);
                let checked = checked.and_then(|()| self.task(&mut checker, &claims_of(task), claimed, pulse));
                if let Err(error) = checked.and_then(|tally| done(task, &tally)) {
                    let is_stopped = matches!(error, CheckError::Stopped(_));
                    let place = if is_stopped { usize::MAX } else { task };
                    failed.fetch_min(place, Ordering::Relaxed);
                    let mut first = first.lock();
                    if first.as_ref().is_none_or(|(before, _)| place < *before) {
                        *first = Some((place, error));
                    }
                    if is_stopped {
                        return;
                    }
                }
            }
        };
        rayon::scope(|scope| (0..rayon::current_num_threads()).for_each(|_| scope.spawn(|_| work())));
        let first = first.into_inner();
        first.map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Checks some claims.
    fn task(
        &self,
        checker: &mut Checker<'a>,
        claims: &[(u64, Claim)],
        claimed: &Claimed,
        pulse: &Pulse,
    ) -> Result<CheckTally, CheckError> {
        let mut tally = CheckTally::default();
        let before = checker.nodes();
        for &(number, claim) in claims {
            if let Err(stopped) = pulse.check() {
                pulse.positions.fetch_sub(tally.claims, Ordering::Relaxed);
                return Err(stopped.into());
            }
            for bound in claim.parts() {
                match self.first_reason(checker, |by| by.reason(&claim.position, bound, &claimed))? {
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
        Ok(tally)
    }
}

impl std::fmt::Debug for Check<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Check")
            .field("head", self.certificate.head())
            .field("table_seeds", &self.table_seeds)
            .field("trusts_tables", &(self.table_seeds > 0 && self.compared.is_none()))
            .finish_non_exhaustive()
    }
}

/// The table of a certificate's board with this number of seeds.
fn key(head: &Head, seeds: usize) -> TableKey {
    let Statement { rules, position, .. } = &head.statement;
    TableKey { rules: *rules, pits: position.pits(), seeds }
}

/// Compares the digests of the tables up to `seeds` seeds with those of a certificate. The larger ones must only be
/// there.
///
/// # Errors
/// If one of these tables is missing or has another digest.
pub(super) fn compare_digests(head: &Head, tables: Option<&Tables>, seeds: usize) -> Result<(), CheckError> {
    for (index, key) in (2..=seeds).map(|seeds| key(head, seeds)).enumerate() {
        let Some(tables) = tables else {
            return Err(TableError::Missing { directories: "".into(), key, missing: (2..=seeds).collect() }.into());
        };
        let table = tables.require(key.seeds)?;
        let differs = head.tables.get(index).is_some_and(|digest| *digest != table.header().digest);
        if tables.key(key.seeds) != key || differs {
            return Err(CheckError::OtherTable { key });
        }
        table.blocks().expect_random_reads();
    }
    Ok(())
}

/// A checker of a certificate's claims over the tables up to `seeds` seeds, whose digests were compared.
pub(super) fn checker<'a>(head: &Head, tables: Option<&'a Tables>, seeds: usize, effort: u32) -> Checker<'a> {
    let TableKey { rules, pits, .. } = key(head, seeds);
    let tables = tables.filter(|_| seeds > 0);
    Checker::new(rules, pits, tables, seeds, effort).expect("the tables are for this board")
}

/// Reason why a bound does not follow.
fn unproved(checker: &mut Checker, position: &Position, bound: Bound) -> Result<Unproved, TableError> {
    if let Some(exact) = checker.exact(position)? {
        return Ok(Unproved::Exact(exact));
    }
    let effort = checker.effort();
    if effort == 0 {
        return Ok(Unproved::Effort(0));
    }
    let asked = match bound {
        Bound::AtLeast(score) => score,
        Bound::AtMost(score) => score.saturating_add(1),
    };
    let finding = checker.reaches(position, asked)?;
    let Bounds { lower, upper } = finding.bounds;
    let contrary = match bound {
        Bound::AtLeast(score) => upper < score,
        Bound::AtMost(score) => lower > score,
    };
    Ok(if contrary { Unproved::Wrong(effort) } else { Unproved::Effort(effort) })
}
