use std::collections::{HashMap, HashSet};

use kalah_core::game::{Bounds, Position, Rules};
use kalah_solve::solve::Solver;

use super::request::{Progress, RequestPart};
use super::test::{Reply, Test};

/// Turns of the search that evaluates a test that was not run.
const TURNS: u32 = 3;

/// Uncertainty of evaluations, in seeds.
const DOUBT: f64 = 1.5;

/// Growth of the effort of a test for each further seed above the tables.
const GROWTH: f64 = 1.3;

/// Minimum likelihood of an answer.
const LEAST: f64 = 1e-6;

/// Effort to prove that a test succeeds and that it fails, in the units of the evaluation. Decided tests have 0
/// and infinity.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Numbers {
    proof: f64,
    disproof: f64,
}

impl Numbers {
    /// Numbers of a test with this answer.
    fn decided(answer: bool) -> Numbers {
        let (proof, disproof) = if answer { (0.0, f64::INFINITY) } else { (f64::INFINITY, 0.0) };
        Numbers { proof, disproof }
    }

    /// The answer, if the test is decided.
    fn answer(self) -> Option<bool> {
        if self.proof == 0.0 {
            return Some(true);
        }
        (self.disproof == 0.0).then_some(false)
    }

    /// The answer that takes less effort.
    fn likely(self) -> bool {
        self.proof <= self.disproof
    }

    fn turned(self) -> Numbers {
        Numbers { proof: self.disproof, disproof: self.proof }
    }
}

/// The likely effort to prove that a test succeeds and that it fails. The less likely an answer, the greater
/// its effort.
fn evaluate(solver: &Solver, test: &Test) -> Numbers {
    let seeds = test.position.seeds();
    let tables = solver.table_seeds().unwrap_or(0) as u32;
    if seeds <= tables
        && let Ok(known) = solver.known(&test.position)
        && let Some(answer) = test.decided_by(known)
    {
        return Numbers::decided(answer);
    }
    // Any number leads to a proof; good ones lead to it sooner.
    let evaluation = solver.evaluation(&test.position, TURNS).unwrap_or(f64::from(seeds) / 2.0);
    let margin = evaluation - f64::from(test.score) + 0.5;
    let likelihood = (1.0 / (1.0 + (-margin / DOUBT).exp())).clamp(LEAST, 1.0 - LEAST);
    let effort = GROWTH.powi((seeds - tables.min(seeds)) as i32);
    Numbers { proof: effort / likelihood, disproof: effort / (1.0 - likelihood) }
}

/// Results of the finished jobs.
#[derive(Clone, Debug, Default)]
pub(super) struct Finished {
    bounds: HashMap<Position, Bounds>,
    over_budget: HashSet<Test>,
}

impl Finished {
    /// Adds bounds of the score that a job proved.
    ///
    /// Returns false if they contradict another job.
    #[must_use]
    pub(super) fn proved(&mut self, position: &Position, bounds: Bounds) -> bool {
        let position = position.without_stores();
        let known = self.bounds.entry(position).or_insert(Bounds { lower: 0, upper: position.seeds() });
        *known = Bounds { lower: known.lower.max(bounds.lower), upper: known.upper.min(bounds.upper) };
        known.lower <= known.upper
    }

    /// Marks a test whose job ran over its budget.
    pub(super) fn ran_over(&mut self, test: &Test) {
        self.over_budget.insert(*test);
    }

    /// Bounds that jobs proved for a position.
    pub(super) fn bounds(&self, position: &Position) -> Option<Bounds> {
        self.bounds.get(&position.without_stores()).copied()
    }

    fn answer(&self, test: &Test) -> Option<bool> {
        test.decided_by(*self.bounds.get(&test.position)?)
    }
}

/// The top of the game tree, as far as jobs were split. From the finished jobs it determines the next ones.
///
/// It has no relevant state of its own. All processes compute the same from the same finished jobs, so no
/// process leads the others.
///
/// Tests are nodes of an AND/OR graph with proof numbers (Allis, van der Meulen, van den Herik 1994:
/// Proof-number search). A test succeeds if one move succeeds, and fails if all moves fail. So the effort to
/// prove it is the minimum over its moves, and the effort to disprove it their sum. A job is a test whose moves
/// are not expanded; its numbers come from an evaluation.
pub(super) struct Manager<'e> {
    rules: Rules,
    /// Evaluates tests that were not expanded. Without it, tables decide no test, and all take equal effort.
    solver: Option<&'e Solver<'e>>,
    evaluated: HashMap<Test, Numbers>,
}

/// Numbers of the tests visited in one state of the jobs.
type Seen = HashMap<Test, Numbers>;

