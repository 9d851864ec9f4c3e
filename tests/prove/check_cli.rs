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
    assert_eq!(answer["ok"], true);
    assert_eq!((&answer["extent"], &answer["claims"]), (&"complete".into(), &claims.into()));
    assert_eq!(answer["tally"]["claims"], claims);
    let value = fixture.certificate.head.statement.bounds.lower;
    assert_eq!((&answer["known"], &answer["value"]), (&"exact".into(), &value.into()));
    assert_eq!(answer["openings"].as_array().expect("a list").len(), 3);
    assert_eq!(json(&["--threads", "1"])["tally"], answer["tally"]);
}

#[test]
fn more_tables_make_a_check_shorter_and_part_of_its_result() {
    let fixture = Fixture::new();
    let flags = ["--seeds", "9"];
    let errors = fixture.check(&flags).exits(1).stderr();
    assert!(errors.contains("layers 6 to 9 are missing"), "{errors}");
    build(fixture.directory.path(), Rules::Standard, 3, 9).expect("tables are built");
    let json = |flags: &[&str]| -> Value {
        let output = fixture.check(&[flags, &["--json"]].concat()).exits(0).stdout();
        serde_json::from_str(&output).expect("one document")
    };
    let (without, with) = (json(&[]), json(&flags));
    assert_eq!((&with["ok"], &with["table_seeds"], &with["used_seeds"]), (&true.into(), &5.into(), &9.into()));
    assert!(without["used_seeds"].is_null());
    let count = |answer: &Value, what| answer["tally"][what].as_u64().expect("a number");
    assert!(count(&with, "nodes") < count(&without, "nodes"));
    assert!(count(&with, "in_tables") > count(&without, "in_tables"));
    // The digest is that of all tables, so a state belongs to them.
    let tables = Tables::open(fixture.directory.path(), Rules::Standard, 3, 9).expect("tables are there");
    let digests = tables.layers().iter().flat_map(|table| table.header().digest);
    let digest = blake3::hash(&digests.collect::<Vec<u8>>()).to_hex().to_string();
    assert_eq!(with["tables"]["digest"], digest);
    let state = fixture.directory.path().join("state.json");
    drop(fixture.identity().open_state(&state, fixture.claims()).expect("the state is written"));
    let errors = fixture.check(&["--seeds", "9", "--state", &state.to_string_lossy()]).exits(1).stderr();
    assert!(errors.contains("belongs to other work: tables "), "{errors}");
    // Those that the proof rests on are always needed.
    let errors = fixture.check(&["--seeds", "4"]).exits(2).stderr();
    assert!(errors.contains("at least 5"), "{errors}");
    // A damaged layer above those of the proof ends the check, too.
    let layer = tables.require(9).expect("it was built").path().to_owned();
    let mut bytes = std::fs::read(&layer).expect("it was built");
    let place = bytes.len() - 9;
    bytes[place] ^= 1;
    std::fs::write(&layer, bytes).expect("the file can be written");
    fixture.check(&flags).exits(3);
    fixture.check(&[]).exits(0);
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
    assert!(errors.contains("a different table for standard with 6 pits and 3 seeds"), "{errors}");
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
    let out = fixture.check(&[]).exits(3).stdout();
    assert!(out.starts_with("WRONG: "), "{out}");
    let answer = fixture.check(&["--json"]).exits(3).stdout();
    let answer: Value = serde_json::from_str(&answer).expect("one document");
    assert_eq!((&answer["ok"], &answer["extent"]), (&false.into(), &"wrong".into()));
    assert_eq!(out, format!("WRONG: {}\n", answer["wrong"].as_str().expect("a text")));
    // The digest of another table.
    let head = Head { tables: vec![[0; 32]; 4], ..fixture.certificate.head.clone() };
    let other = Certificate { head, claims: fixture.certificate.claims.clone() };
    other.write(&fixture.file).expect("a valid certificate");
    let out = fixture.check(&[]).exits(3).stdout();
    assert!(out.contains("digest"), "{out}");
}

#[test]
fn with_more_tables_wrong_claims_are_found_and_named() {
    let fixture = Fixture::new();
    build(fixture.directory.path(), Rules::Standard, 3, 9).expect("tables are built");
    let mut scores = Scores::of(Rules::Standard);
    let false_claim = |position: Position| {
        let above = scores.score(&position) + 1;
        (above <= position.seeds()).then_some((position, Bound::AtLeast(above)))
    };
    let positions = fixture.certificate.claims.iter().map(|claim| claim.position);
    let wrong: Vec<_> = positions.filter_map(false_claim).collect();
    // Some of these positions have moves to the layers above the tables of the proof.
    for (position, bound) in wrong.iter().step_by(wrong.len() / 30) {
        let mut forged = fixture.certificate.clone();
        forged.claims.remove(position);
        claim(&mut forged.claims, position, *bound);
        forged.write(&fixture.file).expect("a valid certificate");
        for flags in [&["--seeds", "9"][..], &[]] {
            let out = fixture.check(flags).exits(3).stdout();
            assert!(out.starts_with("WRONG: "), "{position} {out}");
        }
    }
}

#[test]
fn what_cannot_be_checked_has_exit_code_1_or_2() {
    let fixture = Fixture::new();
    let errors = check(&fixture.file, &["--tables", "/nowhere"]).exits(1).stderr();
    assert!(errors.contains("there is no directory /nowhere"), "{errors}");
    let empty = tempfile::tempdir().unwrap();
    let errors = check(&fixture.file, &["--tables", empty.path().to_str().unwrap()]).exits(1).stderr();
    assert!(errors.contains("kalah build"), "{errors}");
    let errors = check(Path::new("/nowhere/a.certificate"), &[]).exits(1).stderr();
    assert!(errors.contains("/nowhere/a.certificate"), "{errors}");
}
