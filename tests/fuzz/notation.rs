//! Nearly valid texts of positions, lines of play, players, rules, ranges and sizes. A parsed value is the same after
//! writing and parsing again, and agrees with a second, simple parser.

use std::process::Output;

use kalah::game::{Line, MAX_PITS, Position, Rules, StartPosition};
use kalah::play::PlayerName;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::fuzz;
use kalah_tests::program::{self, Ran, Run};

/// Texts to insert into another one to damage it, with `|` between them.
const JUNK: &str = "0|1|7|00|16|17|2147483647|2147483648|4294967295|4294967296|18446744073709551615|\
    18446744073709551616|99999999999999999999999999|-1|+1|,|<|>|/|x|X| |\t|\n|\u{a0}|\u{663}|\u{ff11}|\u{feff}|\
    \0|\u{1b}[2J|.|..|e3|_|#";

/// Strategy for a text that is changed in some places: characters are inserted, removed, or moved to the end.
fn spoiled(text: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let change = (any::<Index>(), any::<Index>(), 0..3u8, select(JUNK.split('|').collect::<Vec<_>>()));
    (text, prop::collection::vec(change, 0..4)).prop_map(|(text, changes)| {
        let mut text: Vec<char> = text.chars().collect();
        for (from, length, kind, junk) in changes {
            let from = from.index(text.len() + 1);
            let part = || from..from + length.index((text.len() - from + 1).min(4));
            match kind {
                0 => drop(text.splice(from..from, junk.chars())),
                1 => drop(text.drain(part())),
                _ => {
                    let part: Vec<char> = text.drain(part()).collect();
                    text.extend(part);
                }
            }
        }
        text.into_iter().collect()
    })
}

/// Numbers in a text, with anything between them. `None` if one has more than 38 digits.
fn numbers(text: &str) -> Option<Vec<u128>> {
    let digits = text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    digits.map(|digits| digits.parse().ok()).collect()
}

/// Returns true if the text has only these characters and white space.
fn only(text: &str, characters: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit() || c.is_whitespace() || characters.contains(c))
}

/// Numbers of a position in the order of its literal, pits first.
fn literal(position: &Position) -> Vec<u128> {
    let head = [position.pits() as u32, position.mover_store(), position.other_store()];
    head.iter().chain(position.mover().seeds()).chain(position.other().seeds()).map(|&n| n.into()).collect()
}

#[test]
fn what_is_read_as_a_position_is_written_and_read_again() {
    let seeds = || prop_oneof![8 => 0..20u32, 1 => Just(2_147_483_647), 1 => any::<u32>()];
    let board = (1..=MAX_PITS + 1)
        .prop_flat_map(move |pits| (Just(pits), seeds(), seeds(), prop::collection::vec(seeds(), 2 * pits), 0..3u8));
    let text = board.prop_map(|(pits, mover, other, rows, form)| {
        let row = |row: &[u32]| row.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        match form {
            0 => format!("<{pits},{mover},{other},{}>", row(&rows)),
            1 => format!("{}/{}", row(&rows[..pits]), row(&rows[pits..])),
            _ => format!("{pits}x{}", rows[0]),
        }
    });
    let text = prop_oneof![6 => spoiled(text), 1 => any::<String>(), 1 => "[<>0-9,/x -]{0,60}"];
    fuzz("positions", &text, |text| {
        let start = text.parse::<StartPosition>();
        let Ok(position) = text.parse::<Position>() else {
            prop_assert!(start.is_err(), "a start position is a position");
            // The error has no control characters, and its length is bounded.
            let error = text.parse::<Position>().unwrap_err().to_string();
            prop_assert!(error.len() < 2000 && !error.chars().any(char::is_control), "{}", error);
            return Ok(());
        };
        prop_assert_eq!(position.to_string().parse::<Position>().ok(), Some(position));
        let (found, written) = (numbers(&text).unwrap(), literal(&position));
        prop_assert!(written[1..].iter().sum::<u128>() <= i32::MAX as u128);
        prop_assert!((1..=MAX_PITS).contains(&position.pits()));
        if text.contains('<') {
            prop_assert!(only(&text, "<>,"));
            prop_assert_eq!(found, written);
        } else if text.contains('/') {
            prop_assert!(only(&text, "/,"));
            prop_assert_eq!((&found[..], position.mover_store(), position.other_store()), (&written[3..], 0, 0));
        } else {
            prop_assert!(only(&text, "xX"));
            prop_assert_eq!(found.len(), 2);
            prop_assert_eq!(found[0], written[0]);
            prop_assert!(written[3..].iter().all(|&seeds| seeds == found[1]));
            let start = start.unwrap();
            prop_assert_eq!(start.to_string().parse::<StartPosition>().ok(), Some(start));
        }
        Ok(())
    });
}

