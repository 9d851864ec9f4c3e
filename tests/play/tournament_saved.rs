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
const FLAGS: [&str; 14] = [
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
    "--self-play",
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

/// The games of a file.
fn games(path: &Path) -> Vec<String> {
    let games = read_games(&std::fs::read_to_string(path).unwrap(), kalah::game::Rules::default()).unwrap();
    games.iter().map(ToString::to_string).collect()
}

/// Number of games in a state.
fn saved(path: &Path) -> usize {
    std::fs::read_to_string(path).map_or(0, |text| text.lines().count().saturating_sub(1))
}

/// Waits until a state has `count` games.
fn wait_for(path: &Path, count: usize) {
    while saved(path) < count {
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_tournament_that_was_killed_goes_on_with_the_saved_games() {
    let directory = tempfile::tempdir().unwrap();
    let (whole_games, all_games) = (directory.path().join("whole.games"), directory.path().join("all.games"));
    let path = directory.path().join("state");
    let whole = command(directory.path(), &["--save", "whole.games"]).run().success();
    assert_eq!(games(&whole_games).len(), 36);
    let flags = ["--save", "all.games", "--state", "state"];
    for count in [1, 9] {
        let _ = std::fs::remove_file(&path);
        let _ = std::fs::remove_file(&all_games);
        let mut child = command(directory.path(), &[&flags[..], &["--threads", "2"]].concat()).spawn().unwrap();
        wait_for(&path, count);
        child.kill().unwrap();
        child.wait().unwrap();
        let saved = saved(&path);
        assert!((count..36).contains(&saved), "{saved} games were saved");
        let resumed = command(directory.path(), &flags).run();
        assert!(resumed.stderr().contains(&format!("resumed: {saved} of 36 games")), "{}", resumed.stderr());
        assert_eq!(report(&resumed), report(&whole));
        assert_eq!(games(&all_games), games(&whole_games));
    }
    // The state has all games: none is played, and the report is the same.
    let resumed = command(directory.path(), &["--state", "state"]).run();
    assert!(resumed.stderr().contains("resumed: 36 of 36 games"), "{}", resumed.stderr());
    assert_eq!(report(&resumed), report(&whole));
}

#[test]
fn a_game_that_was_cut_off_is_played_again_and_a_changed_one_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let whole = command(directory.path(), &["--state", "state"]).run();
    let path = directory.path().join("state");
    let text = std::fs::read_to_string(&path).unwrap();
    let last = text.trim_end().rfind('\n').unwrap() + 1;
    for end in (last..text.len()).step_by(61).chain([text.len() - 1]) {
        std::fs::write(&path, &text[..end]).unwrap();
        let resumed = command(directory.path(), &["--state", "state"]).run();
        assert!(resumed.stderr().contains("resumed: 35 of 36 games"), "cut at {end}: {}", resumed.stderr());
        assert_eq!(report(&resumed), report(&whole), "cut at {end}");
    }
    let changed = text.replacen("\"seeds\":[", "\"seeds\":[1", 1);
    std::fs::write(&path, &changed).unwrap();
    let refused = command(directory.path(), &["--state", "state"]).run().exits(3);
    assert!(refused.stdout().is_empty(), "{}", refused.stdout());
    assert!(refused.stderr().contains("state, line 2, is damaged: its checksum"), "{}", refused.stderr());
    assert!(std::fs::read_to_string(&path).unwrap() == changed);
}

#[test]
fn games_of_another_tournament_are_not_gone_on_with() {
    let directory = tempfile::tempdir().unwrap();
    command(directory.path(), &["--save", "all.games", "--state", "state"]).run().success();
    let [before, state] = ["all.games", "state"].map(|name| std::fs::read(directory.path().join(name)).unwrap());
    for (more, difference) in
        [(&["--seed", "4"][..], "seed "), (&["--time", "0.5"], "seconds a move "), (&["heuristic"], "players ")]
    {
        let ran = command(directory.path(), &[&["--state", "state"], more].concat()).run().exits(1);
        let expected = format!("belongs to other work: {difference}");
        assert!(ran.stderr().contains(&expected), "{more:?}: {}", ran.stderr());
        assert!(std::fs::read(directory.path().join("state")).unwrap() == state, "{more:?}");
    }
    // Games are never replaced: not by other flags, nor when the tournament is over.
    for more in [&["--seed", "4"][..], &["heuristic"], &[], &["--state", "state"]] {
        let ran = command(directory.path(), &[&["--save", "all.games"], more].concat()).run().exits(1);
        assert!(ran.stderr().contains("give --force to replace it"), "{more:?}: {}", ran.stderr());
        assert!(std::fs::read(directory.path().join("all.games")).unwrap() == before, "{more:?}");
    }
}

#[test]
fn texts_of_others_are_neither_replaced_nor_shortened() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("all.games");
    for text in ["my notes\n", "[notes]\na\n\nb", "[Notes \"a\"]\n"] {
        for flag in ["--save", "--state"] {
            std::fs::write(&path, text).unwrap();
            let ran = command(directory.path(), &[flag, "all.games"]).run();
            assert!(matches!(ran.status.code(), Some(1 | 3)), "{text:?} {flag}: {}", ran.stderr());
            assert!(std::fs::read_to_string(&path).unwrap() == text, "{text:?} {flag}");
        }
    }
}

#[test]
fn a_stopped_tournament_keeps_the_games_so_far() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state");
    let flags = ["--save", "all.games", "--state", "state", "--threads", "1"];
    let child = heard(&mut command(directory.path(), &flags)).spawn().unwrap();
    wait_for(&path, 2);
    interrupt(&child);
    let stopped = child.wait_with_output().unwrap();
    assert!(!stopped.status.success(), "{}", stopped.stderr());
    assert!(stopped.stderr().contains("run the same command again to continue"), "{}", stopped.stderr());
    assert!(stopped.stdout.is_empty(), "{}", stopped.stdout());
    let saved = saved(&path);
    assert!((2..36).contains(&saved), "{saved} games");
    assert!(!directory.path().join("all.games").exists());
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_before_the_games() {
    let directory = tempfile::tempdir().unwrap();
    let ran = command(directory.path(), &["--save", "nodir/all.games"]).run();
    assert!(ran.code() == 1 && ran.stdout.is_empty(), "{}", ran.stderr());
    assert!(ran.stderr().contains("nodir"), "{}", ran.stderr());
}

#[test]
fn a_full_disk_ends_the_tournament_and_leaves_whole_games() {
    let directory = tempfile::tempdir().unwrap();
    let whole = command(directory.path(), &[]).run();
    // Files are limited to 4 KiB.
    let mut limited = Command::new("sh");
    limited.current_dir(directory.path()).env("KALAH_TABLES", directory.path()).args([
        "-c",
        "ulimit -f 8; exec \"$@\"",
        "sh",
    ]);
    limited.arg(program::path()).args(FLAGS).args(["--state", "state"]);
    let ran = limited.run().exits(1);
    assert!(ran.stdout.is_empty() && ran.stderr().contains("state: "), "{}", ran.stderr());
    let saved = saved(&directory.path().join("state"));
    assert!((1..36).contains(&saved), "{saved} games were saved");
    let resumed = command(directory.path(), &["--state", "state"]).run();
    assert_eq!(report(&resumed), report(&whole));
}
