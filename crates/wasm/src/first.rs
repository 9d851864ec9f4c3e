//! Answers of the first module: lines of play, estimates, and moves of players that use no tables.
//!
//! It reads no JSON, and has no message of an error: what is wrong needs the engine, which explains it.

use std::time::Duration;

use kalah_api::{choose_without_tables, evaluate_without_tables, follow_moves};
use kalah_core::game::Rules;
use serde::Serialize;

/// Maximum time of a move, which blocks all other requests.
const TIME: Duration = Duration::from_secs(1);

/// Answers a call, whose parts are lines: `line`, rules, board, moves; `position`, rules, board, milliseconds; or
/// `move`, rules, board, milliseconds, player. The answer is a document of the HTTP API, of a move without its time;
/// `null` if it needs the engine.
pub(super) fn answer(call: &[u8]) -> String {
    std::str::from_utf8(call).ok().and_then(answered).unwrap_or_else(|| "null".to_owned())
}

fn answered(call: &str) -> Option<String> {
    let mut parts = call.split('\n');
    let (name, rules, board, last) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let rules: Rules = if rules.is_empty() { Rules::default() } else { rules.parse().ok()? };
    let time = || last.parse().ok().map(|milliseconds| Duration::from_millis(milliseconds).min(TIME));
    match name {
        "line" => document(&follow_moves(rules, board, last)?),
        "position" => document(&evaluate_without_tables(rules, board, time()?)?),
        "move" => document(&choose_without_tables(rules, board, parts.next()?, time()?)?),
        _ => None,
    }
}

fn document(answer: &impl Serialize) -> Option<String> {
    serde_json::to_string(answer).ok()
}