#[test]
fn what_is_read_as_a_line_of_play_is_written_and_read_again() {
    let line =
        prop_oneof!["[1-6]{1,4}( [1-6]{1,4}){0,6}", "[0-9]{1,2}(,[0-9]{1,2}){0,3}( [0-9]{1,2}(,[0-9]{1,2}){0,3}){0,4}"];
    let text = (1..=MAX_PITS, spoiled(line));
    fuzz("lines of play", &text, |(pits, text)| {
        let line = match Line::parse(pits, &text) {
            Ok(line) => line,
            Err(error) => {
                let error = error.to_string();
                prop_assert!(error.len() < 1000 && !error.chars().any(char::is_control), "{}", error);
                return Ok(());
            }
        };
        prop_assert_eq!(Line::parse(pits, &line.to_string()).ok(), Some(line.clone()));
        prop_assert!(only(&text, ","));
        let turns: Vec<&str> = text.split_whitespace().collect();
        prop_assert_eq!(turns.len(), line.turns().len());
        for (turn, moves) in turns.iter().zip(line.turns()) {
            let found = if turn.contains(',') || pits > 9 {
                numbers(turn).unwrap()
            } else {
                turn.bytes().map(|digit| u128::from(digit - b'0')).collect()
            };
            prop_assert_eq!(found, moves.iter().map(|pit| pit.number() as u128).collect::<Vec<_>>());
            prop_assert!(moves.iter().all(|pit| pit.index() < pits));
        }
        // Legal or not, no board and no number of seeds is too large.
        for seeds in [0, 1, 4, 60_000_000] {
            let start = StartPosition { pits, seeds }.position().unwrap();
            for rules in Rules::ALL {
                if let Ok(places) = line.follow(rules, &start) {
                    prop_assert_eq!(places.len(), line.turns().len() + 1);
                }
            }
        }
        Ok(())
    });
}

#[test]
fn names_of_players_and_rules_are_read_as_they_are_written() {
    let names = select(
        &["perfect", "minimax:2", "alphabeta:9", "heuristic", "minimax2:1", "minimax3:99", "greedy", "random:7"][..],
    );
    let rules = select(&Rules::ALL[..]).prop_map(|rules| rules.name());
    let text = spoiled(prop_oneof![2 => names, 1 => rules].prop_map(str::to_owned));
    fuzz("names", &text, |text| {
        if let Ok(player) = text.parse::<PlayerName>() {
            prop_assert_eq!(player.to_string().parse::<PlayerName>().ok(), Some(player));
            let (kind, number) = text.split_once(':').map_or((&*text, None), |(kind, number)| (kind, Some(number)));
            let (name, written) = (player.to_string(), number.map(|number| number.parse::<u64>().unwrap()));
            prop_assert!(name.split(':').next() == Some(kind) && number.is_none_or(|number| only(number, "")));
            prop_assert_eq!(
                name.split_once(':').map(|(_, n)| n.parse().unwrap()),
                written.or((kind == "random").then_some(0))
            );
        }
        if let Ok(rules) = text.parse::<Rules>() {
            prop_assert_eq!(rules.name().parse::<Rules>().ok(), Some(rules));
            prop_assert!(text.trim().replace('_', "-").eq_ignore_ascii_case(rules.name()), "{} for {}", rules, text);
        }
        Ok(())
    });
}

/// Runs a command with a flag that has this value. Returns `None` if the system takes no such argument.
fn kalah(args: &[&str], flag: &str, value: &str) -> Option<Output> {
    if value.contains('\0') {
        return None;
    }
    let mut command = program::command();
    command.args(args).arg(format!("--{flag}={value}"));
    Some(command.run())
}

