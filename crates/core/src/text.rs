//! Parts of messages.

/// Formats a number of things, such as "1 layer" or "3 layers".
///
/// ```
/// assert_eq!(kalah_core::text::count(1, "pit"), "1 pit");
/// assert_eq!(kalah_core::text::count(6, "pit"), "6 pits");
/// ```
pub fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}
