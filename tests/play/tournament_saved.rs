//! Tournaments that save each game when it ends, and tournaments that resume from these games.
#![cfg(all(feature = "cli", unix))]

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use kalah::record::read_games;
use serde_json::Value;

use kalah_tests::program::{self, Ran, Run};
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
    let mut command = program::command();
    command.current_dir(directory).env("KALAH_TABLES", directory).args(FLAGS).args(more);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The report without times.
#[track_caller]
fn report(output: &Output) -> Value {
    let mut report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", output.stderr()));
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
    let whole = command(directory.path(), &["--save", "whole.games"]).run().success();
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
        let again = command(directory.path(), &["--save", "all.games"]).run();
        assert_eq!((again.status.code(), games(&path).len()), (Some(1), saved), "{}", again.stderr());
        assert!(again.stderr().contains("--resume"), "{}", again.stderr());
        let resumed = command(directory.path(), &["--save", "all.games", "--resume"]).run();
        assert!(resumed.stderr().contains(&format!("resumed: {saved} of 36 games")), "{}", resumed.stderr());
        assert_eq!(report(&resumed), report(&whole));
        assert_eq!(games(&path), games(&undisturbed));
    }
    // The file has all games: none is played, and the report is the same.
    let resumed = command(directory.path(), &["--save", "all.games", "--resume"]).run();
    assert_eq!(report(&resumed), report(&whole));
}

#[test]
fn a_game_that_was_cut_off_is_played_again() {
    let directory = tempfile::tempdir().unwrap();
    let whole = command(directory.path(), &["--save", "all.games"]).run();
    let path = directory.path().join("all.games");
    let text = std::fs::read_to_string(&path).unwrap();
    let last = text.rfind("[Rules").unwrap();
    for end in (last..text.len()).step_by(23).chain([text.len() - 2, text.len() - 1]) {
        std::fs::write(&path, &text[..end]).unwrap();
        let resumed = command(directory.path(), &["--save", "all.games", "--resume"]).run();
        assert!(resumed.stderr().contains("resumed: 35 of 36 games"), "cut at {end}: {}", resumed.stderr());
        assert_eq!(report(&resumed), report(&whole), "cut at {end}");
    }
}

#[test]
fn games_of_another_tournament_are_not_gone_on_with() {
    let directory = tempfile::tempdir().unwrap();
    command(directory.path(), &["--save", "all.games"]).run().success();
    let before = std::fs::read(directory.path().join("all.games")).unwrap();
    for (more, expected) in [
        (&["--seed", "4"][..], "it belongs to another tournament"),
        (&["--time", "0.5"], "it belongs to another tournament"),
        (&["heuristic"], "it belongs to another tournament"),
    ] {
        let ran = command(directory.path(), &[&["--save", "all.games", "--resume"], more].concat()).run().exits(1);
        assert!(ran.stderr().contains(expected), "{more:?}: {}", ran.stderr());
        assert!(std::fs::read(directory.path().join("all.games")).unwrap() == before, "{more:?}");
    }
    command(directory.path(), &["--resume"]).run().exits(2);
    // Without `--resume` they are not replaced either: not by other flags, nor when the tournament is over.
    for more in [&["--seed", "4"][..], &["heuristic"], &[]] {
        let ran = command(directory.path(), &[&["--save", "all.games"], more].concat()).run().exits(1);
        assert!(ran.stderr().contains("choose another file"), "{more:?}: {}", ran.stderr());
        assert!(std::fs::read(directory.path().join("all.games")).unwrap() == before, "{more:?}");
    }
}

#[test]
fn texts_of_others_are_neither_replaced_nor_shortened() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("all.games");
    command(directory.path(), &["--save", "all.games"]).run().success();
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
            command(directory.path(), &[&["--save", "all.games"], more].concat()).run().exits(1);
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
    assert!(!stopped.status.success() && stopped.stderr().contains("--resume"), "{}", stopped.stderr());
    let printed = report(&stopped);
    let saved = games(&path).len();
    assert_eq!((&printed["stopped"], printed["games"].as_array().unwrap().len()), (&Value::Bool(true), saved));
    assert!((2..36).contains(&saved), "{saved} games");
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_before_the_games() {
    let directory = tempfile::tempdir().unwrap();
    let ran = command(directory.path(), &["--save", "nodir/all.games"]).run();
    assert!(ran.code() == 1 && ran.stdout.is_empty(), "{}", ran.stderr());
    assert!(ran.stderr().contains("nodir"), "{}", ran.stderr());
}

#[test]
fn a_full_disk_costs_no_report_and_leaves_whole_games() {
    let directory = tempfile::tempdir().unwrap();
    let whole = command(directory.path(), &[]).run();
    // Files are limited to 4 KiB.
    let mut limited = Command::new("sh");
    limited.current_dir(directory.path()).env("KALAH_TABLES", directory.path()).args([
        "-c",
        "ulimit -f 8; exec \"$@\"",
        "sh",
    ]);
    limited.arg(program::path()).args(FLAGS).args(["--save", "all.games"]);
    let ran = limited.run().exits(1);
    assert!(ran.stderr().contains("cannot write all.games"), "{}", ran.stderr());
    // A command that fails prints no answer.
    assert!(ran.stdout.is_empty());
    let errors = ran.stderr();
    let printed = errors.lines().find(|line| line.starts_with('{')).expect("the report is on standard error");
    assert_eq!(report(&Output { stdout: printed.into(), ..ran }), report(&whole));
    let path = directory.path().join("all.games");
    let saved = games(&path).len();
    assert!((1..36).contains(&saved), "{saved} games were saved");
    let resumed = command(directory.path(), &["--save", "all.games", "--resume"]).run();
    assert_eq!(report(&resumed), report(&whole));
}
