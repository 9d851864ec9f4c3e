//! Scores by brute force, and certificates made from them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kalah::certificate::{
    Bound, Certificate, CertificateError, Check, CheckError, CheckTally, Checker, ClaimKeys, ClaimSet, Head,
    OpeningBounds, Statement, StoredCertificate,
};
use kalah::game::{Bounds, Pit, Position, Rules, ValueBounds};
use kalah::progress::Pulse;
use kalah::table::Tables;
use kalah_tests::exhaustive::{self, exhaustive};
use kalah_tests::program::Run;

/// Exact scores of positions, by brute force.
pub(crate) struct Scores {
    rules: Rules,
    found: exhaustive::Scores,
}

impl Scores {
    pub(crate) fn of(rules: Rules) -> Scores {
        Scores { rules, found: exhaustive::Scores::default() }
    }

    pub(crate) fn score(&mut self, position: &Position) -> u32 {
        exhaustive(self.rules, position, &mut self.found)
    }

    pub(crate) fn value(&mut self, position: &Position) -> i64 {
        position.value(self.score(position))
    }
}

/// Adds a claim of one bound.
pub(crate) fn claim(claims: &mut ClaimSet, position: &Position, bound: Bound) {
    let seeds = position.seeds();
    let bounds = match bound {
        Bound::AtLeast(lower) => Bounds { lower, upper: seeds },
        Bound::AtMost(upper) => Bounds { lower: 0, upper },
    };
    claims.add(position, bounds).expect("a claim of this board");
}

/// Writes a certificate to a file, and opens that. The file is removed at once.
pub(crate) fn stored(certificate: &Certificate) -> StoredCertificate {
    // Files in memory are written at once.
    let memory = Some("/dev/shm".into()).filter(|path: &PathBuf| path.is_dir());
    let directory = tempfile::tempdir_in(memory.unwrap_or_else(std::env::temp_dir)).expect("a directory");
    let path = directory.path().join("a.certificate");
    certificate.write(&path).expect("a valid certificate");
    StoredCertificate::open(&path).expect("it was just written")
}

/// Checks a certificate in full, as `kalah check` does.
pub(crate) fn check(certificate: &Certificate, tables: Option<&Tables>) -> Result<CheckTally, CheckError> {
    check_file(&stored(certificate), tables)
}

pub(crate) fn check_file(file: &StoredCertificate, tables: Option<&Tables>) -> Result<CheckTally, CheckError> {
    let check = Check::new(file, tables, &Pulse::default())?;
    check.statement()?;
    check.claims(CheckTally::default(), &Pulse::default(), None)
}

/// Runs the reader in Python.
pub(crate) fn read_in_python(file: &Path, flags: &[&str]) -> Output {
    let mut command = Command::new("python3");
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/certificate_reader.py")).args(flags).arg(file).run()
}

/// Digests of the tables that a certificate rests on.
pub(crate) fn digests(tables: &Tables) -> Vec<[u8; 32]> {
    tables.layers().iter().map(|table| table.header().digest).collect()
}

/// Reads the bytes of a certificate.
pub(crate) fn read(bytes: &[u8]) -> Result<Certificate, CertificateError> {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), bytes).expect("a writable file");
    Certificate::read(file.path())
}

/// All positions of a board in which the game is not over, or every `step`-th of them.
pub(crate) fn positions(pits: usize, seeds: usize, step: usize) -> Vec<Position> {
    let keys = ClaimKeys::new(pits);
    let count = keys.sequences(seeds).expect("few seeds");
    let key = |rank| (seeds as u128) << 120 | rank;
    let all = (0..count).step_by(step).map(|rank| keys.position(key(rank)).expect("a rank below the number"));
    all.filter(|position| !position.is_over()).collect()
}

/// Makes a certificate of the value of a start position and of each of its moves from brute-force scores.
///
/// Claims that searches with this effort do not show follow in one ply from other claims.
pub(crate) fn certificate(scores: &mut Scores, start: &str, tables: Option<&Tables>, effort: u32) -> Certificate {
    let position: Position = start.parse().expect("a start position");
    let (rules, pits) = (scores.rules, position.pits());
    let table_seeds = tables.and_then(Tables::max_seeds).unwrap_or(0);
    let mut proof = Proof {
        checker: Checker::new(rules, pits, tables, table_seeds, effort).unwrap(),
        claims: ClaimSet::new(pits),
        scores,
    };
    let exactly = |value| ValueBounds { lower: value, upper: value };
    let mut openings = Vec::new();
    for pit in position.moves() {
        let played = position.play(rules, pit).expect("a legal move");
        let (score, value) = (proof.scores.score(&played.position), proof.scores.value(&played.position));
        proof.prove(&played.position, Bound::AtLeast(score));
        proof.prove(&played.position, Bound::AtMost(score));
        openings.push(OpeningBounds { moves: vec![pit], bounds: exactly(played.mover_value(value)) });
    }
    let bounds = exactly(proof.scores.value(&position));
    let statement = Statement { rules, position, bounds, openings };
    Certificate { head: Head { statement, effort, tables: tables.map_or(Vec::new(), digests) }, claims: proof.claims }
}

struct Proof<'a> {
    checker: Checker<'a>,
    claims: ClaimSet,
    scores: &'a mut Scores,
}

impl Proof<'_> {
    /// Adds the claims that prove a true bound.
    fn prove(&mut self, position: &Position, bound: Bound) {
        let known = self.claims.get(position).is_some_and(|bounds| bound.is_implied_by(bounds));
        let exact = self.checker.exact(position).expect("the tables are sound").is_some();
        if known || exact || bound.is_trivial(position.seeds()) {
            return;
        }
        claim(&mut self.claims, position, bound);
        if self.checker.searches(position, bound).expect("the tables are sound") {
            return;
        }
        for (pit, next, needed) in children(self.scores.rules, position, bound) {
            let score = self.scores.score(&next);
            let holds = needed.is_implied_by(Bounds { lower: score, upper: score });
            match bound {
                Bound::AtLeast(_) if holds => return self.prove(&next, needed),
                Bound::AtLeast(_) => {}
                Bound::AtMost(_) => {
                    assert!(holds, "{position} {bound} {pit}");
                    self.prove(&next, needed);
                }
            }
        }
        assert!(matches!(bound, Bound::AtMost(_)), "{position}: no move reaches {bound}");
    }
}

/// Returns the positions after the moves, with the bounds that their scores need for `bound`.
pub(crate) fn children(rules: Rules, position: &Position, bound: Bound) -> Vec<(Pit, Position, Bound)> {
    let seeds = position.seeds();
    let child = |pit| {
        let played = position.without_stores().play(rules, pit).expect("a legal move");
        let next = played.position;
        let needed = match (bound, played.again) {
            (Bound::AtLeast(score), true) => Bound::AtLeast(score.saturating_sub(next.mover_store())),
            (Bound::AtMost(score), true) => Bound::AtMost(score.saturating_sub(next.mover_store())),
            (Bound::AtLeast(score), false) => Bound::AtMost(seeds.saturating_sub(score)),
            (Bound::AtMost(score), false) => Bound::AtLeast(seeds.saturating_sub(score)),
        };
        (pit, next.without_stores(), needed)
    };
    position.moves().map(child).collect()
}
