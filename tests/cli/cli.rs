//! The command line, as scripts rely on it: output formats, exit codes, errors.
#![cfg(feature = "cli")]

use std::path::Path;
use std::process::Output;

use kalah::game::Rules;
use serde_json::Value;

use kalah_tests::program::{self, Ran, Run};
#[cfg(unix)]
use kalah_tests::signals::{heard, interrupt};

/// Tables to 10 seeds, built once for all tests that only read.
fn tables() -> &'static Path {
    static TABLES: std::sync::LazyLock<tempfile::TempDir> = std::sync::LazyLock::new(|| {
        let directory = tempfile::tempdir().unwrap();
        for rules in Rules::ALL.map(Rules::name) {
            kalah(directory.path(), &["build", "--seeds", "10", "--rules", rules], "").success();
        }
        directory
    });
    TABLES.path()
}

fn kalah(tables: &Path, args: &[&str], stdin: &str) -> Output {
    program::command().env("KALAH_TABLES", tables).args(args).run_with(stdin)
}

#[test]
fn probe_answers_in_json_lines_in_the_order_given() {
    let positions = "<6,5,3,0,1,2,0,3,0,1,0,0,2,0,0>\n\n1,0,0,0,0,0/0,0,0,0,0,1\n<6,3,2,0,0,0,0,0,0,1,0,0,0,0,4>\n";
    let ran = kalah(tables(), &["probe", "--json"], positions).success();
    let answers: Vec<Value> = ran.stdout().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[0]["position"], "<6,5,3,0,1,2,0,3,0,1,0,0,2,0,0>");
    assert_eq!(answers[0]["seeds"], 9);
    let score = answers[0]["score"].as_i64().unwrap();
    assert_eq!(answers[0]["value"].as_i64().unwrap(), 2 * score - 9 + 5 - 3);
    let moves = answers[0]["moves"].as_array().unwrap();
    assert_eq!(moves.iter().map(|played| played["move"].as_u64().unwrap()).collect::<Vec<_>>(), [2, 3, 5]);
    let best: Vec<_> = moves.iter().filter(|played| played["score"] == score).map(|played| &played["move"]).collect();
    assert_eq!(answers[0]["best"].as_array().unwrap().iter().collect::<Vec<_>>(), best);
    assert_eq!(answers[0]["finished"], Value::Null);
    // The mover's only seed is captured alone, which ends the game.
    assert_eq!((&answers[1]["score"], &answers[1]["line"]), (&1.into(), &"1".into()));
    // A finished game: the seeds in a row belong to its owner.
    assert_eq!((&answers[2]["finished"], &answers[2]["score"]), (&true.into(), &0.into()));
    assert_eq!(answers[2]["value"], 3 - 2 - 5);
    assert_eq!(answers[2]["moves"], Value::Array(vec![]));
}

#[test]
fn probe_refuses_what_it_cannot_answer_with_the_command_that_would() {
    let ran = kalah(tables(), &["probe", "6x2", "--rules", "standard"], "");
    assert_eq!((ran.code(), ran.stdout().as_str()), (1, ""));
    assert!(ran.stderr().contains("kalah build --seeds 24 --rules standard --pits 6 --tables "), "{}", ran.stderr());
    let ran = kalah(tables(), &["probe", "9x1"], "");
    assert_eq!((ran.code(), ran.stdout().as_str()), (2, ""));
    assert!(ran.stderr().contains("tables end at 8 pits and 48 seeds"), "{}", ran.stderr());
}

#[test]
fn bad_positions_are_reported_and_the_others_answered() {
    let ran = kalah(tables(), &["probe", "nonsense", "1,0,0,0,0,0/0,0,0,0,0,1", "--json"], "").exits(2);
    let lines: Vec<Value> = ran.stdout().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), &lines[0]["score"]), (1, &1.into()));
    assert!(ran.stderr().contains("'nonsense' is not a position"), "{}", ran.stderr());
}

