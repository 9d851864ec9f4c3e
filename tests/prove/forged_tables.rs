//! Tables with false scores and true digests. A check refuses them.

use std::path::PathBuf;
use std::process::Output;

use kalah::build::build;
use kalah::certificate::{Bound, Certificate, Check, CheckError, ClaimSet, Head, Statement, StoredCertificate};
use kalah::game::{Position, Rules, ValueBounds};
use kalah::index::table_row;
use kalah::progress::Pulse;
use kalah::table::format::BLOCK_BYTES;
use kalah::table::group::{GROUP_BYTES, GROUP_POSITIONS, Group, patch_offset};
use kalah::table::{Table, TableError, TableKey, Tables};
use xxhash_rust::xxh3::xxh3_64;

use kalah_tests::program::{self, Ran, Run};

use crate::certificates::{Scores, claim, positions};

/// The smallest layer with a frame of several blocks: 9 seeds on 8 pits a side.
const KEY: TableKey = TableKey { rules: Rules::EmptyCapture, pits: 8, seeds: 9 };

/// A directory with tables, and a certificate of a false bound. The bound follows from the tables if one score is
/// forged.
struct Forgery {
    directory: tempfile::TempDir,
    /// Table of [`KEY`].
    table: PathBuf,
    /// All checksums are right. The header and the directory are those of the true table.
    forged_bytes: Vec<u8>,
    stored: StoredCertificate,
    file: PathBuf,
}

impl Forgery {
    fn new() -> Forgery {
        // SAFETY: the test breaks the contract on purpose, but only between the calls that read the table.
        unsafe { kalah::table::map_files() };
        let directory = tempfile::tempdir().expect("a directory");
        build(directory.path(), KEY.rules, KEY.pits, KEY.seeds).expect("tables are built");
        let tables = Tables::open(directory.path(), KEY.rules, KEY.pits, KEY.seeds).expect("tables are there");
        let table = tables.layer(KEY.seeds).expect("it was built");
        let mut scores = Scores::of(KEY.rules);
        let (position, score, forged_bytes) = positions(KEY.pits, KEY.seeds + 1, 997)
            .iter()
            .find_map(|position| better_by_forging(&tables, table, &mut scores, position))
            .expect("a score that can be forged");
        let value = position.value(score);
        let bounds = ValueBounds { lower: value, ..Statement::all_values(&position) };
        let statement = Statement { rules: KEY.rules, position, bounds, openings: Vec::new() };
        let digests = tables.layers().iter().map(|table| table.header().digest).collect();
        let mut claims = ClaimSet::new(KEY.pits);
        claim(&mut claims, &position, Bound::AtLeast(score));
        let certificate = Certificate { head: Head { statement, effort: 4, tables: digests }, claims };
        let (table, file) = (KEY.path(directory.path()), directory.path().join("false.certificate"));
        certificate.write(&file).expect("a valid certificate");
        let stored = StoredCertificate::open(&file).expect("it was just written");
        Forgery { directory, table, forged_bytes, stored, file }
    }

    /// Overwrites the table file in place, so that every process that has it mapped reads the change.
    fn overwrite(&self, bytes: &[u8]) {
        use std::io::Write;
        let file = std::fs::OpenOptions::new().write(true).open(&self.table);
        file.and_then(|mut file| file.write_all(bytes)).expect("the table is written");
    }

    fn check(&self, flags: &[&str]) -> Output {
        let mut command = program::command();
        command.arg("check").arg(&self.file).arg("--tables").arg(self.directory.path()).args(flags);
        command.run()
    }
}