#[test]
fn sizes_are_taken_for_what_they_say_or_refused() {
    let size = (
        "[0-9]{1,4}(\\.[0-9]{1,3})?",
        select(&["", "B", "k", "KiB", "MB", "MiB", "G", "GiB", "gib", "TiB", "PiB", "EiB"][..]),
    );
    let text = spoiled(size.prop_map(|(number, unit)| number + unit));
    let directory = tempfile::tempdir().unwrap();
    let tables = directory.path().join("none").display().to_string();
    let command = ["plan", "search", "2x1", "--backend=cpu", "--json", "--tables", &tables];
    fuzz("sizes", &text, |text| {
        let Some(output) = kalah(&command, "memory", &text) else { return Ok(()) };
        let read = if output.status.success() {
            serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["memory"].as_u64()
        } else {
            let message = output.stderr();
            if output.code() == 1 && message.contains("no tables of 2 pits a side fit") {
                return Ok(());
            }
            prop_assert_eq!(output.code(), 2, "{}", message);
            // A size below the minimum is read, too.
            let words = message.split_once(" bytes are less than 1MiB").map(|(before, _)| before.rsplit(' ').next());
            prop_assert!(words.is_some() || message.contains("512MiB"), "{}", message);
            words.map(|word| word.unwrap().parse().unwrap())
        };
        if let Some(read) = read {
            prop_assert!(is_parsed_as(&text, read), "{} is read as {}", text, read);
        }
        Ok(())
    });
}

#[test]
fn numbers_just_below_two_to_the_64_are_sizes() {
    kalah(&["plan", "build", "--seeds=2"], "gpu-memory", "18446744073709551610").unwrap().exits(0);
    assert!(is_parsed_as("18446744073709551610", 18_446_744_073_709_551_610));
    assert!(!is_parsed_as("18446744073709551610", u64::MAX));
    // 2^64 as an `f64`, but less.
    assert!(is_parsed_as("18446744073709551k", 18_446_744_073_709_551_000));
    assert!(!is_parsed_as("18446744073709552k", u64::MAX));
}

/// Returns true if a size is parsed as this many bytes. A whole number, with or without a unit, must be exact; a
/// fraction only to the precision of `f64`.
fn is_parsed_as(size: &str, bytes: u64) -> bool {
    let size = size.trim().to_ascii_lowercase();
    let unit = size.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim();
    let number = size[..size.len() - unit.len()].trim();
    let power = "bkmgtpe".find(unit.chars().next().unwrap_or('b')).unwrap() as u32;
    let factor = if unit.contains('i') { 1024u64 } else { 1000 }.pow(power);
    if let Ok(number) = number.parse::<u64>() {
        return Some(bytes) == number.checked_mul(factor);
    }
    let number: f64 = number.parse().unwrap();
    let product = number * factor as f64;
    (bytes as f64 - product).abs() <= 1.0 + product * 1e-9 && product < 2f64.powi(64) && (bytes > 0) == (number > 0.0)
}

#[test]
fn ranges_are_taken_for_what_they_say_or_refused() {
    let text = spoiled("[1-3](\\.\\.[1-4])?");
    fuzz("ranges", &text, |text| {
        let Some(output) =
            kalah(&["analyse", "complexity", "--json", "--pits=1", "--games=1", "--threads=1"], "seeds-per-pit", &text)
        else {
            return Ok(());
        };
        // Boards of many seeds take long. Only the range matters here.
        if output.code() != 0 {
            prop_assert_eq!(output.code(), 2, "{}", output.stderr());
            return Ok(());
        }
        prop_assert!(only(&text, ".+"), "{}", text);
        let found = numbers(&text).unwrap();
        // Without a first number, a range begins with 1.
        let first = if text.trim_start().starts_with("..") { 1 } else { found[0] };
        let last = *found.last().unwrap();
        prop_assert!(found.len() <= 2 && first <= last);
        let report: serde_json::Value = output.json();
        let boards = report["boards"].as_array().map_or(1, Vec::len);
        prop_assert_eq!(boards as u128, last - first + 1, "{}", report);
        Ok(())
    });
}
