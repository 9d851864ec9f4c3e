//! Calendar days in Greenwich, after which puzzles are named.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use humantime::{format_rfc3339_seconds, parse_rfc3339};

/// Seconds in a day.
const DAY: u64 = 86400;

/// Length of a name such as 2026-11-23.
const NAME: usize = 10;

/// Returns today in Greenwich, as days from 1 January 1970.
pub fn today() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs() / DAY
}

/// Returns the name of a day, such as 2026-11-23. `day` counts days from 1 January 1970.
///
/// # Panics
/// If the day is after the year 9999.
pub fn name(day: u64) -> String {
    let mut time = format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(DAY * day)).to_string();
    time.truncate(NAME);
    time
}

/// Returns the days from 1 January 1970 to the day of this name; `None` for other texts.
pub(crate) fn number(text: &str) -> Option<u64> {
    let start = parse_rfc3339(&format!("{text}T00:00:00Z")).ok().filter(|_| text.len() == NAME)?;
    Some(start.duration_since(UNIX_EPOCH).ok()?.as_secs() / DAY)
}
