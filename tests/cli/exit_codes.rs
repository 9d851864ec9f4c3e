//! Every command of the program has the exit codes of docs/commands.md.
#![cfg(all(feature = "cli", feature = "serve", unix))]

use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::commands::{all, directory_with_tables, program, run, takes};
use kalah_tests::files::files;
use kalah_tests::program::{Ran, Run};
use kalah_tests::signals::{Signal, catches_interrupts, heard, send};

/// Time in which commands that would take hours end after a signal.
const SOON: Duration = Duration::from_secs(5);

/// Arguments with which a command fails, or none:
/// - A named file is missing: exit code 1.
/// - The board or layer is too large for every machine: 2.
/// - A value is wrong, or `BAD` or `FILE` has damage: 3.
/// - The command takes long or waits: 130 when it is interrupted.
///
/// `NO` is a missing file, and `FILE` a file that is no directory. `BAD` has tables whose headers were changed. Tables
/// to 6 seeds are in `tables`, the program's default. Add new commands here.
pub(crate) fn case(command: &str) -> [&'static str; 4] {
    match command {
        "bench" => ["--seeds 6 --tables NO", "--seeds 49", "--seeds 6 --tables BAD", ""],
        "book check" => ["NO", "", "FILE", "--no-tables --threads 1"],
        "book import" => ["NO", "", "FILE", ""],
        "book make" => ["6x4 --output NO/x", "6x99", "", "6x6 --turns 3 --no-tables --output own.book"],
        "book show" => ["--book NO", "", "--book FILE", ""],
        "bounds" => ["--seeds 6 --network NO", "--seeds 49", "--seeds 6 --tables BAD", ""],
        "build" => ["--seeds 6 --tables FILE/x", "--seeds 49", "--seeds 6 --tables BAD", "--seeds 22 --tables own"],
        "check" => ["NO", "", "FILE", ""],
        "completions" => ["", "", "", ""],
        "analyse complexity" => ["", "", "", "6x6 --games 1000000"],
        "engine" => ["", "", "", ""],
        "export" => ["--seeds 6 --tables NO", "--seeds 49", "--seeds 6 --tables BAD", ""],
        "export-site" => ["site --module NO", "", "", ""],
        "fetch" => {
            ["http://127.0.0.1:1 --seeds 2", "http://127.0.0.1:1 --seeds 49", "", "http://127.0.0.1:1 --seeds 2"]
        }
        "gpu" => ["", "", "", ""],
        "analyse graph" => ["", "6x99", "6x1 --tables BAD", "4x6 --threads 1"],
        "info" => ["--tables NO", "", "--tables BAD", ""],
        "man" => ["FILE/x", "", "", ""],
        "move" => ["", "", "6x1 --tables BAD", "6x8 --no-book"],
        "analyse opening-scan" => {
            ["", "--pits 16 --seeds-per-pit 999999999", "", "--seeds-per-pit ..100000 --threads 1"]
        }
        "archive pack" => ["--tables NO", "--seeds 49", "--tables BAD", ""],
        "plan build" => ["", "--seeds 49", "", ""],
        "plan search" => ["", "6x99", "", ""],
        "play" => ["--from NO", "", "6x1 --tables BAD", "6x8 --south perfect --time 600"],
        "probe" => ["", "6x99", "6x1 --tables BAD", ""],
        "prove" => [
            "6x4 --proof proof --from NO",
            "6x99 --proof proof",
            "2x2 --proof wrong --no-tables --value 2",
            "6x6 --proof long --no-tables --memory 64MiB",
        ],
        "publish" => ["--output out --tables NO", "", "--output out --tables BAD", ""],
        "puzzles" => ["--tables NO", "", "--start 6x1 --tables BAD", "--start 6x1 --count 1000000 --games 1000000000"],
        "review" => ["FILE", "6x99 1", "6x1 1 --tables BAD", "6x8 1 --no-tables --memory 64MiB --within 9999"],
        "rules" => ["", "", "", ""],
        "search" => ["", "", "", "6x6 --depth 60"],
        "serve" => ["", "", "", "--address 127.0.0.1:0"],
        "solve" => ["2x2 --state NO/x", "6x99", "6x1 --tables BAD", "6x8 --no-book --no-tables --memory 64MiB"],
        "tournament" => ["--from NO", "", "--start 6x1 --tables BAD", "perfect greedy --start 6x8"],
        "train" => ["--tables NO", "--seeds 49", "--tables BAD", ""],
        "archive unpack" => ["NO", "", "FILE", ""],
        "analyse values" => [
            "--state NO/x",
            "--pits 6 --seeds-per-pit 63",
            "--pits 6 --seeds-per-pit 1 --tables BAD",
            "--no-tables --memory 64MiB",
        ],
        "verify" => ["--manifest NO", "--seeds 49", "--tables BAD", ""],
        new => panic!("`kalah {new}`: add its failures here, and to the table of docs/commands.md if need be"),
    }
}

