//! The command line, as scripts rely on it: output formats, exit codes, errors.
#![cfg(feature = "cli")]

use std::path::Path;
use std::process::Output;

use kalah::file::LockError;
use kalah::game::Rules;
use kalah::isa::Isa;
use kalah::table::{DirectoryLock, PackedFrame, Table, TableImage, TableKey};

use kalah_tests::files::copied;
use kalah_tests::place::Place;
use kalah_tests::program::{self, Ran, Run, with_tables};
#[cfg(unix)]
use kalah_tests::signals::{Signal, heard, send};
use kalah_tests::tables::{built, scores};

/// Tables to 10 seeds, built once for all tests that only read.
fn tables() -> &'static Path {
    built(&Rules::ALL.map(|rules| (rules, 6, 10)))
}

/// Runs the program with these tables.
fn with_built(line: &str) -> Output {
    with_tables(tables(), line).run()
}

#[test]
fn probe_answers_in_json_lines_in_the_order_given() {
    let positions = "<6,5,3,0,1,2,0,3,0,1,0,0,2,0,0>\n\n1,0,0,0,0,0/0,0,0,0,0,1\n<6,3,2,0,0,0,0,0,0,1,0,0,0,0,4>\n";
    let answers = with_tables(tables(), "probe --json").run_with(positions).success().json_lines();
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[0]["position"], "<6,5,3,0,1,2,0,3,0,1,0,0,2,0,0>");
    assert_eq!(answers[0]["seeds"], 9);
    let score = answers[0]["score"].as_i64().unwrap();
    assert_eq!(answers[0]["value"].as_i64().unwrap(), 2 * score - 9 + 5 - 3);
    let moves = answers[0]["moves"].as_array().unwrap();
    assert_eq!(moves.iter().map(|played| played["move"].as_u64().unwrap()).collect::<Vec<_>>(), [2, 3, 5]);
    let best: Vec<_> = moves.iter().filter(|played| played["score"] == score).map(|played| &played["move"]).collect();
    assert_eq!(answers[0]["best"].as_array().unwrap().iter().collect::<Vec<_>>(), best);
    assert!(answers[0]["finished"].is_null());
    // The mover's only seed is captured alone, which ends the game.
    assert_eq!((&answers[1]["score"], &answers[1]["line"]), (&1.into(), &"1".into()));
    // A finished game: the seeds in a row belong to its owner.
    assert_eq!((&answers[2]["finished"], &answers[2]["score"]), (&true.into(), &0.into()));
    assert_eq!(answers[2]["value"], 3 - 2 - 5);
    assert_eq!(answers[2]["moves"].as_array().map(Vec::len), Some(0));
}

#[test]
fn what_cannot_be_done_is_refused_with_the_reason_before_it_begins() {
    let place = Place::empty();
    for (line, code, message) in [
        ("probe 6x2 --rules standard", 1, "kalah build --seeds 24 --rules standard --pits 6 --tables "),
        ("probe 9x1", 2, "tables end at 8 pits and 48 seeds"),
        ("export --seeds 14", 1, "layers 2 to 14 are missing"),
        ("build --seeds 30 --memory 1MiB", 1, "--memory"),
        ("build", 2, "--seeds"),
        ("build --seeds 1", 2, "--seeds"),
        ("build --seeds 49", 2, "--seeds"),
        ("build --seeds x", 2, "--seeds"),
        ("build --seeds 4 --pits 9", 2, "--pits"),
        ("build --seeds 4 --rules oware", 2, "--rules"),
        ("build --seeds 4 --threads 0", 2, "--threads"),
        ("build --seeds 8 --threads 65535", 2, "1..=1024"),
        ("build --seeds 4 --memory lots", 2, "--memory"),
        ("build --seeds 8 --share --patience 1", 2, "--patience"),
        ("verify --sample 10", 2, "--sample"),
        ("export --pits 0", 2, "--pits"),
        // Memory of some bytes lacks its unit.
        ("build --seeds 4 --memory 4", 2, "4GiB"),
        ("solve 2x2 --memory 4", 2, "4GiB"),
        ("solve 2x2 --transpositions 4", 2, "4GiB"),
        ("move 2x2 --memory 4", 2, "4GiB"),
        ("plan search 6x4 --memory 4", 2, "4GiB"),
        ("move 2x2 --time 2d", 2, "500ms, 90s, 15m or 2h"),
        ("solve 3x3 --rules oware", 2, &Rules::ALL.map(Rules::name).join(", ")),
        ("rules mancala", 2, "mancala"),
    ] {
        place.run(line).fails(code, message);
    }
    assert!(place.names().is_empty());
}

