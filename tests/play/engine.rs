//! External engines: matches with an engine written in Python, engines with faults, and `kalah engine`.
#![cfg(all(feature = "cli", target_os = "linux"))]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use kalah::game::{Line, Position, Rules};
use serde_json::Value;

use kalah_tests::optional::{self, has_python};
use kalah_tests::program::{self, Ran, Run};
use kalah_tests::signals::{heard, interrupt};
use kalah_tests::tables::built;

/// Tables to 6 seeds, built once.
fn directory() -> &'static Path {
    built(&[(Rules::Standard, 4, 6)])
}

/// Name of the player that runs the engine in Python.
fn python(arguments: &str) -> String {
    format!("engine:python3 '{}/tests/engines/engine.py' {arguments}", env!("CARGO_MANIFEST_DIR"))
}

/// Name of the player that runs our own engine.
fn own(player: &str) -> String {
    let program = program::path();
    format!("engine:'{}' engine --rules s-kalaha --memory 16MiB --player {player}", program.display())
}

fn command(arguments: &[&str]) -> Command {
    let mut command = program::command();
    command.args(arguments).env("KALAH_TABLES", directory());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn kalah(arguments: &[&str]) -> Output {
    command(arguments).run()
}

/// Report of a tournament on a small board.
fn tournament(players: &[&str], time: &str) -> Value {
    let flags = ["tournament", "--json", "--start", "4x3", "--rules", "standard", "--time", time, "--threads", "4"];
    kalah(&[&flags[..], players].concat()).success().json()
}

/// Fails if a process listed in a file still runs. Zombies do not count: they wait for their new parent to reap them.
#[track_caller]
fn assert_ended(pids: &Path) {
    let pids = std::fs::read_to_string(pids).unwrap();
    assert!(!pids.is_empty());
    for pid in pids.lines() {
        let runs = || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with('Z'))
        };
        // A killed process may take a moment to disappear.
        let until = Instant::now() + Duration::from_secs(20);
        while runs() {
            assert!(Instant::now() < until, "process {pid} still runs");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn a_match_against_a_foreign_engine_is_played_to_the_end() {
    if !has_python(optional::PYTHON) {
        return;
    }
    let report = tournament(&[&python("random"), &python("greedy"), "greedy", "random"], "10");
    let games = report["games"].as_array().unwrap();
    assert_eq!(games.len(), 12);
    let start: Position = "4x3".parse().unwrap();
    for game in games {
        assert!(game.get("forfeit").is_none(), "{game}");
        let line = Line::parse(4, game["line"].as_str().unwrap()).unwrap();
        let end = line.replay(Rules::Standard, &start).unwrap();
        let [first, second] = [&game["seeds"][0], &game["seeds"][1]].map(|seeds| seeds.as_u64().unwrap());
        assert!(end.is_over() && first + second == 24, "{game}");
    }
}

#[test]
fn our_players_play_the_same_as_an_engine() {
    for player in ["greedy", "heuristic", "alphabeta:3", "minimax2:2"] {
        let report = tournament(&[player, &own(player), "--self-play"], "10");
        let lines: Vec<&Value> = report["games"].as_array().unwrap().iter().map(|game| &game["line"]).collect();
        assert_eq!(lines, [lines[0]; 4], "{player}");
    }
}

#[test]
fn every_fault_loses_the_game_and_leaves_no_process() {
    if !has_python(optional::PYTHON) {
        return;
    }
    thread::scope(|scope| {
        for (kind, fault) in [
            ("silent", "exceeded its time"),
            ("garbage", "exceeded its time"),
            ("children", "exceeded its time"),
            ("deaf-to-quit", "exceeded its time"),
            ("exit", "ended before the game was over (exit status: 7)"),
            ("crash", "ended before the game was over (signal: 6"),
            ("long-line", "sent a line of more than 4096 bytes"),
            ("no-pit", "sent the move '\\u{1b}[2Jten', which is not a pit"),
            ("illegal", "sent an illegal move"),
            ("error", "reported an error: I do not feel well"),
        ] {
            scope.spawn(move || {
                let directory = tempfile::tempdir().unwrap();
                let pids = directory.path().join("pids");
                let engine = python(&format!("pid {kind} '{}'", pids.display()));
                // On a busy machine the engine may take longer than a short limit to start, before it makes its fault.
                let time = if fault == "exceeded its time" { "0.1" } else { "10" };
                let report = tournament(&[&engine, "greedy"], time);
                let games = report["games"].as_array().unwrap();
                assert_eq!(games.len(), 2);
                for game in games {
                    let reported = game["forfeit"]["fault"].as_str();
                    assert!(reported.is_some_and(|reported| reported.starts_with(fault)), "{kind}: {game}");
                    // The engine goes by the name that it sent.
                    let is_first = game["first"] == format!("tiny {kind}").as_str();
                    let seeds = if is_first { [0, 24] } else { [24, 0] };
                    assert_eq!(game["seeds"], Value::from(&seeds[..]), "{kind}: {game}");
                }
                let player = &report["players"][0];
                assert_eq!((&player["command"], player["all"]["won"].as_f64()), (&engine.into(), Some(0.0)), "{kind}");
                let forfeits = [player, &report["players"][1]].map(|player| player["forfeits"].as_u64());
                assert_eq!(forfeits, [Some(2), Some(0)], "{kind}");
                assert_ended(&pids);
            });
        }
    });
}

#[test]
fn the_report_shows_names_that_engines_send_and_a_traceback_comes_on_stderr() {
    if !has_python(optional::PYTHON) {
        return;
    }
    let flags = ["tournament", "--start", "4x3", "--rules", "standard", "--time", "10"];
    let (crashing, greedy) = (python("traceback"), python("greedy"));
    let ran = kalah(&[&flags[..], &[&crashing, &greedy, "greedy"]].concat()).success();
    let text = ran.stdout();
    assert!(ran.stderr().contains("\nZeroDivisionError: division by zero\n"), "{}", ran.stderr());
    let has_line = |start: &str| text.lines().any(|line| line.starts_with(start));
    assert!(has_line("tiny greedy ") && has_line("tiny traceback "), "{text}");
    assert_eq!(text.matches(": tiny traceback forfeits, since it ended").count(), 4, "{text}");
    assert!(has_line("tiny traceback against tiny greedy, "), "{text}");
    // Where nothing is evaluated, no mistake is counted.
    assert!(text.lines().any(|line| line.starts_with("tiny traceback ") && line.trim_end().ends_with(" -")), "{text}");
    // Two engines of one name go by their command lines.
    let text = kalah(&[&flags[..], &[&greedy, &greedy]].concat()).printed();
    assert!(text.lines().any(|line| line.starts_with(&greedy)), "{text}");
}

#[test]
fn an_engine_that_answers_when_asked_to_stop_is_in_time() {
    if !has_python(optional::PYTHON) {
        return;
    }
    let report = tournament(&[&python("slow")], "0.02");
    assert!(report["games"][0].get("forfeit").is_none(), "{report}");
}

#[test]
fn engines_that_cannot_play_at_all_fail_before_the_games() {
    if !has_python(optional::PYTHON) {
        return;
    }
    let missing = "engine:/no/such/program".to_owned();
    for (engine, why) in [
        (missing, "cannot be started: No such file"),
        (python("exit-at-once"), "ended before the game was over (exit status: 3)"),
        (python("newer"), "speaks version '2' of the protocol, not 1"),
        (python("other-rules"), "does not play by the rules standard"),
        (python("mute"), "was not ready within 10 s: does it flush its output"),
    ] {
        let flags = ["tournament", "greedy", &engine, "--time", "1", "--rules", "standard", "--start", "4x3"];
        let output = kalah(&flags).exits(1);
        assert!(output.stderr().contains(&format!("{engine} {why}")), "{}", output.stderr());
    }
    // Without a time limit a game might never end. A command line whose quotes do not end is refused.
    for arguments in [
        &["tournament", "greedy", "engine:x"][..],
        &["tournament", "engine:'x", "--time", "1"],
        &["tournament", "engine: ", "--time", "1"],
        &["tournament", "engine:''", "--time", "1"],
        &["move", "6x4", "--player", "engine:x"],
    ] {
        assert_eq!(kalah(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn interrupted_tournaments_leave_no_engine() {
    if !has_python(optional::PYTHON) {
        return;
    }
    for signals in [1, 2] {
        let directory = tempfile::tempdir().unwrap();
        let pids = directory.path().join("pids");
        let engine = python(&format!("pid deaf-to-quit '{}'", pids.display()));
        let flags = ["tournament", &engine, "--start", "4x3", "--rules", "standard", "--time", "100", "--threads", "2"];
        let child = heard(&mut command(&flags)).spawn().unwrap();
        // The first process belongs to the trial before the games.
        while std::fs::read_to_string(&pids).unwrap_or_default().lines().count() < 2 {
            thread::sleep(Duration::from_millis(5));
        }
        for _ in 0..signals {
            interrupt(&child);
            thread::sleep(Duration::from_millis(50));
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", output.stderr());
        assert!(signals == 2 || output.stderr().contains("stopped after 0 of 1 games"), "{}", output.stderr());
        assert_ended(&pids);
    }
}

#[test]
fn a_game_in_the_terminal_is_played_against_an_engine() {
    if !has_python(optional::PYTHON) {
        return;
    }
    let play = |engine: &str| {
        let flags = ["play", "4x3", "--rules", "standard", "--south", "greedy", "--north", engine, "--time", "5"];
        kalah(&flags).printed()
    };
    let text = play(&python("greedy"));
    assert!(text.contains("(evaluation ") && text.contains("by the engine's word)"), "{text}");
    assert!(text.lines().last().unwrap().starts_with("line "), "{text}");
    let chosen = ["move", "4x3", "--rules", "standard", "--time", "5", "--player"];
    let text = kalah(&[&chosen[..], &[&python("greedy")]].concat()).printed();
    assert!(text.contains(", by the engine's word\n"), "{text}");
    let ran = kalah(&[&chosen[..], &[&python("illegal")]].concat()).exits(1);
    assert!(ran.stderr().contains("sent an illegal move"), "{}", ran.stderr());
    let text = play(&python("illegal"));
    assert!(
        text.contains("forfeits the game: it sent an illegal move") && text.contains("South wins, 24 to 0\n"),
        "{text}"
    );
}

/// Answers of our engine to some lines.
fn answers(lines: &str) -> String {
    program::command()
        .args(["engine", "--transpositions", "16MiB"])
        .env("KALAH_TABLES", directory())
        .run_with(lines)
        .printed()
}

#[test]
fn the_engine_answers_as_its_page_states() {
    let text = answers("kalah 9\nisready\n");
    assert!(text.starts_with("id name kalah ") && text.contains("\nrules ") && text.contains("standard"), "{text}");
    assert!(text.ends_with("\nkalahok 1\nreadyok\n"), "{text}");
    // The answer comes from the tables.
    let text = answers("newgame standard <4,0,0,1,0,0,1,0,1,1,0>\nposition <4,0,0,1,0,0,1,0,1,1,0>\ngo\n");
    let (info, best) = text.trim().split_once('\n').unwrap();
    let words: Vec<&str> = info.split(' ').collect();
    assert_eq!(
        (words[..2].join(" "), words[3], &words[5..]),
        ("info move".to_owned(), "value", &["text", "from", "the", "tables"][..])
    );
    assert_eq!(best, format!("bestmove {}", words[2]));
}

#[test]
fn the_engine_reports_what_is_wrong_and_goes_on() {
    let long = "x".repeat(100_000);
    let text = answers(&format!(
        "go\nhello\nposition 6x\nposition 6x4\ngo movetime\n{long}\n\n\u{1b}[2J\n\
            position <4,1,2,0,0,0,0,1,1,0,0>\ngo\nstop\nisready\nquit\nisready\n"
    ));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 8, "{text}");
    for (line, start) in lines.iter().zip([
        "error there is no position: send one",
        "error unknown command 'hello'",
        "error ",
        "error movetime takes a number",
        "error unknown command 'xxx",
        "error unknown command '\\u{1b}[2J'",
        "error the game is over",
        "readyok",
    ]) {
        assert!(line.starts_with(start), "{line}: {text}");
    }
}

#[test]
fn no_move_is_for_a_position_before_a_refused_one() {
    let (old, new) = ("<4,0,0,1,0,0,1,0,1,1,0>", "<4,0,0,0,0,1,0,0,1,0,0>");
    let text = answers(&format!(
        "newgame standard {old}\nposition {old}\nposition 4x\ngo\nisready\nposition {new}\ngo\n\
         newgame chess {old}\ngo\nposition {old}\ngo\nnewgame standard {new}\ngo\nposition {}\ngo\n",
        "x".repeat(100_000)
    ));
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("info ")).collect();
    let expected = [
        "error '' is not a number",
        "error there is no position",
        "readyok",
        "bestmove 3",
        "error unknown rules 'chess'",
        "error there is no position",
        "error the last game was refused",
        "error there is no position",
        "bestmove 3",
        "error ",
        "error there is no position",
    ];
    assert_eq!(lines.len(), expected.len(), "{text}");
    for (line, start) in lines.iter().zip(expected) {
        assert!(line.starts_with(start), "{line}: {text}");
    }
}

#[test]
fn lines_wait_for_the_end_of_a_search() {
    let flags = ["engine", "--transpositions", "16MiB", "--no-book", "--player", "perfect"];
    let mut child = command(&flags).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    // The position takes far longer to solve than the test lasts, so the search ends with `stop`.
    input.write_all(b"newgame standard 10x10\nposition 10x10\ngo\n").unwrap();
    assert!(lines.next().unwrap().starts_with("info "));
    input.write_all(format!("{}go\nstop\n", "isready\n".repeat(1000)).as_bytes()).unwrap();
    let mut answers = lines.by_ref().filter(|line| !line.starts_with("info "));
    assert!(answers.next().unwrap().starts_with("bestmove "));
    assert!(answers.by_ref().take(1000).all(|line| line == "readyok"));
    assert!(answers.next().unwrap().starts_with("bestmove "));
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_search_without_a_limit_ends_when_it_is_asked_to() {
    for end in ["stop\n", "quit\n", ""] {
        let mut child = command(&["engine", "--transpositions", "16MiB", "--no-book", "--player", "perfect"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        // The position takes far longer to solve than the test lasts.
        input.write_all(b"newgame standard 10x10\nposition 10x10\ngo\nisready\n").unwrap();
        assert!(lines.next().unwrap().starts_with("info "));
        if end.is_empty() {
            drop(input);
        } else {
            input.write_all(end.as_bytes()).unwrap();
        }
        let best = lines.by_ref().find(|line| !line.starts_with("info ")).unwrap();
        assert!(best.starts_with("bestmove "), "{best}");
        assert_eq!(lines.next().as_deref(), Some("readyok"));
        drop(lines);
        if end == "stop\n" {
            child.kill().unwrap();
        }
        assert_eq!(child.wait().unwrap().success(), end != "stop\n");
    }
}

#[test]
fn an_engine_ends_when_too_many_lines_wait() {
    let mut child =
        command(&["engine", "--transpositions", "16MiB", "--no-book"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    // The search takes longer than the test.
    input.write_all(b"position 10x10\ngo\n").unwrap();
    assert!(lines.next().unwrap().starts_with("info "));
    input.write_all("isready\n".repeat(10_001).as_bytes()).unwrap();
    assert_eq!(lines.filter(|line| line == "readyok").count(), 10_000);
    let output = child.wait_with_output().unwrap();
    assert!(!output.status.success());
    assert!(output.stderr().contains("more than 10000 lines wait"), "{}", output.stderr());
}

#[test]
fn every_search_asked_for_ends_when_it_is_asked_to() {
    for end in ["stop\nisready\n", "quit\n", ""] {
        let mut child =
            command(&["engine", "--transpositions", "16MiB", "--no-book"]).stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        // All in one write: the second search has not begun when the end is read. Each takes longer than the test.
        input.write_all(format!("position 10x10\ngo\ngo\n{end}").as_bytes()).unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let (heard, output) = std::sync::mpsc::channel();
        let listener = thread::spawn(move || lines.by_ref().try_for_each(|line| heard.send(line)));
        let rest = (!end.is_empty()).then_some(input);
        let count = if end.starts_with("stop") { 3 } else { 2 };
        let mut answers = Vec::new();
        while answers.len() < count {
            let line = output.recv_timeout(Duration::from_secs(20));
            if line.is_err() {
                child.kill().unwrap();
            }
            let line = line.unwrap_or_else(|error| panic!("{end:?}: {error} after {answers:?}"));
            answers.extend(Some(line).filter(|line| !line.starts_with("info ")));
        }
        assert!(answers[..2].iter().all(|line| line.starts_with("bestmove ")), "{end:?}: {answers:?}");
        assert_eq!(answers.get(2).is_some(), end.starts_with("stop"));
        drop(rest);
        assert!(child.wait().unwrap().success());
        listener.join().unwrap().unwrap();
    }
}

#[test]
fn the_time_of_go_is_kept() {
    // `go` searches to the player's depth.
    let go = |flags: &str| {
        let mut child = command(&["engine", "--player", "alphabeta:5"]).stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(format!("position 6x4\n{flags}\n").as_bytes()).unwrap();
        // These answers come before the end of the input, which ends searches.
        let mut heard = Vec::new();
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            heard.push(line.unwrap());
            if heard.last().unwrap().starts_with("bestmove") {
                break;
            }
        }
        drop(input);
        assert!(child.wait().unwrap().success());
        heard.join("\n")
    };
    assert!(go("go").contains("info depth 5 "), "{}", go("go"));
    assert!(go("go depth 2 nodes 7").contains("info depth 5 "));
    // With no time at all, the engine still makes a move.
    assert!(go("go movetime 0").contains("bestmove "));
}
