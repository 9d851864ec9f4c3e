//! Days of the calendar, as puzzles are named after them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(crate) use kalah_tables::day::name;

/// Whether a text is a day such as 2026-11-23.
pub(super) fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |text: &str, length: usize| {
        let digits = text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse::<u32>().ok()).flatten()
    };
    let [year, month, day] = parts[..] else { return false };
    let month_and_day = number(month, 2).zip(number(day, 2));
    number(year, 4).is_some() && month_and_day.is_some_and(|(m, d)| (1..=12).contains(&m) && (1..=31).contains(&d))
}

/// How many days it is in Greenwich since 1970 began.
pub(super) fn today() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs() / 86400
}
