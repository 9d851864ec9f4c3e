//! Tournaments that save each game when it ends, and tournaments that resume from these games.
#![cfg(all(feature = "cli", unix))]

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use kalah::record::read_games;
use serde_json::Value;

use kalah_tests::signals::{heard, interrupt};

/// A tournament of 36 games. The games of the last player take long.
const FLAGS: [&str; 13] = [
    "tournament",
    "greedy",
    "random:3",
    "minimax2:5",
    "--start",
    "5x4",
    "--rules",
    "standard",
    "--starts",
    "4",
    "--random-moves",
    "3",
    "--json",
];

fn command(directory: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("kalah"));
    command.current_dir(directory).env("KALAH_TABLES", directory).args(FLAGS).args(more);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The report without times.
#[track_caller]
fn report(output: &Output) -> Value {
    let mut report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(output)));
    report.as_object_mut().unwrap().retain(|key, _| key != "seconds" && key != "threads");
    for list in ["players", "games"] {
        for entry in report[list].as_array_mut().unwrap() {
            entry.as_object_mut().unwrap().retain(|key, _| !key.starts_with("seconds"));
        }
    }
    report
}

/// The games of a file without their times.
fn games(path: &Path) -> Vec<String> {
    let games = read_games(&std::fs::read_to_string(path).unwrap()).unwrap();
    games.into_iter().map(|game| game.with_header("Seconds", "").to_string()).collect()
}

