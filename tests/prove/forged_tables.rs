//! Tables with false scores and true digests. A check refuses them.

use kalah::build::build;
use kalah::certificate::{Certificate, ClaimSet, Head, Statement};
use kalah::game::{Bounds, Position, Row, Rules, ValueBounds};
use kalah::index::{Frame, RowIndex, table_row};
use kalah::isa::Isa;
use kalah::table::{PackedFrame, Table, TableKey, Tables};

use kalah_tests::exhaustive::{Scores, exhaustive};
use kalah_tests::program::{self, Ran, Run};
use kalah_tests::tables::scores;

use crate::certificates::{digests, positions};

/// The smallest layer with a frame of several blocks: 9 seeds on 8 pits a side.
const KEY: TableKey = TableKey { rules: Rules::EmptyCapture, pits: 8, seeds: 9 };

/// Returns a position, the too high score that it gets if one score of `table` becomes 0, and the table's bytes with
/// that score.
///
/// Returns `None` if no move of `position` leads to a score that can be forged.
fn better_by_forging(table: &Table, scores: &mut Scores, position: &Position) -> Option<(Position, u32, Vec<u8>)> {
    let mut moves = position.moves().map(|pit| position.play(KEY.rules, pit).expect("a legal move"));
    let after = moves.find(|played| {
        let next = &played.position;
        !played.again && !next.is_over() && next.seeds() as usize == KEY.seeds
    })?;
    let better = after.mover_score(position, 0);
    let forged = (exhaustive(KEY.rules, position, scores) < better).then(|| with_score_0(table, &after.position))?;
    Some((*position, better, forged?))
}

/// Returns the bytes of a table with 0 in place of a score, and the right checksums of the frame, which has several
/// blocks. Its size must not change.
fn with_score_0(table: &Table, position: &Position) -> Option<Vec<u8>> {
    let (mover, other) = (table_row(position.mover())?, table_row(position.other())?);
    let seeds = |row: &Row| row.total() as usize;
    let frame = Frame { pits: KEY.pits, mover: seeds(position.mover()), other: seeds(position.other()) };
    let rows = RowIndex::new(KEY.pits, KEY.seeds).expect("a board of tables");
    let mut scores = scores(table, frame);
    scores[frame.index(rows.rank(&mover), rows.rank(&other)) as usize] = 0;
    let packed = PackedFrame::pack(Isa::detect(), frame, &scores);
    let (section, mut bytes) = (table.header().entries[frame.mover - 1].section(), table.bytes().to_vec());
    let place = &mut bytes[section.offset as usize..section.end() as usize];
    if section.blocks() == 1 || place.len() != packed.section().len() {
        return None;
    }
    place.copy_from_slice(packed.section());
    Some(bytes)
}

/// A false bound follows from tables in which one score is forged. All checksums are right, and the header and the
/// directory are those of the true table.
#[test]
fn a_false_score_under_true_digests_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    build(directory.path(), KEY.rules, KEY.pits, KEY.seeds).expect("tables are built");
    let tables = Tables::open(directory.path(), KEY.rules, KEY.pits, KEY.seeds).expect("tables are there");
    let (table, mut scores) = (tables.layer(KEY.seeds).expect("it was built"), Scores::default());
    let positions = positions(KEY.pits, KEY.seeds + 1, 997);
    let forgery = positions.iter().find_map(|position| better_by_forging(table, &mut scores, position));
    let (position, score, forged) = forgery.expect("a score that can be forged");
    let bounds = ValueBounds { lower: position.value(score), ..Statement::all_values(&position) };
    let statement = Statement { rules: KEY.rules, position, bounds, openings: Vec::new() };
    let mut claims = ClaimSet::new(KEY.pits);
    claims.add(&position, Bounds { lower: score, upper: position.seeds() }).expect("a claim of this board");
    let certificate = Certificate { head: Head { statement, effort: 4, tables: digests(&tables) }, claims };
    let file = directory.path().join("false.certificate");
    certificate.write(&file).expect("a valid certificate");

    let run = |words: &[&str]| program::command().args(words).arg("--tables").arg(directory.path()).run();
    let check = || run(&["check", file.to_str().expect("a path")]);
    // With the true table.
    check().fails(3, "kalah: claim 1");
    std::fs::write(KEY.path(directory.path()), forged).expect("the table is written");
    // The advice is that for a damaged table.
    check().fails(3, "frame is damaged").prints("empty-capture-8-09.kalah").prints("delete it and run `kalah build");
    let (rules, pits) = (KEY.rules.name(), KEY.pits.to_string());
    let verify = run(&["verify", "--checksums", "--rules", rules, "--pits", &pits]).exits(3);
    assert!(verify.stdout().contains("empty-capture-8-09.kalah"), "{}", verify.stdout());
}