#[test]
fn info_lists_the_layers() {
    let report = kalah(tables(), &["info", "--json"], "").success().json();
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
    let checks = ["verify", "--checksums", "--consistency", "--against", "cpu", "--json"];
    let report = kalah(tables(), &checks, "").success().json();
    assert_eq!(report["ok"], true);
    assert_eq!(report["passed"].as_array().unwrap().len(), 27);

    // A table of other rules with correct checksums: only the scores show the fault.
    let directory = tempfile::tempdir().unwrap();
    for seeds in 2..=6 {
        let name = |rules| format!("{rules}-6-{seeds:02}.kalah");
        std::fs::copy(tables().join(name("empty-capture")), directory.path().join(name("empty-capture"))).unwrap();
    }
    wrong_score(directory.path());
    for check in [&["--consistency"][..], &["--against", "cpu"]] {
        let ran = kalah(directory.path(), &[&["verify", "--json", "--seeds", "6"], check].concat(), "").exits(3);
        let report = ran.json();
        assert_eq!(report["ok"], false);
        let wrong = &report["faults"][0];
        assert_ne!(wrong["stored"], wrong["right"]);
        // The right score is that of the undamaged table.
        let right = kalah(tables(), &["probe", "--json", wrong["position"].as_str().unwrap()], "").success().json();
        assert_eq!(right["score"], wrong["right"]);
        let ran = kalah(directory.path(), &[&["verify", "--seeds", "6"], check].concat(), "").exits(3);
        assert!(ran.stdout().contains(wrong["position"].as_str().unwrap()), "{}", ran.stdout());
    }
    kalah(directory.path(), &["verify", "--checksums"], "").success();
}

#[test]
fn a_sample_larger_than_the_layer_is_the_layer() {
    let report = |sample: &str| {
        let ran = kalah(tables(), &["verify", "--seeds", "8", "--consistency", "--sample", sample, "--json"], "");
        let report = ran.success().json();
        assert_eq!(report["passed"][0]["frames"], 7);
        report["passed"][0]["checked"].as_u64().unwrap()
    };
    // A huge sample must not allocate memory for that many ranks.
    assert_eq!(report(&u64::MAX.to_string()), 73_008);
    // The sample is never smaller than requested, and hardly larger.
    assert!((1000..1000 + 3 * 7).contains(&report("1000")));
    assert_eq!(report("1"), 3 * 7);
}

