//! The Python reader, written from the pages on the format, reads the same scores as the library.

use std::path::Path;
use std::process::{Command, Output};

use fastrand::Rng;
use kalah::build::build;
use kalah::evaluation::Network;
use kalah::game::{Bounds, Rules};
use kalah::index::{LayerIndex, TableRow, layer_frames};
use kalah::progress::Pulse;
use kalah::table::{BoundMaker, BoundTables, Cuts, TableKey};

use crate::root;
use kalah_tests::files::{copied, flip};
use kalah_tests::optional::{self, has_python};
use kalah_tests::program::{Ran, Run};
use kalah_tests::random::random_network;
use kalah_tests::tables::{built, opened};

/// Asks the Python reader about positions, one per line.
fn ask(flags: &[&str], directory: &Path, rules: Rules, positions: &str) -> Output {
    let mut command = Command::new("python3");
    let command = command.arg(root().join("docs/kalah_reader.py")).args(flags).arg(directory).arg(rules.name());
    command.run_with(positions)
}

fn literal(pits: usize, (mover, other): &(TableRow, TableRow)) -> String {
    let seeds = mover[..pits].iter().chain(&other[..pits]).map(|seeds| format!(",{seeds}"));
    format!("<{pits},0,0{}>", seeds.collect::<String>())
}

/// Fails if the answers of the reader differ from the expected lines, which begin with the positions.
fn assert_answers(flags: &[&str], directory: &Path, rules: Rules, expected: &str) {
    let positions = expected.lines().map(|line| line.split(' ').next().unwrap().to_owned() + "\n");
    let answers = ask(flags, directory, rules, &positions.collect::<String>()).printed();
    for (answer, expected) in answers.lines().zip(expected.lines()) {
        assert_eq!(answer, expected, "{rules}");
    }
    assert_eq!(answers.lines().count(), expected.lines().count(), "{rules}");
}

#[test]
fn the_python_reader_reads_every_score_that_the_library_reads() {
    if !has_python(optional::PYTHON) {
        return;
    }
    // On small boards many seeds give exceptions. All positions of each layer with exceptions are read.
    let boards = [(8, 7), (7, 8), (6, 10), (3, 14), (2, 22), (1, 12)];
    for (rules, (pits, seeds)) in Rules::ALL.into_iter().flat_map(|rules| boards.map(|board| (rules, board))) {
        let tables = opened(rules, pits, seeds);
        let mut random = Rng::with_seed(pits as u64);
        let (mut expected, mut exceptions) = (String::new(), 0);
        for table in tables.layers() {
            exceptions += table.header().exceptions();
            let index = LayerIndex::new(tables.rows(), table.key().seeds);
            let mut start = 0;
            for frame in layer_frames(pits, table.key().seeds) {
                let all = start..start + frame.positions();
                start = all.end;
                // Elsewhere, the ends of the frame, and some positions between.
                let some = (0..8).map(|_| random.u64(all.clone())).chain([all.start, all.end - 1]).collect();
                let ranks: Vec<u64> = if table.header().exceptions() > 0 { all.collect() } else { some };
                for rows in ranks.into_iter().map(|rank| index.unrank(rank)) {
                    let score = tables.score_rows(&rows.0, &rows.1).unwrap();
                    expected += &format!("{} {score}\n", literal(pits, &rows));
                }
            }
        }
        assert!(exceptions > 0 || pits != 2, "{rules} {pits} pits: no exceptions to test");
        let (mut over, empty) = (TableRow::default(), TableRow::default());
        over[0] = 3;
        expected += &format!("{} 3\n{} 0\n", literal(pits, &(over, empty)), literal(pits, &(empty, over)));
        assert_answers(&[], built(&[(rules, pits, seeds)]), rules, &expected);
    }
}

