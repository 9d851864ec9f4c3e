//! Searches in damaged tables.

use std::path::Path;
use std::sync::Arc;

use kalah::cancel::Cancel;
use kalah::game::{Position, Rules};
use kalah::index::row_count;
use kalah::solve::{SolveError, Solver, SolverOptions};
use kalah::table::{BoundMaker, BoundTable, BoundTables, Cuts, Damage, Table, TableError, Tables};
use kalah_tests::random::random_network;
use kalah_tests::tables::opened;

const RULES: Rules = Rules::EmptyCapture;
const PITS: usize = 4;
const REACH: usize = 10;

/// Tables in which nothing is compared with its checksums yet.
fn tables() -> Tables {
    opened(RULES, PITS, REACH)
}

/// The tables with a flipped bit in each frame of layer 9, and the places of these frames in the file.
fn damaged(sound: &Tables) -> (Tables, Vec<u64>) {
    let mut tables = Tables::empty(Path::new("damaged"), RULES, PITS, REACH).unwrap();
    let mut offsets = Vec::new();
    for layer in sound.layers() {
        let mut bytes = layer.bytes().to_vec();
        if layer.key().seeds == 9 {
            for entry in &layer.header().entries {
                offsets.push(entry.offset);
                bytes[(entry.offset + entry.checksums_at()) as usize - 100] ^= 4;
            }
        }
        let path = layer.key().path(Path::new("damaged"));
        tables.push(Arc::new(Table::from_bytes(path, bytes).unwrap())).unwrap();
    }
    (tables, offsets)
}

fn options(tables: &Tables, threads: usize) -> SolverOptions<'_> {
    let options = SolverOptions::new(RULES, &start()).tables(Some(tables)).transpositions(1 << 20);
    options.threads(threads)
}

fn start() -> Position {
    "4x2".parse().unwrap()
}

/// Requires that a block at one of these places in a file is damaged.
#[track_caller]
fn assert_damage<T: std::fmt::Debug>(result: Result<T, TableError>, file: &Path, at: &[u64]) {
    let Err(TableError::Damaged { path, damage, .. }) = result else { panic!("{result:?}") };
    let is_found = |&offset: &u64| damage == Damage::Part { part: "block of scores", offset };
    assert!(path == file && at.iter().any(is_found), "{path:?} {damage:?}");
}

/// The result of a search in tables.
fn searched<T: std::fmt::Debug>(result: Result<T, SolveError>) -> Result<T, TableError> {
    result.map_err(|error| match error {
        SolveError::Table(error) => error,
        error => panic!("{error}"),
    })
}

#[test]
fn nothing_is_reported_of_a_search_in_damaged_tables() {
    let tables = tables();
    let score = Solver::new(options(&tables, 1)).unwrap().solve(&start(), 0).unwrap().score;
    for threads in [1, 2] {
        let (damaged, at) = damaged(&tables);
        let path = damaged.key(9).path(Path::new("damaged"));
        let solver = Solver::new(options(&damaged, threads)).unwrap();
        assert_damage(searched(solver.solve(&start(), 0)), &path, &at);
        // Proved bounds are right, now and later.
        for wanted in 0..=16 {
            match searched(solver.test(&start(), wanted)) {
                Ok(bounds) => assert!(bounds.lower <= score && score <= bounds.upper, "{wanted}: {bounds:?}"),
                damage => assert_damage(damage, &path, &at),
            }
        }
        let known = solver.known(&start()).unwrap();
        assert!(known.lower <= score && score <= known.upper, "{known:?}");
    }
}

#[test]
fn a_copy_of_damaged_tables_is_not_believed_either() {
    let (damaged, at) = damaged(&tables());
    let (on, off) = (Cancel::new(), Cancel::new());
    on.cancel();
    let copied = damaged.layer(9).unwrap().copied_frame(8, &off).map(drop);
    assert_damage(copied, &damaged.key(9).path(Path::new("damaged")), &at[7..8]);
    let table = damaged.layer(8).unwrap();
    for frame in table.key().frames() {
        let mover = frame.mover;
        let copy = table.copied_frame(mover, &off).unwrap();
        assert!(table.blocks().is_frame_checked(mover));
        // The copy stays. The file can still be read after its pages were released.
        assert!(table.copied_frame(mover, &on).is_ok());
        table.blocks().release(mover);
        let scores = table.frame_unchecked(mover);
        let rows = |seeds| row_count(PITS, seeds) as u32;
        for (row, other) in (0..rows(mover)).flat_map(|row| (0..rows(frame.other)).map(move |other| (row, other))) {
            assert_eq!(copy.score(row, other), scores.score(row, other));
        }
    }
    assert!(table.blocks().is_checked());
    assert!(matches!(damaged.layer(7).unwrap().copied_frame(3, &on), Err(TableError::Stopped(_))));
}

#[test]
fn nothing_is_reported_of_a_search_in_damaged_bound_tables() {
    let (directory, tables) = (tempfile::tempdir().unwrap(), tables());
    let network = random_network(RULES, PITS, 1);
    let maker = BoundMaker::new(&network, Cuts::new(&[-32, 0, 32]).unwrap());
    let mut offset = 0;
    let layers = (5..=REACH).map(|seeds| {
        let path = maker.write(tables.layer(seeds).unwrap(), directory.path(), &Default::default()).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        if seeds == 8 {
            offset = BoundTable::open(&path).unwrap().header().entries[4].offset;
            bytes[offset as usize + 20] ^= 1;
        }
        Arc::new(BoundTable::from_bytes(path, bytes).unwrap())
    });
    let bounds = BoundTables::new(directory.path(), layers.collect()).unwrap();
    for threads in [1, 3] {
        let solver = Solver::new(options(&tables, threads).bounds(Some(&bounds)).exact_up_to(4)).unwrap();
        let found = searched(solver.solve(&start(), 0));
        assert_damage(found, &tables.key(8).bounds_path(directory.path()), &[offset]);
    }
}
