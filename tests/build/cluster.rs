//! A build by several processes writes the same bytes as a build by one, even if some processes are killed.
#![cfg(all(unix, feature = "cli"))]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::processes::{assert_complete, files, kalah, path, stderr, stdout, success, whole};

/// Starts a process that computes a pair of frames.
fn frame(directory: &Path, frame: &str, flags: &[&str]) -> Child {
    kalah(directory, &[&["build", "--frame", frame], flags].concat()).spawn().unwrap()
}

#[test]
fn all_pairs_of_each_layer_at_once_make_the_files_of_one_build() {
    for (flags, seeds) in [(&["--pits", "3"][..], 9), (&["--pits", "4", "--rules", "standard"], 9)] {
        let directory = tempfile::tempdir().unwrap();
        for layer in 2..=seeds {
            let processes: Vec<Child> =
                (1..=layer / 2).map(|small| frame(directory.path(), &format!("{layer},{small}"), flags)).collect();
            for process in processes {
                success(process.wait_with_output().unwrap());
            }
        }
        assert_complete(directory.path(), &whole(&[flags, &["--seeds", &seeds.to_string()]].concat()), "frames");
    }
}

#[test]
fn two_processes_with_the_same_pair_do_no_harm() {
    let flags = ["--pits", "4"];
    let directory = tempfile::tempdir().unwrap();
    success(kalah(directory.path(), &["build", "--pits", "4", "--seeds", "10"]).output().unwrap());
    // All pairs at once, and each pair under both of its names.
    let processes: Vec<Child> = (1..=10).map(|mover| frame(directory.path(), &format!("11,{mover}"), &flags)).collect();
    for process in processes {
        success(process.wait_with_output().unwrap());
    }
    let complete = whole(&["--pits", "4", "--seeds", "11"]);
    assert_complete(directory.path(), &complete, "both names");

    // Existing files are reported and kept.
    let ran = success(frame(directory.path(), "11,4", &["--pits", "4", "--json"]).wait_with_output().unwrap());
    let report: Value = serde_json::from_str(&stdout(&ran)).unwrap();
    assert_eq!((&report["computed"], &report["finished"]), (&false.into(), &true.into()));
    assert_eq!((&report["frame"], &report["positions"]), (&serde_json::json!([4, 7]), &0.into()));
    for (computed, name) in [(true, "12,8"), (false, "12,4")] {
        let ran = success(frame(directory.path(), name, &["--pits", "4", "--json"]).wait_with_output().unwrap());
        let report: Value = serde_json::from_str(&stdout(&ran)).unwrap();
        assert_eq!((&report["computed"], &report["finished"]), (&computed.into(), &false.into()));
        assert_eq!(report["positions"], if computed { 35 * 165 * 2 } else { 0 });
    }
    assert!(directory.path().join("empty-capture-4-12.04.piece").exists());
}

/// The names of temporary files of a pair.
fn temporary(directory: &Path, piece: &str) -> Vec<String> {
    let names = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(piece) && name.ends_with(".tmp")).collect()
}

#[test]
fn a_killed_process_loses_its_pair_alone() {
    // Layers with relays take long to compute, which leaves time to kill a process.
    let flags = ["--rules", "s-kalaha"];
    let directory = tempfile::tempdir().unwrap();
    success(kalah(directory.path(), &["build", "--rules", "s-kalaha", "--seeds", "12"]).output().unwrap());
    for attempt in 1.. {
        assert!(attempt < 20, "the process was never killed in time");
        let mut process = frame(directory.path(), "13,6", &flags);
        while temporary(directory.path(), "s-kalaha-6-13.06.piece.").is_empty() && process.try_wait().unwrap().is_none()
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        process.kill().unwrap();
        if !process.wait().unwrap().success() {
            break;
        }
        std::fs::remove_file(directory.path().join("s-kalaha-6-13.06.piece")).unwrap();
    }
    assert!(!directory.path().join("s-kalaha-6-13.06.piece").exists());
    assert_eq!(temporary(directory.path(), "s-kalaha-6-13.06.piece.").len(), 1);

    let others: Vec<Child> = (1..=5).map(|small| frame(directory.path(), &format!("13,{small}"), &flags)).collect();
    for other in others {
        let ran = success(other.wait_with_output().unwrap());
        assert!(stdout(&ran).contains("not finished yet"), "{}", stdout(&ran));
    }
    let ran = success(frame(directory.path(), "13,6", &flags).wait_with_output().unwrap());
    assert!(stdout(&ran).contains("the layer is finished"), "{}", stdout(&ran));
    assert_complete(directory.path(), &whole(&["--rules", "s-kalaha", "--seeds", "13"]), "killed");
}

