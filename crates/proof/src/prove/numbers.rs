use kalah_solve::solve::Solver;

use super::manager::Numbers;
use super::test::Test;

/// Turns of the search that evaluates a test that was not run.
const TURNS: u32 = 3;

/// Uncertainty of evaluations, in seeds.
const DOUBT: f64 = 1.5;

/// Growth of the effort of a test for each further seed above the tables.
const GROWTH: f64 = 1.3;

/// Minimum likelihood of an answer.
const LEAST: f64 = 1e-6;

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
