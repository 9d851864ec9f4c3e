//! External engines: matches with an engine written in Python, engines with faults, and `kalah engine`.
#![cfg(all(feature = "cli", target_os = "linux"))]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use kalah::game::{Line, Position, Rules};
use serde_json::Value;

use kalah_tests::optional::{self, has_python};
use kalah_tests::program::{self, Ran, Run, with_tables, within_a_minute};
use kalah_tests::signals::{heard, interrupt};
use kalah_tests::tables::built;

/// Flags of games on a small board.
const SMALL: &str = "--start 4x3 --rules standard --threads 4";

/// A command with tables to 6 seeds, built once.
fn kalah(line: &str) -> Command {
    with_tables(built(&[(Rules::Standard, 4, 6)]), line)
}

/// Name of the player that runs the engine in Python, if that is there.
fn python(arguments: &str) -> Option<String> {
    let engine = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/engines/engine.py");
    has_python(optional::PYTHON).then(|| format!("engine:python3 '{engine}' {arguments}"))
}

/// Games of a report, and their lines.
fn games(report: &Value) -> &Vec<Value> {
    report["games"].as_array().unwrap()
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
        within_a_minute(&format!("process {pid} has run"), || (!runs()).then_some(()));
    }
}

#[test]
fn a_match_against_a_foreign_engine_is_played_to_the_end() {
    let (Some(random), Some(greedy)) = (python("random"), python("greedy")) else { return };
    let mut tournament = kalah(&format!("tournament --json --time 10 {SMALL} greedy random"));
    let report = tournament.args([random, greedy]).run().success().json();
    assert_eq!(games(&report).len(), 12);
    let start: Position = "4x3".parse().unwrap();
    for game in games(&report) {
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
        let program = program::path();
        let engine = format!("engine:'{}' engine --rules s-kalaha --memory 16MiB --player {player}", program.display());
        let mut tournament = kalah(&format!("tournament --json --time 10 {SMALL} --self-play {player}"));
        let report = tournament.arg(engine).run().success().json();
        let lines: Vec<&Value> = games(&report).iter().map(|game| &game["line"]).collect();
        assert_eq!(lines, [lines[0]; 4], "{player}");
    }
}

#[test]
fn every_fault_loses_the_game_and_leaves_no_process() {
    let assert_loses = |kind: &str, fault: &str| {
        let directory = tempfile::tempdir().unwrap();
        let pids = directory.path().join("pids");
        let Some(engine) = python(&format!("pid {kind} '{}'", pids.display())) else { return };
        // On a busy machine the engine may take longer than a short limit to start, before it makes its fault.
        let time = if fault == "exceeded its time" { "0.1" } else { "10" };
        let mut tournament = kalah(&format!("tournament --json --time {time} {SMALL}"));
        let report = tournament.args([&engine, "greedy"]).run().success().json();
        assert_eq!(games(&report).len(), 2);
        for game in games(&report) {
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
    };
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
            scope.spawn(move || assert_loses(kind, fault));
        }
    });
}

#[test]
fn the_report_shows_names_that_engines_send_and_a_traceback_comes_on_stderr() {
    let (Some(crashing), Some(greedy)) = (python("traceback"), python("greedy")) else { return };
    let tournament = |engines: &[&str]| kalah(&format!("tournament --time 10 {SMALL}")).args(engines).run();
    let ran = tournament(&[&crashing, &greedy, "greedy"]).success();
    let text = ran.stdout();
    assert!(ran.stderr().contains("\nZeroDivisionError: division by zero\n"), "{}", ran.stderr());
    let has_line =
        |start: &str, end: &str| text.lines().any(|line| line.starts_with(start) && line.trim_end().ends_with(end));
    // Where nothing is evaluated, no mistake is counted.
    assert!(has_line("tiny greedy ", "") && has_line("tiny traceback ", " -"), "{text}");
    assert_eq!(text.matches(": tiny traceback forfeits, since it ended").count(), 4, "{text}");
    assert!(has_line("tiny traceback against tiny greedy, ", ""), "{text}");
    // Two engines of one name go by their command lines.
    let text = tournament(&[&greedy, &greedy]).printed();
    assert!(text.lines().any(|line| line.starts_with(&greedy)), "{text}");
}