impl<'e> Manager<'e> {
    pub(super) fn new(rules: Rules, solver: Option<&'e Solver<'e>>) -> Manager<'e> {
        Manager { rules, solver, evaluated: HashMap::new() }
    }

    /// Plans at most `most` jobs for the parts, hardest first. The hardest job is the one most likely to refute a
    /// hypothesis. Later jobs assume that the earlier ones have the likely answer.
    pub(super) fn plan(&mut self, parts: &[RequestPart], finished: &Finished, most: usize) -> Vec<Test> {
        let (mut jobs, mut assumed) = (Vec::new(), finished.clone());
        // The graph of each part is separate, except for transpositions.
        for part in parts {
            while jobs.len() < most {
                let mut seen = Seen::new();
                let Some(test) = self.progress_in(part, &assumed, &mut seen).next else { break };
                let job = self.leaf(test, &assumed, &mut seen);
                jobs.push(job);
                let answer = self.numbers(&job, &assumed, &mut seen).likely();
                if !assumed.proved(&job.position, job.bounds(answer)) {
                    break;
                }
            }
        }
        jobs
    }

    /// Progress of the parts.
    pub(super) fn progress(&mut self, parts: &[RequestPart], finished: &Finished) -> Vec<Progress> {
        parts.iter().map(|part| self.progress_in(part, finished, &mut Seen::new())).collect()
    }

    fn progress_in(&mut self, part: &RequestPart, finished: &Finished, seen: &mut Seen) -> Progress {
        let mut known = finished.bounds(&part.position);
        loop {
            let progress = part.progress(known);
            let Some(test) = progress.next else { return progress };
            let answered = [Some(test), progress.then].into_iter().flatten().find_map(|test| {
                let answer = self.numbers(&test, finished, seen).answer()?;
                Some(test.bounds(answer))
            });
            let Some(bounds) = answered else { return progress };
            let old = progress.known;
            known = Some(Bounds { lower: old.lower.max(bounds.lower), upper: old.upper.min(bounds.upper) });
        }
    }

    /// Numbers of a test.
    fn numbers(&mut self, test: &Test, finished: &Finished, seen: &mut Seen) -> Numbers {
        if let Some(&numbers) = seen.get(test) {
            return numbers;
        }
        let numbers = match test.certain().or_else(|| finished.answer(test)) {
            Some(answer) => Numbers::decided(answer),
            None if finished.over_budget.contains(test) => {
                let mut numbers = Numbers::decided(false);
                for reply in test.replies(self.rules) {
                    let Numbers { proof, disproof } = self.reply(&reply, finished, seen);
                    numbers.proof = numbers.proof.min(proof);
                    numbers.disproof += disproof;
                }
                numbers
            }
            None => {
                let equal = Numbers { proof: 1.0, disproof: 1.0 };
                let evaluation = || self.solver.map_or(equal, |solver| evaluate(solver, test));
                *self.evaluated.entry(*test).or_insert_with(evaluation)
            }
        };
        seen.insert(*test, numbers);
        numbers
    }

    /// Numbers of a test whose only move is this one.
    fn reply(&mut self, reply: &Reply, finished: &Finished, seen: &mut Seen) -> Numbers {
        match reply {
            Reply::Certain(answer) => Numbers::decided(*answer),
            Reply::Test { test, same: true } => self.numbers(test, finished, seen),
            Reply::Test { test, same: false } => self.numbers(test, finished, seen).turned(),
        }
    }

    /// The job on which the answer of an undecided test depends most.
    fn leaf(&mut self, mut test: Test, finished: &Finished, seen: &mut Seen) -> Test {
        while finished.over_budget.contains(&test) {
            let mut best: Option<(f64, Test)> = None;
            for reply in test.replies(self.rules) {
                let Reply::Test { test, .. } = reply else { continue };
                let numbers = self.reply(&reply, finished, seen);
                if numbers.answer().is_none() && best.is_none_or(|(proof, _)| numbers.proof < proof) {
                    best = Some((numbers.proof, test));
                }
            }
            // An undecided test has an undecided move.
            let Some((_, next)) = best else { break };
            test = next;
        }
        test
    }

    /// The decided tests, with their answers, of the parts and of their expanded moves.
    pub(super) fn decided(&mut self, parts: &[RequestPart], finished: &Finished) -> Vec<(Test, bool)> {
        let mut seen = Seen::new();
        for part in parts {
            let progress = self.progress_in(part, finished, &mut seen);
            for (test, _) in part.proved(progress.known) {
                self.numbers(&test, finished, &mut seen);
            }
        }
        let decided = seen.iter().filter_map(|(test, numbers)| Some((*test, numbers.answer()?)));
        decided.filter(|(test, _)| test.certain().is_none()).collect()
    }
}
