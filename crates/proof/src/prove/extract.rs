use std::collections::HashSet;

use kalah_core::cancel::Cancel;
use kalah_core::game::Bounds;
use kalah_solve::solve::{SolveError, Solver};
use rayon::prelude::*;

use super::checkers::research;
use super::claims::Claims;
use super::error::ProveError;
use super::test::{Reply, Test};
use crate::certificate::Checkers;

/// Number of tests searched again at a time, on all threads.
const BATCH: usize = 256;

/// First limit of nodes for a search for the move that decides a test. The limit grows from round to round.
const FIRST_LIMIT: u64 = 1 << 16;

/// Growth of the limit from round to round.
const LIMIT_GROWTH: u64 = 16;

/// Extracts claims from the tests that a solver proved.
pub(super) struct Extraction<'a, 's> {
    /// The solver that proved the tests. It proves again what it has forgotten.
    pub solver: &'a Solver<'s>,
    /// The largest layer of tables on which claims may rest.
    pub table_seeds: u32,
    /// Search tests again.
    pub checkers: &'a Checkers<'s>,
    /// Tests that took the solver this many nodes are not searched again, since a re-search would fail.
    pub research_limit: u64,
    /// Ends the extraction.
    pub cancel: &'a Cancel,
}

impl Extraction<'_, '_> {
    /// Adds claims to `held` until the `proved` tests with their answers follow from them.
    ///
    /// `held` must be closed: each of its claims follows from a re-search, or in one ply from others. It is
    /// closed again afterwards, except after an error.
    ///
    /// # Errors
    /// If a test does not have the answer, a table is damaged, or the extraction is stopped.
    pub(super) fn run(&self, held: &mut Claims, proved: &[(Test, bool)]) -> Result<(), ProveError> {
        let mut open: Vec<(Test, bool)> = proved.to_vec();
        while !open.is_empty() {
            self.cancel.check()?;
            let mut batch = Vec::new();
            let mut seen = HashSet::new();
            while batch.len() < BATCH
                && let Some((test, answer)) = open.pop()
            {
                if self.holds(held, &test, answer)? || !seen.insert(test) {
                    continue;
                }
                if self.solver.work(&test.position)? >= self.research_limit {
                    self.expand(held, &test, answer, &mut open)?;
                    held.add(&test, answer, false);
                } else {
                    batch.push((test, answer));
                }
            }
            let research = |test: &Test| {
                self.cancel.check()?;
                Ok::<_, ProveError>(research(self.checkers, test)?)
            };
            let found: Vec<_> = batch.par_iter().map(|(test, _)| research(test)).collect();
            for ((test, answer), found) in batch.into_iter().zip(found) {
                match found? {
                    Some(found) if found != answer => return Err(wrong(&test)),
                    Some(_) => held.add(&test, answer, true),
                    None => {
                        self.expand(held, &test, answer, &mut open)?;
                        held.add(&test, answer, false);
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns true if the answer of a test follows without a new claim.
    fn holds(&self, held: &Claims, test: &Test, answer: bool) -> Result<bool, ProveError> {
        let known = match test.certain().or(held.answer(test).map(|(answer, _)| answer)) {
            Some(known) => Some(known),
            None => self.in_tables(test)?,
        };
        match known {
            Some(known) if known != answer => Err(wrong(test)),
            known => Ok(known.is_some()),
        }
    }

    /// The answer of a test by the tables on which claims may rest.
    fn in_tables(&self, test: &Test) -> Result<Option<bool>, ProveError> {
        if test.position.seeds() > self.table_seeds {
            return Ok(None);
        }
        Ok(test.decided_by(self.solver.known(&test.position)?))
    }

    /// Adds to `open` the tests from which the answer of a test follows in one ply.
    fn expand(&self, held: &Claims, test: &Test, answer: bool, open: &mut Vec<(Test, bool)>) -> Result<(), ProveError> {
        let Some(replies) = self.replies(test, answer)? else { return Ok(()) };
        if !answer {
            open.extend(replies);
            return Ok(());
        }
        let mut known = Vec::new();
        for (reply, same) in &replies {
            if held.answer(reply).is_some_and(|(found, _)| found == *same) {
                return Ok(());
            }
            let bounds = self.solver.known(&reply.position)?;
            match reply.decided_by(bounds) {
                Some(found) if found == *same && reply.position.seeds() <= self.table_seeds => return Ok(()),
                Some(found) if found == *same => known.push((*reply, *same)),
                _ => {}
            }
        }
        // The position with the fewest seeds leaves the least to prove.
        let best = known.into_iter().min_by_key(|(reply, _)| reply.position.seeds());
        open.push(match best {
            Some(best) => best,
            None => self.search(test, &replies)?,
        });
        Ok(())
    }

    /// The tests of the positions after the moves, with the answers from which that of a test follows: one of them if
    /// it is true, else all. `None` if a move certainly suffices.
    fn replies(&self, test: &Test, answer: bool) -> Result<Option<Vec<(Test, bool)>>, ProveError> {
        let mut replies = Vec::new();
        for reply in test.replies(self.solver.rules()) {
            match reply {
                Reply::Certain(true) if answer => return Ok(None),
                Reply::Certain(true) => return Err(wrong(test)),
                Reply::Certain(false) => {}
                Reply::Test { test, same } => replies.push((test, same == answer)),
            }
        }
        Ok(Some(replies))
    }

    /// Finds a move again with which a test succeeds.
    fn search(&self, test: &Test, replies: &[(Test, bool)]) -> Result<(Test, bool), ProveError> {
        let mut left = Vec::new();
        for &(reply, same) in replies {
            let evaluation = self.solver.evaluation(&reply.position, 1)? - f64::from(reply.score);
            left.push((if same { evaluation } else { -evaluation }, reply, same));
        }
        left.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut limit = FIRST_LIMIT;
        while !left.is_empty() {
            let mut undecided = Vec::new();
            for (evaluation, reply, same) in left {
                match self.solver.test_within(&reply.position, reply.score, limit) {
                    Ok(bounds) if reply.decided_by(bounds) == Some(same) => return Ok((reply, same)),
                    Ok(_) => {}
                    Err(SolveError::NodeLimit { .. }) => undecided.push((evaluation, reply, same)),
                    Err(error) => return Err(error.into()),
                }
            }
            left = undecided;
            limit = limit.saturating_mul(LIMIT_GROWTH);
        }
        Err(wrong(test))
    }

    /// Returns the claims of `held` that the `proved` tests with their answers need. Missing claims are found: a job
    /// above split ones has none, or a file was lost.
    ///
    /// # Errors
    /// As [`Extraction::run`].
    pub(super) fn needed(&self, mut held: Claims, proved: &[(Test, bool)], pits: usize) -> Result<Claims, ProveError> {
        self.run(&mut held, proved)?;
        let mut needed = Claims::new(pits);
        let mut open: Vec<(Test, bool)> = proved.to_vec();
        while let Some((test, answer)) = open.pop() {
            // Answers that are certain, in tables, or part of another claim need no claim.
            if self.holds(&needed, &test, answer)? {
                continue;
            }
            let Some((_, searched)) = held.answer(&test).filter(|&(found, _)| found == answer) else {
                self.run(&mut held, &[(test, answer)])?;
                open.push((test, answer));
                continue;
            };
            // The claim may be tighter than the test needs, and then follow from other claims than this answer.
            let whole = match (held.get(&test.position), answer) {
                (Some(Bounds { lower, .. }), true) => Test { score: lower, ..test },
                (Some(Bounds { upper, .. }), false) => Test { score: upper + 1, ..test },
                (None, _) => test,
            };
            if !searched && !self.follow(&held, &needed, &whole, answer, &mut open)? {
                held.remove(&test);
                open.push((test, answer));
                continue;
            }
            needed.add(&whole, answer, searched);
        }
        Ok(needed)
    }

    /// Adds to `open` the claims of `held` from which an answer follows in one ply. Returns false if it does
    /// not follow.
    fn follow(
        &self,
        held: &Claims,
        needed: &Claims,
        test: &Test,
        answer: bool,
        open: &mut Vec<(Test, bool)>,
    ) -> Result<bool, ProveError> {
        let Some(replies) = self.replies(test, answer)? else { return Ok(true) };
        let mut best: Option<(Test, bool)> = None;
        for (reply, expected) in replies {
            let by_table = self.in_tables(&reply)?;
            let found = by_table.or(held.answer(&reply).map(|(found, _)| found)) == Some(expected);
            if !answer {
                if !found {
                    return Ok(false);
                }
                open.push((reply, expected));
            } else if found {
                if by_table.is_some() || needed.answer(&reply).is_some_and(|(found, _)| found == expected) {
                    return Ok(true);
                }
                let seeds = reply.position.seeds();
                best = best.filter(|(best, _)| best.position.seeds() <= seeds).or(Some((reply, expected)));
            }
        }
        open.extend(best);
        Ok(!answer || best.is_some())
    }
}

/// The error for a test that does not have its proved answer.
fn wrong(test: &Test) -> ProveError {
    ProveError::Solve(SolveError::Contradiction(Box::new(test.position)))
}