/// Replaces the layer of 6 seeds by one with a wrong score and correct checksums.
fn wrong_score(directory: &Path) {
    use kalah::game::Rules;
    use kalah::isa::Isa;
    use kalah::table::{PackedFrame, TableKey, TableWriter, Tables};
    let key = TableKey { rules: Rules::EmptyCapture, pits: 6, seeds: 6 };
    let tables = Tables::open(directory, key.rules, key.pits, key.seeds).unwrap();
    std::fs::remove_file(key.path(directory)).unwrap();
    let mut writer = TableWriter::open(directory, key).unwrap();
    for frame in key.frames() {
        let scores = tables.layer(6).unwrap().frame(frame.mover).unwrap();
        let mut scores: Vec<u8> = (0..frame.positions())
            .map(|index| {
                let (mover, other) = frame.ranks(index);
                scores.score(mover, other).unwrap()
            })
            .collect();
        if frame.mover == 4 {
            scores[1000] ^= 1;
        }
        writer.write(&PackedFrame::pack(Isa::detect(), frame, &scores)).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn damage_is_found_and_reported_with_its_repair() {
    let directory = tempfile::tempdir().unwrap();
    kalah(directory.path(), &["build", "--seeds", "8"], "").success();
    let path = directory.path().join("empty-capture-6-08.kalah");
    let sound = std::fs::read(&path).unwrap();
    let mut altered = sound.clone();
    let middle = altered.len() / 2;
    altered[middle] ^= 0x10;
    std::fs::write(&path, &altered).unwrap();
    let ran = kalah(directory.path(), &["verify"], "").exits(3);
    assert!(ran.stdout().contains("damaged"), "{}", ran.stdout());
    assert!(
        ran.stdout().contains("delete it and run `kalah build --seeds 8 --rules empty-capture --pits 6 --tables "),
        "{}",
        ran.stdout()
    );
    std::fs::write(&path, &sound[..middle]).unwrap();
    for args in [&["verify"][..], &["info"], &["export", "--seeds", "8"]] {
        let ran = kalah(directory.path(), args, "").exits(3);
        // The result of a check is its output.
        let printed = ran.stdout() + &ran.stderr();
        assert!(printed.contains("kalah build --seeds 8"), "{args:?}: {printed}");
    }
    // The message names this repair.
    std::fs::remove_file(&path).unwrap();
    kalah(directory.path(), &["build", "--seeds", "8"], "").success();
    assert!(std::fs::read(&path).unwrap() == sound);
}

#[test]
fn packed_tables_are_unpacked_to_the_same_bytes() {
    let (packed, unpacked) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let output = packed.path().to_str().unwrap();
    let report =
        kalah(tables(), &["archive", "pack", "--seeds", "9", "--output", output, "--json"], "").success().json();
    let archive = packed.path().join("empty-capture-6-09.kalah.archive");
    assert_eq!(report["archives"][0]["archive"], archive.to_str().unwrap());
    assert_eq!(report["archives"][0]["bytes"], archive.metadata().unwrap().len());
    kalah(unpacked.path(), &["archive", "unpack", archive.to_str().unwrap()], "").success();
    let table = "empty-capture-6-09.kalah";
    assert!(std::fs::read(tables().join(table)).unwrap() == std::fs::read(unpacked.path().join(table)).unwrap());

    // A table is not an archive, and a truncated archive is refused.
    kalah(unpacked.path(), &["archive", "unpack", tables().join(table).to_str().unwrap()], "").exits(3);
    let whole = std::fs::read(&archive).unwrap();
    std::fs::write(&archive, &whole[..whole.len() - 1]).unwrap();
    let ran = kalah(unpacked.path(), &["archive", "unpack", archive.to_str().unwrap()], "").exits(3);
    assert!(ran.stderr().contains("download it or pack the table again"), "{}", ran.stderr());
}

#[test]
fn a_build_reports_its_work_and_keeps_existing_tables() {
    let directory = tempfile::tempdir().unwrap();
    let first = kalah(directory.path(), &["build", "--seeds", "7", "--pits", "4", "--json"], "").success();
    assert!(first.stderr().contains("6 layers to build"), "{}", first.stderr());
    assert_eq!(first.json()["built"].as_array().unwrap().len(), 6);
    let second = kalah(directory.path(), &["build", "--seeds", "8", "--pits", "4", "--json"], "").success().json();
    assert_eq!((&second["kept"], second["built"].as_array().unwrap().len()), (&6.into(), 1));
    assert_eq!(second["built"][0]["seeds"], 8);
}

#[test]
fn a_build_that_cannot_fit_is_refused_before_it_begins() {
    let directory = tempfile::tempdir().unwrap();
    let ran = kalah(directory.path(), &["build", "--seeds", "30", "--memory", "1MiB"], "").exits(1);
    assert!(ran.stderr().contains("--memory"), "{}", ran.stderr());
}

#[test]
fn bad_flags_are_usage_errors() {
    for args in [
        &["build"][..],
        &["build", "--seeds", "1"],
        &["build", "--seeds", "49"],
        &["build", "--seeds", "x"],
        &["build", "--seeds", "4", "--pits", "9"],
        &["build", "--seeds", "4", "--rules", "oware"],
        &["build", "--seeds", "4", "--threads", "0"],
        &["build", "--seeds", "4", "--memory", "lots"],
        &["verify", "--sample", "10"],
        &["export"],
        &["export", "--pits", "0"],
    ] {
        assert_eq!(kalah(tables(), args, "").code(), 2, "{args:?}");
    }
}

/// Command that builds to 17 seeds in `directory`, through a shell that runs `before` first.
#[cfg(unix)]
fn shell_build(directory: &Path, before: &str) -> std::process::Command {
    let mut command = std::process::Command::new("sh");
    let kalah = program::path();
    command.arg("-c").arg(format!("{before} exec {} build --seeds 17", kalah.display()));
    command.env("KALAH_TABLES", directory).stderr(std::process::Stdio::piped());
    command
}

/// Digest of the layer of 17 seeds from an uninterrupted build.
#[cfg(unix)]
fn undisturbed() -> &'static [u8] {
    static BYTES: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(|| {
        let directory = tempfile::tempdir().unwrap();
        kalah(directory.path(), &["build", "--seeds", "17"], "").success();
        std::fs::read(directory.path().join("empty-capture-6-17.kalah")).unwrap()
    });
    &BYTES
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
fn a_killed_build_goes_on_to_the_same_bytes() {
    let directory = tempfile::tempdir().unwrap();
    for _ in 0..3 {
        let mut build = shell_build(directory.path(), "").spawn().unwrap();
        wait_for_frames(directory.path());
        build.kill().unwrap();
        build.wait().unwrap();
    }
    kalah(directory.path(), &["build", "--seeds", "17"], "").success();
    assert!(std::fs::read(directory.path().join("empty-capture-6-17.kalah")).unwrap() == undisturbed());
}

#[cfg(unix)]
#[test]
fn an_interrupted_build_reports_it_and_resumes_to_the_same_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let build = heard(&mut shell_build(directory.path(), "")).spawn().unwrap();
    wait_for_frames(directory.path());
    interrupt(&build);
    let output = build.wait_with_output().unwrap();
    // On a fast machine the build may already have finished.
    if output.code() != 0 {
        assert_eq!(output.status.code(), Some(130));
        let stderr = output.stderr();
        assert!(stderr.contains("finished frames are kept"), "{stderr}");
    }
    kalah(directory.path(), &["build", "--seeds", "17"], "").success();
    assert!(std::fs::read(directory.path().join("empty-capture-6-17.kalah")).unwrap() == undisturbed());
}

/// `kalah solve --build` catches the signal, rather than dying of it.
#[cfg(unix)]
#[test]
fn a_search_interrupted_while_it_builds_its_tables_reports_it() {
    for command in [&["solve", "6x9"][..], &["review", "6x9", "1"]] {
        let directory = tempfile::tempdir().unwrap();
        let mut search = program::command();
        search.args(command).args(["--build", "--tables-up-to", "17", "--memory", "1GiB"]);
        search.env("KALAH_TABLES", directory.path()).stderr(std::process::Stdio::piped());
        let search = heard(search.stdout(std::process::Stdio::null())).spawn().unwrap();
        wait_for_frames(directory.path());
        interrupt(&search);
        let output = search.wait_with_output().unwrap();
        let stderr = output.stderr();
        // On a fast machine the tables may be complete already, and the signal stops the search.
        let all_there = directory.path().join("empty-capture-6-17.kalah").exists();
        assert_eq!(output.status.code(), Some(130), "{stderr}");
        assert!(all_there || stderr.contains("finished frames are kept"), "{stderr}");
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_loses_no_finished_frame() {
    let directory = tempfile::tempdir().unwrap();
    // Files are limited to 8192 blocks of 512 bytes: 16 seeds need more.
    let output = shell_build(directory.path(), "ulimit -f 8192;").run();
    assert_eq!(output.code(), 1);
    let stderr = output.stderr();
    assert!(stderr.contains("empty-capture-6-16.kalah.partial"), "{stderr}");
    assert!(stderr.contains("free disk space, or raise the limit"), "{stderr}");
    let before = std::fs::read(directory.path().join("empty-capture-6-15.kalah")).unwrap();
    let ran = kalah(directory.path(), &["build", "--seeds", "17"], "").success();
    assert!(ran.stderr().contains("frames kept from an earlier run"), "{}", ran.stderr());
    assert!(std::fs::read(directory.path().join("empty-capture-6-15.kalah")).unwrap() == before);
    assert!(std::fs::read(directory.path().join("empty-capture-6-17.kalah")).unwrap() == undisturbed());
}

#[cfg(unix)]
#[test]
fn a_second_build_in_a_directory_names_its_holder() {
    let directory = tempfile::tempdir().unwrap();
    let mut build = shell_build(directory.path(), "").spawn().unwrap();
    wait_for_frames(directory.path());
    let second = kalah(directory.path(), &["build", "--seeds", "17"], "");
    // On a fast machine the first build may already have finished.
    if build.try_wait().unwrap().is_none() {
        assert_eq!(second.code(), 1);
        assert!(second.stderr().contains(&format!("process {}", build.id())), "{}", second.stderr());
    }
    assert!(build.wait().unwrap().success());
}

#[test]
fn an_empty_environment_variable_means_the_default() {
    let run = |args: &[&str], empty: &[&str]| {
        let directory = tempfile::tempdir().unwrap();
        let mut command = program::command();
        for variable in ["KALAH_TABLES", "KALAH_ADAPTER"] {
            match empty.contains(&variable) {
                true => command.env(variable, ""),
                false => command.env_remove(variable),
            };
        }
        (command.args(args).current_dir(directory.path()).run(), directory)
    };
    let build = ["build", "--seeds", "4", "--json"];
    let backend = |ran: &Output| ran.json()["built"][0]["backend"].clone();
    let (usual, _) = run(&build, &[]);
    for variable in ["KALAH_TABLES", "KALAH_ADAPTER"] {
        let (ran, directory) = run(&build, &[variable]);
        let ran = ran.success();
        assert_eq!(backend(&ran), backend(&usual), "{variable}");
        assert!(directory.path().join("tables/empty-capture-6-04.kalah").exists(), "{variable}");
    }
}

#[test]
fn memory_of_some_bytes_lacks_its_unit() {
    for args in [
        &["build", "--seeds", "4", "--memory", "4"][..],
        &["solve", "2x2", "--memory", "4"],
        &["solve", "2x2", "--transpositions", "4"],
        &["move", "2x2", "--memory", "4"],
        &["plan", "search", "6x4", "--memory", "4"],
    ] {
        let ran = kalah(tables(), args, "").exits(2);
        assert!(ran.stderr().contains("4GiB"), "{args:?}: {}", ran.stderr());
    }
}

#[test]
fn a_missing_layer_is_named_with_those_missing_below() {
    let ran = kalah(tables(), &["export", "--seeds", "14"], "").exits(1);
    assert!(ran.stderr().contains("layers 11 to 14 are missing"), "{}", ran.stderr());
}

#[test]
fn times_have_one_form() {
    let game = ["2x2", "--rules", "standard"];
    for time in ["2", "2s", "500ms", "0.01h"] {
        for (command, flag) in [("move", "--time"), ("review", "--within")] {
            let turns: &[&str] = if command == "move" { &[] } else { &["1"] };
            let args = [&[command], &game[..], turns, &[flag, time, "--no-book"]].concat();
            kalah(tables(), &args, "").success();
        }
        kalah(tables(), &["analyse", "values", "--pits", "2", "--seeds-per-pit", "1", "--within", time], "").success();
    }
    kalah(tables(), &["plan", "search", "6x4", "--tables-up-to", "12", "--memory", "1GiB"], "").success();
    let ran = kalah(tables(), &["move", "2x2", "--time", "2d"], "");
    assert!(ran.code() == 2 && ran.stderr().contains("500ms, 90s, 15m or 2h"), "{}", ran.stderr());
}

#[cfg(not(feature = "gpu"))]
#[test]
fn a_program_without_gpu_support_reports_it() {
    let directory = tempfile::tempdir().unwrap();
    for args in [&["build", "--seeds", "5", "--backend", "gpu"][..], &["verify", "--against", "gpu"]] {
        let ran = kalah(directory.path(), args, "").exits(1);
        let stderr = ran.stderr();
        assert!(stderr.contains("this build has no GPU support"), "{args:?}: {stderr}");
    }
    let stderr = kalah(directory.path(), &["gpu"], "").exits(2).stderr();
    assert!(stderr.contains("compiled without its feature 'gpu'"), "{stderr}");
    let stderr = kalah(directory.path(), &["build", "--seeds", "5"], "").success().stderr();
    assert!(stderr.contains("on the CPU"), "{stderr}");
}
