//! Probes of any position agree with the rules and with each other. `kalah probe` accepts the documented positions, and
//! gives the same answers when no file is mapped.
#![cfg(feature = "cli")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Output, Stdio};

use kalah::game::{Pit, Position, Row, Rules};
use kalah::table::{ProbeError, TableKey};
#[cfg(unix)]
use kalah_tests::files::make_pipe;
use kalah_tests::place::Place;
use kalah_tests::program::{Ran, Run};
use kalah_tests::tables::{built, opened};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::Value;

const PITS: usize = 4;
const SEEDS: usize = 12;

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
        let tables = opened(rules, PITS, SEEDS);
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
    let tables = opened(Rules::Standard, PITS, 6);
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

/// An empty folder. The program finds tables up to 6 seeds.
fn beside() -> Place {
    Place::beside(built(&[(Rules::EmptyCapture, PITS, 6)]))
}

/// Runs `kalah probe --json`. Returns its run, and the positions in its answers.
fn probe(place: &Place, line: &str, stdin: &[u8]) -> (Output, Vec<String>) {
    let output = place.command("probe --json").args(line.split_whitespace()).run_with(stdin);
    let position = |answer: &Value| answer["position"].as_str().unwrap().to_owned();
    let positions = output.json_lines().iter().map(position).collect();
    (output, positions)
}

const FIRST: &str = "<4,0,0,1,0,0,0,0,0,0,1>";
const SECOND: &str = "<4,2,1,0,1,1,0,1,0,1,0>";

#[test]
fn files_hold_a_position_a_line_and_comments() {
    // A file of Windows, with a comment in Latin-1.
    let text = b"# caf\xe9\r\n1,0,0,0/0,0,0,1\r\n\r\n   \r\n <4,2,1, 0,1,1,0,1,0,1,0># two\r\n#";
    let place = beside();
    place.write("file", text);
    for (line, stdin) in [("file", &b""[..]), ("-", text), ("", text)] {
        let (output, positions) = probe(&place, line, stdin);
        assert_eq!((output.success().code(), positions), (0, vec![FIRST.into(), SECOND.into()]), "{line}");
    }
    let (_, positions) = probe(&place, "0,1,0,0/0,0,1,0 file - 2x1", b"1,0,0,0/0,0,0,1");
    assert_eq!(positions[..4], ["<4,0,0,0,1,0,0,0,0,1,0>", FIRST, SECOND, FIRST]);
}

#[test]
fn what_can_be_read_as_a_position_is_one_and_anything_else_a_file() {
    let place = beside();
    place.write("1x1", FIRST);
    place.write("list", SECOND);
    assert_ne!(probe(&place, "1x1", b"").1, [FIRST]);
    assert_eq!(probe(&place, "./1x1", b"").1, [FIRST]);
    let (output, positions) = probe(&place, "lost list .", b"");
    assert_eq!(positions, [SECOND]);
    let output = output.exits(2).prints("'lost' is not a position").prints("there is no file of that name");
    output.prints(". is a directory: give a file with one position a line");
}

#[test]
fn bad_lines_are_named_and_the_others_answered() {
    let bad = [FIRST, "\n1,0,0,0/0,0,1\n\n", SECOND, "\n6x\u{1b}[2J\n"].concat();
    let bad = [bad.as_bytes(), b"\xff\xfe\n", FIRST.as_bytes()].concat();
    // No position is as long as this line, so the rest of the file is something else.
    let long = format!("{FIRST}\n{}\n{SECOND}\n", "1".repeat(200_000));
    let place = beside();
    place.write("list", bad);
    place.write("long", long);
    let (output, positions) = probe(&place, "list", b"");
    assert_eq!(positions, [FIRST, SECOND, FIRST]);
    let output = output.exits(1).prints("kalah: list:2: the rows have 4 and 3 pits");
    let messages = output.prints("kalah: list:6: this line is not UTF-8").stderr();
    let named = messages.lines().filter_map(|line| Some(line.strip_prefix("kalah: ")?.split_once(": ")?.0));
    assert_eq!(named.collect::<Vec<_>>(), ["list:2", "list:5", "list:6"]);
    assert!(!messages.contains('\u{1b}') && messages.len() < 2000, "control characters, or repeated lines: {messages}");

    // A table, or UTF-16: the program reports it once, and does not read it to its end.
    let utf_16 = b"\xff\xfe6\x00x\x001\x00\n\x006\x00x\x001\x00";
    for (line, stdin, named) in
        [("long", &b""[..], "kalah: long:2: "), (&format!("- {FIRST}"), utf_16, "standard input:1: ")]
    {
        let (output, positions) = probe(&place, line, stdin);
        assert_eq!(positions, [FIRST], "{line}");
        let messages = output.exits(1).prints(named).prints("this is not text").stderr();
        assert!(messages.len() < 500, "{messages}");
    }
}

#[cfg(unix)]
#[test]
fn names_need_not_be_utf_8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let (place, name) = (beside(), OsStr::from_bytes(b"list\xff"));
    std::fs::write(place.path().join(name), "6x\n".to_owned() + FIRST).unwrap();
    let probe = |name: &OsStr| place.command("probe --json").arg(name).run();
    let output = probe(name).exits(1).prints("list\u{fffd}:1: ");
    assert_eq!(output.json()["position"], FIRST);
    probe(OsStr::from_bytes(b"lost\xff")).fails(2, "there is no file of that name");
}

/// Each position is answered as soon as it is written.
#[cfg(unix)]
#[test]
fn a_pipe_is_answered_line_by_line() {
    let place = Place::empty();
    let pipe = place.at("pipe");
    make_pipe(&pipe);
    let mut kalah = place.command("probe --json pipe").spawn().unwrap();
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

/// The list of a process's mappings names mapped files.
#[cfg(target_os = "linux")]
#[test]
fn answers_are_the_same_when_no_table_is_mapped() {
    let [mapped, read] = [("probe --json -", true), ("probe --json - --no-map", false)].map(|(line, is_mapped)| {
        let mut command = kalah_tests::program::with_tables(built(&[(Rules::EmptyCapture, PITS, 9)]), line);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        writeln!(input, "0,1,0,2/1,1,0,3").unwrap();
        let mut answer = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut answer).unwrap();
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", child.id())).unwrap();
        drop(input);
        assert!(child.wait().unwrap().success() && answer.contains("\"score\":"), "{answer}");
        let files = maps.lines().filter(|mapping| mapping.ends_with(".kalah")).count();
        assert_eq!(files > 0, is_mapped, "{maps}");
        answer
    });
    assert_eq!(mapped, read);
}