/// Returns a position, the too high score that it gets if one score of `table` becomes 0, and the table's bytes with
/// that score.
///
/// Returns `None` if no move of `position` leads to a score that can be forged.
fn better_by_forging(
    tables: &Tables,
    table: &Table,
    scores: &mut Scores,
    position: &Position,
) -> Option<(Position, u32, Vec<u8>)> {
    let mut moves = position.moves().map(|pit| position.play(KEY.rules, pit).expect("a legal move"));
    let after = moves.find(|played| {
        let next = &played.position;
        !played.again && !next.is_over() && next.seeds() as usize == KEY.seeds
    })?;
    let better = after.mover_score(position, 0);
    if scores.score(position) >= better {
        return None;
    }
    let next = after.position;
    let (mover, other) = (table_row(next.mover())?, table_row(next.other())?);
    let score = tables.score_rows(&mover, &other).expect("the tables are sound");
    let ranks = (tables.rows().rank(&mover), tables.rows().rank(&other));
    let forged = with_lower_score(table, next.mover().total() as usize, ranks, score)?;
    Some((*position, better, forged))
}

/// Returns the bytes of a table with 0 in place of a score, and a new checksum of its block. The frame has several
/// blocks.
fn with_lower_score(table: &Table, mover: usize, ranks: (u32, u32), score: u8) -> Option<Vec<u8>> {
    let entry = &table.header().entries[mover - 1];
    let index = u64::from(ranks.1) * entry.rows + u64::from(ranks.0);
    let (group_at, place) = (
        entry.groups_at() + index / GROUP_POSITIONS as u64 * GROUP_BYTES as u64,
        (index % GROUP_POSITIONS as u64) as usize,
    );
    let mut bytes = table.bytes().to_vec();
    let at = (entry.offset + group_at) as usize;
    let group: &mut Group = bytes[at..].first_chunk_mut()?;
    let (code, shift) = (&mut group[place / 2], 4 * (place % 2));
    let old = *code >> shift & 15;
    let new = old.checked_sub(score)?;
    *code = *code & !(15 << shift) | new << shift;
    if entry.section().blocks() < 2 || patch_offset(group).is_some() {
        return None;
    }
    let block = group_at / BLOCK_BYTES as u64;
    let range = entry.section().block_bytes(block);
    let checksum = xxh3_64(&bytes[range.start as usize..range.end as usize]);
    let checksum_at = (entry.offset + entry.checksums_at() + 8 * block) as usize;
    bytes[checksum_at..][..8].copy_from_slice(&checksum.to_le_bytes());
    Some(bytes)
}

#[test]
fn a_false_score_under_true_digests_is_refused() {
    let forgery = Forgery::new();
    let errors = forgery.check(&[]).exits(3).stderr();
    assert!(errors.contains("kalah: claim 1"), "with the true table: {errors}");
    forgery.overwrite(&forgery.forged_bytes);
    let errors = forgery.check(&[]).exits(3).stderr();
    assert!(errors.contains("frame is damaged") && errors.contains("empty-capture-8-09.kalah"), "{errors}");
    // The advice is that for a damaged table.
    assert!(errors.contains("delete it and run `kalah build"), "{errors}");
    let mut verify = program::command();
    let (rules, pits) = (KEY.rules.name(), KEY.pits.to_string());
    verify.args(["verify", "--checksums", "--rules", rules, "--pits", &pits, "--tables"]).arg(forgery.directory.path());
    let out = verify.run().exits(3).stdout();
    assert!(out.contains("empty-capture-8-09.kalah"), "{out}");
}

#[test]
fn a_forged_or_stopped_comparison_makes_no_check() {
    let forgery = Forgery::new();
    let open = || Tables::open(forgery.directory.path(), KEY.rules, KEY.pits, KEY.seeds).expect("tables are there");
    let pulse = Pulse::default();
    pulse.cancel.cancel();
    assert!(matches!(Check::new(&forgery.stored, Some(&open()), &pulse), Err(CheckError::Stopped(_))));
    forgery.overwrite(&forgery.forged_bytes);
    let error = Check::new(&forgery.stored, Some(&open()), &Pulse::default()).expect_err("the table is forged");
    assert!(matches!(&error, CheckError::Table(TableError::Damaged { .. })) && error.is_wrong(), "{error}");
}
