//! `kalah export`: every format has the scores of the tables, samples are parts of the layer, and files are replaced
//! whole.
#![cfg(feature = "cli")]

use std::path::Path;
use std::process::Output;

use kalah::export::random_indices;
use kalah::game::Rules;
use kalah::index::LayerIndex;
use kalah::table::{TableKey, Tables};
use kalah_tests::files::{copied, flip};
use kalah_tests::program::{self, Ran, Run, with_tables};
use kalah_tests::tables::built;

/// Pits and seeds of the tables.
const BOARDS: [(usize, usize); 3] = [(6, 6), (3, 12), (1, 9)];

/// The tables, built once.
fn directory() -> &'static Path {
    built(&BOARDS.map(|(pits, seeds)| (Rules::Standard, pits, seeds)))
}

fn export(directory: &Path, flags: &str) -> Output {
    with_tables(directory, &format!("export --rules standard {flags}")).run()
}

/// Stdout of an export of a layer.
#[track_caller]
fn exported((pits, seeds): (usize, usize), flags: &str) -> Vec<u8> {
    export(directory(), &format!("--pits {pits} --seeds {seeds} {flags}")).success().stdout
}

/// All records of a layer, by the tables: the mover's row, the other row, the score.
fn expected((pits, seeds): (usize, usize)) -> Vec<Vec<u8>> {
    let tables = Tables::open(directory(), Rules::Standard, pits, seeds).unwrap();
    let index = LayerIndex::new(tables.rows(), seeds);
    let record = |rank| {
        let (mover, other) = index.unrank(rank);
        let score = tables.score_rows(&mover, &other).unwrap();
        [&mover[..pits], &other[..pits], &[score]].concat()
    };
    (0..index.positions()).map(record).collect()
}

fn csv(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut reader = csv::Reader::from_reader(bytes);
    let pits = reader.headers().unwrap().len() / 2;
    let columns = |row: &'static str| (1..=pits).map(move |pit| format!("{row}{pit}"));
    let heading: Vec<String> = columns("mover").chain(columns("other")).chain(["score".to_owned()]).collect();
    assert_eq!(reader.headers().unwrap(), &csv::StringRecord::from(heading));
    reader.records().map(|record| record.unwrap().iter().map(|cell| cell.parse::<u8>().unwrap()).collect()).collect()
}

/// Reads an array as the documentation of the format (numpy/lib/format.py) describes it.
fn npy(bytes: &[u8]) -> Vec<Vec<u8>> {
    assert_eq!(bytes[..8], *b"\x93NUMPY\x01\x00");
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let head = std::str::from_utf8(&bytes[10..start]).unwrap();
    let shape = head.split_once("'shape': (").unwrap().1.split_once(')').unwrap().0;
    let (rows, columns) = shape.split_once(", ").unwrap();
    assert_eq!(head.trim_end(), format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({shape}), }}"));
    let (rows, columns): (usize, usize) = (rows.parse().unwrap(), columns.parse().unwrap());
    assert!(start.is_multiple_of(64) && bytes.len() == start + rows * columns);
    bytes[start..].chunks(columns).map(<[u8]>::to_vec).collect()
}

/// Reads the records of an exported file.
type Reader = fn(&[u8]) -> Vec<Vec<u8>>;

/// `tests/readers` has Parquet.
const FORMATS: [(&str, Reader); 2] = [("csv", csv), ("npy", npy)];

#[test]
fn every_format_has_every_position_with_its_score() {
    for board in BOARDS {
        let expected = expected(board);
        for (format, read) in FORMATS {
            assert_eq!(read(&exported(board, &format!("--format {format}"))), expected, "{board:?} {format}");
        }
    }
}

#[test]
fn a_sample_is_a_part_of_the_layer_and_depends_on_the_seed_alone() {
    let (board, all) = (BOARDS[1], expected(BOARDS[1]));
    for count in [1, 100, all.len() - 1, all.len()] {
        let indices = random_indices(all.len() as u64, count as u64, 7);
        let expected: Vec<Vec<u8>> = indices.iter().map(|&index| all[index as usize].clone()).collect();
        for (format, read) in FORMATS {
            let flags = format!("--format {format} --sample {count} --seed 7 --threads 3");
            assert_eq!(read(&exported(board, &flags)), expected, "{format} {count}");
        }
    }
}

#[test]
fn samples_are_distinct_ascending_and_of_the_size_asked_for() {
    for positions in [1, 2, 7, 100] {
        for count in 0..=positions + 1 {
            let chosen = random_indices(positions, count, 3);
            assert_eq!(chosen.len() as u64, count.min(positions));
            assert!(chosen.is_sorted_by(|a, b| a < b) && chosen.iter().all(|&index| index < positions));
            assert_eq!(chosen, random_indices(positions, count, 3));
        }
    }
    assert_ne!(random_indices(1000, 10, 1), random_indices(1000, 10, 2));
}

#[test]
fn every_position_is_as_likely_as_the_others() {
    for count in [2, 5] {
        let mut times = [0u32; 6];
        for seed in 0..6000 {
            random_indices(6, count, seed).iter().for_each(|&index| times[index as usize] += 1);
        }
        let expected = 1000 * count as u32;
        // Some six standard deviations.
        assert!(times.iter().all(|&times| times.abs_diff(expected) < 200), "{count}: {times:?}");
    }
}

#[test]
fn a_file_is_replaced_when_all_is_written_and_only_then() {
    let directory = tempfile::tempdir().unwrap();
    let tables = copied(self::directory());
    let file = directory.path().join("scores.csv");
    std::fs::write(&file, "mover1,old").unwrap();
    let layer = "--pits 3 --seeds 8";
    let replace = || export(tables.path(), &format!("{layer} --force --output {}", file.display()));
    assert!(replace().printed().is_empty());
    let written = std::fs::read(&file).unwrap();
    assert_eq!(written, export(tables.path(), layer).stdout);
    // After damage to a table, the exported file stays unchanged, and no temporary file is left.
    let table = TableKey { rules: Rules::Standard, pits: 3, seeds: 8 }.path(tables.path());
    flip(&table, std::fs::read(&table).unwrap().len() / 2, 16);
    replace().exits(3);
    assert_eq!(std::fs::read(&file).unwrap(), written);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn what_cannot_be_exported_is_refused() {
    for (flags, why) in [
        ("--seeds 6 --sample 1000000000", "sample fewer, or leave out --sample"),
        ("--seeds 6 --sample 0", "--sample"),
        ("--seeds 6 --format xml", "csv, npy"),
    ] {
        export(directory(), flags).fails(2, why);
    }
}

#[test]
fn the_version_names_the_sources_of_the_program() {
    let run = |flag: &str| program::command().arg(flag).run().printed();
    let version = format!("kalah {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(run("-V"), version);
    let long = run("--version");
    let fields = long.strip_prefix(&version).unwrap().lines().map(|line| line.split_once(": ").unwrap());
    let (names, values): (Vec<&str>, Vec<&str>) = fields.unzip();
    assert_eq!(names, ["commit", "features", "instruction set"], "{long}");
    assert!(values[2].contains(", of baseline"), "{long}");
    let digits = values[0].trim_end_matches(", changed");
    assert!(values[0] == "unknown" || digits.bytes().all(|byte| byte.is_ascii_hexdigit()), "{long}");
}
