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

/// Lists ascending numbers, with consecutive ones as a range.
///
/// ```
/// assert_eq!(kalah_core::text::runs(&[3, 25, 26, 27]), "3, 25 to 27");
/// assert_eq!(kalah_core::text::runs(&[7, 8]), "7, 8");
/// ```
pub fn runs(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|one, next| one + 1 == *next).map(|run| match run {
        [one, last] => format!("{one}, {last}"),
        [one, .., last] => format!("{one} to {last}"),
        one => one.iter().map(usize::to_string).collect(),
    });
    runs.collect::<Vec<String>>().join(", ")
}

/// Formats a number of bytes for people, such as "512 B" or "1.50 GiB".
///
/// ```
/// assert_eq!(kalah_core::text::size(1023), "1023 B");
/// assert_eq!(kalah_core::text::size(3 << 29), "1.50 GiB");
/// ```
pub fn size(bytes: u64) -> String {
    let mut units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"].into_iter();
    let (mut amount, mut unit) = (bytes as f64, None);
    while amount >= 1024.0 {
        (amount, unit) = (amount / 1024.0, units.next());
    }
    unit.map_or_else(|| format!("{bytes} B"), |unit| format!("{amount:.2} {unit}"))
}