#[test]
fn info_lists_the_layers() {
    let report = with_built("info --json").success().json();
    let tables = report["tables"].as_array().unwrap();
    assert_eq!(tables.len(), 9 * Rules::ALL.len());
    let last = tables.iter().find(|table| table["rules"] == "standard" && table["seeds"] == 10).unwrap();
    assert_eq!(last["positions"], 346_710);
    let bits = last["bytes"].as_f64().unwrap() * 8.0 / 346_710.0;
    assert!((last["bits_per_position"].as_f64().unwrap() - bits).abs() < 0.001);
    assert_eq!(last["digest"].as_str().unwrap().len(), 64);
    assert!(report["builds"][0]["seconds"].as_f64().unwrap() > 0.0);
}

#[test]
fn verify_passes_sound_tables_and_names_a_wrong_score() {
    let report = with_built("verify --checksums --consistency --against cpu --json").success().json();
    assert_eq!(report["ok"], true);
    assert_eq!(report["passed"].as_array().unwrap().len(), 27);

    // A layer with a wrong score and correct checksums: only the scores show the fault.
    let place = Place::of(copied(tables()));
    let key = TableKey { rules: Rules::EmptyCapture, pits: 6, seeds: 6 };
    let (table, mut image) = (Table::open(key.path(tables())).unwrap(), TableImage::new(key));
    for frame in key.frames() {
        let mut scores = scores(&table, frame);
        if frame.mover == 4 {
            scores[1000] ^= 1;
        }
        image.write(&PackedFrame::pack(Isa::detect(), frame, &scores));
    }
    std::fs::write(key.path(place.path()), image.finish().unwrap().bytes()).unwrap();
    for check in ["--consistency", "--against cpu"] {
        let report = place.run(&format!("verify --json --seeds 6 {check}")).exits(3).json();
        assert_eq!(report["ok"], false);
        let (wrong, position) = (&report["faults"][0], report["faults"][0]["position"].as_str().unwrap());
        assert_ne!(wrong["stored"], wrong["right"]);
        // The right score is that of the undamaged table.
        let right = with_built(&format!("probe --json {position}")).success().json();
        assert_eq!(right["score"], wrong["right"]);
        let text = place.run(&format!("verify --seeds 6 {check}")).exits(3).stdout();
        assert!(text.contains(position), "{text}");
    }
    place.run("verify --checksums").success();
}

/// The choice of the sample is tested in `tests/tables/sample.rs`.
#[test]
fn a_sample_larger_than_the_layer_is_the_layer() {
    // A huge sample must not allocate memory for that many ranks.
    for (sample, checked) in [(u64::MAX, 73_008), (1, 3 * 7)] {
        let line = format!("verify --seeds 8 --consistency --sample {sample} --json");
        let report = with_built(&line).success().json();
        assert_eq!((&report["passed"][0]["frames"], &report["passed"][0]["checked"]), (&7.into(), &checked.into()));
    }
}

#[test]
fn packed_tables_are_unpacked_to_the_same_bytes() {
    let (packed, unpacked) = (Place::empty(), Place::empty());
    let pack = format!("archive pack --seeds 9 --json --output {}", packed.path().display());
    let report = with_built(&pack).success().json();
    let archive = packed.at("empty-capture-6-09.kalah.archive");
    assert_eq!(report["archives"][0]["archive"], archive.to_str().unwrap());
    assert_eq!(report["archives"][0]["bytes"], archive.metadata().unwrap().len());
    unpacked.run(&format!("archive unpack {}", archive.display())).success();
    let table = tables().join("empty-capture-6-09.kalah");
    assert!(std::fs::read(table).unwrap() == unpacked.read("empty-capture-6-09.kalah"));
}

#[test]
fn a_build_reports_its_work_and_keeps_existing_tables() {
    let place = Place::empty();
    let first = place.run("build --seeds 7 --pits 4 --json").success();
    assert!(first.stderr().contains("6 layers to build"), "{}", first.stderr());
    assert_eq!(first.json()["built"].as_array().unwrap().len(), 6);
    let second = place.run("build --seeds 8 --pits 4 --json").success().json();
    assert_eq!((&second["kept"], second["built"].as_array().unwrap().len()), (&6.into(), 1));
    assert_eq!(second["built"][0]["seeds"], 8);
}

