//! Certificates: the checker accepts only true certificates, and accepts them all. It finds every change of a
//! certificate.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::Ordering;

use kalah::build::build;
use kalah::certificate::{
    Bound, Certificate, CertificateError, Check, CheckError, CheckIdentity, CheckTally, Checker, Claim, ClaimSet,
    Reason, Statement, StoredCertificate,
};
use kalah::file::StateError;
use kalah::game::{Bounds, MAX_PITS, Position, Row, Rules, ValueBounds};
use kalah::progress::Pulse;
use kalah::table::{TableError, Tables};

use crate::certificates::{Scores, certificate, children, positions, read, stored};
use kalah_tests::optional::{self, has_python};

#[test]
fn searches_accept_what_is_true_and_nothing_else() {
    for rules in Rules::ALL {
        let mut scores = Scores::of(rules);
        for (pits, seeds, step) in [(1, 9, 1), (2, 8, 1), (3, 7, 7), (7, 5, 97)] {
            let mut checker = Checker::new(rules, pits, None, 0, 14).unwrap();
            for position in positions(pits, seeds, step) {
                let score = scores.score(&position);
                for asked in [score.saturating_sub(1), score, score + 1] {
                    let finding = checker.reaches(&position, asked).expect("there are no tables");
                    assert_eq!(finding.reached, Some(score >= asked), "{rules} {position} {asked}");
                }
                assert!(checker.searches(&position, Bound::AtLeast(score)).expect("there are no tables"));
                assert!(checker.searches(&position, Bound::AtMost(score)).expect("there are no tables"));
            }
        }
    }
}

/// The checker has moves of its own. Arbitrary scores show whether both lead to the same positions.
#[test]
fn the_checker_plays_as_the_game_does() {
    let arbitrary = |position: &Position| {
        let hash = xxhash_rust::xxh3::xxh3_64(position.to_string().as_bytes());
        (hash % u64::from(position.seeds() + 1)) as u32
    };
    let mut random = fastrand::Rng::with_seed(1);
    for rules in Rules::ALL {
        let small = [(1, 12), (2, 9), (3, 6)].into_iter();
        let small = small.flat_map(|(pits, seeds)| (2..=seeds).flat_map(move |seeds| positions(pits, seeds, 1)));
        let mut all: Vec<Position> = small.collect();
        // Boards of all sizes, with complete laps.
        for _ in 0..5000 {
            let pits = random.usize(1..=MAX_PITS);
            let mut row = || {
                let most = *random.choice(&[2, 4, 40]).expect("three numbers");
                let mut left = 127;
                let mut row = vec![0; pits];
                for pit in &mut row {
                    *pit = random.u32(0..=most).min(left);
                    left -= *pit;
                }
                Row::new(&row).expect("1 to 16 pits")
            };
            all.extend(Position::new(row(), row(), 0, 0).ok().filter(|position| !position.is_over()));
        }
        for position in all {
            let by_game = position.moves().map(|pit| {
                let played = position.play(rules, pit).expect("a legal move");
                let next = played.position.without_stores();
                let score = if next.is_over() { next.mover().total() } else { arbitrary(&next) };
                played.mover_score(&position, score)
            });
            let best = by_game.max().expect("a legal move");
            let checker = Checker::new(rules, position.pits(), None, 0, 0).expect("a board");
            let known = |next: &Position| Some(Bounds { lower: arbitrary(next), upper: arbitrary(next) });
            let bounds = checker.one_ply(&position, &known).expect("there are no tables");
            assert_eq!(bounds, Bounds { lower: best, upper: best }, "{rules} {position}");
        }
    }
}

