//! Input of a person in a game.

use kalah::game::{Pit, Rules};

/// Explains what can be typed under `rules`.
pub(super) fn help(rules: Rules) -> String {
    let turn = if rules.moves_again() {
        "3 sows pit 3; 36 (or 3 6, or 3,6) sows 3 and then 6, if 3 ends in the store"
    } else {
        "3 sows pit 3"
    };
    format!("{turn}\n{COMMANDS}")
}

const COMMANDS: &str = "hint: ask the perfect player for a move     undo (u): take your last turn back
board: draw the board again                 line: show the moves so far
help (h, ?): show this help                 quit (q): end the game";

/// Command of a person.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Input {
    Turn(Vec<Pit>),
    Undo,
    Hint,
    Help,
    Board,
    Line,
    Leave,
    Nothing,
}

impl Input {
    /// Reads a command on a board of `pits` pits a side, or returns the fault in words.
    pub(super) fn read(text: &str, pits: usize) -> Result<Input, String> {
        Ok(match text.trim().to_lowercase().as_str() {
            "" => Input::Nothing,
            "undo" | "u" | "back" | "b" => Input::Undo,
            "hint" => Input::Hint,
            "help" | "h" | "?" => Input::Help,
            "board" => Input::Board,
            "line" => Input::Line,
            "quit" | "q" | "exit" => Input::Leave,
            _ => Input::Turn(turn(text, pits)?),
        })
    }
}

/// Reads the moves of a turn: separated, or run together on boards of at most nine pits.
fn turn(text: &str, pits: usize) -> Result<Vec<Pit>, String> {
    let mut turn = Vec::new();
    for word in text.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty()) {
        if !word.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(format!("'{}' is neither a pit nor a command; type ? for help", word.escape_debug()));
        }
        let numbers: Vec<&str> = if pits > 9 { vec![word] } else { (0..word.len()).map(|at| &word[at..=at]).collect() };
        for number in numbers {
            let pit = number.parse().ok().and_then(Pit::from_number).filter(|pit| pit.index() < pits);
            turn.push(pit.ok_or_else(|| {
                let several = if pits > 9 { "; several moves are written 3,6" } else { "" };
                format!("there is no pit {number}: the pits are 1 to {pits}{several}")
            })?);
        }
    }
    if turn.is_empty() { Err("type the number of a pit, or ? for help".to_owned()) } else { Ok(turn) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str, pits: usize) -> Result<Vec<usize>, String> {
        Input::read(text, pits).map(|input| match input {
            Input::Turn(turn) => turn.iter().map(|pit| pit.number()).collect(),
            other => panic!("{text}: {other:?}"),
        })
    }

    #[test]
    fn turns_are_read_together_or_apart() {
        for text in ["36", "3 6", "3,6", " 3, 6 ", "3,,6,"] {
            assert_eq!(typed(text, 6), Ok(vec![3, 6]), "{text}");
        }
        assert_eq!(typed("12 3", 12), Ok(vec![12, 3]));
        assert_eq!(typed("12", 9), Ok(vec![1, 2]));
    }

    #[test]
    fn what_names_no_pit_is_refused_with_the_reason() {
        for (text, pits, why) in [
            ("7", 6, "there is no pit 7: the pits are 1 to 6"),
            ("30", 6, "there is no pit 0: the pits are 1 to 6"),
            ("36", 12, "there is no pit 36: the pits are 1 to 12; several moves are written 3,6"),
            ("99999999999999999999999", 12, "there is no pit 99999999999999999999999"),
            ("x", 6, "'x' is neither a pit nor a command"),
            ("3 \u{1b}[2J", 6, "'\\u{1b}[2j' is neither"),
            ("3 \u{0663}", 6, "is neither a pit nor a command"),
            (",", 6, "type the number of a pit"),
        ] {
            let error = typed(text, pits).unwrap_err();
            assert!(error.to_lowercase().contains(why), "{text}: {error}");
        }
    }
}