#[test]
fn an_engine_that_answers_when_asked_to_stop_is_in_time() {
    let Some(slow) = python("slow") else { return };
    let ran = kalah(&format!("tournament --json --time 0.02 {SMALL}")).arg(slow).run();
    assert!(games(&ran.success().json())[0].get("forfeit").is_none());
}

#[test]
fn engines_that_cannot_play_at_all_fail_before_the_games() {
    for (engine, why) in [
        (Some("engine:/no/such/program".to_owned()), "cannot be started: No such file"),
        (python("exit-at-once"), "ended before the game was over (exit status: 3)"),
        (python("newer"), "speaks version '2' of the protocol, not 1"),
        (python("other-rules"), "does not play by the rules standard"),
        (python("mute"), "was not ready within 10 s: does it flush its output"),
    ] {
        let Some(engine) = engine else { continue };
        let ran = kalah(&format!("tournament greedy --time 1 {SMALL}")).arg(&engine).run();
        ran.fails(1, &format!("{engine} {why}"));
    }
    // Without a time limit a game might never end. A command line whose quotes do not end is refused.
    for line in [
        "tournament greedy engine:x",
        "tournament engine:'x --time 1",
        "tournament engine:'' --time 1",
        "move 6x4 --player engine:x",
    ] {
        kalah(line).run().exits(2);
    }
    kalah("tournament --time 1").arg("engine: ").run().exits(2);
}

#[test]
fn interrupted_tournaments_leave_no_engine() {
    for signals in [1, 2] {
        let directory = tempfile::tempdir().unwrap();
        let pids = directory.path().join("pids");
        let Some(engine) = python(&format!("pid deaf-to-quit '{}'", pids.display())) else { return };
        let mut tournament = kalah(&format!("tournament --time 100 {SMALL}"));
        let child = heard(tournament.arg(engine)).spawn().unwrap();
        // The first process belongs to the trial before the games.
        while std::fs::read_to_string(&pids).unwrap_or_default().lines().count() < 2 {
            thread::sleep(Duration::from_millis(5));
        }
        for _ in 0..signals {
            interrupt(&child);
            thread::sleep(Duration::from_millis(50));
        }
        let ran = child.wait_with_output().unwrap().exits(130);
        assert!(signals == 2 || ran.stderr().contains("stopped after 0 of 1 games"), "{}", ran.stderr());
        assert_ended(&pids);
    }
}

#[test]
fn a_game_in_the_terminal_is_played_against_an_engine() {
    let (Some(greedy), Some(illegal)) = (python("greedy"), python("illegal")) else { return };
    let play = |engine| kalah("play 4x3 --rules standard --south greedy --time 5 --north").arg(engine).run().printed();
    let chosen = |engine| kalah("move 4x3 --rules standard --time 5 --player").arg(engine).run();
    let text = play(&greedy);
    assert!(text.contains("(evaluation ") && text.contains("by the engine's word)"), "{text}");
    assert!(text.lines().last().unwrap().starts_with("line "), "{text}");
    chosen(&greedy).success().prints(", by the engine's word\n");
    chosen(&illegal).fails(1, "sent an illegal move");
    let text = play(&illegal);
    assert!(text.contains("forfeits the game: it sent an illegal move"), "{text}");
    assert!(text.contains("South wins, 24 to 0\n"), "{text}");
}

/// Answers of our engine to some lines.
fn answers(lines: &str) -> String {
    kalah("engine --transpositions 16MiB").run_with(lines).printed()
}

/// Fails unless each answer, except for notes on the search, begins as expected.
#[track_caller]
fn assert_answers(lines: &str, expected: &[&str]) {
    let text = answers(lines);
    let found: Vec<&str> = text.lines().filter(|line| !line.starts_with("info ")).collect();
    assert_eq!(found.len(), expected.len(), "{text}");
    for (line, start) in found.iter().zip(expected) {
        assert!(line.starts_with(start), "{line}: {text}");
    }
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
    assert_eq!([&words[..2], &[words[3]], &words[5..]].concat().join(" "), "info move value text from the tables");
    assert_eq!(best, format!("bestmove {}", words[2]));
}

#[test]
fn the_engine_reports_what_is_wrong_and_goes_on() {
    let long = "x".repeat(100_000);
    assert_answers(
        &format!(
            "go\nhello\nposition 6x\nposition 6x4\ngo movetime\n{long}\n\n\u{1b}[2J\n\
             position <4,1,2,0,0,0,0,1,1,0,0>\ngo\nstop\nisready\nquit\nisready\n"
        ),
        &[
            "error there is no position: send one",
            "error unknown command 'hello'",
            "error ",
            "error movetime takes a number",
            "error unknown command 'xxx",
            "error unknown command '\\u{1b}[2J'",
            "error the game is over",
            "readyok",
        ],
    );
}

