//! `kalah check`: the behaviour that scripts rely on.

use std::path::{Path, PathBuf};
use std::process::Output;

use kalah::build::build;
use kalah::certificate::{Bound, Certificate, CheckIdentity, ClaimSet, Head, Statement, digest_of_tables};
use kalah::game::{Position, Rules, ValueBounds};
use kalah::table::Tables;
use serde_json::Value;

use crate::certificates::{Scores, certificate, claim};
use kalah_tests::program::{self, Ran, Run};

fn check(file: &Path, flags: &[&str]) -> Output {
    program::command().arg("check").arg(file).args(flags).run()
}

/// A directory with tables, and a certificate that rests on them.
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

    fn claims(&self) -> u64 {
        self.certificate.claims.len() as u64
    }

    /// Identity of the program's check of the certificate.
    fn identity(&self) -> CheckIdentity {
        let digest = |bytes: &[u8]| blake3::hash(bytes).to_hex().to_string();
        let mut long = program::command();
        let long = long.arg("--version").run().exits(0).stdout();
        let commit = long.lines().find_map(|line| line.strip_prefix("commit: ")).expect("a line of --version");
        let file = std::fs::read(&self.file).expect("it was written");
        CheckIdentity {
            program: format!("{} ({commit})", env!("CARGO_PKG_VERSION")),
            certificate: digest(&file[..file.len() - 32]),
            tables: Some(digest(self.certificate.head.tables.as_flattened())),
        }
    }

    fn check(&self, flags: &[&str]) -> Output {
        check(&self.file, &[flags, &["--tables", &self.tables()]].concat())
    }
}

#[test]
fn a_sound_certificate_is_checked() {
    let fixture = Fixture::new();
    let claims = fixture.certificate.claims.len();
    let out = fixture.check(&[]).exits(0).stdout();
    assert!(out.contains(&format!("{claims} claims: every one was checked, and holds")), "{out}");
    let json = |flags: &[&str]| -> Value {
        let output = fixture.check(&[flags, &["--json"]].concat()).exits(0).stdout();
        serde_json::from_str(&output).expect("one document")
    };
    let answer = json(&[]);
    assert_eq!((&answer["claims"], &answer["tally"]["claims"]), (&claims.into(), &claims.into()));
    let value = fixture.certificate.head.statement.bounds.lower;
    assert_eq!((&answer["known"], &answer["value"]), (&"exact".into(), &value.into()));
    assert_eq!(answer["openings"].as_array().expect("a list").len(), 3);
    assert_eq!(json(&["--threads", "1"])["tally"], answer["tally"]);
}

#[test]
fn a_state_is_removed_at_the_end_and_belongs_to_its_certificate() {
    let fixture = Fixture::new();
    let state = fixture.directory.path().join("state.json");
    let flags = ["--state", state.to_str().expect("a path")];
    fixture.check(&flags).exits(0);
    assert!(!state.exists());
    // States of other checks: each line has a change of the identity, and the text of the refusal.
    let identity = fixture.identity();
    let others = [
        (CheckIdentity { certificate: "11".repeat(32), ..identity.clone() }, "certificate 1111"),
        (CheckIdentity { program: "0.0.9 (0123456789ab)".to_owned(), ..identity.clone() }, "program 0.0.9 "),
        (CheckIdentity { tables: Some("22".repeat(32)), ..identity.clone() }, "tables 2222"),
    ];
    for (other, expected) in others {
        std::fs::remove_file(&state).ok();
        drop(other.open_state(&state, fixture.claims()).expect("the state is written"));
        let errors = fixture.check(&flags).exits(1).stderr();
        assert!(errors.contains(expected) && errors.contains("--state"), "{errors}");
    }
    std::fs::remove_file(&state).expect("it was written");
    // A state of a version that recorded less.
    std::fs::write(&state, "{\"format\":\"kalah check\",\"version\":1}\n").expect("the state is written");
    let errors = fixture.check(&flags).exits(1).stderr();
    assert!(errors.contains("version 1") && errors.contains("--state"), "{errors}");
    std::fs::write(&state, "{}").expect("the state is written");
    fixture.check(&flags).exits(3);
}

#[test]
fn the_report_distinguishes_stated_from_checked_claims() {
    let fixture = Fixture::new();
    let state = fixture.directory.path().join("state.json");
    let flags = ["--state", state.to_str().expect("a path")];
    let claims = fixture.claims();
    let out = fixture.check(&flags).exits(0).stdout();
    assert!(out.contains(&format!("{claims} checked by this run, 0 by earlier runs")), "{out}");
    // A forged state looks like a true one, so the report states the part of the result that rests on a state.
    let stated = serde_json::json!({
        "claims": 16, "one_ply": 16, "searched": 0, "one_ply_and_search": 0, "in_tables": 0, "nodes": 0,
    });
    let forge = || {
        let (mut file, _) = fixture.identity().open_state(&state, claims).expect("the state is written");
        file.append(&stated).expect("the state is written");
    };
    forge();
    let output = fixture.check(&[&flags[..], &["--json"]].concat()).exits(0).stdout();
    let answer: Value = serde_json::from_str(&output).expect("one document");
    assert_eq!((&answer["earlier"], &answer["this_run"]), (&16.into(), &(claims - 16).into()));
    forge();
    let out = fixture.check(&flags).exits(0).stdout();
    assert!(out.contains(&format!("{} checked by this run, 16 by earlier runs", claims - 16)), "{out}");
}

