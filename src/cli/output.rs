//! What commands print: answers on stdout, everything else on stderr.

use std::io::{self, Write};

use serde::Serialize;

/// Prints a line.
///
/// Unlike `println!` it does not panic when nobody reads any more.
pub fn line(text: impl std::fmt::Display) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{text}")
}

/// Tells a person something on stderr.
///
/// Unlike `eprintln!` it does not panic when nobody reads there any more (`kalah build 2>&1 | head`).
pub fn tell(text: impl std::fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// A number of things, such as "1 layer" or "3 layers".
pub fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Prints a JSON document on a line.
pub fn json(document: &impl Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, document)?;
    writeln!(out)
}

/// A digest in hexadecimal.
pub fn hex(digest: &[u8; 32]) -> String {
    blake3::Hash::from_bytes(*digest).to_hex().to_string()
}

/// Bits a position, to three places.
pub fn bits(bits: f64) -> f64 {
    (bits * 1000.0).round() / 1000.0
}

/// A rate a person can read: positions a second in millions.
pub fn rate(positions: u64, seconds: f64) -> String {
    format!("{:.1} million positions/s", positions as f64 / seconds.max(1e-9) / 1e6)
}