#[test]
fn one_ply_accepts_what_follows_and_nothing_else() {
    for rules in Rules::ALL {
        let mut scores = Scores::of(rules);
        for (pits, seeds) in [(2, 7), (3, 5)] {
            let mut claims = ClaimSet::new(pits);
            for seeds in 2..=seeds {
                for position in positions(pits, seeds, 1) {
                    let score = scores.score(&position);
                    claims.add(&position, Bounds { lower: score, upper: score }).expect("a claim of this board");
                }
            }
            let mut checker = Checker::new(rules, pits, None, 0, 0).unwrap();
            let known = |position: &Position| claims.get(position);
            for claim in claims.iter() {
                let score = claim.bounds.lower;
                let mut follows =
                    |bound| checker.reason(&claim.position, bound, &known).expect("there are no tables").is_some();
                assert!(follows(Bound::AtLeast(score)) && follows(Bound::AtMost(score)), "{rules} {}", claim.position);
                assert!(!follows(Bound::AtLeast(score + 1)), "{rules} {}", claim.position);
                assert!(score == 0 || !follows(Bound::AtMost(score - 1)), "{rules} {}", claim.position);
            }
        }
    }
}

/// With bounds of some positions after the moves, and searches that are often too short.
#[test]
fn every_reason_is_found_and_shows_only_what_is_true() {
    for rules in Rules::ALL {
        let mut scores = Scores::of(rules);
        let mut checker = Checker::new(rules, 3, None, 0, 3).unwrap();
        let mut found = [0; 3];
        for position in positions(3, 8, 11) {
            let is_known = |next: &Position| xxhash_rust::xxh3::xxh3_64(next.to_string().as_bytes()).is_multiple_of(2);
            let after = children(rules, &position, Bound::AtLeast(0)).into_iter().map(|(_, next, _)| next);
            let after = after.filter(|next| !next.is_over() && is_known(next));
            let claims: HashMap<Position, u32> = after.map(|next| (next, scores.score(&next))).collect();
            let known = |next: &Position| claims.get(next).map(|&score| Bounds { lower: score, upper: score });
            let score = scores.score(&position);
            let bounds = (0..=position.seeds()).flat_map(|score| [Bound::AtLeast(score), Bound::AtMost(score)]);
            for bound in bounds {
                match checker.reason(&position, bound, &known).expect("there are no tables") {
                    None => continue,
                    Some(Reason::OnePly) => found[0] += 1,
                    Some(Reason::Search) => found[1] += 1,
                    Some(Reason::OnePlyAndSearch) => found[2] += 1,
                    Some(_) => {}
                }
                assert!(bound.is_implied_by(Bounds { lower: score, upper: score }), "{rules} {position} {bound:?}");
            }
        }
        assert!(found.iter().all(|&found| found > 0), "{rules} {found:?}");
    }
}

#[test]
fn searches_visit_no_more_nodes_than_allowed_and_always_the_same() {
    let directory = tempfile::tempdir().expect("a directory");
    for rules in Rules::ALL {
        build(directory.path(), rules, 3, 6).expect("tables are built");
        let tables = Tables::open(directory.path(), rules, 3, 6).expect("tables are there");
        let mut scores = Scores::of(rules);
        let positions = positions(3, 9, 41);
        for (seeds, effort) in [(0, 4), (4, 3), (6, 0), (6, 12)] {
            let checker = || Checker::new(rules, 3, Some(&tables), seeds, effort).unwrap();
            let mut reused = checker();
            let mut decided = 0;
            for position in &positions {
                let score = scores.score(position);
                for asked in [score, score + 1] {
                    let finding = reused.reaches(position, asked).expect("the tables are sound");
                    assert_eq!(checker().reaches(position, asked).expect("the tables are sound"), finding);
                    assert!(finding.nodes <= 1 << effort);
                    assert!(finding.reached.is_none_or(|reached| reached == (score >= asked)), "{rules} {position}");
                    decided += usize::from(finding.reached.is_some());
                }
            }
            // Each of these efforts is too small for some of the searches, and enough for others.
            assert!(
                decided > 0 && (effort == 12 || decided < 2 * positions.len()),
                "{rules} {seeds} {effort} {decided}"
            );
        }
    }
}

