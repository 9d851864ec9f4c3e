//! Certificates: the checker accepts only true certificates, and accepts them all. It finds every change of a
//! certificate.

use std::collections::HashMap;
use std::mem::discriminant;
use std::path::Path;
use std::sync::atomic::Ordering;

use kalah::certificate::{
    Bound, Certificate, CertificateError, Check, CheckError, CheckIdentity, CheckTally, Checker, Claim, ClaimSet,
    Reason, Statement, StoredCertificate,
};
use kalah::file::StateError;
use kalah::game::{Bounds, MAX_PITS, Position, Row, Rules, ValueBounds};
use kalah::progress::Pulse;
use kalah::prove::Wanted;
use kalah::table::{TableError, Tables};

use crate::certificates::{check, positions, read, read_in_python, stored};
use crate::prove::{Board, Case};
use kalah_tests::exhaustive::{Scores, exhaustive};
use kalah_tests::optional::{self, has_python};
use kalah_tests::program::Ran;
use kalah_tests::tables::opened;

#[test]
fn searches_decide_what_is_true_within_their_nodes_and_always_the_same() {
    /// An effort within which all searches of these small boards end.
    const ENOUGH: u32 = 14;
    // Pits, seeds, the step between the positions, seeds of the tables, and the effort. Each of the last efforts is too
    // small for some of the searches, but for the very last one, and enough for others.
    let cases = [
        (1, 9, 1, 0, ENOUGH),
        (2, 8, 1, 0, ENOUGH),
        (3, 7, 7, 0, ENOUGH),
        (7, 5, 97, 0, ENOUGH),
        (3, 9, 41, 0, 4),
        (3, 9, 41, 4, 3),
        (3, 9, 41, 6, 0),
        (3, 9, 41, 6, 12),
    ];
    let cases = Rules::ALL.into_iter().flat_map(|rules| cases.map(|case| (rules, case)));
    for (rules, (pits, seeds, step, table_seeds, effort)) in cases {
        let (tables, mut scores) = (opened(rules, pits, 6), Scores::default());
        let checker = || Checker::new(rules, pits, Some(&tables), table_seeds, effort).unwrap();
        let (mut reused, mut decided, mut all) = (checker(), 0, 0);
        for position in positions(pits, seeds, step) {
            let score = exhaustive(rules, &position, &mut scores);
            for asked in [score.saturating_sub(1), score, score + 1] {
                let finding = reused.reaches(&position, asked).expect("the tables are sound");
                assert_eq!(checker().reaches(&position, asked).expect("the tables are sound"), finding);
                assert!(finding.nodes <= 1 << effort);
                let is_right = finding.reached.is_none_or(|reached| reached == (score >= asked));
                assert!(is_right, "{rules} {position} {asked}");
                (decided, all) = (decided + usize::from(finding.reached.is_some()), all + 1);
            }
            let mut searches = |bound| reused.searches(&position, bound).expect("the tables are sound");
            let both = searches(Bound::AtLeast(score)) && searches(Bound::AtMost(score));
            assert!(both || effort < ENOUGH, "{rules} {position}");
        }
        assert!(decided > 0 && (effort >= 12 || decided < all), "{rules} {table_seeds} {effort} {decided}");
        assert!(decided == all || effort < ENOUGH, "{rules} {pits} {decided}");
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

/// With bounds of some positions after the moves, and searches that are often too short.
#[test]
fn every_reason_is_found_and_shows_only_what_is_true() {
    for rules in Rules::ALL {
        let mut scores = Scores::default();
        let mut checker = Checker::new(rules, 3, None, 0, 3).unwrap();
        let mut found = [0; 3];
        for position in positions(3, 8, 11) {
            let is_known = |next: &Position| xxhash_rust::xxh3::xxh3_64(next.to_string().as_bytes()).is_multiple_of(2);
            let after = position.moves().map(|pit| position.play(rules, pit).unwrap().position.without_stores());
            let after = after.filter(|next| !next.is_over() && is_known(next));
            let claims: HashMap<Position, u32> =
                after.map(|next| (next, exhaustive(rules, &next, &mut scores))).collect();
            let known = |next: &Position| claims.get(next).map(|&score| Bounds { lower: score, upper: score });
            let score = exhaustive(rules, &position, &mut scores);
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

/// Bytes of a certificate as a file.
pub(crate) fn bytes_of(certificate: &Certificate) -> Vec<u8> {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("a.certificate");
    let (bytes, digest) = certificate.write(&path).expect("a valid certificate");
    let read = std::fs::read(&path).expect("it was written");
    assert_eq!(read.len() as u64, bytes);
    assert_eq!(read[read.len() - 32..], digest);
    read
}

/// Calls `test` with the certificate of a small game by each rule set, without tables and with some.
fn small_certificates(mut test: impl FnMut(&Certificate, Option<&Tables>)) {
    for (rules, (seeds, effort)) in Rules::ALL.into_iter().flat_map(|rules| [(0, 4), (6, 2)].map(|it| (rules, it))) {
        let board = Board::new(rules, "3x3", seeds);
        let certificate = Case { effort, ..board.case(Wanted::Openings) }.certificate();
        test(&certificate, board.tables.as_ref());
    }
}

#[test]
fn what_is_written_is_read_and_holds() {
    small_certificates(|certificate, tables| {
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
    small_certificates(|certificate, tables| {
        let (rules, mut scores, mut found) = (certificate.head.statement.rules, Scores::default(), 0);
        for claim in certificate.claims.iter().step_by(step) {
            let Claim { position, bounds: Bounds { lower, upper } } = claim;
            let score = exhaustive(rules, &position, &mut scores);
            // A bound one better than the truth. If the claim is not tight, that is more than one better than claimed.
            let wrong = [
                Bounds { lower: score + 1, upper: position.seeds() },
                Bounds { lower: 0, upper: score.saturating_sub(1) },
                Bounds { lower, upper: score.saturating_sub(1).max(lower) },
                Bounds { lower: (score + 1).min(upper), upper },
            ];
            let is_false = |bounds: &Bounds| bounds.lower > score || bounds.upper < score;
            for bounds in wrong.into_iter().filter(|bounds| is_false(bounds) && bounds.lower <= position.seeds()) {
                let mut changed = certificate.clone();
                changed.claims.remove(&position).expect("it is there");
                changed.claims.add(&position, bounds).expect("a claim of this board");
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
    small_certificates(|certificate, tables| {
        let (rules, mut scores) = (certificate.head.statement.rules, Scores::default());
        for claim in certificate.claims.iter().step_by(7) {
            let (score, seeds) = (exhaustive(rules, &claim.position, &mut scores), claim.position.seeds());
            if score == seeds {
                continue;
            }
            // This claim must not follow from the claims in front of it, which are exactly those with fewer seeds.
            let mut claims = ClaimSet::new(3);
            for other in certificate.claims.iter().filter(|other| other.position.seeds() < seeds) {
                claims.add(&other.position, other.bounds).expect("a claim of this board");
            }
            let first = claims.len() as u64 + 1;
            claims.add(&claim.position, Bounds { lower: score + 1, upper: seeds }).expect("a claim of this board");
            let file = stored(&Certificate { head: certificate.head.clone(), claims });
            let check = Check::new(&file, tables, &Pulse::default()).expect("the tables are sound");
            match check.claims(CheckTally::default(), &Pulse::default(), None) {
                Err(CheckError::Claim { number, claim: wrong, bound, .. }) => {
                    let expected = (first, claim.position, Bound::AtLeast(score + 1));
                    assert_eq!((number, wrong.position, bound), expected);
                }
                other => panic!("{other:?}"),
            }
        }
    });
}

#[test]
fn statements_that_are_false_or_state_nothing_are_found() {
    small_certificates(|certificate, tables| {
        let statement = &certificate.head.statement;
        let bounds = Statement::all_values(&statement.position);
        let mut statements = vec![Statement { bounds, openings: Vec::new(), ..statement.clone() }];
        for (part, by) in (0..=statement.openings.len()).flat_map(|part| [-2, -1, 1, 2].map(|by| (part, by))) {
            let mut changed = statement.clone();
            let bounds = if part == 0 { &mut changed.bounds } else { &mut changed.openings[part - 1].bounds };
            (bounds.lower, bounds.upper) = (bounds.lower + by, bounds.upper + by);
            statements.push(changed);
        }
        let mut changed = certificate.clone();
        for statement in statements {
            changed.head.statement = statement;
            let error = check(&changed, tables).expect_err("it does not follow");
            assert!(matches!(error, CheckError::Statement(_)) && error.is_wrong(), "{error}");
        }
        // Crossed bounds are not written.
        changed.head.statement.bounds = ValueBounds { lower: 2, upper: 0 };
        let directory = tempfile::tempdir().expect("a directory");
        let written = changed.write(directory.path().join("a.certificate"));
        assert!(matches!(written, Err(CertificateError::Io { .. })));
    });
}

#[test]
fn other_tables_are_found() {
    small_certificates(|certificate, tables| {
        let Some(tables) = tables else { return };
        for table in 0..certificate.head.tables.len() {
            let mut changed = certificate.clone();
            changed.head.tables[table][table] ^= 1;
            assert!(matches!(check(&changed, Some(tables)), Err(CheckError::OtherTable(_))));
        }
        assert!(matches!(check(certificate, None), Err(CheckError::Table(TableError::Missing { .. }))));
        let stopped = Pulse::default();
        stopped.cancel.cancel();
        assert!(matches!(Check::new(&stored(certificate), Some(tables), &stopped), Err(CheckError::Stopped(_))));
        let fewer = Tables::open(tables.directory(), tables.rules(), 3, 5).expect("tables are there");
        let error = check(certificate, Some(&fewer)).expect_err("a table is missing");
        assert!(matches!(error, CheckError::Table(TableError::Missing { .. })) && !error.is_wrong());
    });
}

#[test]
fn a_stopped_check_goes_on_and_counts_the_same() {
    let directory = tempfile::tempdir().expect("a directory");
    let state = directory.path().join("check.json");
    let board = Board::new(Rules::EmptyCapture, "4x3", 0);
    let certificate = Case { effort: 3, ..board.case(Wanted::Openings) }.certificate();
    let (file, claims) = (stored(&certificate), certificate.claims.len() as u64);
    let check = Check::new(&file, None, &Pulse::default()).expect("it rests on no tables");
    let whole = check.claims(CheckTally::default(), &Pulse::default(), None).expect("all claims are true");
    let identity = CheckIdentity {
        program: "0.1.0 (0123456789ab)".to_owned(),
        certificate: "7".repeat(64),
        tables: Some("5".repeat(64)),
    };
    let goes_on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        std::fs::remove_file(&state).ok();
        let (mut runs, mut idle, mut before) = (0, 0, 0);
        while before < claims {
            let (mut file, done) = identity.open_state(&state, claims).expect("the state is sound");
            assert_eq!(done.claims, before);
            let pulse = Pulse::default();
            let tally = std::thread::scope(|scope| {
                scope.spawn(|| {
                    // Another thread stops the check at some moment after the first task.
                    while pulse.positions.load(Ordering::Relaxed) < 300.min(claims - before) {
                        std::thread::yield_now();
                    }
                    pulse.cancel.cancel();
                });
                pool.install(|| check.claims(done, &pulse, Some(&mut file))).expect("all claims are true")
            });
            assert!(tally.claims < claims || tally == whole, "{tally:?}, not {whole:?}");
            // Tasks count up to the first one that was stopped. With one thread, the first one has ended by then.
            assert!(
                tally.claims > before || (threads > 1 && tally.claims == before),
                "{} after {before}",
                tally.claims
            );
            let is_idle = tally.claims == before;
            (runs, idle, before) = (runs + usize::from(!is_idle), idle + usize::from(is_idle), tally.claims);
            assert!(idle < 1000, "no task ends before its check is stopped");
        }
        runs > 1
    };
    // On a busy machine the other thread may come too late. Then the check starts again.
    for threads in [1, 3] {
        assert!((0..1000).any(|_| goes_on(threads)), "{claims} claims, {threads} threads");
    }
    // A change of any byte is noticed. Without its end, the last line is one that was cut off.
    let bytes = std::fs::read(&state).expect("it was saved");
    for at in 0..bytes.len() - 1 {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        std::fs::write(&state, &changed).expect("the state is written");
        assert!(identity.open_state(&state, claims).is_err(), "byte {at}");
    }
    std::fs::write(&state, &bytes).expect("the state is written");
    assert!(identity.open_state(&state, claims - 1).is_err_and(|error| matches!(error, StateError::Damaged { .. })));
}

/// Bytes of a small certificate that rests on tables to this number of seeds.
fn small_file(seeds: usize) -> Vec<u8> {
    let certificate = Board::new(Rules::Standard, "2x3", seeds).without_searches(Wanted::Openings).certificate();
    assert!(certificate.claims.len() > 10);
    bytes_of(&certificate)
}

/// Both readers find it, and give the same reason.
#[test]
fn every_flipped_bit_and_every_other_length_is_found() {
    let mut bytes = small_file(3);
    assert!(read(&bytes).is_ok());
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let refused = |bytes: &[u8], what: &str| {
        std::fs::write(file.path(), bytes).expect("a writable file");
        let one = Certificate::read(file.path()).map(drop).expect_err(what);
        let two = StoredCertificate::open(file.path()).map(drop).expect_err(what);
        assert_eq!((discriminant(&one), one.to_string()), (discriminant(&two), two.to_string()), "{what}");
        one
    };
    for at in 0..bytes.len() {
        for bit in 0..8 {
            bytes[at] ^= 1 << bit;
            refused(&bytes, &format!("bit {bit} of byte {at}"));
            bytes[at] ^= 1 << bit;
        }
        refused(&bytes[..at], &format!("{at} bytes"));
    }
    bytes.push(0);
    let length = format!("length is {} bytes, but should be {}", bytes.len(), bytes.len() - 1);
    assert!(matches!(refused(&bytes, "a byte more"), CertificateError::Damaged { what, .. } if what == length));
    let absent = Certificate::read(Path::new("/nowhere/a.certificate"));
    assert!(matches!(absent, Err(CertificateError::Io { .. })));
}

/// Writes the right checksums and digest into a certificate whose header, statement or directory was changed.
pub(crate) fn seal(bytes: &mut [u8]) {
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
    let sound = small_file(0);
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
    let error = read(&forged).expect_err("more than any machine has");
    assert!(matches!(error, CertificateError::Memory(_)) && error.to_string().contains(&claims.to_string()), "{error}");
}

#[test]
fn forged_numbers_with_right_checksums_are_found() {
    let sound = small_file(0);
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
    small_certificates(|certificate, _| {
        certificate.write(&path).expect("a valid certificate");
        let claims = certificate.claims.iter();
        let expected =
            claims.map(|Claim { position, bounds }| format!("{position} {} {}\n", bounds.lower, bounds.upper));
        assert_eq!(read_in_python(&path, &["--claims"]).printed(), expected.collect::<String>());
        let text = read_in_python(&path, &[]).printed();
        let Statement { rules, position, bounds, openings } = &certificate.head.statement;
        let mut expected = format!("rules {rules}\nposition {position}\nvalue {} to {}\n", bounds.lower, bounds.upper);
        for opening in openings {
            let ValueBounds { lower, upper } = opening.bounds;
            let moves: Vec<String> = opening.moves.iter().map(ToString::to_string).collect();
            expected += &format!("after {}: {lower} to {upper}\n", moves.join(" "));
        }
        assert!(text.starts_with(&expected), "{text}");
        assert!(text.contains(&format!("\nclaims {}\n", certificate.claims.len())), "{text}");
    });
    // Damage of any part but the digest is noticed.
    let sound = small_file(0);
    for at in (0..sound.len() - 32).step_by(23) {
        let mut damaged = sound.clone();
        damaged[at] ^= 4;
        std::fs::write(&path, damaged).expect("the file is written");
        assert!(!read_in_python(&path, &["--claims"]).status.success(), "byte {at}");
    }
}
