use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use kalah_core::game::{Bounds, Position, Rules};
use kalah_solve::solve::Solver;

use super::test::{Progress, Reply, Target, Test};

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
pub(super) struct Numbers {
    /// Effort to prove that it succeeds.
    pub proof: f64,
    /// Effort to prove that it fails.
    pub disproof: f64,
}

impl Numbers {
    /// Numbers of a test with this answer.
    pub(crate) fn decided(answer: bool) -> Numbers {
        let (proof, disproof) = if answer { (0.0, f64::INFINITY) } else { (f64::INFINITY, 0.0) };
        Numbers { proof, disproof }
    }

    /// The answer, if the test is decided.
    pub(crate) fn answer(self) -> Option<bool> {
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
pub(super) fn evaluate(solver: &Solver, test: &Test) -> Numbers {
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
    pub(crate) fn proved(&mut self, position: &Position, bounds: Bounds) -> bool {
        let position = position.without_stores();
        let known = self.bounds.entry(position).or_insert(Bounds { lower: 0, upper: position.seeds() });
        *known = Bounds { lower: known.lower.max(bounds.lower), upper: known.upper.min(bounds.upper) };
        known.lower <= known.upper
    }

    /// Marks a test whose job ran over its budget.
    pub(crate) fn ran_over(&mut self, test: &Test) {
        self.over_budget.insert(*test);
    }

    /// Bounds that jobs proved for a position.
    pub(crate) fn bounds(&self, position: &Position) -> Option<Bounds> {
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
    /// Returns the numbers of a test that was not expanded.
    evaluate: Box<dyn FnMut(&Test) -> Numbers + 'e>,
    evaluated: HashMap<Test, Numbers>,
    replies: HashMap<Test, Arc<[Reply]>>,
}

/// Next jobs and progress.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct JobPlan {
    /// Tests to run, in this order. Later ones assume that the earlier ones have the likely answer.
    pub jobs: Vec<Test>,
    /// True if these are all remaining jobs, provided that each has the likely answer.
    pub is_complete: bool,
    /// Progress of each target.
    pub targets: Vec<Progress>,
}

/// Numbers of the tests visited in one state of the jobs.
type Seen = HashMap<Test, Numbers>;

impl<'e> Manager<'e> {
    /// A manager of tests by these rules. `evaluate` returns the effort of a test that was not expanded, and
    /// the answer of a test that needs no job.
    pub(crate) fn new(rules: Rules, evaluate: impl FnMut(&Test) -> Numbers + 'e) -> Manager<'e> {
        Manager { rules, evaluate: Box::new(evaluate), evaluated: HashMap::new(), replies: HashMap::new() }
    }

    /// Plans at most `most` jobs for the targets, hardest first. The hardest job is the one most likely to
    /// refute a hypothesis.
    pub(crate) fn plan(&mut self, targets: &[Target], finished: &Finished, most: usize) -> JobPlan {
        let now = targets.iter().map(|target| self.progress(target, finished, &mut Seen::new()));
        let now: Vec<Progress> = now.collect();
        let (mut jobs, mut assumed) = (Vec::new(), finished.clone());
        let mut is_complete = true;
        // The graph of each target is separate, except for transpositions.
        for target in targets {
            loop {
                let mut seen = Seen::new();
                let Some(test) = self.progress(target, &assumed, &mut seen).next else { break };
                if jobs.len() >= most {
                    is_complete = false;
                    break;
                }
                let job = self.leaf(test, &assumed, &mut seen);
                jobs.push(job);
                let answer = self.numbers(&job, &assumed, &mut seen).likely();
                if !assumed.proved(&job.position, job.bounds(answer)) {
                    break;
                }
            }
        }
        JobPlan { jobs, is_complete, targets: now }
    }

    /// Progress of a target.
    fn progress(&mut self, target: &Target, finished: &Finished, seen: &mut Seen) -> Progress {
        let mut known = finished.bounds(&target.position);
        loop {
            let progress = target.progress(known);
            let Some(test) = progress.next else { return progress };
            let tests = [Some(test), progress.then];
            let answered = tests.into_iter().flatten().find_map(|test| {
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
                for reply in self.replies(test).iter() {
                    let Numbers { proof, disproof } = self.reply(reply, finished, seen);
                    numbers.proof = numbers.proof.min(proof);
                    numbers.disproof += disproof;
                }
                numbers
            }
            None => self.evaluation(test),
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
    fn leaf(&mut self, test: Test, finished: &Finished, seen: &mut Seen) -> Test {
        let mut test = test;
        while finished.over_budget.contains(&test) {
            let mut best: Option<(f64, Test)> = None;
            for reply in self.replies(&test).iter() {
                let &Reply::Test { test, .. } = reply else { continue };
                let numbers = self.reply(reply, finished, seen);
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

    /// The decided tests, with their answers, of the targets and of their expanded moves.
    pub(crate) fn decided(&mut self, targets: &[Target], finished: &Finished) -> Vec<(Test, bool)> {
        let mut seen = Seen::new();
        for target in targets {
            let progress = self.progress(target, finished, &mut seen);
            for (test, _) in target.proved(progress.known) {
                self.numbers(&test, finished, &mut seen);
            }
        }
        let decided = seen.iter().filter_map(|(test, numbers)| Some((*test, numbers.answer()?)));
        decided.filter(|(test, _)| test.certain().is_none()).collect()
    }

    fn evaluation(&mut self, test: &Test) -> Numbers {
        if let Some(&numbers) = self.evaluated.get(test) {
            return numbers;
        }
        let numbers = (self.evaluate)(test);
        self.evaluated.insert(*test, numbers);
        numbers
    }

    fn replies(&mut self, test: &Test) -> Arc<[Reply]> {
        self.replies.entry(*test).or_insert_with(|| test.replies(self.rules).into()).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prove::test::Aim;

    const RULES: Rules = Rules::EmptyCapture;

    /// The score of a position by plain minimax.
    fn score(position: &Position, scores: &mut HashMap<Position, u32>) -> u32 {
        if position.is_over() {
            return position.mover().total();
        }
        if let Some(&score) = scores.get(position) {
            return score;
        }
        let after = |pit| {
            let played = position.play(RULES, pit).unwrap();
            played.mover_score(position, score(&played.position.without_stores(), scores))
        };
        let best = position.moves().map(after).max().unwrap();
        scores.insert(*position, best);
        best
    }

    #[test]
    fn any_jobs_in_any_order_lead_to_the_truth() {
        let mut scores = HashMap::new();
        let mut random = fastrand::Rng::with_seed(7);
        let start: Position = "2x3".parse().unwrap();
        let truth = score(&start, &mut scores);
        let seeds = start.seeds();
        let mut aims = vec![];
        for score in 0..=seeds {
            aims.extend([
                Aim::Find { guess: score },
                Aim::Exactly { score },
                Aim::AtLeast { score },
                Aim::AtMost { score },
            ]);
        }
        for aim in aims {
            let target = Target { position: start, aim };
            let mut evaluations = fastrand::Rng::with_seed(8);
            let mut manager =
                Manager::new(RULES, |_| Numbers { proof: 1.0 + evaluations.f64(), disproof: 1.0 + evaluations.f64() });
            let (mut finished, mut split) = (Finished::default(), HashMap::new());
            let known = loop {
                let plan = manager.plan(&[target], &finished, random.usize(1..6));
                let progress = plan.targets[0];
                if progress.next.is_none() {
                    assert!(plan.jobs.is_empty());
                    break progress;
                }
                assert!(!plan.jobs.is_empty());
                for (index, job) in plan.jobs.iter().enumerate() {
                    assert!(job.certain().is_none() && !plan.jobs[..index].contains(job));
                    assert!(finished.answer(job).is_none() && !split.contains_key(job));
                }
                let job = plan.jobs[random.usize(..plan.jobs.len())];
                if random.f64() < 0.6 {
                    finished.ran_over(&job);
                    split.insert(job, ());
                } else {
                    let answer = score(&job.position, &mut scores) >= job.score;
                    assert!(finished.proved(&job.position, job.bounds(answer)));
                }
            };
            let Bounds { lower, upper } = known.known;
            assert!((lower..=upper).contains(&truth), "{aim:?}: {lower} to {upper}");
            let is_wrong = match aim {
                Aim::Find { .. } => false,
                Aim::Exactly { score } => score != truth,
                Aim::AtLeast { score } => score > truth,
                Aim::AtMost { score } => score < truth,
            };
            assert_eq!(known.is_refuted, is_wrong, "{aim:?}");
            match aim {
                Aim::Find { .. } => assert_eq!((lower, upper), (truth, truth), "{aim:?}"),
                Aim::Exactly { .. } if !is_wrong => assert_eq!((lower, upper), (truth, truth), "{aim:?}"),
                Aim::AtLeast { score } if !is_wrong => assert!(lower >= score),
                Aim::AtMost { score } if !is_wrong => assert!(upper <= score),
                _ => {}
            }
            for (test, answer) in manager.decided(&[target], &finished) {
                assert_eq!(score(&test.position, &mut scores) >= test.score, answer, "{test}");
            }
        }
    }

    #[test]
    fn the_hardest_job_comes_first_and_a_sibling_when_it_is_harder_than_expected() {
        let start: Position = "4x2".parse().unwrap();
        let test = Test::new(&start, 9);
        let replies: Vec<Test> = test
            .replies(RULES)
            .into_iter()
            .filter_map(|reply| if let Reply::Test { test, same: false } = reply { Some(test) } else { None })
            .collect();
        assert!(replies.len() > 1);
        // The move of the second reply has the least expected effort to succeed.
        let evaluate = |asked: &Test| match replies.iter().position(|reply| reply == asked) {
            Some(1) => Numbers { proof: 9.0, disproof: 2.0 },
            Some(_) => Numbers { proof: 9.0, disproof: 3.0 },
            None => Numbers { proof: 20.0, disproof: 20.0 },
        };
        let target = Target { position: start, aim: Aim::AtLeast { score: 9 } };
        let mut manager = Manager::new(RULES, evaluate);
        let mut finished = Finished::default();
        assert_eq!(manager.plan(&[target], &finished, 1).jobs, [test]);
        finished.ran_over(&test);
        assert_eq!(manager.plan(&[target], &finished, 1).jobs, [replies[1]]);
        // It is split, so its moves take more effort than its siblings.
        finished.ran_over(&replies[1]);
        let next = manager.plan(&[target], &finished, 1).jobs;
        assert!(next[0] != replies[1] && replies.contains(&next[0]), "{next:?}");
        // The other moves fail, so only those of the split one are left.
        for reply in replies.iter().enumerate().filter(|&(index, _)| index != 1).map(|(_, reply)| reply) {
            assert!(finished.proved(&reply.position, reply.bounds(true)));
        }
        let next = manager.plan(&[target], &finished, 1).jobs;
        assert!(!next.is_empty() && !replies.contains(&next[0]), "{next:?}");
    }
}