/// Bytes of a certificate as a file.
fn bytes_of(certificate: &Certificate) -> Vec<u8> {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("a.certificate");
    let (bytes, digest) = certificate.write(&path).expect("a valid certificate");
    let read = std::fs::read(&path).expect("it was written");
    assert_eq!(read.len() as u64, bytes);
    assert_eq!(read[read.len() - 32..], digest);
    read
}

/// Checks a certificate in full.
fn check(certificate: &Certificate, tables: Option<&Tables>) -> Result<CheckTally, CheckError> {
    check_of(&stored(certificate), tables)?.statement()?;
    check_claims(certificate, tables)
}

/// Checks the claims of a certificate.
fn check_claims(certificate: &Certificate, tables: Option<&Tables>) -> Result<CheckTally, CheckError> {
    check_of(&stored(certificate), tables)?.claims(CheckTally::default(), &Pulse::default(), None)
}

fn check_of<'a>(certificate: &'a StoredCertificate, tables: Option<&'a Tables>) -> Result<Check<'a>, CheckError> {
    Check::new(certificate, tables, &Pulse::default())
}

/// Identity of the check of a certificate whose digest has this digit throughout.
fn identity(digit: u8) -> CheckIdentity {
    CheckIdentity {
        program: "0.1.0 (0123456789ab)".to_owned(),
        certificate: digit.to_string().repeat(64),
        tables: Some("5".repeat(64)),
    }
}

/// Calls `test` with the certificate of a small game by each rule set, without tables and with some.
fn small_certificates(mut test: impl FnMut(&mut Scores, &Certificate, Option<&Tables>)) {
    let directory = tempfile::tempdir().expect("a directory");
    for rules in Rules::ALL {
        build(directory.path(), rules, 3, 6).expect("tables are built");
        let tables = Tables::open(directory.path(), rules, 3, 6).expect("tables are there");
        let mut scores = Scores::of(rules);
        let start: Position = "3x3".parse().expect("a start position");
        for (tables, effort) in [(None, 4), (Some(&tables), 2)] {
            let certificate = certificate(&mut scores, &start, tables, effort);
            test(&mut scores, &certificate, tables);
        }
    }
}

#[test]
fn what_is_written_is_read_and_holds() {
    small_certificates(|_, certificate, tables| {
        let bytes = bytes_of(certificate);
        assert_eq!(bytes, bytes_of(certificate));
        let read = read(&bytes).expect("it was just written");
        assert_eq!(read.head, certificate.head);
        assert!(read.claims.iter().eq(certificate.claims.iter()));
        let tally = check(&read, tables).expect("all claims are true");
        assert_eq!(tally.claims, certificate.claims.len() as u64);
        assert!(tally.claims > 10 && tally.one_ply > 0 && tally.searched > 0);
        let counts = [tally.one_ply, tally.searched, tally.one_ply_and_search, tally.in_tables];
        // A claim has two bounds, each with a reason.
        assert!(counts.iter().all(|&count| count <= 2 * tally.claims), "{tally:?}");
    });
}

/// Returns the certificate with a claim removed or replaced.
fn with_claim(certificate: &Certificate, old: &Claim, new: Option<Claim>) -> Certificate {
    let mut changed = certificate.clone();
    changed.claims.remove(&old.position).expect("it is there");
    if let Some(new) = new {
        changed.claims.add(&new.position, new.bounds).expect("a claim of this board");
    }
    changed
}

#[test]
fn false_claims_are_found() {
    false_claims_of_every_claim(7);
}

#[test]
#[ignore = "slow"]
fn every_false_claim_is_found() {
    false_claims_of_every_claim(1);
}

