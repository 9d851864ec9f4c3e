//! Days and times of the calendar, in Greenwich.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The day that is so many days after 1970 began: by the algorithm of H. Hinnant, "chrono-compatible low-level date
/// algorithms".
pub fn name(day: u64) -> String {
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

/// The time now, such as 2026-11-25T16:40:12Z.
pub(crate) fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let of_day = seconds % 86400;
    format!("{}T{:02}:{:02}:{:02}Z", name(seconds / 86400), of_day / 3600, of_day / 60 % 60, of_day % 60)
}
