//! `kalah check`: the behaviour that scripts rely on.

use std::path::{Path, PathBuf};
use std::process::Output;

use kalah::certificate::{Certificate, CheckIdentity, digest_of_tables};
use kalah::game::{Bounds, Position, Rules};
use kalah::prove::Wanted;

use crate::prove::{Board, Case};
use kalah_tests::exhaustive::{Scores, exhaustive};
use kalah_tests::files::flip;
use kalah_tests::program::{self, Ran, Run};

fn check(file: &Path, tables: &Path, flags: &[&str]) -> Output {
    program::command().arg("check").arg(file).arg("--tables").arg(tables).args(flags).run()
}

/// Tables, and a certificate that rests on them, in their directory.
struct Fixture {
    board: Board,
    certificate: Certificate,
    file: PathBuf,
    state: PathBuf,
}

impl Fixture {
    fn new() -> Fixture {
        let board = Board::new(Rules::Standard, "3x3", 5);
        let certificate = Case { effort: 1, ..board.case(Wanted::Openings) }.certificate();
        let [file, state] = ["3x3.certificate", "state.json"].map(|name| board.directory().join(name));
        certificate.write(&file).expect("a valid certificate");
        Fixture { board, certificate, file, state }
    }

    fn claims(&self) -> u64 {
        self.certificate.claims.len() as u64
    }

    /// Identity of the program's check of the certificate.
    fn identity(&self) -> CheckIdentity {
        let digest = |bytes: &[u8]| blake3::hash(bytes).to_hex().to_string();
        let long = program::command().arg("--version").run().printed();
        let commit = long.lines().find_map(|line| line.strip_prefix("commit: ")).expect("a line of --version");
        let file = std::fs::read(&self.file).expect("it was written");
        CheckIdentity {
            program: format!("{} ({commit})", env!("CARGO_PKG_VERSION")),
            certificate: digest(&file[..file.len() - 32]),
            tables: Some(digest(self.certificate.head.tables.as_flattened())),
        }
    }

    fn check(&self, flags: &[&str]) -> Output {
        check(&self.file, self.board.directory(), flags)
    }

    /// Checks the certificate, beginning and ending with a state.
    fn check_with_state(&self, flags: &[&str]) -> Output {
        self.check(&[flags, &["--state", self.state.to_str().expect("a path")]].concat())
    }
}

#[test]
fn a_sound_certificate_is_checked() {
    let fixture = Fixture::new();
    let claims = fixture.claims();
    fixture.check(&[]).success().prints(&format!("{claims} claims: every one was checked, and holds"));
    let answer = fixture.check(&["--json"]).success().json();
    assert_eq!((&answer["claims"], &answer["tally"]["claims"]), (&claims.into(), &claims.into()));
    let value = fixture.certificate.head.statement.bounds.lower;
    assert_eq!((&answer["known"], &answer["value"]), (&"exact".into(), &value.into()));
    let openings = &fixture.certificate.head.statement.openings;
    assert_eq!(answer["openings"].as_array().map(Vec::len), Some(openings.len()));
    assert_eq!(fixture.check(&["--json", "--threads", "1"]).success().json()["tally"], answer["tally"]);
}

#[test]
fn a_state_is_removed_at_the_end_and_belongs_to_its_certificate() {
    let fixture = Fixture::new();
    fixture.check_with_state(&[]).success();
    assert!(!fixture.state.exists());
    // States of other checks: each line has a change of the identity, and the text of the refusal.
    let identity = fixture.identity();
    let others = [
        (CheckIdentity { certificate: "11".repeat(32), ..identity.clone() }, "certificate 1111"),
        (CheckIdentity { program: "0.0.9 (0123456789ab)".to_owned(), ..identity.clone() }, "program 0.0.9 "),
        (CheckIdentity { program: identity.program.replace(')', ", changed)"), ..identity.clone() }, ", changed)"),
        (CheckIdentity { tables: Some("22".repeat(32)), ..identity.clone() }, "tables 2222"),
        (CheckIdentity { tables: None, ..identity.clone() }, "tables none, not "),
    ];
    for (other, expected) in others {
        std::fs::remove_file(&fixture.state).ok();
        drop(other.open_state(&fixture.state, fixture.claims()).expect("the state is written"));
        fixture.check_with_state(&[]).fails(1, expected).prints("--state");
    }
    // A state of a version that recorded less.
    std::fs::write(&fixture.state, "{\"format\":\"kalah check\",\"version\":1}\n").expect("the state is written");
    fixture.check_with_state(&[]).fails(1, "version 1").prints("--state");
    std::fs::write(&fixture.state, "{}").expect("the state is written");
    fixture.check_with_state(&[]).exits(3);
}