/// Makes every `step`-th claim false.
fn false_claims_of_every_claim(step: usize) {
    small_certificates(|scores, certificate, tables| {
        let mut found = 0;
        for claim in certificate.claims.iter().step_by(step) {
            let Claim { position, bounds: Bounds { lower, upper } } = claim;
            let score = scores.score(&position);
            // A bound one better than the truth. If the claim is not tight, that is more than one better than claimed.
            let wrong = [
                Bounds { lower: score + 1, upper: position.seeds() },
                Bounds { lower: 0, upper: score.saturating_sub(1) },
                Bounds { lower, upper: score.saturating_sub(1).max(lower) },
                Bounds { lower: (score + 1).min(upper), upper },
            ];
            for bounds in wrong.into_iter().filter(|bounds| bounds.lower > score || bounds.upper < score) {
                if bounds.lower > position.seeds() {
                    continue;
                }
                let changed = with_claim(certificate, &claim, Some(Claim { position, bounds }));
                let error = check(&changed, tables).expect_err("a claim is false");
                assert!(error.is_wrong(), "{error}");
                found += 1;
            }
        }
        assert!(found > 3, "{found}");
    });
}

#[test]
fn the_first_false_claim_is_named() {
    small_certificates(|scores, certificate, tables| {
        let claims: Vec<Claim> = certificate.claims.iter().collect();
        for (number, claim) in (1..).zip(&claims).step_by(7) {
            let score = scores.score(&claim.position);
            let seeds = claim.position.seeds();
            if score == seeds {
                continue;
            }
            // This claim must not follow from the claims in front of it, which are exactly those with fewer seeds.
            let mut changed = certificate.clone();
            changed.claims.remove(&claim.position);
            let first = changed.claims.iter().take_while(|other| other.position.seeds() < seeds).count();
            let others: Vec<Claim> = changed.claims.iter().skip(first).collect();
            for other in others {
                changed.claims.remove(&other.position);
            }
            let bounds = Bounds { lower: score + 1, upper: seeds };
            changed.claims.add(&claim.position, bounds).expect("a claim of this board");
            match check_claims(&changed, tables) {
                Err(CheckError::Claim { number: named, claim: wrong, bound, .. }) => {
                    assert_eq!((wrong.position, bound), (claim.position, Bound::AtLeast(score + 1)));
                    assert_eq!(named, first as u64 + 1);
                    assert!(named <= number);
                }
                other => panic!("{other:?}"),
            }
        }
    });
}

#[test]
fn claims_that_others_need_cannot_be_removed() {
    let mut found = 0;
    small_certificates(|scores, certificate, tables| {
        let rules = certificate.head.statement.rules;
        let head = &certificate.head;
        let mut checker = Checker::new(rules, 3, tables, head.table_seeds(), head.effort).unwrap();
        for claim in certificate.claims.iter() {
            let Bound::AtMost(_) = claim.parts().last().expect("a claim states something") else { continue };
            let bound = Bound::AtMost(claim.bounds.upper);
            if checker.searches(&claim.position, bound).expect("the tables are sound") {
                continue;
            }
            // All of these claims are needed, unless ends of games, tables or searches show them.
            for (_, next, needed) in children(rules, &claim.position, bound) {
                let Some(bounds) = certificate.claims.get(&next) else { continue };
                if checker.searches(&next, needed).expect("the tables are sound") {
                    continue;
                }
                assert!(scores.score(&next) >= bounds.lower);
                let changed = with_claim(certificate, &Claim { position: next, bounds }, None);
                assert!(check(&changed, tables).is_err_and(|error| error.is_wrong()));
                found += 1;
            }
        }
    });
    assert!(found > 100, "{found}");
}

#[test]
fn exchanged_positions_are_found() {
    small_certificates(|scores, certificate, tables| {
        let claims: Vec<Claim> = certificate.claims.iter().collect();
        let mut found = 0;
        for claim in claims.iter().step_by(3) {
            let others = positions(3, claim.position.seeds() as usize, 5);
            let Bounds { lower, upper } = claim.bounds;
            let false_of = |other: &&Position| !(lower..=upper).contains(&scores.score(other));
            let Some(&position) = others.iter().find(false_of) else { continue };
            let mut changed = with_claim(certificate, claim, None);
            changed.claims.remove(&position);
            changed.claims.add(&position, claim.bounds).expect("a claim of this board");
            assert!(check(&changed, tables).is_err_and(|error| error.is_wrong()));
            found += 1;
        }
        assert!(found > 3);
    });
}