#[test]
fn no_move_is_for_a_position_before_a_refused_one() {
    let (old, new) = ("<4,0,0,1,0,0,1,0,1,1,0>", "<4,0,0,0,0,1,0,0,1,0,0>");
    let long = "x".repeat(100_000);
    assert_answers(
        &format!(
            "newgame standard {old}\nposition {old}\nposition 4x\ngo\nisready\nposition {new}\ngo\n\
             newgame chess {old}\ngo\nposition {old}\ngo\nnewgame standard {new}\ngo\nposition {long}\ngo\n"
        ),
        &[
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
        ],
    );
}

/// Our engine under way. Without an end, a search of `position 10x10` takes far longer than any test.
struct Engine {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Engine {
    fn start(flags: &str, input: &str) -> Engine {
        let mut command = kalah("engine --transpositions 16MiB --no-book");
        command.args(flags.split_whitespace());
        let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut engine = Engine { input: child.stdin.take(), child, lines };
        engine.send(input);
        engine
    }

    fn send(&mut self, lines: &str) {
        self.input.as_mut().unwrap().write_all(lines.as_bytes()).unwrap();
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(Duration::from_secs(60)).expect("a line in time")
    }

    /// The next line that is no note on the search.
    fn answer(&self) -> String {
        std::iter::repeat_with(|| self.line()).find(|line| !line.starts_with("info ")).unwrap()
    }

    /// Returns true if it ends well after the end of its input.
    fn ends_well(&mut self) -> bool {
        drop(self.input.take());
        self.child.wait().unwrap().success()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn every_search_ends_when_it_is_asked_to() {
    for end in ["stop\n", "quit\n", ""] {
        // In one case the end comes when the search has begun, in the other one before the second search has.
        for (go, answers) in [("go\nisready\n", ["bestmove ", "readyok"]), ("go\ngo\n", ["bestmove "; 2])] {
            let has_begun = answers[1] == "readyok";
            let all = format!("newgame standard 10x10\nposition 10x10\n{go}{}", if has_begun { "" } else { end });
            let mut engine = Engine::start("--player perfect", &all);
            if has_begun {
                assert!(engine.line().starts_with("info "));
                engine.send(end);
            }
            if end.is_empty() {
                drop(engine.input.take());
            }
            for answer in answers {
                assert!(engine.answer().starts_with(answer), "{end:?} {go:?}");
            }
            if end == "stop\n" {
                engine.send("isready\n");
                assert_eq!(engine.answer(), "readyok");
            } else if end == "quit\n" {
                // Its input is still open.
                let ended = within_a_minute("it has not ended", || engine.child.try_wait().unwrap());
                assert!(ended.success(), "{ended}");
            }
            assert!(engine.ends_well());
        }
    }
}

#[test]
fn an_engine_ends_when_too_many_lines_wait() {
    let mut engine = Engine::start("", "position 10x10\ngo\n");
    assert!(engine.line().starts_with("info "));
    engine.send(&"isready\n".repeat(10_001));
    assert_eq!(engine.lines.iter().filter(|line| line == "readyok").count(), 10_000);
    assert!(!engine.ends_well());
    let messages = std::io::read_to_string(engine.child.stderr.take().unwrap()).unwrap();
    assert!(messages.contains("more than 10000 lines wait"), "{messages}");
}

#[test]
fn the_time_of_go_is_kept() {
    // `go` searches to the player's depth. With no time at all, the engine still makes a move.
    for (go, is_whole) in [("go", true), ("go depth 2 nodes 7", true), ("go movetime 0", false)] {
        let mut engine = Engine::start("--player alphabeta:5", &format!("position 6x4\n{go}\n"));
        // These answers come before the end of the input, which ends searches.
        let mut heard = vec![engine.line()];
        while !heard[heard.len() - 1].starts_with("bestmove ") {
            heard.push(engine.line());
        }
        let is_deep = heard.iter().any(|line| line.starts_with("info depth 5 "));
        assert!(is_deep || !is_whole, "{go}: {heard:?}");
        assert!(engine.ends_well());
    }
}
