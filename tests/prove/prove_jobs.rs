//! Files of jobs that are complete and wrong. They are found, named and run again, and no certificate rests on them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

#[cfg(feature = "cli")]
use kalah::certificate::StoredCertificate;
use kalah::certificate::{Bound, ClaimKeys};
use kalah::file::Seal;
use kalah::file::StateError::{Damaged, Foreign, Other, Version};
use kalah::game::{Bounds, Position, Row, Rules};
#[cfg(feature = "cli")]
use kalah::prove::ProofDirectory;
use kalah::prove::{ProveError, Wanted};
use kalah_solve::blocks::{compressed, take};
use serde_json::{Value, json};

#[cfg(feature = "cli")]
use crate::certificates::check_file;
use crate::prove::{Board, Case, Proved};
#[cfg(feature = "cli")]
use kalah_tests::program::{self, Ran, Run};

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

/// About as many claims are changed in each part of a job.
const MOST_CLAIMS: usize = 3;

/// Changed files of a job, each with a description of the change.
fn changes(job: &JobFile) -> Vec<(String, JobFile)> {
    let next = |field: &str| json!(job.head[field].as_u64().unwrap() + 1);
    let heads = [
        ("answer", json!(true)),
        ("answer", json!(false)),
        ("answer", Value::Null),
        ("answer", json!(1)),
        ("score", json!(0)),
        ("score", next("score")),
        ("position", json!("1,1,1/1,1,1")),
        ("proof", json!("0123456789abcdef")),
        ("format", json!("kalah jab")),
        ("version", json!(1)),
        ("nodes", json!(u64::MAX)),
        ("seconds", json!(-1.0)),
        ("seconds", json!(1e300)),
        (COUNTS[0], next(COUNTS[0])),
        (COUNTS[1], next(COUNTS[1])),
    ];
    let heads = heads.into_iter().filter(|(field, value)| job.head[field] != *value).map(|(field, value)| {
        let mut other = job.clone();
        other.head[field] = value.clone();
        (format!("{field}: {value}"), other)
    });
    let mut changed: Vec<_> = heads.collect();
    let keys = ClaimKeys::new(job.position().pits());
    for part in 0..2 {
        let claims = &job.claims[part];
        for (claim, (&key, &[lower, upper])) in claims.iter().enumerate().step_by((claims.len() / MOST_CLAIMS).max(1)) {
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
            let row = position.mover().seeds();
            for (pit, change_by) in [(claim % row.len(), 1), (row.iter().position(|&seeds| seeds > 0).unwrap(), -1)] {
                let mut row = row.to_vec();
                row[pit] = row[pit].checked_add_signed(change_by).unwrap();
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

/// Files of the finished jobs of a proof.
pub(crate) fn jobs(directory: &Path) -> Vec<PathBuf> {
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

/// Runs a proof in small jobs, more than `least_jobs`, once for each change of each of them.
///
/// Each run proves the same statement or reports damage. A job with a false answer about the start is reported, and no
/// other job ever is.
fn every_change_ends_right(board: &Board, wanted: Wanted, budget: u64, least_jobs: usize) {
    let case = Case { effort: 3, budget, ..board.case(wanted) };
    let directory = tempfile::tempdir().unwrap();
    let (whole, again) = (directory.path().join("whole"), directory.path().join("again"));
    let first = case.run(&whole).unwrap();
    assert!(first.wrong.is_empty());
    let stated = |proved: &Proved| {
        let certificate = proved.certificate.as_ref();
        (proved.state.is_refuted(), certificate.map(|certificate| certificate.head.statement.clone()))
    };
    let truth = case.solver();
    let (mut named, mut damaged, mut unnoticed) = (0, 0, 0);
    assert!(jobs(&whole).len() > least_jobs, "{:?}", jobs(&whole));
    for path in jobs(&whole) {
        let (job, name) = (JobFile::read(&path), path.file_name().unwrap());
        let score = truth.score(&job.position().without_stores(), 0).unwrap();
        for (what, changed) in changes(&job) {
            let (what, file) = (format!("{name:?}, {what}"), again.join("jobs").join(name));
            copy(&whole, &again);
            changed.write(&file);
            let ran = match case.run(&again) {
                Ok(ran) => ran,
                // Faults visible in the file alone. The job is run again once the file is deleted.
                Err(ProveError::State(
                    Damaged { path, .. } | Foreign { path, .. } | Version { path, .. } | Other { path, .. },
                )) if path == file => {
                    damaged += 1;
                    continue;
                }
                Err(error) => panic!("{what}: {error}"),
            };
            assert_eq!(stated(&ran), stated(&first), "{what}");
            assert!(ran.wrong.iter().all(|wrong| *wrong == file), "{what}: {:?} named", ran.wrong);
            let is_true = |bound: Bound| bound.is_implied_by(Bounds { lower: score, upper: score });
            // False answers about other positions may have no effect.
            let matters = !changed.bound().is_none_or(is_true) && job.position() == board.start.without_stores();
            assert!(!matters || !ran.wrong.is_empty(), "{what}: the answer is false, and no file was reported");
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
    every_change_ends_right(&Board::new(Rules::Standard, "4x3", 6), Wanted::AtLeast(20), 20, 0);
}

#[test]
#[ignore = "slow"]
fn jobs_of_values_that_state_something_wrong_are_named_and_run_again() {
    every_change_ends_right(&Board::new(Rules::EmptyCapture, "4x3", 6), Wanted::Find, 150, 5);
    every_change_ends_right(&Board::new(Rules::SKalaha, "3x3", 0), Wanted::Find, 100, 1);
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
    let board = Board::new(Rules::EmptyCapture, "4x3", 6);
    for budget in [20, 150] {
        let case = Case { effort: 3, budget, ..board.case(Wanted::Find) };
        let directory = tempfile::tempdir().unwrap();
        let (whole, again) = (directory.path().join("whole"), directory.path().join("again"));
        let first = case.run(&whole).unwrap().certificate.unwrap();
        let finished: Vec<PathBuf> =
            jobs(&whole).into_iter().filter(|path| JobFile::read(path).bound().is_some()).collect();
        let mut random = fastrand::Rng::with_seed(37);
        let mut named = 0;
        for round in 0..rounds {
            copy(&whole, &again);
            let wrong: BTreeSet<&PathBuf> = (0..=round % 3).filter_map(|_| random.choice(&finished)).collect();
            for path in jobs(&whole) {
                let file = again.join("jobs").join(path.file_name().unwrap());
                if wrong.contains(&path) {
                    reverse(&file);
                } else if finished.contains(&path) && random.u32(..4) > 0 {
                    // The jobs that were split stay, so that the wrong ones are read.
                    std::fs::remove_file(&file).unwrap();
                }
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
#[cfg(feature = "cli")]
#[test]
fn the_program_names_the_wrong_job_rather_than_the_finished_certificate_and_ends_right() {
    let board = Board::new(Rules::Standard, "4x3", 6);
    let prove = || {
        let mut command = program::command();
        command.args(["prove", "4x3", "--rules", "standard", "--effort", "4", "--budget", "4000", "--threads", "1"]);
        command.args(["--transpositions", "1MiB", "--proof", "proof", "--json"]);
        let ran = command.env("KALAH_TABLES", board.directory()).current_dir(board.directory()).run().success();
        (ran.stderr(), [ran.json()["known"].clone(), ran.json()["value"].clone()])
    };
    let (_, first) = prove();
    // False answers about other positions may have no effect.
    let is_of_start = |path: &PathBuf| {
        let job = JobFile::read(path);
        job.bound().is_some() && job.position() == board.start
    };
    let path = jobs(&board.directory().join("proof")).into_iter().find(is_of_start).unwrap();
    let before = JobFile::read(&path).head["answer"].clone();
    reverse(&path);
    let (errors, again) = prove();
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(errors.contains(name) && errors.contains("run again"), "{errors}");
    assert_eq!((again, &JobFile::read(&path).head["answer"]), (first, &before));
    let proof = ProofDirectory::open(board.directory().join("proof")).unwrap().expect("a proof");
    let certificate = StoredCertificate::open(proof.certificate_path()).unwrap();
    check_file(&certificate, board.tables.as_ref()).unwrap();
}