#[test]
fn false_statements_are_found() {
    small_certificates(|_, certificate, tables| {
        let mut statements = Vec::new();
        let statement = &certificate.head.statement;
        let ValueBounds { lower, upper } = statement.bounds;
        for bounds in [(lower + 1, upper + 1), (lower - 1, upper - 1), (lower + 2, upper + 2), (lower - 2, upper - 2)] {
            let bounds = ValueBounds { lower: bounds.0, upper: bounds.1 };
            statements.push(Statement { bounds, ..statement.clone() });
            for opening in 0..statement.openings.len() {
                let mut changed = statement.clone();
                let ValueBounds { lower, upper } = &mut changed.openings[opening].bounds;
                *lower += bounds.lower - statement.bounds.lower;
                *upper += bounds.upper - statement.bounds.upper;
                statements.push(changed);
            }
        }
        for statement in statements {
            let mut changed = certificate.clone();
            changed.head.statement = statement;
            assert!(matches!(check(&changed, tables), Err(CheckError::Statement(_))));
        }
    });
}

#[test]
fn a_statement_with_crossed_bounds_is_not_written() {
    small_certificates(|_, certificate, _| {
        let mut changed = certificate.clone();
        let bounds = changed.head.statement.bounds;
        changed.head.statement.bounds = ValueBounds { lower: bounds.upper + 2, upper: bounds.upper };
        let directory = tempfile::tempdir().expect("a directory");
        let written = changed.write(directory.path().join("a.certificate"));
        assert!(matches!(written, Err(CertificateError::Io { .. })));
    });
}

#[test]
fn what_states_nothing_is_not_proved() {
    small_certificates(|_, certificate, tables| {
        let mut changed = certificate.clone();
        let statement = &mut changed.head.statement;
        statement.openings.clear();
        statement.bounds = Statement::all_values(&statement.position);
        assert!(matches!(check(&changed, tables), Err(CheckError::Statement(_))));
        let changed = stored(&changed);
        let found = check_of(&changed, tables).expect("the tables are sound").statement();
        assert!(found.is_err_and(|error| error.is_wrong()));
    });
}

#[test]
fn other_tables_are_found() {
    small_certificates(|_, certificate, tables| {
        let Some(tables) = tables else { return };
        for table in 0..certificate.head.tables.len() {
            let mut changed = certificate.clone();
            changed.head.tables[table][table] ^= 1;
            assert!(matches!(check(&changed, Some(tables)), Err(CheckError::OtherTable(_))));
        }
        assert!(matches!(check(certificate, None), Err(CheckError::Table(TableError::Missing { .. }))));
        let fewer = Tables::open(tables.directory(), tables.rules(), 3, 5).expect("tables are there");
        let error = check(certificate, Some(&fewer)).expect_err("a table is missing");
        assert!(matches!(error, CheckError::Table(TableError::Missing { .. })) && !error.is_wrong());
    });
}