#[test]
fn the_origin_of_the_tables_is_reported() {
    let fixture = Fixture::new();
    let digest = digest_of_tables(&fixture.certificate.head.tables).expect("it rests on tables");
    let digest = digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    // The manifest has no tables of 3 pits.
    let (_, out, errors) = fixture.check(&[]).success().parts();
    assert!(out.contains(&format!("digest of all {digest}: unknown")), "{out}");
    assert!(errors.contains("warning: the check uses unknown tables"), "{errors}");
    let answer: Value = fixture.check(&["--json"]).json();
    let tables = serde_json::json!({ "digest": digest, "origin": "unknown", "first_unknown": 2 });
    assert_eq!(answer["tables"], tables);
}

#[test]
fn known_tables_are_as_in_the_manifest_and_a_changed_digest_makes_them_unknown() {
    let directory = tempfile::tempdir().expect("a directory");
    build(directory.path(), Rules::Standard, 6, 4).expect("tables are built");
    let tables = Tables::open(directory.path(), Rules::Standard, 6, 4).expect("tables are there");
    let start: Position = "6x1".parse().expect("a start position");
    let score = Bound::AtLeast(1);
    let mut claims = ClaimSet::new(6);
    claim(&mut claims, &start, score);
    let bounds = ValueBounds { lower: start.value(1), ..Statement::all_values(&start) };
    let statement = Statement { rules: Rules::Standard, position: start, bounds, openings: Vec::new() };
    let digests = tables.layers().iter().map(|table| table.header().digest).collect();
    let certificate = Certificate { head: Head { statement, effort: 12, tables: digests }, claims };
    let file = directory.path().join("a.certificate");
    certificate.write(&file).expect("a valid certificate");
    let path = directory.path().to_str().expect("a path");
    let (_, out, errors) = check(&file, &["--tables", path]).success().parts();
    assert!(out.contains(": as in the manifest") && !errors.contains("warning"), "{out}{errors}");
    // The refusal comes before the tables, which are different ones, are opened.
    let mut head = certificate.head.clone();
    head.tables[1][5] ^= 1;
    Certificate { head, claims: certificate.claims }.write(&file).expect("a valid certificate");
    let errors = check(&file, &["--tables", path]).exits(3).stderr();
    assert!(errors.contains("that for standard with 6 pits and 3 seeds is not in the manifest"), "{errors}");
}

#[test]
fn what_is_wrong_has_exit_code_3_and_is_named() {
    let fixture = Fixture::new();
    let bytes = std::fs::read(&fixture.file).expect("it was written");
    // A damaged certificate.
    let mut damaged = bytes.clone();
    damaged[bytes.len() / 2] ^= 1;
    std::fs::write(&fixture.file, &damaged).expect("the file is written");
    let errors = fixture.check(&[]).exits(3).stderr();
    assert!(errors.contains("3x3.certificate cannot be used"), "{errors}");
    std::fs::write(&fixture.file, &bytes[..100]).expect("the file is written");
    assert_eq!(fixture.check(&["--json"]).exits(3).stdout(), "");
    // A false claim.
    let mut wrong = fixture.certificate.clone();
    let mut scores = Scores::of(Rules::Standard);
    let found = wrong.claims.iter().find(|claim| scores.score(&claim.position) < claim.position.seeds());
    let position = found.expect("not every score is the best").position;
    let bound = Bound::AtLeast(scores.score(&position) + 1);
    wrong.claims.remove(&position);
    claim(&mut wrong.claims, &position, bound);
    wrong.write(&fixture.file).expect("a valid certificate");
    let (_, out, errors) = fixture.check(&["--json"]).exits(3).parts();
    assert!(out.is_empty() && errors.contains("kalah: claim "), "{out}{errors}");
    // The digest of another table.
    let head = Head { tables: vec![[0; 32]; 4], ..fixture.certificate.head.clone() };
    let other = Certificate { head, claims: fixture.certificate.claims.clone() };
    other.write(&fixture.file).expect("a valid certificate");
    let errors = fixture.check(&[]).exits(3).stderr();
    assert!(errors.contains("digest"), "{errors}");
}

#[test]
fn what_cannot_be_checked_has_exit_code_1_or_2() {
    let fixture = Fixture::new();
    let errors = check(&fixture.file, &["--tables", "/nowhere"]).exits(1).stderr();
    assert!(errors.contains("there is no directory /nowhere"), "{errors}");
    let empty = tempfile::tempdir().unwrap();
    let errors = check(&fixture.file, &["--tables", empty.path().to_str().unwrap()]).exits(1).stderr();
    assert!(errors.contains("layers 2 to 5 are missing"), "{errors}");
    assert!(errors.contains("kalah build --seeds 5"), "{errors}");
    let errors = check(Path::new("/nowhere/a.certificate"), &[]).exits(1).stderr();
    assert!(errors.contains("/nowhere/a.certificate"), "{errors}");
}
