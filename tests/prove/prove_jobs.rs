//! Files of jobs that are complete and wrong. They are found, named and run again, and no certificate rests on them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
#[cfg(feature = "cli")]
use std::process::Output;
use std::sync::Mutex;

use kalah::build::build;
use kalah::certificate::{Bound, Certificate, Check, CheckTally, ClaimKeys};
use kalah::file::{Seal, StateError};
use kalah::game::{Position, Row, Rules};
use kalah::progress::Pulse;
use kalah::prove::{ProofDirectory, ProofPlan, ProveError, ProveEvent, Prover, ProverOptions, Request, State, Wanted};
use kalah::solve::{Solver, SolverOptions};
use kalah::table::Tables;
use kalah_solve::blocks::{compressed, take};
use serde_json::{Value, json};

use crate::certificates::stored;
#[cfg(feature = "cli")]
use kalah_tests::program::{self, Ran, Run};

/// A proof that is run again and again.
struct Case<'a> {
    rules: Rules,
    position: Position,
    wanted: Wanted,
    tables: Option<&'a Tables>,
    effort: u32,
    budget: u64,
}

/// Result of a run of a proof.
struct Checked {
    state: State,
    certificate: Option<Certificate>,
    /// Files of jobs that were reported as wrong.
    wrong: BTreeSet<PathBuf>,
}

impl<'a> Case<'a> {
    fn solver(&self) -> Solver<'a> {
        let options = SolverOptions::new(self.rules, &self.position).tables(self.tables).threads(1);
        Solver::new(options.transpositions(1 << 18)).unwrap()
    }

    fn run(&self, path: &Path) -> Result<Checked, ProveError> {
        if let Some(directory) = ProofDirectory::open(path)? {
            // Otherwise the file is taken as it is.
            let _ = std::fs::remove_file(directory.certificate_path());
        }
        self.run_beside_certificate(path)
    }

    fn run_beside_certificate(&self, path: &Path) -> Result<Checked, ProveError> {
        let solver = self.solver();
        let request = Request { rules: self.rules, position: self.position, wanted: self.wanted };
        let directory = ProofDirectory::open_or_begin(path, || {
            let layers = self.tables.iter().flat_map(|tables| tables.layers());
            let tables = layers.map(|table| table.header().digest).collect();
            Ok(ProofPlan { request, effort: self.effort, tables, parts: request.parts(&solver)? })
        })?;
        let file = directory.certificate_path();
        let wrong = Mutex::new(BTreeSet::new());
        let on_event = |event: ProveEvent| {
            if let ProveEvent::Wrong(path) = event {
                assert!(!path.exists(), "{path:?}: it is not run again");
                wrong.lock().unwrap().insert(path.to_owned());
            }
        };
        let options = ProverOptions { budget: self.budget, ..ProverOptions::default() };
        let (solver, tables, on_event) = (&solver, self.tables, &on_event);
        let (state, written) = Prover { solver, tables, directory: &directory, options, on_event }.prove(&file)?;
        assert_eq!(written.is_some(), file.exists());
        let certificate = written.map(|_| Certificate::read(&file).unwrap());
        Ok(Checked { state, certificate, wrong: wrong.into_inner().unwrap() })
    }

    /// Checks a certificate as `kalah check` does.
    fn check(&self, certificate: &Certificate) {
        let certificate = stored(certificate);
        let check = Check::new(&certificate, self.tables, &Pulse::default()).unwrap();
        check.statement().unwrap();
        check.claims(CheckTally::default(), &Pulse::default(), None).unwrap();
    }

    /// Returns true if a bound of a score is true.
    fn is_true(&self, solver: &Solver, position: &Position, bound: Bound) -> bool {
        let score = solver.score(&position.without_stores(), 0).unwrap();
        match bound {
            Bound::AtLeast(bound) => score >= bound,
            Bound::AtMost(bound) => score <= bound,
        }
    }
}

/// Claims of a job: those of re-searches, and all others.
type Claims = [BTreeMap<u128, [u8; 2]>; 2];