#[test]
fn a_stopped_check_goes_on_and_counts_the_same() {
    let directory = tempfile::tempdir().expect("a directory");
    let state = directory.path().join("check.json");
    let mut scores = Scores::of(Rules::EmptyCapture);
    let start: Position = "4x3".parse().expect("a start position");
    let certificate = certificate(&mut scores, &start, None, 3);
    let claims = certificate.claims.len() as u64;
    let file = stored(&certificate);
    let check = check_of(&file, None).expect("it rests on no tables");
    let whole = check.claims(CheckTally::default(), &Pulse::default(), None).expect("all claims are true");
    let (mut runs, mut attempts) = (0, 0);
    loop {
        let (mut file, done) = identity(7).open_state(&state, claims).expect("the state is sound");
        let before = done.claims;
        let pulse = Pulse::default();
        let tally = std::thread::scope(|scope| {
            scope.spawn(|| {
                // Another thread stops the check at some moment after the first task.
                while pulse.positions.load(Ordering::Relaxed) < 300.min(claims - before) {
                    std::thread::yield_now();
                }
                pulse.cancel.cancel();
            });
            check.claims(done, &pulse, Some(&mut file)).expect("all claims are true")
        });
        runs += 1;
        assert!(tally.claims > before || before == claims);
        if tally.claims == claims {
            assert_eq!(tally, whole);
            if runs > 1 {
                break;
            }
            // On a busy machine the other thread may come too late. Then the check starts again.
            attempts += 1;
            assert!(attempts < 1000, "{claims} claims");
            std::fs::remove_file(&state).expect("it was saved");
            runs = 0;
        }
    }
    // The state belongs to this check, and a change of any byte is noticed.
    let of_others = [
        identity(8),
        CheckIdentity { program: "0.1.0 (0123456789ab, changed)".to_owned(), ..identity(7) },
        CheckIdentity { tables: None, ..identity(7) },
    ];
    let belongs = format!("{} belongs to", state.display());
    for other in of_others {
        let error = other.open_state(&state, claims).expect_err("it is that of another check");
        assert!(matches!(error, StateError::Other { .. }) && error.to_string().starts_with(&belongs), "{error}");
    }
    let bytes = std::fs::read(&state).expect("it was saved");
    // Without its end, the last line is one that was cut off.
    for at in 0..bytes.len() - 1 {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        std::fs::write(&state, &changed).expect("the state is written");
        assert!(identity(7).open_state(&state, claims).is_err(), "byte {at}");
    }
    std::fs::write(&state, &bytes).expect("the state is written");
    assert!(identity(7).open_state(&state, claims - 1).is_err_and(|error| matches!(error, StateError::Damaged { .. })));
}

/// A small certificate and its bytes.
fn small_file() -> Vec<u8> {
    let start: Position = "2x3".parse().expect("a start position");
    let certificate = certificate(&mut Scores::of(Rules::Standard), &start, None, 0);
    assert!(certificate.claims.len() > 10);
    bytes_of(&certificate)
}

#[test]
fn every_flipped_bit_and_every_other_length_is_found() {
    let mut bytes = small_file();
    assert!(read(&bytes).is_ok());
    for at in 0..bytes.len() {
        for bit in 0..8 {
            bytes[at] ^= 1 << bit;
            assert!(read(&bytes).is_err(), "bit {bit} of byte {at}");
            bytes[at] ^= 1 << bit;
        }
        assert!(read(&bytes[..at]).is_err(), "{at} bytes");
    }
    bytes.push(0);
    let length = format!("length is {} bytes, but should be {}", bytes.len(), bytes.len() - 1);
    assert!(matches!(read(&bytes), Err(CertificateError::Damaged { what, .. }) if what == length));
    assert!(
        Certificate::read(Path::new("/nowhere/a.certificate"))
            .is_err_and(|error| matches!(error, CertificateError::Io { .. }))
    );
}

/// Writes the right checksums and digest into a certificate whose header, statement or directory was changed.
fn seal(bytes: &mut [u8]) {
    use xxhash_rust::xxh3::xxh3_64;
    bytes[120..128].fill(0);
    let checksum = xxh3_64(&bytes[..128]);
    bytes[120..128].copy_from_slice(&checksum.to_le_bytes());
    let prefix = u64::from_le_bytes(bytes[32..40].try_into().expect("8 bytes"));
    let body = bytes.len() - 32;
    let end = 128u64.saturating_add(prefix);
    if prefix >= 8 && end <= body as u64 {
        let end = end as usize;
        let checksum = xxh3_64(&bytes[128..end - 8]);
        bytes[end - 8..end].copy_from_slice(&checksum.to_le_bytes());
    }
    let digest = *blake3::hash(&bytes[..body]).as_bytes();
    bytes[body..].copy_from_slice(&digest);
}