#[test]
fn the_report_distinguishes_stated_from_checked_claims() {
    let fixture = Fixture::new();
    let claims = fixture.claims();
    fixture.check_with_state(&[]).success().prints(&format!("{claims} checked by this run, 0 by earlier runs"));
    // A forged state looks like a true one, so the report states the part of the result that rests on a state.
    let stated = serde_json::json!({
        "claims": 16, "one_ply": 16, "searched": 0, "one_ply_and_search": 0, "in_tables": 0, "nodes": 0,
    });
    let [as_json, as_text] = [&["--json"][..], &[]].map(|flags| {
        let (mut file, _) = fixture.identity().open_state(&fixture.state, claims).expect("the state is written");
        file.append(&stated).expect("the state is written");
        drop(file);
        fixture.check_with_state(flags).success()
    });
    let answer = as_json.json();
    assert_eq!((&answer["earlier"], &answer["this_run"]), (&16.into(), &(claims - 16).into()));
    as_text.prints(&format!("{} checked by this run, 16 by earlier runs", claims - 16));
}

#[test]
fn the_origin_of_the_tables_is_reported() {
    let fixture = Fixture::new();
    let digest = digest_of_tables(&fixture.certificate.head.tables).expect("it rests on tables");
    let digest = blake3::Hash::from_bytes(digest).to_string();
    // The manifest has no tables of 3 pits.
    let output = fixture.check(&[]).success().prints(&format!("digest of all {digest}: unknown"));
    assert!(output.stderr().contains("warning: the check uses unknown tables"), "{}", output.stderr());
    let tables = serde_json::json!({ "digest": digest, "origin": "unknown", "first_unknown": 2 });
    assert_eq!(fixture.check(&["--json"]).json()["tables"], tables);
}

#[test]
fn known_tables_are_as_in_the_manifest_and_a_changed_digest_makes_them_unknown() {
    let board = Board::new(Rules::Standard, "6x1", 4);
    let mut certificate = board.case(Wanted::Find).certificate();
    let (path, file) = (board.directory(), board.directory().join("a.certificate"));
    certificate.write(&file).expect("a valid certificate");
    check(&file, path, &[]).success().prints(": as in the manifest").does_not_print("warning");
    // The refusal comes before the tables, which are different ones, are opened.
    certificate.head.tables[1][5] ^= 1;
    certificate.write(&file).expect("a valid certificate");
    check(&file, path, &[]).fails(3, "that for standard with 6 pits and 3 seeds is not in the manifest");
}

#[test]
fn what_is_wrong_has_exit_code_3_and_is_named() {
    let fixture = Fixture::new();
    let bytes = flip(&fixture.file, std::fs::read(&fixture.file).expect("it was written").len() / 2, 1);
    fixture.check(&[]).fails(3, "3x3.certificate cannot be used");
    std::fs::write(&fixture.file, &bytes[..100]).expect("the file is written");
    fixture.check(&["--json"]).fails(3, "3x3.certificate cannot be used");
    // A false claim.
    let (mut wrong, mut known) = (fixture.certificate.clone(), Scores::default());
    let mut score = |position: &Position| exhaustive(Rules::Standard, position, &mut known);
    let found = wrong.claims.iter().find(|claim| score(&claim.position) < claim.position.seeds());
    let position = found.expect("not every score is the best").position;
    wrong.claims.remove(&position);
    let bounds = Bounds { lower: score(&position) + 1, upper: position.seeds() };
    wrong.claims.add(&position, bounds).expect("a claim of this board");
    wrong.write(&fixture.file).expect("a valid certificate");
    fixture.check(&["--json"]).fails(3, "kalah: claim ");
    // The digests of other tables.
    let mut other = fixture.certificate.clone();
    other.head.tables = vec![[0; 32]; 4];
    other.write(&fixture.file).expect("a valid certificate");
    fixture.check(&[]).fails(3, "digest");
}

#[test]
fn what_cannot_be_checked_has_exit_code_1() {
    let fixture = Fixture::new();
    let empty = tempfile::tempdir().unwrap();
    let missing = check(&fixture.file, empty.path(), &[]).fails(1, "layers 2 to 5 are missing");
    missing.prints("kalah build --seeds 5");
    let absent = Path::new("/nowhere/a.certificate");
    check(absent, empty.path(), &[]).fails(1, "/nowhere/a.certificate");
}
