//! Proofs in directories: the checker accepts their certificates, however often the proof was interrupted.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use kalah::build::build;
use kalah::cancel::Cancel;
use kalah::certificate::{Certificate, Checker, Reason, Statement};
use kalah::file::StateError;
use kalah::game::{Position, Rules, ValueBounds};
use kalah::prove::{ProofDirectory, ProofPlan, ProveError, ProveEvent, Prover, ProverOptions, Request, State, Wanted};
use kalah::solve::{Opening, SolveError, Solver, SolverOptions};
use kalah::table::Tables;

/// A proof to run.
#[derive(Clone)]
pub(crate) struct Case<'a> {
    pub rules: Rules,
    pub position: &'a str,
    pub wanted: Wanted,
    pub tables: Option<&'a Tables>,
    pub rests_on: usize,
    pub effort: u32,
    pub budget: u64,
    pub threads: usize,
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

    /// Runs the proof in `directory`. Ends it with an error as soon as `ends` returns true after a job.
    pub(crate) fn run(
        &self,
        directory: &Path,
        ends: &(dyn Fn() -> bool + Sync),
    ) -> Result<(State, Option<Certificate>), ProveError> {
        let (position, solver) = (self.position.parse().unwrap(), self.solver());
        let request = Request { rules: self.rules, position, wanted: self.wanted };
        let directory = ProofDirectory::open_or_begin(directory, || {
            let layers = self.tables.iter().flat_map(|tables| tables.layers()).take(self.rests_on.saturating_sub(1));
            let tables = layers.map(|table| table.header().digest).collect();
            Ok(ProofPlan { request, effort: self.effort, tables, parts: request.parts(&solver)? })
        })?;
        let cancel = Cancel::new();
        let options = ProverOptions { budget: self.budget, cancel: cancel.clone(), ..ProverOptions::default() };
        let on_event = move |event: ProveEvent| {
            if matches!(event, ProveEvent::Finished { .. }) && ends() {
                cancel.cancel();
            }
        };
        let files = tempfile::tempdir().unwrap();
        let file = files.path().join("certificate");
        let (solver, tables, on_event) = (&solver, self.tables, &on_event);
        let (state, written) = Prover { solver, tables, directory: &directory, options, on_event }.prove(&file)?;
        assert_eq!(written.is_some(), state.is_proved());
        Ok((state, written.map(|_| Certificate::read(&file).unwrap())))
    }

    /// Checks each bound of each claim of a certificate, and its statement.
    fn check(&self, certificate: &Certificate) {
        let Certificate { head, claims } = certificate;
        let mut checker =
            Checker::new(self.rules, claims.keys().pits(), self.tables, self.rests_on, self.effort).unwrap();
        for claim in claims.iter() {
            assert!(claim.parts().count() > 0, "{claim:?}: says nothing");
            for bound in claim.parts() {
                let follows = checker.one_ply(&claim.position, &|position| claims.get(position)).unwrap();
                let holds = bound.is_implied_by(follows) || checker.searches(&claim.position, bound).unwrap();
                assert!(holds, "{}: {}: {bound} of {claim:?} does not follow", self.rules, self.position);
            }
        }
        for goal in head.statement.goals().unwrap() {
            let reason = goal.reason(&mut checker, &|position| claims.get(position)).unwrap();
            // The value may follow from claims about the openings.
            let needs_no_search = [Reason::Claim, Reason::Table, Reason::Trivial, Reason::OnePly];
            assert!(reason.is_some_and(|reason| needs_no_search.contains(&reason)), "{goal:?}: {reason:?}");
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

/// A board with temporary tables.
pub(crate) struct Board {
    pub position: &'static str,
    pub rules: Rules,
    pub tables: Option<Tables>,
    /// Directory of the tables; removed with them.
    _files: tempfile::TempDir,
}

impl Board {
    pub(crate) fn new(rules: Rules, position: &'static str, seeds: usize) -> Board {
        let start: Position = position.parse().unwrap();
        let files = tempfile::tempdir().unwrap();
        let tables = (seeds > 0).then(|| tables(files.path(), rules, start.pits(), seeds));
        Board { position, rules, tables, _files: files }
    }

    #[cfg(feature = "cli")]
    pub(crate) fn directory(&self) -> &Path {
        self._files.path()
    }

    pub(crate) fn case(&self, wanted: Wanted) -> Case<'_> {
        Case::new(self.rules, self.position, wanted, self.tables.as_ref())
    }
}

pub(crate) fn never() -> bool {
    false
}

#[test]
fn certificates_of_small_boards_hold_and_state_their_values() {
    certificates_hold_and_state_their_values(&[("3x3", 0), ("4x2", 4)]);
}

#[test]
#[ignore = "slow"]
fn certificates_of_larger_boards_hold_and_state_their_values() {
    certificates_hold_and_state_their_values(&[("4x3", 6), ("6x2", 8)]);
}

fn certificates_hold_and_state_their_values(boards: &[(&'static str, usize)]) {
    for rules in Rules::ALL {
        for &(position, seeds) in boards {
            let board = Board::new(rules, position, seeds);
            let value = board.case(Wanted::Find).value();
            // No splitting and small claims; a little of both; the most splitting and a single claim.
            for (effort, budget) in [(0, u64::MAX), (5, 3000), (20, 1)] {
                let case = Case { effort, budget, ..board.case(Wanted::Find) };
                let directory = tempfile::tempdir().unwrap();
                let (state, certificate) = case.run(directory.path(), &never).unwrap();
                let certificate = certificate.unwrap();
                case.check(&certificate);
                let stated = certificate.head.statement.bounds;
                assert_eq!(stated, ValueBounds { lower: value, upper: value }, "{rules} {position}");
                assert!(budget < u64::MAX || state.jobs.iter().all(|job| job.answer.is_some()));
                assert!(
                    effort < 20 || certificate.claims.len() == 1,
                    "{rules} {position}: {}",
                    certificate.claims.len()
                );
            }
        }
    }
}

#[test]
fn a_certificate_may_rest_on_fewer_tables_than_the_solver_has_and_be_found_by_threads() {
    let board = Board::new(Rules::Standard, "5x2", 12);
    for (rests_on, threads) in [(12, 1), (7, 1), (0, 1), (7, 3)] {
        let case = Case { rests_on, threads, budget: 2000, ..board.case(Wanted::Find) };
        let directory = tempfile::tempdir().unwrap();
        let (_, certificate) = case.run(directory.path(), &never).unwrap();
        let certificate = certificate.unwrap();
        assert_eq!(certificate.head.table_seeds(), rests_on);
        case.check(&certificate);
        assert_eq!(certificate.head.statement.bounds.value(), Some(case.value()));
    }
}

#[test]
fn bounds_are_proved_and_what_is_wrong_is_refuted() {
    for rules in [Rules::EmptyCapture, Rules::SKalaha] {
        let board = Board::new(rules, "4x2", 5);
        let value = board.case(Wanted::Find).value();
        let all = Statement::all_values(&board.position.parse().unwrap());
        for budget in [1, u64::MAX] {
            for (wanted, expected) in [
                (Wanted::Value(value), Some((value, value))),
                (Wanted::AtLeast(value), Some((value, all.upper))),
                // Values differ by even numbers.
                (Wanted::AtLeast(value - 1), Some((value, all.upper))),
                (Wanted::AtMost(value + 1), Some((all.lower, value))),
                (Wanted::AtLeast(value + 2), None),
                (Wanted::AtMost(value - 2), None),
                (Wanted::Value(value + 4), None),
                (Wanted::Value(value - 2), None),
            ] {
                let case = Case { budget, ..board.case(wanted) };
                let directory = tempfile::tempdir().unwrap();
                let (state, certificate) = case.run(directory.path(), &never).unwrap();
                assert_eq!(state.is_refuted(), expected.is_none(), "{rules} {wanted:?}");
                match (expected, certificate) {
                    (Some((lower, upper)), Some(certificate)) => {
                        assert_eq!(
                            certificate.head.statement.bounds,
                            ValueBounds { lower, upper },
                            "{rules} {wanted:?}"
                        );
                        case.check(&certificate);
                    }
                    (None, None) => {}
                    (_, certificate) => panic!("{rules} {wanted:?}: {certificate:?}"),
                }
            }
        }
        for wanted in [Wanted::Value(value + 1), Wanted::AtLeast(all.upper + 1), Wanted::AtMost(all.lower - 1)] {
            let directory = tempfile::tempdir().unwrap();
            let error = board.case(wanted).run(directory.path(), &never).unwrap_err();
            assert!(matches!(&error, ProveError::Request(text) if text.contains("cannot be")), "{wanted:?}: {error}");
            assert!(!directory.path().join("proof.json").exists());
        }
    }
}

/// `check` refuses a certificate that states nothing, so none is written.
#[test]
fn a_request_that_every_game_meets_is_refused() {
    let board = Board::new(Rules::SKalaha, "3x2", 0);
    let all = Statement::all_values(&board.position.parse().unwrap());
    let over = Board::new(Rules::Standard, "<2,5,3,0,0,0,0>", 0);
    let trivial = [Wanted::AtLeast(all.lower), Wanted::AtLeast(all.lower - 1), Wanted::AtMost(all.upper)];
    let trivial = trivial.map(|wanted| board.case(wanted)).into_iter();
    let of_no_seeds = [Wanted::Find, Wanted::Value(2), Wanted::AtLeast(2), Wanted::Openings];
    for case in trivial.chain(of_no_seeds.map(|wanted| over.case(wanted))) {
        let directory = tempfile::tempdir().unwrap();
        let error = case.run(directory.path(), &never).unwrap_err();
        assert!(
            matches!(&error, ProveError::Request(text) if text.contains("nothing to prove")),
            "{:?}: {error}",
            case.wanted
        );
        assert!(!directory.path().join("proof.json").exists());
    }
    // The last bounds that state something.
    for wanted in [Wanted::AtLeast(all.lower + 2), Wanted::AtMost(all.upper - 2)] {
        let directory = tempfile::tempdir().unwrap();
        let case = board.case(wanted);
        case.check(&case.run(directory.path(), &never).unwrap().1.unwrap());
    }
}

#[test]
fn openings_are_proved_with_the_value_that_follows() {
    for (rules, position, seeds) in
        [(Rules::Standard, "4x2", 5), (Rules::EmptyCapture, "6x2", 9), (Rules::SKalaha, "3x2", 0)]
    {
        let board = Board::new(rules, position, seeds);
        for budget in [1, u64::MAX] {
            let case = Case { budget, ..board.case(Wanted::Openings) };
            let directory = tempfile::tempdir().unwrap();
            let certificate = case.run(directory.path(), &never).unwrap().1.unwrap();
            case.check(&certificate);
            let statement = &certificate.head.statement;
            assert_eq!(statement.bounds.value(), Some(case.value()));
            let solver = case.solver();
            let openings = Opening::all(solver.rules(), &statement.position);
            assert_eq!(openings.len(), statement.openings.len());
            for (opening, stated) in openings.iter().zip(&statement.openings) {
                assert_eq!(opening.moves, stated.moves);
                assert_eq!(stated.bounds.value(), Some(solver.opening_value(opening, 0).unwrap()), "{opening}");
            }
        }
    }
}

#[test]
fn a_proof_that_is_stopped_again_and_again_ends_as_well() {
    let board = Board::new(Rules::SingleMove, "4x3", 6);
    let case = Case { effort: 4, budget: 2000, ..board.case(Wanted::Find) };
    let directory = tempfile::tempdir().unwrap();
    let mut random = fastrand::Rng::with_seed(16);
    let mut stops = 0;
    let certificate = loop {
        let left = AtomicUsize::new(random.usize(1..5));
        match case.run(directory.path(), &|| left.fetch_sub(1, Ordering::Relaxed) == 1) {
            Ok((_, certificate)) => break certificate.unwrap(),
            Err(ProveError::Solve(SolveError::Stopped)) => stops += 1,
            Err(error) => panic!("{error}"),
        }
    };
    assert!(stops > 5, "{stops}");
    case.check(&certificate);
    assert_eq!(certificate.head.statement.bounds.value(), Some(case.value()));
}

/// Returns true if a file of the proof is damaged or wrong.
fn is_damage(error: &ProveError) -> bool {
    matches!(error, ProveError::State(StateError::Damaged { .. } | StateError::Foreign { .. }) | ProveError::Wrong(_))
}

#[test]
fn damaged_jobs_are_found_and_run_again_once_they_are_deleted() {
    let board = Board::new(Rules::Standard, "4x3", 6);
    let case = Case { effort: 3, budget: 3000, ..board.case(Wanted::Find) };
    let directory = tempfile::tempdir().unwrap();
    let (_, first) = case.run(directory.path(), &never).unwrap();
    let first = first.unwrap();
    let paths = || {
        let jobs = std::fs::read_dir(directory.path().join("jobs")).unwrap();
        let mut paths: Vec<_> = jobs.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|end| end == "job"));
        paths.sort();
        paths
    };
    assert!(paths().len() > 4);
    let mut random = fastrand::Rng::with_seed(61);
    for round in 0..12 {
        let paths = paths();
        let path = &paths[random.usize(..paths.len())];
        let mut bytes = std::fs::read(path).unwrap();
        let whole = bytes.clone();
        match round % 3 {
            0 => bytes[random.usize(..whole.len())] ^= 1 << random.u8(..8),
            1 => bytes.truncate(random.usize(..whole.len())),
            _ => bytes = std::fs::read(paths.iter().find(|&other| other != path).unwrap()).unwrap(),
        }
        std::fs::write(path, &bytes).unwrap();
        let error = case.run(directory.path(), &never).unwrap_err();
        assert!(is_damage(&error) && error.to_string().contains(path.to_str().unwrap()), "{error}");
        // Other jobs rest on the claims of this file, which are found again.
        std::fs::remove_file(path).unwrap();
        let (_, certificate) = case.run(directory.path(), &never).unwrap();
        let certificate = certificate.unwrap();
        case.check(&certificate);
        assert_eq!(certificate.head.statement, first.head.statement);
    }
    let proof = directory.path().join("proof.json");
    let text = std::fs::read_to_string(&proof).unwrap();
    let changed = text.replacen("\"effort\":3", "\"effort\":4", 1);
    assert_ne!(changed, text);
    std::fs::write(&proof, changed).unwrap();
    let error = case.run(directory.path(), &never).unwrap_err();
    assert!(is_damage(&error) && error.to_string().contains("proof.json"), "{error}");
}
