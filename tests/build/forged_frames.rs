//! Unfinished layers with false scores and right digests. None becomes a table that the manifest contradicts.

use std::path::Path;
use std::time::Duration;

use kalah::build::{BuildError, BuildReport, Builder};
use kalah::game::Rules;
use kalah::index::Frame;
use kalah::isa::Isa;
use kalah::progress::Pulse;
use kalah::table::archive::archive_path;
use kalah::table::{PackedFrame, PieceWriter, Table, TableKey, TableWriter, Tables};

use kalah_tests::files::{assert_same_files, files};

/// A layer of the manifest.
const KEY: TableKey = TableKey { rules: Rules::EmptyCapture, pits: 6, seeds: 6 };

fn builder(directory: &Path) -> Builder<'_> {
    Builder::new(directory, KEY)
}

fn run(builder: &Builder) -> Result<BuildReport, BuildError> {
    builder.run(&Pulse::default(), &|_| {})
}

/// A frame of the layer with one false score.
fn false_frame(tables: &Path, frame: Frame) -> PackedFrame {
    let tables = Tables::open(tables, KEY.rules, KEY.pits, KEY.seeds).unwrap();
    let stored = tables.layer(KEY.seeds).unwrap().frame(frame.mover).unwrap();
    let score = |index| {
        let (mover, other) = frame.ranks(index);
        stored.score(mover, other).unwrap()
    };
    let mut scores: Vec<u8> = (0..frame.positions()).map(score).collect();
    scores[0] ^= 1;
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
fn directories() -> [tempfile::TempDir; 2] {
    let directories = [(); 2].map(|()| tempfile::tempdir().unwrap());
    run(&builder(directories[0].path())).unwrap();
    let below = TableKey { seeds: KEY.seeds - 1, ..KEY };
    run(&Builder::new(directories[1].path(), below)).unwrap();
    directories
}

#[test]
fn false_frames_of_an_unfinished_table_are_not_kept() {
    let [whole, directory] = directories();
    let mut writer = TableWriter::open(directory.path(), KEY).unwrap();
    let first = writer.missing().next().unwrap();
    writer.write(&false_frame(whole.path(), first)).unwrap();
    drop(writer);
    is_refused_and_removed(whole.path(), directory.path(), &builder(directory.path()));
}

#[test]
fn false_pieces_are_not_joined() {
    let [whole, directory] = directories();
    let pair = KEY.pairs().next().unwrap();
    let mut writer = PieceWriter::new(directory.path(), pair).unwrap();
    pair.frames().for_each(|frame| writer.write(&false_frame(whole.path(), frame)).unwrap());
    writer.finish().unwrap();
    let shared = builder(directory.path()).shared(Duration::from_secs(2));
    is_refused_and_removed(whole.path(), directory.path(), &shared);
}

#[test]
fn a_layer_from_false_tables_is_refused() {
    let [whole, directory] = directories();
    let below = TableKey { seeds: KEY.seeds - 1, ..KEY };
    // Its digests are right.
    let tables = Tables::open(whole.path(), KEY.rules, KEY.pits, below.seeds).unwrap();
    std::fs::remove_file(below.path(directory.path())).unwrap();
    let mut writer = TableWriter::open(directory.path(), below).unwrap();
    for frame in below.frames() {
        let stored = tables.layer(below.seeds).unwrap().frame(frame.mover).unwrap();
        let scores = (0..frame.positions()).map(|index| {
            let (mover, other) = frame.ranks(index);
            stored.score(mover, other).unwrap().saturating_sub(1)
        });
        writer.write(&PackedFrame::pack(Isa::detect(), frame, &scores.collect::<Vec<u8>>())).unwrap();
    }
    writer.finish().unwrap();
    assert!(Table::open(below.path(directory.path())).is_ok());
    let error = run(&builder(directory.path())).unwrap_err();
    assert!(matches!(error, BuildError::Contradiction(KEY)), "{error}");
    assert!(!KEY.path(directory.path()).exists());
}