/// Waits until a file has `count` games.
fn wait_for(path: &Path, count: usize) {
    let has = || std::fs::read_to_string(path).is_ok_and(|text| text.matches("[Rules").count() >= count);
    while !has() {
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_tournament_that_was_killed_goes_on_with_the_saved_games() {
    let directory = tempfile::tempdir().unwrap();
    let (undisturbed, path) = (directory.path().join("whole.games"), directory.path().join("all.games"));
    let whole = command(directory.path(), &["--save", "whole.games"]).output().unwrap();
    assert!(whole.status.success(), "{}", stderr(&whole));
    assert_eq!(games(&undisturbed).len(), 36);
    for count in [1, 9] {
        let _ = std::fs::remove_file(&path);
        let mut child = command(directory.path(), &["--save", "all.games", "--threads", "2"]).spawn().unwrap();
        wait_for(&path, count);
        child.kill().unwrap();
        child.wait().unwrap();
        let saved = games(&path).len();
        assert!((count..36).contains(&saved), "{saved} games were saved");
        // Without `--resume` the games would be lost.
        let again = command(directory.path(), &["--save", "all.games"]).output().unwrap();
        assert_eq!((again.status.code(), games(&path).len()), (Some(1), saved), "{}", stderr(&again));
        assert!(stderr(&again).contains("--resume"), "{}", stderr(&again));
        let resumed = command(directory.path(), &["--save", "all.games", "--resume"]).output().unwrap();
        assert!(stderr(&resumed).contains(&format!("resumed: {saved} of 36 games")), "{}", stderr(&resumed));
        assert_eq!(report(&resumed), report(&whole));
        assert_eq!(games(&path), games(&undisturbed));
    }
    // The file has all games: none is played, and the report is the same.
    let resumed = command(directory.path(), &["--save", "all.games", "--resume"]).output().unwrap();
    assert_eq!(report(&resumed), report(&whole));
}

#[test]
fn a_game_that_was_cut_off_is_played_again() {
    let directory = tempfile::tempdir().unwrap();
    let whole = command(directory.path(), &["--save", "all.games"]).output().unwrap();
    let path = directory.path().join("all.games");
    let text = std::fs::read_to_string(&path).unwrap();
    let last = text.rfind("[Rules").unwrap();
    for end in (last..text.len()).step_by(23).chain([text.len() - 2, text.len() - 1]) {
        std::fs::write(&path, &text[..end]).unwrap();
        let resumed = command(directory.path(), &["--save", "all.games", "--resume"]).output().unwrap();
        assert!(stderr(&resumed).contains("resumed: 35 of 36 games"), "cut at {end}: {}", stderr(&resumed));
        assert_eq!(report(&resumed), report(&whole), "cut at {end}");
    }
}

#[test]
fn games_of_another_tournament_are_not_gone_on_with() {
    let directory = tempfile::tempdir().unwrap();
    let whole = command(directory.path(), &["--save", "all.games"]).output().unwrap();
    assert!(whole.status.success(), "{}", stderr(&whole));
    let before = std::fs::read(directory.path().join("all.games")).unwrap();
    for (more, expected) in [
        (&["--seed", "4"][..], "it belongs to another tournament"),
        (&["--time", "0.5"], "it belongs to another tournament"),
        (&["heuristic"], "it belongs to another tournament"),
    ] {
        let ran = command(directory.path(), &[&["--save", "all.games", "--resume"], more].concat()).output().unwrap();
        assert_eq!(ran.status.code(), Some(1), "{more:?}: {}", stderr(&ran));
        assert!(stderr(&ran).contains(expected), "{more:?}: {}", stderr(&ran));
        assert!(std::fs::read(directory.path().join("all.games")).unwrap() == before, "{more:?}");
    }
    let ran = command(directory.path(), &["--resume"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(2));
    // Without `--resume` they are not replaced either: not by other flags, nor when the tournament is over.
    for more in [&["--seed", "4"][..], &["heuristic"], &[]] {
        let ran = command(directory.path(), &[&["--save", "all.games"], more].concat()).output().unwrap();
        assert_eq!(ran.status.code(), Some(1), "{more:?}: {}", stderr(&ran));
        assert!(stderr(&ran).contains("choose another file"), "{more:?}: {}", stderr(&ran));
        assert!(std::fs::read(directory.path().join("all.games")).unwrap() == before, "{more:?}");
    }
}

#[test]
fn texts_of_others_are_neither_replaced_nor_shortened() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("all.games");
    let whole = command(directory.path(), &["--save", "all.games"]).output().unwrap();
    assert!(whole.status.success(), "{}", stderr(&whole));
    let games = std::fs::read_to_string(&path).unwrap();
    for text in [
        "my notes\n",
        "[notes]\na\n\nb",
        "[Notes \"a\"]\n",
        &format!("{games}my notes\n"),
        &format!("{games}[my notes]"),
    ] {
        std::fs::write(&path, text).unwrap();
        for more in [&[][..], &["--resume"]] {
            let ran = command(directory.path(), &[&["--save", "all.games"], more].concat()).output().unwrap();
            assert_eq!(ran.status.code(), Some(1), "{text:?} {more:?}: {}", stderr(&ran));
            assert!(std::fs::read_to_string(&path).unwrap() == text, "{text:?} {more:?}");
        }
    }
}

#[test]
fn a_stopped_tournament_reports_the_games_so_far() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("all.games");
    let mut command = command(directory.path(), &["--save", "all.games", "--threads", "1"]);
    let child = heard(&mut command).spawn().unwrap();
    wait_for(&path, 2);
    interrupt(&child);
    let stopped = child.wait_with_output().unwrap();
    assert!(!stopped.status.success() && stderr(&stopped).contains("--resume"), "{}", stderr(&stopped));
    let printed = report(&stopped);
    let saved = games(&path).len();
    assert_eq!((&printed["stopped"], printed["games"].as_array().unwrap().len()), (&Value::Bool(true), saved));
    assert!((2..36).contains(&saved), "{saved} games");
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_before_the_games() {
    let directory = tempfile::tempdir().unwrap();
    let ran = command(directory.path(), &["--save", "nodir/all.games"]).output().unwrap();
    assert!(ran.status.code() == Some(1) && ran.stdout.is_empty(), "{}", stderr(&ran));
    assert!(stderr(&ran).contains("nodir"), "{}", stderr(&ran));
}

#[test]
fn a_full_disk_costs_no_report_and_leaves_whole_games() {
    let directory = tempfile::tempdir().unwrap();
    let whole = command(directory.path(), &[]).output().unwrap();
    // Files are limited to 4 KiB.
    let mut limited = Command::new("sh");
    limited.current_dir(directory.path()).env("KALAH_TABLES", directory.path()).args([
        "-c",
        "ulimit -f 8; exec \"$@\"",
        "sh",
    ]);
    limited.arg(assert_cmd::cargo::cargo_bin("kalah")).args(FLAGS).args(["--save", "all.games"]);
    let ran = limited.output().unwrap();
    assert_eq!(ran.status.code(), Some(1), "{}", stderr(&ran));
    assert!(stderr(&ran).contains("cannot write all.games"), "{}", stderr(&ran));
    // A command that fails prints no answer.
    assert!(ran.stdout.is_empty());
    let errors = stderr(&ran);
    let printed = errors.lines().find(|line| line.starts_with('{')).expect("the report is on standard error");
    assert_eq!(report(&Output { stdout: printed.into(), ..ran }), report(&whole));
    let path = directory.path().join("all.games");
    let saved = games(&path).len();
    assert!((1..36).contains(&saved), "{saved} games were saved");
    let resumed = command(directory.path(), &["--save", "all.games", "--resume"]).output().unwrap();
    assert_eq!(report(&resumed), report(&whole));
}
