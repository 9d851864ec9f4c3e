//! Days of the calendar, as puzzles are named after them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

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

/// The day that is so many days after 1970 began: by the algorithm of H. Hinnant, "chrono-compatible low-level date
/// algorithms".
pub(super) fn name(day: u64) -> String {
    let days = day + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = 400 * era + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}
