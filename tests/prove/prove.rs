//! Proofs in directories: the checker accepts their certificates, however often the proof was interrupted.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use kalah::build::build;
use kalah::cancel::Cancel;
use kalah::certificate::{Certificate, Checker, Reason, Statement};
use kalah::file::StateError::{Damaged, Foreign};
use kalah::game::{Position, Rules, ValueBounds};
use kalah::prove::{ProofDirectory, ProofPlan, ProveError, ProveEvent, Prover, ProverOptions, Request, State, Wanted};
use kalah::solve::{Opening, SolveError, Solver, SolverOptions};
use kalah::table::Tables;

use crate::certificates::check;
use crate::prove_jobs::jobs;

/// A board with temporary tables.
pub(crate) struct Board {
    pub rules: Rules,
    pub start: Position,
    pub tables: Option<Tables>,
    files: tempfile::TempDir,
}

impl Board {
    /// A board with tables to `seeds` seeds, or without tables.
    pub(crate) fn new(rules: Rules, start: &str, seeds: usize) -> Board {
        let (start, files): (Position, _) = (start.parse().unwrap(), tempfile::tempdir().unwrap());
        let tables = (seeds > 0).then(|| {
            build(files.path(), rules, start.pits(), seeds).unwrap();
            Tables::open(files.path(), rules, start.pits(), seeds).unwrap()
        });
        Board { start, rules, tables, files }
    }

    /// Directory of the tables; removed with them.
    pub(crate) fn directory(&self) -> &Path {
        self.files.path()
    }

    pub(crate) fn case(&self, wanted: Wanted) -> Case<'_> {
        let rests_on = self.tables.as_ref().and_then(Tables::max_seeds).unwrap_or(0);
        Case { board: self, wanted, rests_on, effort: 6, budget: 1 << 20, threads: 1 }
    }

    /// A proof whose certificate is checked without searches.
    pub(crate) fn without_searches(&self, wanted: Wanted) -> Case<'_> {
        Case { effort: 0, budget: u64::MAX, ..self.case(wanted) }
    }
}

/// A proof to run.
#[derive(Clone)]
pub(crate) struct Case<'a> {
    pub board: &'a Board,
    pub wanted: Wanted,
    pub rests_on: usize,
    pub effort: u32,
    pub budget: u64,
    pub threads: usize,
}

/// Result of a run of a proof.
pub(crate) struct Proved {
    pub state: State,
    pub certificate: Option<Certificate>,
    /// Files of jobs that were reported as wrong.
    pub wrong: BTreeSet<PathBuf>,
}

impl<'a> Case<'a> {
    pub(crate) fn solver(&self) -> Solver<'a> {
        let options = SolverOptions::new(self.board.rules, &self.board.start).tables(self.board.tables.as_ref());
        Solver::new(options.threads(self.threads).transpositions(1 << 20)).unwrap()
    }

    pub(crate) fn run(&self, directory: &Path) -> Result<Proved, ProveError> {
        self.run_until(directory, || false)
    }

    /// Runs the proof in `directory`. Ends it with an error as soon as `ends` returns true after a job.
    fn run_until(&self, directory: &Path, ends: impl Fn() -> bool + Sync) -> Result<Proved, ProveError> {
        let (Board { rules, start, tables, .. }, solver) = (self.board, &self.solver());
        let request = Request { rules: *rules, position: *start, wanted: self.wanted };
        let directory = &ProofDirectory::open_or_begin(directory, || {
            let layers = tables.iter().flat_map(Tables::layers).take(self.rests_on.saturating_sub(1));
            let tables = layers.map(|table| table.header().digest).collect();
            Ok(ProofPlan { request, effort: self.effort, tables, parts: request.parts(solver)? })
        })?;
        let (cancel, wrong) = (Cancel::new(), Mutex::new(BTreeSet::new()));
        let options = ProverOptions { budget: self.budget, cancel: cancel.clone(), ..ProverOptions::default() };
        let on_event = &|event: ProveEvent| match event {
            ProveEvent::Finished { .. } if ends() => cancel.cancel(),
            ProveEvent::Wrong(path) => {
                assert!(!path.exists(), "{path:?}: it is not run again");
                wrong.lock().unwrap().insert(path.to_owned());
            }
            _ => {}
        };
        let files = tempfile::tempdir().unwrap();
        let file = files.path().join("certificate");
        let (state, written) = Prover { solver, tables: tables.as_ref(), directory, options, on_event }.prove(&file)?;
        assert_eq!((written.is_some(), written.is_some()), (state.is_proved(), file.exists()));
        let certificate = written.map(|_| Certificate::read(&file).unwrap());
        Ok(Proved { state, certificate, wrong: wrong.into_inner().unwrap() })
    }

    /// Runs the proof, which must succeed, and checks its certificate.
    pub(crate) fn certificate(&self) -> Certificate {
        let certificate = self.run(tempfile::tempdir().unwrap().path()).unwrap().certificate.unwrap();
        self.check(&certificate);
        certificate
    }

    /// Checks a certificate as `kalah check` does, and that its statement needs no search.
    pub(crate) fn check(&self, certificate: &Certificate) {
        let (Board { rules, start, tables, .. }, Certificate { head, claims }) = (self.board, certificate);
        check(certificate, tables.as_ref()).unwrap_or_else(|error| panic!("{rules}: {start}: {error}"));
        assert_eq!((head.effort, head.table_seeds()), (self.effort, self.rests_on), "{rules}: {start}");
        let mut checker = Checker::new(*rules, start.pits(), tables.as_ref(), self.rests_on, self.effort).unwrap();
        for goal in head.statement.goals().unwrap() {
            let reason = goal.reason(&mut checker, &|position| claims.get(position)).unwrap();
            // The value may follow from claims about the openings.
            let needs_no_search = [Reason::Claim, Reason::Table, Reason::Trivial, Reason::OnePly];
            assert!(reason.is_some_and(|reason| needs_no_search.contains(&reason)), "{goal:?}: {reason:?}");
        }
    }

    fn value(&self) -> i64 {
        self.solver().value(&self.board.start, 0).unwrap().1
    }
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

