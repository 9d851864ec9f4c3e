//! A certificate is checked from its file, a window of claims at a time.

use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use kalah::build::build;
use kalah::certificate::{Certificate, CheckError, Claim, ClaimSet, Head, Statement, StoredCertificate};
use kalah::game::{Bounds, Position, Rules, ValueBounds};
use kalah::table::Tables;

use crate::certificates::{check, check_file, digests, positions, stored};

const RULES: Rules = Rules::Standard;

/// Seeds of the tables on which the certificate rests, and of its claims.
const TABLE_SEEDS: usize = 4;
const SEEDS: usize = 9;

/// The exact scores of all positions with some seeds, as claims: several windows of them.
fn certificate(directory: &Path) -> (Certificate, Tables) {
    build(directory, RULES, 6, SEEDS).unwrap();
    let all = Tables::open(directory, RULES, 6, SEEDS).unwrap();
    let tables = Tables::open(directory, RULES, 6, TABLE_SEEDS).unwrap();
    let mut claims = ClaimSet::new(6);
    for position in (TABLE_SEEDS + 1..=SEEDS).flat_map(|seeds| positions(6, seeds, 1)) {
        let score = all.probe(&position).unwrap().score;
        claims.add(&position, Bounds { lower: score, upper: score }).unwrap();
    }
    let position: Position = "1,1,1,1,1,0/1,1,1,1,0,0".parse().unwrap();
    let value = all.probe(&position).unwrap().value;
    let bounds = ValueBounds { lower: value, upper: value };
    let statement = Statement { rules: RULES, position, bounds, openings: Vec::new() };
    (Certificate { head: Head { statement, effort: 0, tables: digests(&tables) }, claims }, tables)
}

#[test]
fn windows_of_claims_are_checked_as_a_whole() {
    let directory = tempfile::tempdir().unwrap();
    let (sound, tables) = certificate(directory.path());
    let claims: Vec<Claim> = sound.claims.iter().collect();
    assert!(claims.len() > 200_000, "{}", claims.len());
    let file = stored(&sound);
    assert_eq!((file.head(), file.claims()), (&sound.head, claims.len() as u64));
    let nodes = |certificate: &Certificate| {
        let tally = check(certificate, Some(&tables))?;
        assert_eq!(tally.claims, certificate.claims.len() as u64);
        Ok(tally.nodes)
    };
    let with = |position: &Position, bounds: Option<Bounds>| {
        let mut changed = sound.clone();
        changed.claims.remove(position).unwrap();
        bounds.into_iter().for_each(|bounds| _ = changed.claims.add(position, bounds).unwrap());
        nodes(&changed)
    };
    let start = sound.head.statement.position;
    assert!(matches!((nodes(&sound), with(&start, None)), (Ok(0), Ok(0))));
    // A claim that is missing, and one that is too high.
    let after = |position: &Position| {
        let after = |pit| position.play(RULES, pit).unwrap().position.without_stores();
        position.moves().map(after).collect::<Vec<_>>()
    };
    let below = |claim: &&Claim| claim.bounds.upper < claim.position.seeds() && claim.position != start;
    let mut all_after = claims.iter().rev().filter(below).flat_map(|claim| after(&claim.position));
    let needed = all_after.find(|next| next.seeds() as usize > TABLE_SEEDS && !next.is_over()).unwrap();
    let missing = with(&needed, None);
    let Err(CheckError::Claim { claim, .. }) = missing else { panic!("{missing:?}") };
    assert!(after(&claim.position).contains(&needed), "{claim:?}");
    let Claim { position: last, bounds: Bounds { lower, upper } } = *claims.iter().rfind(below).unwrap();
    let wrong = with(&last, Some(Bounds { lower: lower + 1, upper: upper + 1 }));
    let Err(CheckError::Claim { claim, .. }) = wrong else { panic!("{wrong:?}") };
    assert!(claim.position == last || after(&claim.position).contains(&last), "{claim:?}");
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
    let changed = check_file(&stored, Some(&tables)).unwrap_err();
    assert!(matches!(changed, CheckError::Certificate(_)) && changed.is_wrong(), "{changed}");
}