/// File of a job: the fields of its first line, and its claims.
#[derive(Clone)]
struct JobFile {
    head: Value,
    claims: Claims,
}

/// Fields of the first line with the numbers of claims.
const COUNTS: [&str; 2] = ["searched", "one_ply"];

impl JobFile {
    fn read(path: &Path) -> JobFile {
        let bytes = std::fs::read(path).unwrap();
        let end = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        let mut head: Value = Seal(b"").open(&bytes[..end]).unwrap();
        head.as_object_mut().unwrap().remove("checksum").unwrap();
        let position: Position = head["position"].as_str().unwrap().parse().unwrap();
        let (keys, mut rest) = (ClaimKeys::new(position.pits()), &bytes[end..]);
        let claims = COUNTS.map(|name| take(&mut rest, head[name].as_u64().unwrap(), &keys).unwrap());
        JobFile { head, claims: claims.map(|claims| claims.into_iter().collect()) }
    }

    /// Writes the file with right checksums, as a regular writer would.
    fn write(&self, path: &Path) {
        let mut bytes = Vec::new();
        for claims in &self.claims {
            let (list, blocks) = compressed(claims.iter().map(|(&key, &bounds)| (key, bounds))).unwrap();
            bytes.extend([list, blocks.concat()].concat());
        }
        let mut head = self.head.clone();
        head["digest"] = json!(blake3::hash(&bytes).to_hex().to_string());
        std::fs::write(path, [Seal(b"").close(&head).unwrap(), bytes].concat()).unwrap();
    }

    /// Returns the file with other claims, and their numbers.
    fn with_claims(&self, change: impl FnOnce(&mut Claims)) -> JobFile {
        let mut other = self.clone();
        change(&mut other.claims);
        for (name, claims) in COUNTS.iter().zip(&other.claims) {
            other.head[name] = json!(claims.len());
        }
        other
    }

    fn position(&self) -> Position {
        self.head["position"].as_str().unwrap().parse().unwrap()
    }

    /// Bound that the job found.
    fn bound(&self) -> Option<Bound> {
        let score = self.head["score"].as_u64().unwrap() as u32;
        Some(if self.head["answer"].as_bool()? { Bound::AtLeast(score) } else { Bound::AtMost(score - 1) })
    }
}

/// Changed files of a job, each with a description of the change.
fn changes(job: &JobFile, most_claims: usize) -> Vec<(String, JobFile)> {
    let mut changed = Vec::new();
    let mut head = |field: &str, value: Value| {
        let mut other = job.clone();
        other.head[field] = value.clone();
        changed.push((format!("{field}: {value}"), other));
    };
    for answer in [json!(true), json!(false), Value::Null] {
        if answer != job.head["answer"] {
            head("answer", answer);
        }
    }
    head("answer", json!(1));
    head("score", json!(0));
    head("score", json!(job.head["score"].as_u64().unwrap() + 1));
    head("position", json!("1,1,1/1,1,1"));
    head("proof", json!("0123456789abcdef"));
    head("format", json!("kalah jab"));
    head("version", json!(1));
    head("nodes", json!(u64::MAX));
    head("seconds", json!(-1.0));
    head("seconds", json!(1e300));
    for name in COUNTS {
        head(name, json!(job.head[name].as_u64().unwrap() + 1));
    }
    let keys = ClaimKeys::new(job.position().pits());
    for part in 0..2 {
        let claims = &job.claims[part];
        for (claim, (&key, &[lower, upper])) in claims.iter().enumerate().step_by((claims.len() / most_claims).max(1)) {
            let mut change = |what: &str, change: &dyn Fn(&mut Claims)| {
                changed.push((format!("part {part}, claim {claim}, {what}"), job.with_claims(change)));
            };
            let position = keys.position(key).unwrap();
            let seeds = position.seeds() as u8;
            for (lower, upper) in
                [(lower + 1, upper), (lower.wrapping_sub(1), upper), (lower, upper + 1), (lower, upper.wrapping_sub(1))]
            {
                // Other bounds have no form in a block.
                if lower <= upper && upper <= seeds && (lower, upper) != (0, seeds) {
                    change(&format!("{lower} to {upper}"), &|claims| _ = claims[part].insert(key, [lower, upper]));
                }
            }
            // A seed more, and one less.
            let (mut more, mut less) = (position.mover().seeds().to_vec(), position.mover().seeds().to_vec());
            more[claim % position.pits()] += 1;
            let pit = less.iter().position(|&seeds| seeds > 0).unwrap();
            less[pit] -= 1;
            for row in [more, less] {
                let other = Position::new(Row::new(&row).unwrap(), *position.other(), 0, 0).unwrap();
                if !other.is_over() && u32::from(upper) <= other.seeds() {
                    change(&format!("of {other}"), &|claims| {
                        let bounds = claims[part].remove(&key).unwrap();
                        claims[part].insert(keys.key(&other).unwrap(), bounds);
                    });
                }
            }
            change("in the other part", &|claims| {
                let bounds = claims[part].remove(&key).unwrap();
                claims[1 - part].insert(key, bounds);
            });
            change("left out", &|claims| _ = claims[part].remove(&key));
        }
    }
    changed
}