/// Waits until some frames of layers of 14 seeds and more are written.
#[cfg(unix)]
fn wait_for_frames(directory: &Path) {
    let started = |seeds: usize| {
        let path = directory.join(format!("empty-capture-6-{seeds}.kalah.partial"));
        path.metadata().is_ok_and(|metadata| metadata.len() > 100_000)
    };
    while !(14..=17).any(started) && !directory.join("empty-capture-6-17.kalah").exists() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

#[cfg(unix)]
#[test]
fn a_build_that_is_killed_or_interrupted_goes_on_to_the_same_bytes() {
    let [line, last] = ["build --seeds 17", "empty-capture-6-17.kalah"];
    let undisturbed = Place::empty();
    undisturbed.run(line).success();
    for (signal, times) in [(Signal::KILL, 3), (Signal::INT, 1)] {
        let place = Place::empty();
        for _ in 0..times {
            let build = heard(&mut place.command(line)).spawn().unwrap();
            wait_for_frames(place.path());
            send(&build, signal);
            let output = build.wait_with_output().unwrap();
            // On a fast machine the build may already have finished.
            if signal == Signal::INT && output.code() != 0 {
                output.exits(130).prints("finished frames are kept");
            }
        }
        place.run(line).success();
        assert!(place.read(last) == undisturbed.read(last));
    }
}

/// `kalah solve --build` catches the signal, rather than dying of it.
#[cfg(unix)]
#[test]
fn a_search_interrupted_while_it_builds_its_tables_reports_it() {
    for command in ["solve 6x9", "review 6x9 1"] {
        let directory = tempfile::tempdir().unwrap();
        let line = format!("{command} --build --tables-up-to 17 --memory 1GiB");
        let search = heard(&mut with_tables(directory.path(), &line)).spawn().unwrap();
        wait_for_frames(directory.path());
        send(&search, Signal::INT);
        let output = search.wait_with_output().unwrap().exits(130);
        // On a fast machine the tables may be complete already, and the signal stops the search.
        let all_there = directory.path().join("empty-capture-6-17.kalah").exists();
        assert!(all_there || output.stderr().contains("finished frames are kept"), "{}", output.stderr());
    }
}

#[test]
fn a_directory_has_one_holder_at_a_time_whom_other_builds_name() {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("made").join("by the lock");
    let lock = DirectoryLock::take(&directory).unwrap();
    let build = || with_tables(&directory, "build --pits 2 --seeds 4").run();
    let this_process = format!("process {}", std::process::id());
    let refused = build().fails(1, &this_process);
    refused.prints(directory.to_str().unwrap());
    match DirectoryLock::take(&directory) {
        Err(LockError::Held { path, holder }) => {
            assert!(path == directory && holder.starts_with(&this_process), "{path:?} is held by {holder}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(copied(&directory).path().read_dir().unwrap().count(), 0, "tables were built");
    drop(lock);
    build().success();
    drop(DirectoryLock::take(&directory).unwrap());
}

#[test]
fn an_empty_environment_variable_means_the_default() {
    let run = |empty: &[&str]| {
        let directory = tempfile::tempdir().unwrap();
        let mut command = program::command();
        command.envs(empty.iter().map(|variable| (variable, ""))).current_dir(directory.path());
        let report = command.args(["build", "--seeds", "4", "--json"]).run().success().json();
        assert!(directory.path().join("tables/empty-capture-6-04.kalah").exists(), "{empty:?}");
        report["built"][0]["backend"].clone()
    };
    let usual = run(&[]);
    for variable in ["KALAH_TABLES", "KALAH_ADAPTER"] {
        assert_eq!(run(&[variable]), usual, "{variable}");
    }
}

#[cfg(not(feature = "gpu"))]
#[test]
fn a_program_without_gpu_support_reports_it() {
    let place = Place::empty();
    for line in ["build --seeds 5 --backend gpu", "verify --against gpu"] {
        place.run(line).fails(1, "this build has no GPU support");
    }
    place.run("gpu").fails(2, "compiled without its feature 'gpu'");
    place.run("build --seeds 5").success().prints("on the CPU");
}
