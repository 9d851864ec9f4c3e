//! The Python reader, written from the pages on the format, reads the same scores as the library.

use std::path::Path;
use std::process::Output;

use kalah::evaluation::{LANES, Network, Weights};
use kalah::game::{Bounds, Rules};
use kalah::index::{LayerIndex, TableRow, layer_frames};
use kalah::progress::Pulse;
use kalah::table::{BoundMaker, BoundTables, Cuts, Tables};

use kalah_tests::optional::{self, has_python};
use kalah_tests::program::Run;

const READER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/kalah_reader.py");

fn build(directory: &Path, rules: Rules, pits: usize, seeds: usize) -> Tables {
    kalah::build::build(directory, rules, pits, seeds).unwrap();
    Tables::open(directory, rules, pits, seeds).unwrap()
}

/// Asks the Python reader about positions, one per line.
fn ask(directory: &Path, rules: Rules, positions: &str) -> Output {
    ask_with(&[], directory, rules, positions)
}

/// Does the same with flags.
fn ask_with(flags: &[&str], directory: &Path, rules: Rules, positions: &str) -> Output {
    let mut command = std::process::Command::new("python3");
    command.arg(READER).args(flags).arg(directory).arg(rules.name()).run_with(positions)
}

fn literal(pits: usize, mover: &TableRow, other: &TableRow) -> String {
    let seeds = mover[..pits].iter().chain(&other[..pits]).map(|seeds| format!(",{seeds}"));
    format!("<{pits},0,0{}>", seeds.collect::<String>())
}

#[test]
fn the_python_reader_reads_every_score_that_the_library_reads() {
    if !has_python(optional::PYTHON) {
        return;
    }
    // On small boards many seeds give exceptions. All positions of each layer with exceptions are read.
    for (pits, seeds, all_rules_have_exceptions) in
        [(8, 7, false), (7, 8, false), (6, 10, false), (3, 14, false), (2, 22, true), (1, 12, false)]
    {
        for rules in Rules::ALL {
            let directory = tempfile::tempdir().unwrap();
            let tables = build(directory.path(), rules, pits, seeds);
            let mut random = fastrand::Rng::with_seed(pits as u64);
            let (mut expected, mut exceptions) = (String::new(), 0);
            for table in tables.layers() {
                exceptions += table.header().exceptions();
                let index = LayerIndex::new(tables.rows(), table.key().seeds);
                let mut start = 0;
                for frame in layer_frames(pits, table.key().seeds) {
                    let ranks = start..start + frame.positions();
                    start = ranks.end;
                    let ranks = if table.header().exceptions() > 0 {
                        ranks.collect()
                    } else {
                        // The ends of the frame, and some positions between.
                        let mut some = vec![ranks.start, ranks.end - 1];
                        some.extend((0..8).map(|_| random.u64(ranks.clone())));
                        some
                    };
                    for rank in ranks {
                        let (mover, other) = index.unrank(rank);
                        let score = tables.score_rows(&mover, &other).unwrap();
                        expected += &format!("{} {score}\n", literal(pits, &mover, &other));
                    }
                }
            }
            assert!(exceptions > 0 || !all_rules_have_exceptions, "{rules} {pits} pits: no exceptions to test");
            let mut over = TableRow::default();
            over[0] = 3;
            expected += &format!("{} 3\n", literal(pits, &over, &TableRow::default()));
            expected += &format!("{} 0\n", literal(pits, &TableRow::default(), &over));

            let positions: String =
                expected.lines().map(|line| line.split_once(' ').unwrap().0.to_owned() + "\n").collect();
            let output = ask(directory.path(), rules, &positions);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{rules} {pits} pits: {errors}");
            let answers = String::from_utf8(output.stdout).unwrap();
            for (answer, expected) in answers.lines().zip(expected.lines()) {
                assert_eq!(answer, expected, "{rules}");
            }
            assert_eq!(answers.lines().count(), expected.lines().count(), "{rules} {pits} pits");
        }
    }
}

/// Makes a network of random numbers.
fn network(rules: Rules, pits: usize, random: &mut fastrand::Rng) -> Network {
    let mut lanes = |most: i16| std::array::from_fn::<i16, LANES, _>(|_| random.i16(-most..=most));
    let inputs = (0..2 * pits * 16).map(|_| lanes(90)).collect();
    let (bias, outputs) = (lanes(200), lanes(50));
    let floor = std::array::from_fn(|lane| if lane == 0 { i16::MIN } else { 0 });
    Network::new(rules, pits, &Weights { inputs, bias, floor, outputs, shift: 9 }).unwrap()
}