#[test]
fn the_python_reader_reads_the_bounds_that_the_library_reads() {
    if !has_python(optional::PYTHON) {
        return;
    }
    let mut random = Rng::with_seed(2);
    for (pits, seeds, cuts) in [(8, 6, &[0][..]), (6, 9, &[-32, 0, 32]), (2, 18, &[-7]), (1, 20, &[-20, -20, 90])] {
        for rules in Rules::ALL {
            let (tables, directory) = (opened(rules, pits, seeds), tempfile::tempdir().unwrap());
            let (directory, layer) = (directory.path(), tables.layer(seeds).unwrap());
            let network = random_network(rules, pits, 2);
            let maker = BoundMaker::new(&network, Cuts::new(cuts).unwrap());
            maker.write(layer, directory, &Pulse::default()).unwrap();
            let bounds = BoundTables::open_around(directory, rules, pits, seeds, seeds).unwrap().unwrap();
            let index = LayerIndex::new(tables.rows(), seeds);
            let mut expected = String::new();
            for rows in (0..300).map(|_| index.unrank(random.u64(..index.positions()))) {
                let Bounds { lower, upper } = bounds.bounds(&rows.0, &rows.1).unwrap().unwrap();
                expected += &format!("{} {lower} {upper}\n", literal(pits, &rows));
            }
            assert_answers(&["--bounds"], directory, rules, &expected);
            // Damage is an error in the header, the network, the first cut of the first frame, the last byte in front
            // of the frames, and the codes.
            let path = layer.key().bounds_path(directory);
            let first = bounds.layers()[0].header().entries[0].offset as usize;
            drop(bounds);
            let frames_at = (128 + Network::file_bytes(pits)).next_multiple_of(64);
            for at in [20, 200, frames_at + 16, first - 1, first + 1] {
                flip(&path, at, 4);
                let output = ask(&["--bounds"], directory, rules, &literal(pits, &index.unrank(0)));
                assert!(!output.status.success() && output.stdout.is_empty(), "byte {at}");
                flip(&path, at, 4);
            }
        }
    }
}

#[test]
fn the_python_reader_refuses_what_is_no_table() {
    if !has_python(optional::PYTHON) {
        return;
    }
    let (rules, directory) = (Rules::Standard, tempfile::tempdir().unwrap());
    build(directory.path(), rules, 2, 6).unwrap();
    let [path, other] = [6, 5].map(|seeds| TableKey { rules, pits: 2, seeds }.path(directory.path()));
    let sound = std::fs::read(&path).unwrap();
    let with = |at: usize, byte: u8| [&sound[..at], &[byte], &sound[at + 1..]].concat();
    for (bytes, reason) in [
        (Vec::new(), "not a kalah table"),
        (vec![0; 1000], "not a kalah table"),
        (sound[..sound.len() - 1].to_vec(), "bytes where"),
        (with(15, 0), "never finished"),
        (with(8, 9), "version 9"),
        (std::fs::read(&other).unwrap(), "another table"),
    ] {
        std::fs::write(&path, bytes).unwrap();
        let refused = ask(&[], directory.path(), rules, "<2,0,0,1,2,2,1>\n").fails(1, reason);
        assert!(refused.stderr().starts_with("error: "), "{}", refused.stderr());
    }
}

/// After a bit flips, the answers stay the same or there is an error.
#[test]
fn the_python_reader_never_gives_a_wrong_score() {
    if !has_python(optional::PYTHON) {
        return;
    }
    // Tables with exceptions, and with a frame of more than one block.
    for (rules, pits, seeds, flips) in [(Rules::EmptyCapture, 2, 20, 6), (Rules::Standard, 6, 12, 2)] {
        let (tables, directory) = (opened(rules, pits, seeds), copied(built(&[(rules, pits, seeds)])));
        let (index, entries) = (LayerIndex::new(tables.rows(), seeds), &tables.layer(seeds).unwrap().header().entries);
        let path = TableKey { rules, pits, seeds }.path(directory.path());
        let (mut random, mut refused) = (Rng::with_seed(3), 0);
        for _ in 0..flips {
            let entry = entries[random.usize(0..entries.len())];
            // Bits of every part, including the directory.
            let at = match random.u8(0..4) {
                0 => random.u64(0..entries[0].offset),
                1 => entry.offset + random.u64(0..entry.rows),
                2 => entry.offset + entry.checksums_at() - 1 - random.u64(0..entry.patch_bytes.max(64)),
                _ => entry.offset + random.u64(0..entry.checksums_at()),
            };
            let bits = 1 << random.u8(0..8);
            flip(&path, at as usize, bits);
            for _ in 0..3 {
                let rows = index.unrank(random.u64(..index.positions()));
                let literal = literal(pits, &rows);
                let output = ask(&[], directory.path(), rules, &literal);
                if output.status.success() {
                    let score = tables.score_rows(&rows.0, &rows.1).unwrap();
                    assert_eq!(output.stdout(), format!("{literal} {score}\n"), "byte {at}");
                } else {
                    refused += 1;
                    assert!(output.fails(1, "").stderr().starts_with("error: "), "byte {at}");
                }
            }
            flip(&path, at as usize, bits);
        }
        assert!(refused > 0);
    }
}
