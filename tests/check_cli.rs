//! `kalah check`: what scripts rely on.

#[allow(dead_code)]
mod certificates;

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use kalah::build::build;
use kalah::certificate::{Bound, Certificate, Head};
use kalah::game::{Position, Rules};
use kalah::table::Tables;
use serde_json::Value;

use certificates::{Scores, certificate};

fn check(file: &Path, flags: &[&str]) -> Assert {
    let mut command = Command::cargo_bin("kalah").expect("the program is built");
    command.arg("check").arg(file).args(flags).env_remove("KALAH_TABLES").assert()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A directory with tables and a certificate that rests on them.
struct Fixture {
    directory: tempfile::TempDir,
    certificate: Certificate,
    file: PathBuf,
}

impl Fixture {
    fn new() -> Fixture {
        let directory = tempfile::tempdir().expect("a directory");
        let rules = Rules::Standard;
        build(directory.path(), rules, 3, 5).expect("tables are built");
        let tables = Tables::open(directory.path(), rules, 3, 5).expect("tables are there");
        let start: Position = "3x3".parse().expect("a start position");
        let certificate = certificate(&mut Scores::of(rules), &start, Some(&tables), 1);
        let file = directory.path().join("3x3.certificate");
        certificate.write(&file).expect("a valid certificate");
        Fixture { directory, certificate, file }
    }

    fn tables(&self) -> String {
        self.directory.path().display().to_string()
    }

    fn check(&self, flags: &[&str]) -> Assert {
        check(&self.file, &[flags, &["--tables", &self.tables()]].concat())
    }
}

#[test]
fn a_sound_certificate_is_checked() {
    let fixture = Fixture::new();
    let claims = fixture.certificate.claims.len();
    let out = text(&fixture.check(&[]).code(0).get_output().stdout);
    assert!(out.contains(&format!("{claims} claims: every one was checked, and holds")), "{out}");
    let out = text(&fixture.check(&["--sample", "5"]).code(0).get_output().stdout);
    assert!(out.contains(&format!("a sample of 5 of {claims} claims holds; the others were not checked")), "{out}");
    let json = |flags: &[&str]| -> Value {
        let output = fixture.check(&[flags, &["--json"]].concat()).code(0).get_output().stdout.clone();
        serde_json::from_slice(&output).expect("one document")
    };
    let answer = json(&[]);
    assert_eq!(answer["ok"], true);
    assert_eq!((&answer["extent"], &answer["claims"]), (&"complete".into(), &claims.into()));
    assert_eq!(answer["tally"]["claims"], claims);
    let value = fixture.certificate.head.statement.bounds.lower;
    assert_eq!((&answer["at_least"], &answer["at_most"]), (&value.into(), &value.into()));
    assert_eq!(answer["openings"].as_array().expect("a list").len(), 3);
    assert_eq!(json(&["--sample", "0"])["extent"], "sample");
    assert_eq!(json(&["--threads", "1"])["tally"], answer["tally"]);
}

#[test]
fn a_state_is_removed_at_the_end_and_belongs_to_its_certificate() {
    let fixture = Fixture::new();
    let state = fixture.directory.path().join("state.json");
    let flags = ["--state", state.to_str().expect("a path")];
    fixture.check(&flags).code(0);
    assert!(!state.exists());
    let digest = [1; 32];
    let tasks = kalah::certificate::Tasks::new(digest, fixture.certificate.claims.len() as u64);
    tasks.write(&state).expect("the state is written");
    let errors = text(&fixture.check(&flags).code(1).get_output().stderr);
    assert!(errors.contains("another certificate"), "{errors}");
    std::fs::write(&state, "{}").expect("the state is written");
    fixture.check(&flags).code(3);
}

#[test]
fn what_is_wrong_has_exit_code_3_and_is_named() {
    let fixture = Fixture::new();
    let bytes = std::fs::read(&fixture.file).expect("it was written");
    // Damage.
    let mut damaged = bytes.clone();
    damaged[bytes.len() / 2] ^= 1;
    std::fs::write(&fixture.file, &damaged).expect("the file is written");
    let errors = text(&fixture.check(&[]).code(3).get_output().stderr);
    assert!(errors.contains("3x3.certificate cannot be used"), "{errors}");
    std::fs::write(&fixture.file, &bytes[..100]).expect("the file is written");
    fixture.check(&["--json"]).code(3).stdout("");
    // A false claim.
    let mut wrong = fixture.certificate.clone();
    let mut scores = Scores::of(Rules::Standard);
    let claim = wrong.claims.iter().find(|claim| scores.score(&claim.position) < claim.position.seeds());
    let position = claim.expect("not every score is the best").position;
    let bound = Bound::AtLeast(scores.score(&position) + 1);
    wrong.claims.remove(&position);
    wrong.claims.add_bound(&position, bound).expect("a claim of this board");
    wrong.write(&fixture.file).expect("a valid certificate");
    let out = text(&fixture.check(&[]).code(3).get_output().stdout);
    assert!(out.starts_with("WRONG: "), "{out}");
    let answer = fixture.check(&["--json"]).code(3).get_output().stdout.clone();
    let answer: Value = serde_json::from_slice(&answer).expect("one document");
    assert_eq!((&answer["ok"], &answer["extent"]), (&false.into(), &"wrong".into()));
    assert_eq!(out, format!("WRONG: {}\n", answer["wrong"].as_str().expect("a text")));
    // Another table.
    let head = Head { tables: vec![[0; 32]; 4], ..fixture.certificate.head.clone() };
    let other = Certificate { head, claims: fixture.certificate.claims.clone() };
    other.write(&fixture.file).expect("a valid certificate");
    let out = text(&fixture.check(&[]).code(3).get_output().stdout);
    assert!(out.contains("digest"), "{out}");
}

#[test]
fn what_cannot_be_checked_has_exit_code_1_or_2() {
    let fixture = Fixture::new();
    let errors = text(&check(&fixture.file, &["--tables", "/nowhere"]).code(1).get_output().stderr);
    assert!(errors.contains("kalah build"), "{errors}");
    let errors = text(&check(Path::new("/nowhere/a.certificate"), &[]).code(1).get_output().stderr);
    assert!(errors.contains("/nowhere/a.certificate"), "{errors}");
    check(&fixture.file, &["--sample", "many"]).code(2);
    check(&fixture.file, &["--sample", "2", "--state", "x"]).code(2);
}
