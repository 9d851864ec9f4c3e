//! Unfinished layers with false scores and right digests. None becomes a table that the manifest contradicts.

use std::path::Path;
use std::time::Duration;

use kalah::build::{BuildError, BuildReport, Builder};
use kalah::game::Rules;
use kalah::index::Frame;
use kalah::isa::Isa;
use kalah::progress::Pulse;
use kalah::table::archive::archive_path;
use kalah::table::{PackedFrame, PieceWriter, Table, TableKey, TableWriter};

use kalah_tests::files::{assert_same_files, files};
use kalah_tests::tables::{built, scores};

/// A layer of the manifest, and the one below.
const KEY: TableKey = TableKey { rules: Rules::EmptyCapture, pits: 6, seeds: 6 };
const BELOW: TableKey = TableKey { seeds: KEY.seeds - 1, ..KEY };

fn run(builder: &Builder) -> Result<BuildReport, BuildError> {
    builder.run(&Pulse::default(), &|_| {})
}

/// A frame of a sound layer with other scores.
fn false_frame(tables: &Path, key: TableKey, frame: Frame, change: impl FnOnce(&mut [u8])) -> PackedFrame {
    let mut scores = scores(&Table::open(key.path(tables)).unwrap(), frame);
    change(&mut scores);
    PackedFrame::pack(Isa::detect(), frame, &scores)
}

/// Runs a build that finds false frames of the layer, and once more. The second run must give the tables of `whole`.
#[track_caller]
fn is_refused_and_removed(whole: &Path, directory: &Path, builder: &Builder) {
    match run(builder) {
        Err(BuildError::Contradiction(KEY)) => {}
        other => panic!("{other:?}"),
    }
    assert!(!KEY.path(directory).exists() && !archive_path(directory, KEY).exists());
    run(builder).unwrap();
    assert_same_files(&files(whole), &files(directory), "after the false frames");
}

/// Tables to the layer, and those below it in another directory.
fn directories() -> (&'static Path, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    run(&Builder::new(directory.path(), BELOW)).unwrap();
    (built(&[(KEY.rules, KEY.pits, KEY.seeds)]), directory)
}

#[test]
fn false_frames_of_an_unfinished_table_are_not_kept() {
    let (whole, directory) = directories();
    let mut writer = TableWriter::open(directory.path(), KEY).unwrap();
    let first = writer.missing().next().unwrap();
    writer.write(&false_frame(whole, KEY, first, |scores| scores[0] ^= 1)).unwrap();
    drop(writer);
    is_refused_and_removed(whole, directory.path(), &Builder::new(directory.path(), KEY));
}

#[test]
fn false_pieces_are_not_joined() {
    let (whole, directory) = directories();
    let pair = KEY.pairs().next().unwrap();
    let mut writer = PieceWriter::new(directory.path(), pair).unwrap();
    for frame in pair.frames() {
        writer.write(&false_frame(whole, KEY, frame, |scores| scores[0] ^= 1)).unwrap();
    }
    writer.finish().unwrap();
    let shared = Builder::new(directory.path(), KEY).shared(Duration::from_secs(2));
    is_refused_and_removed(whole, directory.path(), &shared);
}

#[test]
fn a_layer_from_false_tables_is_refused() {
    let (whole, directory) = directories();
    // Its digests are right.
    std::fs::remove_file(BELOW.path(directory.path())).unwrap();
    let mut writer = TableWriter::open(directory.path(), BELOW).unwrap();
    for frame in BELOW.frames() {
        let less = |scores: &mut [u8]| scores.iter_mut().for_each(|score| *score = score.saturating_sub(1));
        writer.write(&false_frame(whole, BELOW, frame, less)).unwrap();
    }
    writer.finish().unwrap();
    assert!(Table::open(BELOW.path(directory.path())).is_ok());
    let error = run(&Builder::new(directory.path(), KEY)).unwrap_err();
    assert!(matches!(error, BuildError::Contradiction(KEY)), "{error}");
    assert!(!KEY.path(directory.path()).exists());
}
