//! Proofs in directories: certificates that the checker accepts, whatever happened on the way.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kalah::build::build;
use kalah::certificate::{Certificate, Checker, Reason};
use kalah::game::{Position, Rules, ValueBounds};
use kalah::prove::{
    Checkers, ProofDirectory, ProofPlan, ProveError, ProveEvent, Prover, ProverOptions, Request, State, Wanted,
};
use kalah::solve::{SolveError, Solver, SolverOptions};
use kalah::table::Tables;

/// A proof to run.
#[derive(Clone)]
struct Case<'a> {
    rules: Rules,
    position: &'a str,
    wanted: Wanted,
    tables: Option<&'a Tables>,
    rests_on: usize,
    effort: u32,
    budget: u64,
    threads: usize,
}

impl<'a> Case<'a> {
    fn new(rules: Rules, position: &'a str, wanted: Wanted, tables: Option<&'a Tables>) -> Case<'a> {
        let rests_on = tables.and_then(Tables::max_seeds).unwrap_or(0);
        Case { rules, position, wanted, tables, rests_on, effort: 6, budget: 1 << 20, threads: 1 }
    }

    fn solver(&self) -> Solver<'a> {
        let position = self.position.parse().unwrap();
        let options = SolverOptions::new(self.rules, &position).tables(self.tables).threads(self.threads);
        Solver::new(options.transpositions(1 << 22)).unwrap()
    }

    /// Runs the proof in `directory`; ends it by an error when `ends` says so after a job.
    fn run(&self, directory: &Path, ends: &(dyn Fn() -> bool + Sync)) -> Result<(State, Option<Certificate>), ProveError> {
        let (position, solver) = (self.position.parse().unwrap(), self.solver());
        let request = Request { rules: self.rules, position, wanted: self.wanted };
        let directory = ProofDirectory::open_or_begin(directory, || {
            let layers = self.tables.iter().flat_map(|tables| tables.layers()).take(self.rests_on.saturating_sub(1));
            let tables = layers.map(|table| table.header().digest).collect();
            Ok(ProofPlan { request, effort: self.effort, tables, parts: request.parts(&solver)? })
        })?;
        let checkers = Checkers::new(directory.plan(), self.tables);
        let stop = Arc::default();
        let options = ProverOptions { budget: self.budget, stop: Arc::clone(&stop), ..ProverOptions::default() };
        let on_event = move |event: ProveEvent| {
            if matches!(event, ProveEvent::Finished { .. }) && ends() {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let research = |test: &_| checkers.research(test);
        let mut prover = Prover::new(&solver, &directory, &research, options, &on_event)?;
        let state = prover.run()?;
        let proved = state.is_proved().then(|| -> Result<_, ProveError> {
            let claims = prover.certificate_claims()?;
            Ok(directory.plan().certificate(&state.parts, &claims).unwrap())
        });
        Ok((state, proved.transpose()?))
    }

    /// Checks a certificate: each bound of each claim, and what it states.
    fn check(&self, certificate: &Certificate) {
        let Certificate { head, claims } = certificate;
        let mut checker = Checker::new(self.rules, claims.keys().pits(), self.tables, self.rests_on, self.effort);
        for claim in claims.iter() {
            assert!(claim.parts().count() > 0, "{claim:?}: says nothing");
            for bound in claim.parts() {
                let follows = checker.follows(&claim.position, bound, &|position| claims.get(position)).unwrap();
                let holds = follows || checker.searches(&claim.position, bound).unwrap();
                assert!(holds, "{}: {}: {bound} of {claim:?} does not follow", self.rules, self.position);
            }
        }
        for goal in head.statement.goals().unwrap() {
            let reason = goal.reason(&mut checker, claims).unwrap();
            assert!(matches!(reason, Some(Reason::Claim | Reason::Table | Reason::Trivial)), "{goal:?}: {reason:?}");
        }
    }

    fn value(&self) -> i64 {
        self.solver().value(&self.position.parse().unwrap(), 0).unwrap().1
    }
}

fn tables(directory: &Path, rules: Rules, pits: usize, seeds: usize) -> Tables {
    build(directory, rules, pits, seeds).unwrap();
    Tables::open(directory, rules, pits, seeds).unwrap()
}

#[test]
fn certificates_of_small_boards_hold_and_state_their_values() {
    for rules in Rules::ALL {
        for (position, seeds) in [("4x3", 6), ("5x2", 8), ("3x3", 0), ("6x2", 9)] {
            let start: Position = position.parse().unwrap();
            let files = tempfile::tempdir().unwrap();
            let tables = (seeds > 0).then(|| tables(files.path(), rules, start.pits(), seeds));
            for (effort, budget) in [(0, 1 << 30), (5, 3000), (8, 1024), (20, 1)] {
                let case = Case { effort, budget, ..Case::new(rules, position, Wanted::Find, tables.as_ref()) };
                let directory = tempfile::tempdir().unwrap();
                let (state, certificate) = case.run(directory.path(), &|| false).unwrap();
                let certificate = certificate.unwrap();
                eprintln!("{rules} {position} {effort} {budget}: {} jobs, {} split, {} nodes, {} claims", state.proved, state.split, state.nodes, certificate.claims.len());
                case.check(&certificate);
                let value = case.value();
                let stated = certificate.head.statement.bounds;
                assert_eq!(stated, ValueBounds { lower: value, upper: value }, "{rules} {position}");
            }
        }
    }
}