/// Makes a directory for the cases.
fn prepared() -> tempfile::TempDir {
    let directory = directory_with_tables(6);
    std::fs::write(directory.path().join("FILE"), "nothing that the program knows\n").unwrap();
    let bad = directory.path().join("BAD");
    std::fs::create_dir(&bad).unwrap();
    for (name, mut bytes) in files(&directory.path().join("tables")) {
        // This byte is in the directory of the frames, which has a checksum.
        bytes[100] ^= 1;
        std::fs::write(bad.join(name), bytes).unwrap();
    }
    directory
}

/// Runs a command with these arguments, and with `--json` if it has that flag. A failing command prints only the
/// reason.
#[track_caller]
fn assert_fails(directory: &Path, command: &str, args: &str, code: i32) {
    let json = if takes(command, "--json") { " --json" } else { "" };
    for json in ["", json] {
        let line = format!("{command} {args}{json}");
        let output = run(directory, &line).exits(code);
        if code != 3 {
            assert_eq!(output.stdout(), "", "kalah {line}");
        }
        assert!(!output.stderr().is_empty() || !output.stdout().is_empty(), "kalah {line} says nothing");
    }
}

#[test]
fn every_command_has_the_exit_codes_of_the_table() {
    let directory = prepared();
    for command in all() {
        assert_fails(directory.path(), &command, "--no-such-flag", 2);
        for (args, code) in case(&command).into_iter().zip(1..=3).filter(|(args, _)| !args.is_empty()) {
            assert_fails(directory.path(), &command, args, code);
        }
    }
}

