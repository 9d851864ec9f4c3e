//! A build by several processes writes the same bytes as a build by one.
#![cfg(all(unix, feature = "cli"))]

use std::path::Path;
use std::process::{Child, Output};
use std::time::{Duration, Instant};

use kalah::game::Rules;
use kalah::table::TableKey;
use serde_json::Value;

use crate::pieces::with_pieces;
use crate::processes::{assert_complete, kalah, whole};
use kalah_tests::program::{Ran, Run};

/// Starts a process that shares a build.
fn share(directory: &Path, flags: &[&str]) -> Child {
    kalah(directory, &[&["build", "--share"], flags].concat()).spawn().unwrap()
}

fn ended(process: Child) -> Output {
    process.wait_with_output().unwrap()
}

#[test]
fn processes_that_share_a_build_make_the_files_of_one() {
    for flags in [&["--pits", "3", "--seeds", "9"][..], &["--pits", "4", "--rules", "standard", "--seeds", "9"]] {
        let directory = tempfile::tempdir().unwrap();
        let processes = [(); 5].map(|()| share(directory.path(), flags));
        processes.into_iter().for_each(|process| _ = ended(process).success());
        assert_complete(directory.path(), &whole(flags), "shared");
        // Existing files are kept.
        let ran = ended(share(directory.path(), &[flags, &["--json"]].concat())).success();
        let report: Value = ran.json();
        assert_eq!((&report["pairs"], &report["joined"], &report["positions"]), (&0.into(), &0.into(), &0.into()));
    }
}

#[test]
fn a_damaged_piece_is_reported_and_computed_again() {
    let key = TableKey { rules: Rules::EmptyCapture, pits: 3, seeds: 9 };
    let flags = ["--pits", "3", "--seeds", "9"];
    let directory = with_pieces(key, &[2]);
    let path = directory.path().join("empty-capture-3-09.02.piece");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let ran = ended(share(directory.path(), &flags)).success();
    assert!(ran.stderr().contains("empty-capture-3-09.02.piece cannot be used"), "{}", ran.stderr());
    assert!(ran.stderr().contains("computed again"), "{}", ran.stderr());
    assert_complete(directory.path(), &whole(&flags), "damaged");
}

#[test]
fn a_patience_that_is_too_short_is_a_usage_error() {
    let directory = tempfile::tempdir().unwrap();
    ended(share(directory.path(), &["--seeds", "8", "--patience", "1"])).exits(2);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_plan_has_a_row_for_each_missing_layer() {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("tables");
    let plan = |more: &[&str]| {
        let args = [&["plan", "build", "--pits", "3", "--seeds", "9"], more].concat();
        kalah(&directory, &args).run().success().stdout()
    };
    let report: Value = serde_json::from_str(&plan(&["--json"])).unwrap();
    let layers = report["layers"].as_array().unwrap();
    assert_eq!(layers.len(), 8);
    let positions = |seeds| kalah::index::layer_positions(3, seeds);
    let mut below = 0;
    for (seeds, layer) in (2..).zip(layers) {
        assert_eq!((&layer["seeds"], &layer["positions"]), (&seeds.into(), &positions(seeds).into()));
        let read = layer["read"].as_u64().unwrap();
        assert!(read.abs_diff(below * 42 / 80) <= 8, "{layer}");
        below += positions(seeds);
    }
    assert_eq!(report["positions"], below);
    let most = layers.iter().map(|layer| layer["memory"].as_u64().unwrap()).max();
    assert_eq!(report["memory"].as_u64(), most);
    let text = plan(&[]);
    let row = text.lines().find(|line| line.trim_start().starts_with("9 ")).unwrap();
    assert!(row.replace(',', "").contains(&positions(9).to_string()), "{text}");
    assert!(text.lines().next().unwrap().contains("read"), "{text}");
    assert!(!directory.exists(), "a plan makes nothing");
    kalah(&directory, &["build", "--pits", "3", "--seeds", "9"]).run().success();
    assert!(plan(&[]).contains("nothing is missing"));
}

#[test]
fn an_ordinary_build_and_processes_that_share_one_meet_in_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    let flags = ["build", "--seeds", "13", "--rules", "s-kalaha"];
    let start = Instant::now();
    let mut processes: Vec<Child> =
        (0..2).map(|_| kalah(directory.path(), &[&flags[..], &["--share"]].concat()).spawn().unwrap()).collect();
    processes.push(kalah(directory.path(), &flags).spawn().unwrap());
    for process in processes {
        process.wait_with_output().unwrap().success();
    }
    assert!(start.elapsed() < Duration::from_secs(25), "a process waited for a killed one");
    // Pieces that were finished too late stay for the next process.
    kalah(directory.path(), &flags).run().success();
    assert_complete(directory.path(), &whole(&flags[1..]), "met");
}

#[test]
fn a_user_compares_the_layers_below_once_for_all_processes() {
    let (directory, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let build = |seeds: &str| {
        let mut build = kalah(directory.path(), &["build", "--pits", "4", "--share", "--seeds", seeds]);
        build.env("XDG_CACHE_HOME", temporary.path()).run()
    };
    kalah(directory.path(), &["build", "--pits", "4", "--seeds", "10"]).run().success();
    let notes = || std::fs::read_dir(temporary.path().join("kalah/checked")).unwrap().count();
    // The program writes no note about a table written in the last two seconds: its time might not show another change.
    std::thread::sleep(Duration::from_millis(2200));
    build("10").success();
    assert_eq!(notes(), 9);
    // Changed bytes are found, since the time of the file changed.
    let table = directory.path().join("empty-capture-4-09.kalah");
    let right = std::fs::read(&table).unwrap();
    let mut bytes = right.clone();
    let at = bytes.len() - 300;
    bytes[at] ^= 1;
    std::fs::write(&table, bytes).unwrap();
    let ran = build("11");
    assert!(ran.code() == 3 && ran.stderr().contains("empty-capture-4-09.kalah"), "{}", ran.stderr());
    std::fs::write(&table, right).unwrap();
    build("11").success();
    assert_complete(directory.path(), &whole(&["--pits", "4", "--seeds", "11"]), "with notes");
}