fn certificates_hold_and_state_their_values(boards: &[(&str, usize)]) {
    for (rules, &(start, seeds)) in Rules::ALL.into_iter().flat_map(|rules| boards.iter().map(move |it| (rules, it))) {
        let board = Board::new(rules, start, seeds);
        let value = board.case(Wanted::Find).value();
        // No splitting and small claims; a little of both; the most splitting and a single claim.
        for (effort, budget) in [(0, u64::MAX), (5, 3000), (20, 1)] {
            let case = Case { effort, budget, ..board.case(Wanted::Find) };
            let proved = case.run(tempfile::tempdir().unwrap().path()).unwrap();
            let certificate = proved.certificate.unwrap();
            case.check(&certificate);
            assert_eq!(certificate.head.statement.bounds.value(), Some(value), "{rules} {start}");
            assert!(budget < u64::MAX || proved.state.jobs.iter().all(|job| job.answer.is_some()));
            let claims = certificate.claims.len();
            assert!(effort < 20 || claims == 1, "{rules} {start}: {claims}");
        }
    }
}

#[test]
fn a_certificate_may_rest_on_fewer_tables_than_the_solver_has_and_be_found_by_threads() {
    let board = Board::new(Rules::Standard, "5x2", 12);
    for (rests_on, threads) in [(12, 1), (7, 1), (0, 1), (7, 3)] {
        let case = Case { rests_on, threads, budget: 2000, ..board.case(Wanted::Find) };
        let head = case.certificate().head;
        assert_eq!((head.table_seeds(), head.statement.bounds.value()), (rests_on, Some(case.value())));
    }
}

#[test]
fn bounds_are_proved_and_what_is_wrong_is_refuted() {
    for rules in [Rules::EmptyCapture, Rules::SKalaha] {
        let board = Board::new(rules, "4x2", 5);
        let value = board.case(Wanted::Find).value();
        let all = Statement::all_values(&board.start);
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
            for budget in [1, u64::MAX] {
                let case = Case { budget, ..board.case(wanted) };
                let Proved { state, certificate, .. } = case.run(tempfile::tempdir().unwrap().path()).unwrap();
                certificate.iter().for_each(|certificate| case.check(certificate));
                let stated = certificate.map(|certificate| certificate.head.statement.bounds);
                assert_eq!(stated, expected.map(|(lower, upper)| ValueBounds { lower, upper }), "{rules} {wanted:?}");
                assert_eq!(state.is_refuted(), expected.is_none(), "{rules} {wanted:?}");
            }
        }
    }
}

/// `check` refuses a certificate that states nothing, so none is written.
#[test]
fn a_request_that_no_game_or_every_game_meets_is_refused() {
    let (board, over) = (Board::new(Rules::SKalaha, "3x2", 0), Board::new(Rules::Standard, "<2,5,3,0,0,0,0>", 0));
    let (all, value) = (Statement::all_values(&board.start), board.case(Wanted::Find).value());
    let (nothing, impossible) = ("nothing to prove", "cannot be");
    for (board, wanted, expected) in [
        (&board, Wanted::Value(value + 1), impossible),
        (&board, Wanted::AtLeast(all.upper + 1), impossible),
        (&board, Wanted::AtMost(all.lower - 1), impossible),
        (&board, Wanted::AtLeast(all.lower), nothing),
        (&board, Wanted::AtLeast(all.lower - 1), nothing),
        (&board, Wanted::AtMost(all.upper), nothing),
        (&over, Wanted::Find, nothing),
        (&over, Wanted::Value(2), nothing),
        (&over, Wanted::AtLeast(2), nothing),
        (&over, Wanted::Openings, nothing),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let Err(error) = board.case(wanted).run(directory.path()) else { panic!("{wanted:?}") };
        assert!(matches!(&error, ProveError::Request(text) if text.contains(expected)), "{wanted:?}: {error}");
        assert!(!directory.path().join("proof.json").exists());
    }
    // The last bounds that state something.
    for wanted in [Wanted::AtLeast(all.lower + 2), Wanted::AtMost(all.upper - 2)] {
        board.case(wanted).certificate();
    }
}