fn jobs(directory: &Path) -> Vec<PathBuf> {
    let jobs = std::fs::read_dir(directory.join("jobs")).unwrap();
    let mut paths: Vec<_> = jobs.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "job"));
    paths.sort();
    paths
}

fn copy(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to.join("jobs")).unwrap();
    std::fs::copy(from.join("proof.json"), to.join("proof.json")).unwrap();
    for path in jobs(from) {
        std::fs::copy(&path, to.join("jobs").join(path.file_name().unwrap())).unwrap();
    }
}

/// Runs a proof once for each change of each of its jobs.
///
/// Each run proves the same statement or reports damage. A job with a false answer about the start is reported, and no
/// other job ever is.
fn every_change_ends_right(case: &Case, least_jobs: usize, most_claims: usize) {
    let directory = tempfile::tempdir().unwrap();
    let (whole, again) = (directory.path().join("whole"), directory.path().join("again"));
    let first = case.run(&whole).unwrap();
    assert!(first.wrong.is_empty());
    let is_refuted = first.state.is_refuted();
    let statement = first.certificate.as_ref().map(|certificate| certificate.head.statement.clone());
    let truth = case.solver();
    let (mut named, mut damaged, mut unnoticed) = (0, 0, 0);
    assert!(jobs(&whole).len() > least_jobs, "{:?}", jobs(&whole));
    for path in jobs(&whole) {
        let job = JobFile::read(&path);
        for (what, changed) in changes(&job, most_claims) {
            copy(&whole, &again);
            let file = again.join("jobs").join(path.file_name().unwrap());
            changed.write(&file);
            let what = format!("{:?}, {what}", path.file_name().unwrap());
            let ran = match case.run(&again) {
                Ok(ran) => ran,
                Err(error) => {
                    // Faults visible in the file alone. The job is run again once the file is deleted.
                    let is_named = matches!(
                        &error,
                        ProveError::State(
                            StateError::Damaged { path, .. }
                                | StateError::Foreign { path, .. }
                                | StateError::Version { path, .. }
                                | StateError::Other { path, .. }
                        ) if *path == file
                    );
                    assert!(is_named, "{what}: {error}");
                    damaged += 1;
                    continue;
                }
            };
            assert_eq!(ran.state.is_refuted(), is_refuted, "{what}");
            assert!(ran.wrong.iter().all(|wrong| *wrong == file), "{what}: {:?} named", ran.wrong);
            let is_false = changed.bound().is_some_and(|bound| !case.is_true(&truth, &job.position(), bound));
            // False answers about other positions may have no effect.
            let matters = is_false && job.position() == case.position.without_stores();
            assert!(!matters || !ran.wrong.is_empty(), "{what}: the answer is false, and no file was reported");
            assert_eq!(ran.certificate.as_ref().map(|found| &found.head.statement), statement.as_ref(), "{what}");
            ran.certificate.iter().for_each(|certificate| case.check(certificate));
            if ran.wrong.is_empty() {
                unnoticed += 1;
            } else {
                named += 1;
            }
        }
    }
    assert!(named > 3 && damaged > 5 && unnoticed > 5, "{named} named, {damaged} damaged, {unnoticed} unnoticed");
}

