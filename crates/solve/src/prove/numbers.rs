use super::manager::Numbers;
use super::test::Test;
use crate::solve::Solver;

/// Turns of the search that evaluates a test which was not run.
const TURNS: u32 = 3;

/// How unsure evaluations are, in seeds.
const DOUBT: f64 = 1.5;

/// By how much a seed more above the tables raises the effort of a test.
const GROWTH: f64 = 1.3;

/// The least likelihood of an answer.
const LEAST: f64 = 1e-6;

/// The likely effort of proving that a test succeeds, and that it fails: the less likely the answer, the more.
pub(super) fn evaluate(solver: &Solver, test: &Test) -> Numbers {
    let seeds = test.position.seeds();
    let tables = solver.table_seeds().unwrap_or(0) as u32;
    if seeds <= tables
        && let Ok(known) = solver.known(&test.position)
        && let Some(answer) = test.decided_by(known)
    {
        return Numbers::decided(answer);
    }
    // Any number gives a proof; good ones give it sooner.
    let evaluation = solver.evaluation(&test.position, TURNS).unwrap_or(f64::from(seeds) / 2.0);
    let margin = evaluation - f64::from(test.score) + 0.5;
    let likelihood = (1.0 / (1.0 + (-margin / DOUBT).exp())).clamp(LEAST, 1.0 - LEAST);
    let effort = GROWTH.powi((seeds - tables.min(seeds)) as i32);
    Numbers { proof: effort / likelihood, disproof: effort / (1.0 - likelihood) }
}
