//! Probes of any position agree with the rules and with each other. `kalah probe` accepts the documented positions.
#![cfg(feature = "cli")]

use std::ffi::OsStr;
use std::path::Path;
use std::process::Output;

use kalah::answer::PositionAnswer;
use kalah::game::{Pit, Position, Row, Rules};
use kalah::table::{ProbeError, TableKey, Tables};
use kalah_tests::program::{self, Ran, Run};
use kalah_tests::tables::built;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::Value;

const PITS: usize = 4;
const SEEDS: usize = 12;

fn build(directory: &Path, rules: Rules, seeds: usize) -> Tables {
    kalah::build::build(directory, rules, PITS, seeds).unwrap();
    Tables::open(directory, rules, PITS, seeds).unwrap()
}

/// Strategy for positions in the tables, with any number of seeds in the stores. Some games are over.
fn positions() -> impl Strategy<Value = Position> {
    let places = prop::collection::vec(0..2 * PITS, 0..=SEEDS);
    (places, 0..1000u32, 0..1000u32).prop_map(|(places, mover_store, other_store)| {
        let mut seeds = [0; 2 * PITS];
        places.into_iter().for_each(|place| seeds[place] += 1);
        let row = |seeds: &[u32]| Row::new(seeds).unwrap();
        Position::new(row(&seeds[..PITS]), row(&seeds[PITS..]), mover_store, other_store).unwrap()
    })
}

#[test]
fn the_line_is_worth_the_value_and_no_move_is_worth_more() {
    for rules in Rules::ALL {
        let directory = tempfile::tempdir().unwrap();
        let tables = build(directory.path(), rules, SEEDS);
        let law = |position: Position| {
            let probe = tables.probe(&position).unwrap();
            prop_assert_eq!(probe.value, position.value(probe.score));
            let alone = (tables.score(&position).unwrap(), tables.value(&position).unwrap());
            prop_assert_eq!(alone, (probe.score, probe.value));

            let end = probe.line.replay(rules, &position).unwrap();
            prop_assert!(end.is_over());
            let outcome = end.value(end.mover().total());
            let same_side = probe.line.turns().len().is_multiple_of(2);
            prop_assert_eq!(probe.value, if same_side { outcome } else { -outcome });

            let legal: Vec<Pit> = position.moves().collect();
            prop_assert_eq!(probe.moves.iter().map(|&(pit, _)| pit).collect::<Vec<_>>(), legal);
            for &(pit, score) in &probe.moves {
                let played = position.play(rules, pit).unwrap();
                let next = tables.probe(&played.position).unwrap().value;
                prop_assert_eq!(position.value(score), if played.again { next } else { -next }, "move {}", pit);
            }
            match probe.moves.iter().map(|&(_, score)| score).max() {
                Some(best) => prop_assert_eq!(probe.score, best),
                None => prop_assert_eq!(probe.score, position.mover().total()),
            }
            let first = probe.line.turns().first().map(|turn| turn[0]);
            prop_assert_eq!(first, probe.best().last(), "the best move nearest the store");
            Ok(())
        };
        TestRunner::default().run(&positions(), law).unwrap();
    }
}