#[test]
fn the_python_reader_reads_the_bounds_that_the_library_reads() {
    if !has_python(optional::PYTHON) {
        return;
    }
    let mut random = fastrand::Rng::with_seed(2);
    for (pits, seeds, cuts) in [(8, 6, &[0][..]), (6, 9, &[-32, 0, 32]), (2, 18, &[-7]), (1, 20, &[-20, -20, 90])] {
        for rules in Rules::ALL {
            let directory = tempfile::tempdir().unwrap();
            let tables = build(directory.path(), rules, pits, seeds);
            let network = network(rules, pits, &mut random);
            let maker = BoundMaker::new(&network, Cuts::new(cuts).unwrap());
            let layer = tables.layer(seeds).unwrap();
            maker.write(layer, directory.path(), &Pulse::default()).unwrap();
            let bounds = BoundTables::open_around(directory.path(), rules, pits, seeds, seeds).unwrap().unwrap();
            let index = LayerIndex::new(tables.rows(), seeds);
            let (mut positions, mut expected) = (String::new(), String::new());
            for _ in 0..300 {
                let (mover, other) = index.unrank(random.u64(..index.positions()));
                let Bounds { lower, upper } = bounds.bounds(&mover, &other).unwrap().unwrap();
                let literal = literal(pits, &mover, &other);
                positions += &format!("{literal}\n");
                expected += &format!("{literal} {lower} {upper}\n");
            }
            let output = ask_with(&["--bounds"], directory.path(), rules, &positions);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{rules} {pits} pits: {errors}");
            assert_eq!(String::from_utf8(output.stdout).unwrap(), expected, "{rules} {pits} pits");
            // Damage is an error, wherever it is.
            let path = layer.key().bounds_path(directory.path());
            let (sound, first) =
                (std::fs::read(&path).unwrap(), bounds.layers()[0].header().entries[0].offset as usize);
            drop(bounds);
            // In the header, the network, the first cut of the first frame, the last byte in front of the frames, and
            // the codes.
            let directory_at = (128 + Network::file_bytes(pits)).next_multiple_of(64);
            for at in [20, 200, directory_at + 16, first - 1, first + 1] {
                let mut bytes = sound.clone();
                bytes[at] ^= 4;
                std::fs::remove_file(&path).unwrap();
                std::fs::write(&path, bytes).unwrap();
                let (mover, other) = index.unrank(0);
                let output = ask_with(&["--bounds"], directory.path(), rules, &literal(pits, &mover, &other));
                assert!(!output.status.success() && output.stdout.is_empty(), "byte {at}");
            }
        }
    }
}

#[test]
fn the_python_reader_refuses_what_is_no_table() {
    if !has_python(optional::PYTHON) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let rules = Rules::Standard;
    let tables = build(directory.path(), rules, 2, 6);
    let (path, other) = (tables.key(6).path(directory.path()), tables.key(5).path(directory.path()));
    drop(tables);
    let sound = std::fs::read(&path).unwrap();
    let mut unfinished = sound.clone();
    unfinished[15] = 0;
    let mut newer = sound.clone();
    newer[8] = 9;
    for (bytes, reason) in [
        (Vec::new(), "not a kalah table"),
        (vec![0; 1000], "not a kalah table"),
        (sound[..sound.len() - 1].to_vec(), "bytes where"),
        (unfinished, "never finished"),
        (newer, "version 9"),
        (std::fs::read(&other).unwrap(), "another table"),
    ] {
        std::fs::write(&path, bytes).unwrap();
        let output = ask(directory.path(), rules, "<2,0,0,1,2,2,1>\n");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && errors.starts_with("error: ") && errors.contains(reason),
            "{reason}: {errors}"
        );
        assert!(output.stdout.is_empty());
    }
}

/// After a bit flips, the answers stay the same or there is an error.
#[test]
fn the_python_reader_never_gives_a_wrong_score() {
    if !has_python(optional::PYTHON) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    // Tables with exceptions, and with a frame of more than one block.
    for (rules, pits, seeds, flips) in [(Rules::EmptyCapture, 2, 20, 6), (Rules::Standard, 6, 12, 2)] {
        let tables = build(directory.path(), rules, pits, seeds);
        let index = LayerIndex::new(tables.rows(), seeds);
        let table = tables.layer(seeds).unwrap();
        let path = table.path().to_owned();
        let (sound, entries) = (table.bytes().to_vec(), table.header().entries.clone());
        let mut random = fastrand::Rng::with_seed(3);
        let (mut refused, mut answered) = (0, 0);
        for _ in 0..flips {
            let entry = entries[random.usize(0..entries.len())];
            // Bits of every part, including the directory.
            let at = match random.u8(0..4) {
                0 => random.u64(0..entries[0].offset),
                1 => entry.offset + random.u64(0..entry.rows),
                2 => entry.offset + entry.checksums_at() - 1 - random.u64(0..entry.patch_bytes.max(64)),
                _ => entry.offset + random.u64(0..entry.checksums_at()),
            };
            let mut bytes = sound.clone();
            bytes[at as usize] ^= 1 << random.u8(0..8);
            std::fs::remove_file(&path).unwrap();
            std::fs::write(&path, bytes).unwrap();
            for _ in 0..3 {
                let (mover, other) = index.unrank(random.u64(..index.positions()));
                let literal = literal(pits, &mover, &other);
                let output = ask(directory.path(), rules, &format!("{literal}\n"));
                let (printed, errors) =
                    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
                if output.status.success() {
                    answered += 1;
                    assert_eq!(
                        printed,
                        format!("{literal} {}\n", tables.score_rows(&mover, &other).unwrap()),
                        "byte {at}"
                    );
                } else {
                    refused += 1;
                    assert!(printed.is_empty() && errors.starts_with("error: "), "{errors}");
                }
            }
        }
        assert!(refused > 0, "{refused} refused, {answered} answered");
    }
}