#[test]
fn more_claims_than_memory_holds_are_refused_before_they_are_read() {
    let sound = small_file();
    let claims = 1u64 << 36;
    let directory = (claims / 16_384) as usize * 24;
    let mut forged = sound[..128].to_vec();
    forged[16..24].copy_from_slice(&claims.to_le_bytes());
    forged[24..28].copy_from_slice(&((claims / 16_384) as u32).to_le_bytes());
    forged[32..40].copy_from_slice(&(directory as u64 + 500).to_le_bytes());
    let bytes = 128 + directory + 500 + 32;
    forged[40..48].copy_from_slice(&(bytes as u64).to_le_bytes());
    forged.resize(bytes, 0);
    seal(&mut forged);
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), &forged).expect("a writable file");
    let error = Certificate::read(file.path()).expect_err("more than any machine has");
    assert!(matches!(error, CertificateError::Memory(_)) && error.to_string().contains(&claims.to_string()), "{error}");
}

#[test]
fn forged_numbers_with_right_checksums_are_found() {
    let sound = small_file();
    let mut again = sound.clone();
    seal(&mut again);
    assert_eq!(again, sound);
    let prefix = u64::from_le_bytes(sound[32..40].try_into().expect("8 bytes")) as usize;
    let numbers = [0, 1, 2, 0x7f, 0xff, 0xffff, 1 << 20, u32::MAX / 2, u32::MAX];
    let mut refused = 0;
    // Every number of the header and of the directory, and all bytes of the statement.
    for at in (8..117).chain(128..128 + prefix - 12) {
        for number in numbers {
            let mut forged = sound.clone();
            forged[at..at + 4].copy_from_slice(&u32::to_le_bytes(number));
            seal(&mut forged);
            match read(&forged) {
                Err(_) => refused += 1,
                // The file states something else, which then does not follow from the claims.
                Ok(certificate) => drop(check(&certificate, None)),
            }
        }
    }
    assert!(refused > 500, "{refused}");
    // Random bytes.
    let mut random = fastrand::Rng::with_seed(2);
    for _ in 0..2000 {
        let mut forged = sound.clone();
        for _ in 0..random.usize(1..=3) {
            let at = random.usize(8..forged.len() - 32);
            forged[at] = random.u8(..);
        }
        seal(&mut forged);
        drop(read(&forged));
    }
}

#[test]
fn the_python_reader_reads_the_same() {
    if !has_python(optional::PYTHON_WITH_ZSTD) {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("a.certificate");
    let ask = |flags: &[&str]| {
        let mut command = std::process::Command::new("python3");
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/certificate_reader.py")).args(flags).arg(&path);
        command.output().expect("python3 runs")
    };
    small_certificates(|_, certificate, _| {
        certificate.write(&path).expect("a valid certificate");
        let claims = certificate.claims.iter();
        let expected =
            claims.map(|Claim { position, bounds }| format!("{position} {} {}\n", bounds.lower, bounds.upper));
        let output = ask(&["--claims"]);
        let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "this needs zstd, the program or one of two modules of Python: {errors}");
        assert_eq!(text, expected.collect::<String>());
        let output = ask(&[]);
        let text = String::from_utf8_lossy(&output.stdout);
        let Statement { rules, position, bounds, openings } = &certificate.head.statement;
        let mut expected = format!("rules {rules}\nposition {position}\nvalue {} to {}\n", bounds.lower, bounds.upper);
        for opening in openings {
            let ValueBounds { lower, upper } = opening.bounds;
            expected += &format!("after {}: {lower} to {upper}\n", opening.moves[0]);
        }
        assert!(text.starts_with(&expected), "{text}");
        assert!(text.contains(&format!("\nclaims {}\n", certificate.claims.len())), "{text}");
    });
    // Damage of any part but the digest is noticed.
    let sound = small_file();
    for at in (0..sound.len() - 32).step_by(23) {
        let mut damaged = sound.clone();
        damaged[at] ^= 4;
        std::fs::write(&path, damaged).expect("the file is written");
        assert!(!ask(&["--claims"]).status.success(), "byte {at}");
    }
}
