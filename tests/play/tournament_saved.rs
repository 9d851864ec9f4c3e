//! Tournaments that save each game when it ends, and tournaments that resume from these games.
#![cfg(all(feature = "cli", unix))]

use std::process::{Command, Output};
use std::time::Duration;

use kalah::game::Rules;
use kalah::record::read_games;
use serde_json::Value;

use kalah_tests::place::Place;
use kalah_tests::program::{self, Ran, Run, without_settings};
use kalah_tests::signals::{heard, interrupt};

/// A tournament of 36 games. The games of the last player take long.
const LINE: &str = "tournament greedy random:3 minimax2:5 --start 5x4 --rules standard --starts 4 --random-moves 3 \
    --self-play --json";

fn command(place: &Place, more: &str) -> Command {
    let mut command = place.command(LINE);
    command.args(more.split_whitespace());
    command
}

/// A report without the times, which differ between runs.
fn untimed(mut report: Value) -> Value {
    report.as_object_mut().unwrap().retain(|key, _| key != "seconds" && key != "threads");
    for list in ["players", "games"] {
        for entry in report[list].as_array_mut().unwrap() {
            entry.as_object_mut().unwrap().retain(|key, _| !key.starts_with("seconds"));
        }
    }
    report
}

/// Number of games that a run resumed, and its report.
#[track_caller]
fn resumed(ran: Output) -> (usize, Value) {
    let messages = ran.stderr();
    let (_, count) = messages.split_once("resumed: ").expect("games are resumed");
    (count.split_once(" of 36 games").unwrap().0.parse().unwrap(), untimed(ran.success().json()))
}

/// Number of games in a state.
fn saved(place: &Place) -> usize {
    std::fs::read_to_string(place.at("state")).map_or(0, |text| text.lines().count().saturating_sub(1))
}

/// Waits until a state has `count` games.
fn wait_for(place: &Place, count: usize) {
    while saved(place) < count {
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_tournament_that_was_killed_goes_on_with_the_saved_games() {
    let place = Place::empty();
    let run = |more: &str| command(&place, more).run();
    let games = |name: &str| read_games(&place.text(name), Rules::default()).unwrap();
    let whole = untimed(run("--save whole.games --threads 1").success().json());
    assert_eq!(games("whole.games").len(), 36);
    let flags = "--save all.games --state state";
    let killed = |count| {
        ["state", "all.games"].iter().for_each(|name| drop(std::fs::remove_file(place.at(name))));
        let mut child = command(&place, &format!("{flags} --threads 2")).spawn().unwrap();
        wait_for(&place, count);
        child.kill().unwrap();
        child.wait().unwrap();
        saved(&place)
    };
    for count in [1, 9] {
        // On a busy machine, all games may end before the kill.
        let saved = (0..5).map(|_| killed(count)).find(|&saved| saved < 36).expect("a kill in time");
        assert!(saved >= count, "{saved} games were saved");
        assert_eq!(resumed(run(flags)), (saved, whole.clone()));
        assert_eq!(games("all.games"), games("whole.games"));
    }
    // The state has all games: none is played, and the report is the same.
    assert_eq!(resumed(run("--state state")), (36, whole));
}

#[test]
fn a_game_that_was_cut_off_is_played_again_and_a_changed_one_is_refused() {
    let place = Place::empty();
    let run = || command(&place, "--state state").run();
    let whole = untimed(run().success().json());
    let text = place.text("state");
    let last = text.trim_end().rfind('\n').unwrap() + 1;
    for end in (last..text.len()).step_by(61).chain([text.len() - 1]) {
        place.write("state", &text[..end]);
        assert_eq!(resumed(run()), (35, whole.clone()), "cut at {end}");
    }
    let changed = text.replacen("\"seeds\":[", "\"seeds\":[1", 1);
    place.write("state", &changed);
    run().fails(3, "state, line 2, is damaged: its checksum");
    assert!(place.text("state") == changed);
}

#[test]
fn games_of_another_tournament_are_not_gone_on_with() {
    let place = Place::empty();
    command(&place, "--save all.games --state state").run().success();
    let read = || ["all.games", "state"].map(|name| place.read(name));
    let before = read();
    let (work, replace) = ("belongs to other work: ", "give --force to replace it");
    for (more, message) in [
        ("--state state --seed 4", format!("{work}seed ")),
        ("--state state --time 0.5", format!("{work}seconds a move ")),
        ("--state state heuristic", format!("{work}players ")),
        // Games are never replaced: not by other flags, nor when the tournament is over.
        ("--save all.games --seed 4", replace.to_owned()),
        ("--save all.games heuristic", replace.to_owned()),
        ("--save all.games", replace.to_owned()),
        ("--save all.games --state state", replace.to_owned()),
    ] {
        command(&place, more).run().fails(1, &message);
        assert!(read() == before, "{more}");
    }
}

#[test]
fn a_stopped_tournament_keeps_the_games_so_far() {
    let place = Place::empty();
    let mut command = command(&place, "--save all.games --state state --threads 1");
    let child = heard(&mut command).spawn().unwrap();
    wait_for(&place, 2);
    interrupt(&child);
    child.wait_with_output().unwrap().fails(130, "run the same command again to continue");
    let saved = saved(&place);
    assert!((2..36).contains(&saved), "{saved} games");
    assert!(!place.at("all.games").exists());
}

#[test]
fn a_full_disk_ends_the_tournament_and_leaves_whole_games() {
    let place = Place::empty();
    let whole = untimed(command(&place, "").run().success().json());
    // Files are limited to 4 KiB.
    let mut limited = without_settings("sh");
    limited.current_dir(place.path()).args(["-c", "ulimit -f 8; exec \"$@\"", "sh"]).arg(program::path());
    let ran = limited.args(LINE.split(' ')).args(["--state", "state"]).env("KALAH_TABLES", place.path()).run();
    ran.fails(1, "state: ");
    let saved = saved(&place);
    assert!((1..36).contains(&saved), "{saved} games were saved");
    assert_eq!(resumed(command(&place, "--state state").run()), (saved, whole));
}