#[test]
fn positions_that_no_table_holds_are_distinguished() {
    let directory = tempfile::tempdir().unwrap();
    let tables = build(directory.path(), Rules::Standard, 6);
    let probe = |text: &str| tables.probe(&text.parse().unwrap());
    match probe("<4,0,0,1,2,0,0,1,0,3,0>") {
        Err(ref error @ ProbeError::AboveTables { key, ref missing, .. }) => {
            assert_eq!(key, TableKey { rules: Rules::Standard, pits: 4, seeds: 7 });
            assert_eq!(missing, &[7]);
            assert!(error.to_string().contains("7 seeds in play, and layer 7 is missing in"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(probe("3x1"), Err(ProbeError::OtherPits { pits: 3, tables: 4, .. })));
    assert!(matches!(probe("9x1"), Err(ProbeError::BeyondTables { .. })));
    assert!(matches!(probe("300,0,0,0/0,0,0,1"), Err(ProbeError::BeyondTables { .. })));
    // A finished game needs no table.
    assert_eq!(probe("<9,5,9,0,0,0,0,0,0,0,0,0,300,0,0,0,0,0,0,0,0>").unwrap().value, 5 - 9 - 300);
}

/// Runs `kalah probe --json` in a separate directory, with tables up to 6 seeds.
fn probe(directory: &Path, args: &[impl AsRef<OsStr>], stdin: &[u8]) -> Output {
    let mut command = program::command();
    command.current_dir(directory).env("KALAH_TABLES", built(&[(Rules::EmptyCapture, PITS, 6)]));
    command.arg("probe").arg("--json").args(args).run_with(stdin)
}

/// Positions in the answers.
fn answers(output: &Output) -> Vec<String> {
    let text = output.stdout();
    let answer = |line: &str| {
        let answer: Value = serde_json::from_str(line).unwrap();
        answer["position"].as_str().unwrap().to_owned()
    };
    text.lines().map(answer).collect()
}

const FIRST: &str = "<4,0,0,1,0,0,0,0,0,0,1>";
const SECOND: &str = "<4,2,1,0,1,1,0,1,0,1,0>";

#[test]
fn documents_are_answers_of_the_library() {
    let directory = tempfile::tempdir().unwrap();
    let output = probe(directory.path(), &[FIRST, SECOND, "4,0,0,0/0,0,0,0"], b"");
    kalah::build::build(directory.path(), Rules::EmptyCapture, PITS, 6).unwrap();
    let tables = Tables::open(directory.path(), Rules::EmptyCapture, PITS, 6).unwrap();
    let documents = output.stdout();
    assert_eq!(documents.lines().count(), 3);
    for document in documents.lines() {
        let read: Value = serde_json::from_str(document).unwrap();
        let position: Position = serde_json::from_value(read["position"].clone()).unwrap();
        let answer = PositionAnswer::probed(Rules::EmptyCapture, &tables.probe(&position).unwrap());
        assert_eq!(serde_json::to_string(&answer).unwrap(), document);
    }
}

#[test]
fn files_hold_a_position_a_line_and_comments() {
    let directory = tempfile::tempdir().unwrap();
    // A file of Windows, with a comment in Latin-1.
    let text = b"# caf\xe9\r\n1,0,0,0/0,0,0,1\r\n\r\n   \r\n <4,2,1, 0,1,1,0,1,0,1,0># two\r\n#";
    std::fs::write(directory.path().join("file"), text).unwrap();
    for (args, stdin) in [(&["file"][..], &b""[..]), (&["-"], text), (&[], text)] {
        let output = probe(directory.path(), args, stdin);
        assert!(output.status.success(), "{}", output.stderr());
        assert_eq!(answers(&output), [FIRST, SECOND], "{args:?}");
    }
    let output = probe(directory.path(), &["0,1,0,0/0,0,1,0", "file", "-", "2x1"], b"1,0,0,0/0,0,0,1");
    assert_eq!(answers(&output)[..4], ["<4,0,0,0,1,0,0,0,0,1,0>", FIRST, SECOND, FIRST]);
}

#[test]
fn what_can_be_read_as_a_position_is_one_and_anything_else_a_file() {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in [("1x1", FIRST), ("list", SECOND)] {
        std::fs::write(directory.path().join(name), text).unwrap();
    }
    assert_ne!(answers(&probe(directory.path(), &["1x1"], b"")), [FIRST]);
    assert_eq!(answers(&probe(directory.path(), &["./1x1"], b"")), [FIRST]);
    let output = probe(directory.path(), &["lost", "list", "."], b"");
    assert_eq!((output.status.code(), answers(&output)), (Some(2), vec![SECOND.into()]));
    let messages = output.stderr();
    assert!(
        messages.contains("'lost' is not a position") && messages.contains("there is no file of that name"),
        "{messages}"
    );
    assert!(messages.contains(". is a directory: give a file with one position a line"), "{messages}");
}

#[test]
fn bad_lines_are_named_and_the_others_answered() {
    let directory = tempfile::tempdir().unwrap();
    let text = format!("{FIRST}\n1,0,0,0/0,0,1\n\n{SECOND}\n6x\u{1b}[2J\n");
    let text = [text.as_bytes(), b"\xff\xfe\n", FIRST.as_bytes()].concat();
    std::fs::write(directory.path().join("list"), text).unwrap();
    let output = probe(directory.path(), &["list"], b"").exits(1);
    assert_eq!(answers(&output), [FIRST, SECOND, FIRST]);
    let messages = output.stderr();
    let named: Vec<&str> =
        messages.lines().filter_map(|line| Some(line.strip_prefix("kalah: ")?.split_once(": ")?.0)).collect();
    assert_eq!(named, ["list:2", "list:5", "list:6"]);
    assert!(messages.contains("kalah: list:2: the rows have 4 and 3 pits"), "{messages}");
    assert!(messages.contains("kalah: list:6: this line is not UTF-8"), "{messages}");
    assert!(!messages.contains('\u{1b}') && messages.len() < 2000, "control characters, or repeated lines: {messages}");

    // No position is as long as this line, so the rest of the file is something else.
    let text = format!("{FIRST}\n{}\n{SECOND}\n", "1".repeat(200_000));
    std::fs::write(directory.path().join("list"), text).unwrap();
    let output = probe(directory.path(), &["list"], b"").exits(1);
    assert_eq!(answers(&output), [FIRST]);
    let messages = output.stderr();
    assert!(messages.contains("kalah: list:2: this is not text") && messages.len() < 500, "{messages}");

    // A table, or UTF-16: the program reports it once, and does not read it to its end.
    let output = probe(directory.path(), &["-", FIRST], b"\xff\xfe6\x00x\x001\x00\n\x006\x00x\x001\x00");
    assert_eq!((output.status.code(), answers(&output)), (Some(1), vec![FIRST.into()]));
    assert!(output.stderr().contains("standard input:1: "), "{}", output.stderr());
    assert!(output.stderr().contains("this is not text"), "{}", output.stderr());
}

#[cfg(unix)]
#[test]
fn names_need_not_be_utf_8() {
    use std::os::unix::ffi::OsStrExt;
    let directory = tempfile::tempdir().unwrap();
    let name = OsStr::from_bytes(b"list\xff");
    std::fs::write(directory.path().join(name), "6x\n".to_owned() + FIRST).unwrap();
    let output = probe(directory.path(), &[name], b"");
    assert_eq!((output.status.code(), answers(&output)), (Some(1), vec![FIRST.into()]));
    assert!(output.stderr().contains("list\u{fffd}:1: "), "{}", output.stderr());
    let output = probe(directory.path(), &[OsStr::from_bytes(b"lost\xff")], b"");
    assert_eq!((output.status.code(), answers(&output)), (Some(2), Vec::new()));
    assert!(output.stderr().contains("there is no file of that name"), "{}", output.stderr());
}

/// Each position is answered as soon as it is written.
#[cfg(unix)]
#[test]
fn a_pipe_is_answered_line_by_line() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut kalah = program::command();
    kalah.arg("probe").arg("--json").arg(&pipe).env("KALAH_TABLES", directory.path());
    let mut kalah = kalah.stdout(Stdio::piped()).spawn().unwrap();
    let mut answers = BufReader::new(kalah.stdout.take().unwrap()).lines();
    let mut writer = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    for number in 1..5 {
        // Finished games need no tables.
        writeln!(writer, "0,0/{number},0").unwrap();
        assert!(answers.next().unwrap().unwrap().contains(&format!("<2,0,0,0,0,{number},0>")));
    }
    drop(writer);
    assert!(kalah.wait().unwrap().success());
}
