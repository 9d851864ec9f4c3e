//! Searches in damaged tables.

use std::path::Path;
use std::sync::Arc;

use kalah::cancel::Cancel;
use kalah::evaluation::{LANES, Network, Weights};
use kalah::game::{Position, Rules};
use kalah::index::row_count;
use kalah::solve::{SolveError, Solver, SolverOptions};
use kalah::table::{BoundMaker, BoundTable, BoundTables, Cuts, Damage, Table, TableError, TableKey, Tables};

const RULES: Rules = Rules::EmptyCapture;
const PITS: usize = 4;
const REACH: usize = 10;

fn tables() -> (tempfile::TempDir, Tables) {
    let directory = tempfile::tempdir().unwrap();
    kalah::build::build(directory.path(), RULES, PITS, REACH).unwrap();
    let tables = Tables::open(directory.path(), RULES, PITS, REACH).unwrap();
    (directory, tables)
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

fn assert_damage<T: std::fmt::Debug>(result: Result<T, SolveError>, at: &[u64]) {
    match result {
        Err(SolveError::Table(TableError::Damaged { path, damage, .. })) => {
            let key = TableKey { rules: RULES, pits: PITS, seeds: 9 };
            assert_eq!(path, key.path(Path::new("damaged")));
            let found = |&offset: &u64| damage == Damage::Part { part: "block of scores", offset };
            assert!(at.iter().any(found), "{damage:?}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_search_checks_the_blocks_that_it_reads() {
    let (_directory, tables) = tables();
    for threads in [1, 3] {
        let again = Tables::open(tables.directory(), RULES, PITS, REACH).unwrap();
        let found = Solver::new(options(&again, threads)).unwrap().solve(&start(), 0).unwrap();
        assert!(again.layers().iter().any(|layer| layer.blocks().is_frame_checked(1)));
        // With tables that are already compared.
        tables.layers().iter().for_each(|layer| layer.check().unwrap());
        assert_eq!(found, Solver::new(options(&tables, threads)).unwrap().solve(&start(), 0).unwrap());
    }
}

#[test]
fn nothing_is_reported_of_a_search_in_damaged_tables() {
    let (_directory, tables) = tables();
    let score = Solver::new(options(&tables, 1)).unwrap().solve(&start(), 0).unwrap().score;
    for threads in [1, 2] {
        let (damaged, at) = damaged(&tables);
        let solver = Solver::new(options(&damaged, threads)).unwrap();
        assert_damage(solver.solve(&start(), 0), &at);
        // Proved bounds are right, now and later.
        for wanted in 0..=16 {
            match solver.test(&start(), wanted) {
                Ok(bounds) => assert!(bounds.lower <= score && score <= bounds.upper, "{wanted}: {bounds:?}"),
                damage => assert_damage(damage, &at),
            }
        }
        let known = solver.known(&start()).unwrap();
        assert!(known.lower <= score && score <= known.upper, "{known:?}");
    }
}

#[test]
fn a_copy_of_damaged_tables_is_not_believed_either() {
    let (_directory, tables) = tables();
    let (damaged, at) = damaged(&tables);
    let (on, off) = (Cancel::new(), Cancel::new());
    on.cancel();
    match damaged.layer(9).unwrap().copied_frame(8, &off).map(drop) {
        Err(TableError::Damaged { damage, .. }) => {
            assert_eq!(damage, Damage::Part { part: "block of scores", offset: at[7] })
        }
        other => panic!("{other:?}"),
    }
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
    let (directory, tables) = tables();
    let weights = Weights {
        inputs: vec![[0; LANES]; 2 * PITS * 16],
        bias: [0; LANES],
        floor: [0; LANES],
        outputs: [0; LANES],
        shift: 0,
    };
    // Its evaluations are half of the seeds in play.
    let network = Network::new(RULES, PITS, &weights).unwrap();
    let maker = BoundMaker::new(&network, Cuts::new(&[-32, 0, 32]).unwrap());
    for damaged in [false, true] {
        let mut offset = 0;
        let layers = (5..=REACH).map(|seeds| {
            let table = tables.layer(seeds).unwrap();
            let path = maker.write(table, directory.path(), &Default::default()).unwrap();
            let mut bytes = std::fs::read(&path).unwrap();
            if damaged && seeds == 8 {
                offset = BoundTable::open(&path).unwrap().header().entries[4].offset;
                bytes[offset as usize + 20] ^= 1;
            }
            Arc::new(BoundTable::from_bytes(path, bytes).unwrap())
        });
        let bounds = BoundTables::new(directory.path(), layers.collect()).unwrap();
        for threads in [1, 3] {
            let solver = Solver::new(options(&tables, threads).bounds(Some(&bounds)).exact_up_to(4)).unwrap();
            let found = solver.solve(&start(), 0);
            if !damaged {
                let exact = Solver::new(options(&tables, threads)).unwrap().solve(&start(), 0).unwrap();
                let found = found.unwrap();
                // There may be several lines of best play.
                assert_eq!(
                    (found.score, found.value, found.best().collect::<Vec<_>>()),
                    (exact.score, exact.value, exact.best().collect())
                );
                continue;
            }
            match found {
                Err(SolveError::Table(TableError::Damaged { path, damage, .. })) => {
                    assert_eq!(path, TableKey { rules: RULES, pits: PITS, seeds: 8 }.bounds_path(directory.path()));
                    assert_eq!(damage, Damage::Part { part: "block of scores", offset });
                }
                other => panic!("{other:?}"),
            }
        }
    }
}