#[test]
fn jobs_that_state_something_wrong_are_named_and_run_again() {
    // More than the mover can get.
    jobs_that_state_something_wrong(&[(Rules::Standard, "4x3", 6, Wanted::AtLeast(20), 20, 0)]);
}

#[test]
#[ignore = "slow"]
fn jobs_of_values_that_state_something_wrong_are_named_and_run_again() {
    jobs_that_state_something_wrong(&[
        (Rules::EmptyCapture, "4x3", 6, Wanted::Find, 150, 5),
        (Rules::SKalaha, "3x3", 0, Wanted::Find, 100, 1),
    ]);
}

/// Rules, position, seeds of the tables, the request, the budget of a job, and the least number of jobs.
type Proof = (Rules, &'static str, usize, Wanted, u64, usize);

fn jobs_that_state_something_wrong(proofs: &[Proof]) {
    let files = tempfile::tempdir().unwrap();
    for &(rules, position, seeds, wanted, budget, least_jobs) in proofs {
        let position: Position = position.parse().unwrap();
        let pits = position.pits();
        let tables = (seeds > 0).then(|| {
            build(files.path(), rules, pits, seeds).unwrap();
            Tables::open(files.path(), rules, pits, seeds).unwrap()
        });
        let case = Case { rules, position, wanted, tables: tables.as_ref(), effort: 3, budget };
        every_change_ends_right(&case, least_jobs, 3);
    }
}

/// Gives a job the other answer, with a claim that states it as the result of a search.
fn reverse(path: &Path) {
    let mut job = JobFile::read(path);
    let (position, score) = (job.position(), job.head["score"].as_u64().unwrap() as u32);
    let seeds = position.seeds();
    let (answer, bounds) = match job.bound() {
        Some(Bound::AtLeast(_)) => (false, [0, score - 1]),
        _ => (true, [score, seeds]),
    };
    job.head["answer"] = json!(answer);
    let key = ClaimKeys::new(position.pits()).key(&position).unwrap();
    let job = job.with_claims(|[searched, one_ply]| {
        one_ply.remove(&key);
        searched.insert(key, bounds.map(|bound| bound as u8));
    });
    job.write(path);
}

#[test]
fn proofs_that_begin_with_wrong_jobs_end_right() {
    begin_with_wrong_jobs(9, 0);
}

#[test]
#[ignore = "slow"]
fn many_proofs_that_begin_with_wrong_jobs_end_right() {
    begin_with_wrong_jobs(60, 10);
}

/// Jobs may be run after the wrong one and rest on its claims. All that is wrong is run again. More than `least` of the
/// wrong jobs are named.
fn begin_with_wrong_jobs(rounds: usize, least: usize) {
    let files = tempfile::tempdir().unwrap();
    build(files.path(), Rules::EmptyCapture, 4, 6).unwrap();
    let tables = Tables::open(files.path(), Rules::EmptyCapture, 4, 6).unwrap();
    let position: Position = "4x3".parse().unwrap();
    for budget in [20, 150] {
        let (rules, wanted) = (Rules::EmptyCapture, Wanted::Find);
        let case = Case { rules, position, wanted, tables: Some(&tables), effort: 3, budget };
        let directory = tempfile::tempdir().unwrap();
        let (whole, again) = (directory.path().join("whole"), directory.path().join("again"));
        let first = case.run(&whole).unwrap().certificate.unwrap();
        let finished: Vec<PathBuf> =
            jobs(&whole).into_iter().filter(|path| JobFile::read(path).bound().is_some()).collect();
        let mut random = fastrand::Rng::with_seed(37);
        let mut named = 0;
        for round in 0..rounds {
            copy(&whole, &again);
            let wrong: BTreeSet<_> = (0..1 + round % 3).map(|_| random.usize(..finished.len())).collect();
            let mut kept: Vec<PathBuf> = wrong.iter().map(|&at| finished[at].clone()).collect();
            // The jobs that were split stay, so that the wrong ones are read.
            kept.extend(jobs(&whole).into_iter().filter(|path| JobFile::read(path).bound().is_none()));
            kept.extend(finished.iter().filter(|_| random.u32(..4) == 0).cloned());
            let names: BTreeSet<_> = kept.iter().map(|path| path.file_name().unwrap().to_owned()).collect();
            for path in jobs(&again).iter().filter(|path| !names.contains(path.file_name().unwrap())) {
                std::fs::remove_file(path).unwrap();
            }
            for &at in &wrong {
                reverse(&again.join("jobs").join(finished[at].file_name().unwrap()));
            }
            let ran = case.run(&again).unwrap_or_else(|error| panic!("{budget}, {round}, {wrong:?}: {error}"));
            let certificate = ran.certificate.unwrap();
            assert_eq!(certificate.head.statement, first.head.statement, "{budget}, {round}, {wrong:?}");
            case.check(&certificate);
            named += usize::from(!ran.wrong.is_empty());
        }
        assert!(named > least, "{named}");
    }
}

/// The certificate of the proof stays where it was written.
#[test]
fn a_wrong_job_is_named_rather_than_the_finished_certificate() {
    let position: Position = "3x3".parse().unwrap();
    let case = Case { rules: Rules::SKalaha, position, wanted: Wanted::Find, tables: None, effort: 3, budget: 100 };
    let directory = tempfile::tempdir().unwrap();
    let first = case.run(directory.path()).unwrap().certificate.unwrap();
    let is_of_start = |path: &PathBuf| {
        let job = JobFile::read(path);
        job.bound().is_some() && job.position() == position
    };
    let path = jobs(directory.path()).into_iter().find(is_of_start).unwrap();
    reverse(&path);
    let ran = case.run_beside_certificate(directory.path()).unwrap();
    assert_eq!(ran.wrong, BTreeSet::from([path]));
    assert_eq!(ran.certificate.unwrap().head.statement, first.head.statement);
}

#[cfg(feature = "cli")]
#[test]
fn the_program_names_the_job_and_ends_right() {
    let files = tempfile::tempdir().unwrap();
    build(files.path(), Rules::Standard, 4, 6).unwrap();
    let certificate = files.path().join("4x3.certificate");
    let prove = || {
        let mut command = program::command();
        command.args(["prove", "4x3", "--rules", "standard", "--effort", "4", "--budget", "4000", "--threads", "1"]);
        command.args(["--transpositions", "1MiB", "--proof", "proof", "--json", "--certificate"]).arg(&certificate);
        command.env("KALAH_TABLES", files.path()).current_dir(files.path()).run().exits(0)
    };
    let value = |ran: &Output| {
        let answer: Value = ran.json();
        (answer["known"].clone(), answer["value"].clone())
    };
    let first = value(&prove());
    // False answers about other positions may have no effect.
    let is_of_start = |path: &PathBuf| {
        let job = JobFile::read(path);
        job.bound().is_some() && job.position() == "4x3".parse().unwrap()
    };
    let path = jobs(&files.path().join("proof")).into_iter().find(is_of_start).unwrap();
    let mut job = JobFile::read(&path);
    job.head["answer"] = json!(!matches!(job.bound(), Some(Bound::AtLeast(_))));
    job.write(&path);
    std::fs::remove_file(&certificate).unwrap();
    let ran = prove();
    let errors = ran.stderr();
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(errors.contains(name) && errors.contains("run again"), "{errors}");
    assert_eq!(value(&ran), first);
    let tables = Tables::open(files.path(), Rules::Standard, 4, 6).unwrap();
    let written = kalah::certificate::StoredCertificate::open(&certificate).unwrap();
    let check = Check::new(&written, Some(&tables), &Pulse::default()).unwrap();
    check.statement().unwrap();
    check.claims(CheckTally::default(), &Pulse::default(), None).unwrap();
    assert_ne!(JobFile::read(&path).head["answer"], job.head["answer"]);
}