#[test]
fn a_damaged_piece_is_reported_and_computed_again() {
    let directory = tempfile::tempdir().unwrap();
    success(kalah(directory.path(), &["build", "--pits", "3", "--seeds", "8"]).output().unwrap());
    let compute = |name: &str| success(frame(directory.path(), name, &["--pits", "3"]).wait_with_output().unwrap());
    compute("9,2");
    let path = directory.path().join("empty-capture-3-09.02.piece");
    let sound = std::fs::read(&path).unwrap();
    let mut bytes = sound.clone();
    bytes[sound.len() / 2] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let ran = compute("9,2");
    assert!(stderr(&ran).contains("empty-capture-3-09.02.piece cannot be used"), "{}", stderr(&ran));
    assert!(stderr(&ran).contains("computed again"), "{}", stderr(&ran));
    assert!(std::fs::read(&path).unwrap() == sound);
}

#[test]
fn a_missing_layer_below_is_reported_with_the_command_that_builds_it() {
    let directory = tempfile::tempdir().unwrap();
    success(kalah(directory.path(), &["build", "--pits", "3", "--seeds", "4"]).output().unwrap());
    let ran = frame(directory.path(), "7,2", &["--pits", "3"]).wait_with_output().unwrap();
    assert_eq!(ran.status.code(), Some(1));
    assert!(stderr(&ran).contains("layer 5 is missing"), "{}", stderr(&ran));
    assert!(stderr(&ran).contains("kalah build --seeds 5 --pits 3 --tables"), "{}", stderr(&ran));
    assert!(!directory.path().join("empty-capture-3-07.02.piece").exists());
}

#[test]
fn bad_frames_are_usage_errors() {
    let directory = tempfile::tempdir().unwrap();
    for frame in ["20", "20,", ",3", "20,0", "20,20", "1,1", "49,3", "x,3", "20,x", "20,-3", "20,3,4", ""] {
        let ran = kalah(directory.path(), &["build", &format!("--frame={frame}")]).output().unwrap();
        assert_eq!(ran.status.code(), Some(2), "{frame}");
    }
    for flags in [&["--seeds", "8"][..], &["--only"], &["--share"], &["--patience", "1"]] {
        let ran = kalah(directory.path(), &[&["build", "--frame", "8,3"], flags].concat()).output().unwrap();
        assert_eq!(ran.status.code(), Some(2), "{flags:?}");
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_plan_has_a_row_for_each_missing_layer() {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("tables");
    let plan = |more: &[&str]| {
        let args = [&["plan", "build", "--pits", "3", "--seeds", "9"], more].concat();
        stdout(&success(kalah(&directory, &args).output().unwrap()))
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
    assert!(row.contains(&positions(9).to_string()) && text.lines().next().unwrap().contains("read"), "{text}");
    assert!(!directory.exists(), "a plan makes nothing");
    success(kalah(&directory, &["build", "--pits", "3", "--seeds", "9"]).output().unwrap());
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
        success(process.wait_with_output().unwrap());
    }
    assert!(start.elapsed() < Duration::from_secs(25), "a process waited for a killed one");
    // Pieces that were finished too late stay for the next process.
    success(kalah(directory.path(), &flags).output().unwrap());
    assert_complete(directory.path(), &whole(&flags[1..]), "met");
}

#[test]
fn a_machine_compares_the_layers_below_once_for_all_pairs() {
    let (directory, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let flags = ["--pits", "4"];
    success(kalah(directory.path(), &["build", "--pits", "4", "--seeds", "10"]).output().unwrap());
    let pair = |name: &str| {
        let all = [&["build", "--frame", name, "--json"], &flags[..]].concat();
        kalah(directory.path(), &all).env("TMPDIR", temporary.path()).output().unwrap()
    };
    let notes = || {
        let found = std::fs::read_dir(temporary.path()).unwrap().next().expect("a directory of notes").unwrap().path();
        std::fs::read_dir(found).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    // The program writes no note about a table written in the last two seconds: its time might not show another change.
    std::thread::sleep(Duration::from_millis(2200));
    success(pair("11,1"));
    assert_eq!(notes().len(), 9);
    // Changed bytes are found even where no pair was computed from them, since the time of the file changed.
    let table = directory.path().join("empty-capture-4-09.kalah");
    let whole = std::fs::read(&table).unwrap();
    let mut bytes = whole.clone();
    let at = bytes.len() - 300;
    bytes[at] ^= 1;
    std::fs::write(&table, bytes).unwrap();
    let ran = pair("11,2");
    assert!(ran.status.code() == Some(3) && stderr(&ran).contains("empty-capture-4-09.kalah"), "{}", stderr(&ran));
    std::fs::write(&table, whole).unwrap();
    for name in ["11,2", "11,3", "11,4", "11,5"] {
        success(pair(name));
    }
    assert_complete(directory.path(), &self::whole(&["--pits", "4", "--seeds", "11"]), "with notes");
    // A note with other contents is ignored.
    for note in notes() {
        std::fs::write(note, "something else").unwrap();
    }
    success(pair("12,3"));
}