/// Starts a command that takes long, and sends it a signal `after` it can take one. Returns its exit code, and the time
/// until its end.
#[track_caller]
fn signalled(directory: &Path, line: &str, signal: Signal, after: Duration) -> (Option<i32>, Duration) {
    let mut command = program(line.split_whitespace());
    // Commands that read wait at a pipe that stays open.
    command.current_dir(directory).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = heard(&mut command).spawn().unwrap();
    while !catches_interrupts(&child) {
        assert_eq!(child.try_wait().unwrap(), None, "kalah {line}");
        thread::sleep(Duration::from_millis(1));
    }
    let begin = Instant::now();
    while begin.elapsed() < after {
        if child.try_wait().unwrap().is_some() {
            panic!("kalah {line} is over already: {}", child.wait_with_output().unwrap().stderr());
        }
        thread::sleep(Duration::from_millis(5));
    }
    send(&child, signal);
    let begin = Instant::now();
    loop {
        // `wait` would close the pipe, and commands end with their input.
        if let Some(status) = child.try_wait().unwrap() {
            return (status.code(), begin.elapsed());
        }
        if begin.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("kalah {line} goes on for a minute");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn every_command_that_takes_long_exits_with_130_when_it_is_interrupted() {
    let directory = prepared();
    let long = all().into_iter().filter(|command| !case(command)[3].is_empty());
    let others = [
        // These commands wait for input.
        "engine",
        "probe -",
        "move -",
        "play",
        // These turns have no end.
        "move 6x8 --time 600 --rules s-kalaha",
        "move 8x8 --player minimax2:1 --rules s-kalaha",
        "play 6x8 --south perfect --north perfect --time 600 --rules s-kalaha",
        "tournament perfect greedy --start 6x8 --starts 1 --time 600 --rules s-kalaha",
        "tournament perfect greedy --start 6x8 --starts 1 --rules s-kalaha",
        "tournament minimax2:1 alphabeta:40 --start 8x8 --starts 1 --rules s-kalaha",
        "solve 8x8 --no-tables --memory 64MiB --rules s-kalaha",
        "analyse values --pits 8 --seeds-per-pit 8 --no-tables --memory 64MiB --rules s-kalaha",
    ];
    let others = others.map(str::to_owned);
    for line in long.map(|command| format!("{command} {}", case(&command)[3])).chain(others) {
        for after in [Duration::ZERO, Duration::from_millis(400)] {
            // A busy machine may be late, but not each time.
            let ends_soon = (0..3).any(|_| {
                let (code, took) = signalled(directory.path(), &line, Signal::INT, after);
                assert_eq!(code, Some(130), "kalah {line}, {after:?}");
                took < SOON
            });
            assert!(ends_soon, "kalah {line}, {after:?}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_exit_code_reports_other_signals() {
    let directory = prepared();
    for line in ["analyse complexity 6x6 --games 1000000", "solve 6x8 --no-book --no-tables --memory 64MiB"] {
        for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
            let (ended, _) = signalled(directory.path(), line, signal, Duration::from_millis(200));
            assert_eq!(ended, Some(code), "{line}");
        }
    }
}

/// A background job of a script ignores Ctrl-C, and its children do, too.
#[cfg(target_os = "linux")]
#[test]
fn a_parent_that_ignores_signals_does_not_keep_tests_from_sending_them() {
    let test = std::env::current_exe().unwrap();
    let script = format!(
        "trap '' INT TERM HUP; exec {} --exact exit_codes::the_exit_code_reports_other_signals",
        test.display()
    );
    std::process::Command::new("bash").args(["-c", &script]).run().success().prints("1 passed");
}

/// A handler of the program must not replace the ignored signal of its parent, or `nohup` is of no use.
#[test]
fn a_signal_that_the_parent_ignores_is_ignored() {
    let script = format!(
        "trap '' HUP; {} analyse complexity 6x6 --games 1000000 >/dev/null 2>&1 & child=$!; sleep 0.5; \
         kill -HUP $child; sleep 0.2; kill -TERM $child; wait $child",
        env!("CARGO_BIN_EXE_kalah")
    );
    let status = heard(std::process::Command::new("bash").args(["-c", &script])).status().unwrap();
    assert_eq!(status.code(), Some(143));
}

/// As with `probe`, which has more tests in `tests/tables/probe.rs`.
#[test]
fn a_bad_line_is_named_and_move_answers_the_others() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("lines"), "6x1\n1,2,3\n# nothing\n6x1\n0,0/0,0\n").unwrap();
    let output = run(directory.path(), "move --json lines").exits(1).prints("lines:2: ").prints("lines:5: ");
    assert_eq!(output.json_lines().len(), 2);
    // A fault in an argument counts as one of the command line.
    let output = run(directory.path(), "move --json nonsense 6x1").exits(2).prints("'nonsense' is not a position");
    assert_eq!(output.json_lines().len(), 1);
}

/// Errors that wrap others must not change the exit code or hide the advice.
#[test]
fn a_damaged_table_is_found_in_every_error_that_it_may_cause() {
    use kalah::diagnostic::{Diagnostic, Outcome};
    use kalah::file::InFile;
    use kalah::header::Kind;
    use kalah::table::{Damage, ProbeError, TableError};
    use kalah::{analyse::graph::GraphError, certificate::CheckError, play::PlayError, prove::ProveError};
    use kalah::{book::BookError, build::BuildError, build::ComputeError, export::ExportError};
    use kalah::{solve::SolveError, train::TrainError, verify::Fault};

    let table = || TableError::damaged(Kind::Table, "standard-6-09.kalah".as_ref(), Damage::Digest);
    let solve = || SolveError::Table(table());
    let book = || BookError::Table(table());
    let play = || PlayError::Solve(solve());
    let file = || InFile::of(Path::new("a.book"))(book());
    let wrapping: Vec<Box<dyn Diagnostic>> = vec![
        Box::new(table()),
        Box::new(ProbeError::Table(table())),
        Box::new(BuildError::Table(table())),
        Box::new(ComputeError::Table(table())),
        Box::new(ExportError::Table(table())),
        Box::new(Fault::Table(table())),
        Box::new(CheckError::Table(table())),
        Box::new(GraphError::Table(table())),
        Box::new(TrainError::Table(table())),
        Box::new(TrainError::Solve(solve())),
        Box::new(solve()),
        Box::new(ProveError::Solve(solve())),
        Box::new(book()),
        Box::new(file()),
        Box::new(SolveError::Book(book())),
        Box::new(SolveError::BookFile(file())),
        Box::new(PlayError::Table(table())),
        Box::new(PlayError::Book(book())),
        Box::new(play()),
    ];
    for error in wrapping {
        let diagnosis = error.diagnosis();
        assert_eq!(diagnosis.outcome, Outcome::Wrong, "{error:?}");
        let help = diagnosis.help.unwrap_or_default();
        assert!(help.contains("`kalah build --seeds 9 --rules standard --pits 6`"), "{error:?}: {help}");
    }
}
