//! Making untrusted text safe to print.

use std::fmt::Write;

/// Returns true for a character with an effect other than showing itself: control characters,
/// direction marks, line separators, and zero-width characters.
fn is_hidden(sign: char) -> bool {
    sign.is_control()
        || matches!(sign,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns `text` on one line of at most `most` characters, safe for a terminal and with nothing
/// hidden. Control characters, direction marks and line separators are escaped (`\n`, `\u{1b}`). A
/// truncated text ends with `...`, which counts, too.
///
/// ```
/// assert_eq!(kalah_base::printable::printable("\u{1b}[2Jgone", 40), "\\u{1b}[2Jgone");
/// ```
pub fn printable(text: &str, most: usize) -> String {
    const CUT: &str = "...";
    // `cut` is the end of the last character that leaves space for the ellipsis.
    let (mut shown, mut count, mut cut) = (String::new(), 0, 0);
    for sign in text.chars() {
        let before = shown.len();
        match sign {
            '\n' | '\r' | '\t' => shown.extend(sign.escape_default()),
            sign if is_hidden(sign) => shown.extend(sign.escape_unicode()),
            sign => shown.push(sign),
        }
        count += shown[before..].chars().count();
        if count > most {
            shown.truncate(cut);
            // If the whole ellipsis does not fit, a part of it.
            let _ = write!(shown, "{CUT:.0$}", most.min(CUT.len()));
            return shown;
        }
        if count + CUT.len() <= most {
            cut = shown.len();
        }
    }
    shown
}

/// Returns bytes in hexadecimal, as digests are written.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a number with commas.
///
/// ```
/// assert_eq!([999, 1000, 1_002_003].map(kalah_base::printable::commas), ["999", "1,000", "1,002,003"]);
/// ```
pub fn commas(number: u64) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", commas(number / 1000), number % 1000) }
}

/// Formats a large number of things, such as "1 claim" or "1,776 claims".
pub fn many(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", commas(number), if number == 1 { "" } else { "s" })
}

/// Returns a value with its sign; 0 for a draw.
///
/// ```
/// assert_eq!([4, 0, -2].map(kalah_base::printable::signed), ["+4", "0", "-2"]);
/// ```
pub fn signed(value: i64) -> String {
    if value == 0 { "0".to_owned() } else { format!("{value:+}") }
}
