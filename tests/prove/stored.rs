//! A certificate is checked from its file, a window of claims at a time.

use std::io::{Seek, SeekFrom, Write};
use std::mem::discriminant;
use std::path::Path;

use kalah::build::build;
use kalah::certificate::{
    Certificate, Check, CheckError, CheckTally, Claim, ClaimKeys, ClaimSet, Head, Statement, StoredCertificate,
};
use kalah::game::{Bounds, Position, Rules, ValueBounds};
use kalah::progress::Pulse;
use kalah::table::Tables;

const RULES: Rules = Rules::Standard;

/// Seeds of the tables on which the certificate rests, and of its claims.
const TABLE_SEEDS: usize = 4;
const SEEDS: usize = 9;

/// The exact scores of all positions with some seeds, as claims: several windows of them.
fn certificate(directory: &Path) -> (Certificate, Tables) {
    build(directory, RULES, 6, SEEDS).unwrap();
    let all = Tables::open(directory, RULES, 6, SEEDS).unwrap();
    let tables = Tables::open(directory, RULES, 6, TABLE_SEEDS).unwrap();
    let (keys, mut claims) = (ClaimKeys::new(6), ClaimSet::new(6));
    for seeds in TABLE_SEEDS + 1..=SEEDS {
        for rank in 0..keys.sequences(seeds).unwrap() {
            let position = keys.position((seeds as u128) << 120 | rank).unwrap();
            if !position.is_over() {
                let score = all.probe(&position).unwrap().score;
                claims.add(&position, Bounds { lower: score, upper: score }).unwrap();
            }
        }
    }
    let position: Position = "1,1,1,1,1,0/1,1,1,1,0,0".parse().unwrap();
    let value = all.probe(&position).unwrap().value;
    let bounds = ValueBounds { lower: value, upper: value };
    let statement = Statement { rules: RULES, position, bounds, openings: Vec::new() };
    let digests = tables.layers().iter().map(|table| table.header().digest).collect();
    (Certificate { head: Head { statement, effort: 0, tables: digests }, claims }, tables)
}

fn check(certificate: &StoredCertificate, tables: &Tables) -> Result<CheckTally, CheckError> {
    let check = Check::new(certificate, Some(tables), &Pulse::default())?;
    check.statement()?;
    let tally = check.claims(CheckTally::default(), &Pulse::default(), None)?;
    assert_eq!(tally.claims, certificate.claims());
    Ok(tally)
}

#[test]
fn windows_of_claims_are_checked_as_a_whole() {
    let directory = tempfile::tempdir().unwrap();
    let (sound, tables) = certificate(directory.path());
    let count = sound.claims.len();
    let all: Vec<Claim> = sound.claims.iter().collect();
    assert!(count > 200_000, "{count}");
    // A claim that is missing, and one that is too high.
    let start = sound.head.statement.position;
    let mut without = sound.clone();
    let after = |position: &Position| {
        let after = |pit| position.play(RULES, pit).unwrap().position.without_stores();
        position.moves().map(after).collect::<Vec<_>>()
    };
    let needed = all.iter().rev().filter(|claim| claim.bounds.upper < claim.position.seeds()).find_map(|claim| {
        let after = after(&claim.position);
        after.into_iter().find(|next| next.seeds() as usize > TABLE_SEEDS && !next.is_over())
    });
    let needed = needed.unwrap();
    without.claims.remove(&needed);
    let mut wrong = sound.clone();
    let last =
        all.iter().rfind(|claim| claim.bounds.upper < claim.position.seeds() && claim.position != start).unwrap();
    wrong.claims.remove(&last.position);
    let raised = Bounds { lower: last.bounds.lower + 1, upper: last.bounds.upper + 1 };
    wrong.claims.add(&last.position, raised).unwrap();
    let mut no_start = sound.clone();
    no_start.claims.remove(&start);
    let path = directory.path().join("some.certificate");
    let mut results = Vec::new();
    for certificate in [&sound, &without, &wrong, &no_start] {
        certificate.write(&path).unwrap();
        let stored = StoredCertificate::open(&path).unwrap();
        let claims = certificate.claims.len() as u64;
        assert_eq!((stored.head(), stored.claims()), (&certificate.head, claims));
        let result = check(&stored, &tables);
        assert_eq!(result.as_ref().map_or(claims, |tally| tally.claims), claims);
        results.push(result.map(|tally| tally.nodes));
    }
    let [Ok(0), Err(CheckError::Claim { claim: needing, .. }), Err(CheckError::Claim { claim: false_one, .. }), Ok(0)] =
        &results[..]
    else {
        panic!("{results:?}")
    };
    assert!(after(&needing.position).contains(&needed), "{needing:?}");
    assert!(false_one.position == last.position || after(&false_one.position).contains(&last.position));
}

#[test]
fn a_file_that_is_damaged_during_a_check_ends_it() {
    let directory = tempfile::tempdir().unwrap();
    let (certificate, tables) = certificate(directory.path());
    let path = directory.path().join("some.certificate");
    certificate.write(&path).unwrap();
    let stored = StoredCertificate::open(&path).unwrap();
    let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(stored.bytes() / 2)).unwrap();
    file.write_all(b"changed").unwrap();
    let changed = check(&stored, &tables).unwrap_err();
    assert!(matches!(changed, CheckError::Certificate(_)) && changed.is_wrong(), "{changed}");
}

#[test]
fn a_damaged_file_is_refused_for_the_same_reason() {
    let directory = tempfile::tempdir().unwrap();
    let (mut certificate, _) = certificate(directory.path());
    let few: Vec<Claim> = certificate.claims.iter().step_by(10_000).collect();
    certificate.claims = ClaimSet::new(6);
    few.iter().for_each(|claim| _ = certificate.claims.add(&claim.position, claim.bounds).unwrap());
    let path = directory.path().join("some.certificate");
    certificate.write(&path).unwrap();
    let sound = std::fs::read(&path).unwrap();
    let mut copies: Vec<Vec<u8>> = (0..sound.len()).map(|length| sound[..length].to_vec()).collect();
    copies.push([&sound[..], b"x"].concat());
    for at in 0..sound.len() {
        let mut copy = sound.clone();
        copy[at] ^= 1 << (at % 8);
        copies.push(copy);
    }
    for copy in copies {
        std::fs::write(&path, copy).unwrap();
        let one = Certificate::read(&path).map(|_| ()).unwrap_err();
        let two = StoredCertificate::open(&path).map(|_| ()).unwrap_err();
        assert_eq!(one.to_string(), two.to_string());
        assert_eq!(discriminant(&one), discriminant(&two));
    }
}
