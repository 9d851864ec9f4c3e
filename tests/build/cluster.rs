//! A build by several processes writes the same bytes as a build by one.
#![cfg(all(unix, feature = "cli"))]

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use kalah::game::Rules;
use kalah::index::layer_positions;
use kalah::table::TableKey;
use serde_json::Value;

use crate::pieces::{Files, assert_complete, with_pieces};
use kalah_tests::files::{files, flip};
use kalah_tests::program::{Ran, Run, with_tables};

/// Command that runs the program on one CPU thread, with its tables in `directory`.
pub(crate) fn kalah(directory: &Path, line: &str) -> Command {
    let mut command = with_tables(directory, line);
    command.args(["--backend", "cpu", "--threads", "1"]);
    command
}

/// The files of a build by one process.
pub(crate) fn whole(flags: &str) -> Files {
    let directory = tempfile::tempdir().unwrap();
    kalah(directory.path(), &format!("build {flags}")).run().success();
    files(directory.path())
}

#[test]
fn a_damaged_piece_is_reported_and_computed_again_by_the_process_that_joins_it() {
    let directory = with_pieces(TableKey { rules: Rules::EmptyCapture, pits: 3, seeds: 9 }, &[1, 2]);
    let path = directory.path().join("empty-capture-3-09.02.piece");
    flip(&path, path.metadata().unwrap().len() as usize / 2, 1);
    let ran = kalah(directory.path(), "build --share --json --pits 3 --seeds 9").run().success();
    let ran = ran.prints("empty-capture-3-09.02.piece cannot be used").prints("computed again");
    assert_eq!((&ran.json()["pairs"], &ran.json()["joined"]), (&2.into(), &1.into()));
    assert_complete(directory.path(), &whole("--pits 3 --seeds 9"), "damaged");
}

#[test]
fn a_plan_counts_what_is_missing_with_a_row_for_each_layer() {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("tables");
    let run = |line: &str| kalah(&directory, &format!("{line} --pits 3 --seeds 11")).run().success();
    let plan = || run("plan build --json").json();
    let layers = |plan: &Value| plan["layers"].as_array().unwrap().clone();
    let positions = |seeds| layer_positions(3, seeds);
    let all = plan();
    assert_eq!(layers(&all).len(), 10);
    for (seeds, layer) in (2..).zip(layers(&all)) {
        assert_eq!((&layer["seeds"], &layer["positions"]), (&seeds.into(), &positions(seeds).into()));
    }
    assert_eq!(all["positions"], (2..=11).map(positions).sum::<u64>());
    let seconds: f64 = layers(&all).iter().map(|layer| layer["seconds"].as_f64().unwrap()).sum();
    assert!((all["seconds"].as_f64().unwrap() - seconds).abs() < 1e-9);
    let text = run("plan build").stdout();
    let row = text.lines().find(|line| line.trim_start().starts_with("9 ")).unwrap();
    assert!(row.replace(',', "").contains(&positions(9).to_string()), "{text}");
    assert!(text.lines().next().unwrap().contains("read"), "{text}");
    assert!(!directory.exists(), "a plan makes nothing");
    // A layer reads all those below, whether they exist or not.
    kalah(&directory, "build --pits 3 --seeds 9").run().success();
    let path = |seeds: u64| directory.join(format!("empty-capture-3-{seeds:02}.kalah"));
    std::fs::remove_file(path(7)).unwrap();
    let rest = plan();
    let seeds: Vec<_> = layers(&rest).iter().map(|layer| layer["seeds"].as_u64().unwrap()).collect();
    assert_eq!((seeds, &layers(&rest)[0]), (vec![7, 10, 11], &layers(&all)[5]));
    assert_eq!(rest["positions"], [7, 10, 11].map(positions).iter().sum::<u64>());
    // Tables have the estimated sizes or slightly less.
    for layer in &layers(&all)[..5] {
        assert!(path(layer["seeds"].as_u64().unwrap()).metadata().unwrap().len() <= layer["disk"].as_u64().unwrap());
    }
    run("build");
    run("plan build").prints("nothing is missing");
    assert_eq!((&plan()["positions"], &plan()["disk"]), (&0.into(), &0.into()));
}

#[test]
fn an_ordinary_build_and_processes_that_share_one_meet_in_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    let (flags, start) = ("--seeds 13 --rules s-kalaha", Instant::now());
    let build = |more: &str| kalah(directory.path(), &format!("build {flags}{more}"));
    let processes = [" --share", " --share", ""].map(|more| build(more).spawn().unwrap());
    for process in processes {
        process.wait_with_output().unwrap().success();
    }
    assert!(start.elapsed() < Duration::from_secs(25), "a process waited for a killed one");
    // Pieces that were finished too late stay for the next process.
    build("").run().success();
    assert_complete(directory.path(), &whole(flags), "met");
    // Existing files are kept.
    let report = build(" --share --json").run().success().json();
    for field in ["pairs", "joined", "positions"] {
        assert_eq!(report[field], 0, "{field}");
    }
}

#[test]
fn a_user_compares_the_layers_below_once_for_all_processes() {
    for share in ["", " --share"] {
        let (directory, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let build = |seeds: usize| {
            let mut build = kalah(directory.path(), &format!("build --pits 4{share} --seeds {seeds}"));
            build.env("XDG_CACHE_HOME", temporary.path()).run()
        };
        kalah(directory.path(), "build --pits 4 --seeds 10").run().success();
        let notes = || std::fs::read_dir(temporary.path().join("kalah/checked")).unwrap().count();
        // The program writes no note about a table written in the last two seconds: its time might not show another
        // change.
        std::thread::sleep(Duration::from_millis(2200));
        build(10).success();
        assert_eq!(notes(), 9);
        // Changed bytes are found, since the time of the file changed.
        let table = directory.path().join("empty-capture-4-09.kalah");
        let right = std::fs::read(&table).unwrap();
        flip(&table, right.len() - 300, 1);
        build(11).exits(3).prints("empty-capture-4-09.kalah");
        std::fs::write(&table, right).unwrap();
        build(11).success();
        assert_complete(directory.path(), &whole("--pits 4 --seeds 11"), "with notes");
    }
}