#[test]
fn openings_are_proved_with_the_value_that_follows() {
    for (rules, start, seeds) in
        [(Rules::Standard, "4x2", 5), (Rules::EmptyCapture, "6x2", 9), (Rules::SKalaha, "3x2", 0)]
    {
        let board = Board::new(rules, start, seeds);
        for budget in [1, u64::MAX] {
            let case = Case { budget, ..board.case(Wanted::Openings) };
            let statement = case.certificate().head.statement;
            assert_eq!(statement.bounds.value(), Some(case.value()));
            let solver = case.solver();
            let openings: Vec<_> = Opening::all(rules, &board.start)
                .iter()
                .map(|opening| (opening.moves.clone(), Some(solver.opening_value(opening, 0).unwrap())))
                .collect();
            let stated = statement.openings.into_iter().map(|opening| (opening.moves, opening.bounds.value()));
            assert_eq!(stated.collect::<Vec<_>>(), openings, "{rules} {start}");
        }
    }
}

#[test]
fn a_proof_that_is_stopped_again_and_again_ends_as_well() {
    let board = Board::new(Rules::SingleMove, "4x3", 6);
    let case = Case { effort: 4, budget: 2000, ..board.case(Wanted::Find) };
    let directory = tempfile::tempdir().unwrap();
    let (mut random, mut stops) = (fastrand::Rng::with_seed(16), 0);
    let certificate = loop {
        let left = AtomicUsize::new(random.usize(1..5));
        match case.run_until(directory.path(), || left.fetch_sub(1, Ordering::Relaxed) == 1) {
            Ok(proved) => break proved.certificate.unwrap(),
            Err(ProveError::Solve(SolveError::Stopped)) => stops += 1,
            Err(error) => panic!("{error}"),
        }
    };
    assert!(stops > 5, "{stops}");
    case.check(&certificate);
    assert_eq!(certificate.head.statement.bounds.value(), Some(case.value()));
}

#[test]
fn damaged_files_are_named_and_jobs_are_run_again_once_they_are_deleted() {
    let board = Board::new(Rules::Standard, "4x3", 6);
    let case = Case { effort: 3, budget: 3000, ..board.case(Wanted::Find) };
    let directory = tempfile::tempdir().unwrap();
    let run = || case.run(directory.path());
    let first = run().unwrap().certificate.unwrap();
    let is_refused = |file: &Path| {
        let Err(error) = run() else { panic!("{file:?}") };
        let is_damage = matches!(&error, ProveError::State(state) if matches!(state, Damaged { .. } | Foreign { .. }));
        assert!(is_damage || matches!(error, ProveError::Wrong(_)), "{error}");
        assert!(error.to_string().contains(file.to_str().unwrap()), "{error}");
    };
    assert!(jobs(directory.path()).len() > 4);
    let mut random = fastrand::Rng::with_seed(61);
    for round in 0..12 {
        let paths = jobs(directory.path());
        let path = &paths[random.usize(..paths.len())];
        let mut bytes = std::fs::read(path).unwrap();
        let at = random.usize(..bytes.len());
        match round % 3 {
            0 => bytes[at] ^= 1 << random.u8(..8),
            1 => bytes.truncate(at),
            _ => bytes = std::fs::read(paths.iter().find(|&other| other != path).unwrap()).unwrap(),
        }
        std::fs::write(path, &bytes).unwrap();
        is_refused(path);
        // Other jobs rest on the claims of this file, which are found again.
        std::fs::remove_file(path).unwrap();
        let certificate = run().unwrap().certificate.unwrap();
        case.check(&certificate);
        assert_eq!(certificate.head.statement, first.head.statement);
    }
    let proof = directory.path().join("proof.json");
    let text = std::fs::read_to_string(&proof).unwrap();
    let changed = text.replacen("\"effort\":3", "\"effort\":4", 1);
    assert_ne!(changed, text);
    std::fs::write(&proof, changed).unwrap();
    is_refused(Path::new("proof.json"));
}
