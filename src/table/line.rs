//! The codec: 126 scores in a line of 64 bytes, one cache line.
//!
//! Bytes 0 to 62 hold 4-bit codes, two a byte, the even position in the low half; byte 63 holds the *base*. A score is
//! base + code. Where the scores of a line span more than 15 the line is *wide* (bit 7 of byte 63): each code has two
//! more bits in an *overflow record* of 36 bytes, whose number replaces the first four bytes of the line; the eight
//! codes that stood there move to the record. So any score is found with one read, or two in a wide line.

use crate::isa::per_isa;

/// Bytes of a line.
pub const LINE_BYTES: usize = 64;

/// Scores in a line.
pub const LINE_POSITIONS: usize = 126;

/// Bytes of the overflow record of a wide line: the codes 0 to 7, then the upper two bits of all codes.
pub const OVERFLOW_BYTES: usize = 36;

/// The largest score a line can hold: 6 bits.
pub const MAX_SCORE: u8 = 63;

/// Bit of the base byte that marks a wide line.
const WIDE: u8 = 0x80;

const BASE_BYTE: usize = LINE_BYTES - 1;
const INDEX_BYTES: usize = 4;

/// A line.
pub type Line = [u8; LINE_BYTES];

/// An overflow record.
pub type Overflow = [u8; OVERFLOW_BYTES];

/// What [`encode`] made of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoded {
    /// All codes fit 4 bits.
    Plain,
    /// A wide line with its overflow record and the number of codes beyond 4 bits.
    Wide(Overflow, u32),
}

/// Packs up to [`LINE_POSITIONS`] scores of at most [`MAX_SCORE`]; places beyond them get code 0.
///
/// A wide line's record number is left 0 for [`set_overflow_index`].
#[inline]
pub fn encode(scores: &[u8], line: &mut Line) -> Encoded {
    let mut padded = [scores[0]; 2 * LINE_BYTES];
    padded[..scores.len()].copy_from_slice(scores);
    let (min, max) = padded.iter().fold((u8::MAX, 0), |(min, max), &score| {
        (score.min(min), score.max(max))
    });
    // Past the scores: code 0.
    padded[scores.len()..].fill(min);
    for (byte, pair) in line.iter_mut().zip(padded.as_chunks::<2>().0) {
        // Both codes of the byte at once, in the halves of a word.
        let codes = u16::from_le_bytes(*pair).wrapping_sub(u16::from_le_bytes([min, min]));
        *byte = (codes & 0x0f | codes >> 4 & 0xf0) as u8;
    }
    line[BASE_BYTE] = min;
    if max - min <= 15 {
        return Encoded::Plain;
    }
    line[BASE_BYTE] |= WIDE;
    let mut record = [0; OVERFLOW_BYTES];
    record[..INDEX_BYTES].copy_from_slice(&line[..INDEX_BYTES]);
    line[..INDEX_BYTES].fill(0);
    let mut beyond = 0;
    for (place, &score) in scores.iter().enumerate() {
        let upper = (score - min) >> 4;
        record[INDEX_BYTES + place / 4] |= upper << (2 * (place % 4));
        beyond += u32::from(upper > 0);
    }
    Encoded::Wide(record, beyond)
}

/// The number of a wide line's overflow record; `None` for a plain line.
#[inline]
pub fn overflow_index(line: &Line) -> Option<u32> {
    (line[BASE_BYTE] & WIDE != 0).then(|| u32::from_le_bytes([line[0], line[1], line[2], line[3]]))
}

/// Sets the number of a wide line's overflow record.
#[inline]
pub fn set_overflow_index(line: &mut Line, index: u32) {
    line[..INDEX_BYTES].copy_from_slice(&index.to_le_bytes());
}

/// The score at `place` (below [`LINE_POSITIONS`]) of a plain line.
#[inline]
pub fn score(line: &Line, place: usize) -> u8 {
    line[BASE_BYTE] + nibble(line[place / 2], place)
}

/// The score at `place` (below [`LINE_POSITIONS`]) of a wide line.
#[inline]
pub fn wide_score(line: &Line, record: &Overflow, place: usize) -> u8 {
    let codes = if place < 2 * INDEX_BYTES {
        record[place / 2]
    } else {
        line[place / 2]
    };
    let upper = record[INDEX_BYTES + place / 4] >> (2 * (place % 4)) & 3;
    (line[BASE_BYTE] & !WIDE) + nibble(codes, place) + (upper << 4)
}

#[inline]
fn nibble(byte: u8, place: usize) -> u8 {
    byte >> (4 * (place % 2)) & 15
}

per_isa! {
    /// Unpacks whole plain lines: [`LINE_POSITIONS`] scores each, one after the other.
    ///
    /// `out` must have room for two more bytes, which are overwritten. A wide line gives scores without meaning; the
    /// return value tells whether there was one.
    pub fn decode_lines(lines: &[Line], out: &mut [u8]) -> bool {
        let mut wide = 0;
        for (index, line) in lines.iter().enumerate() {
            // Whole 128 places; the last two are the base byte's and are overwritten by the next line.
            let out: &mut [u8; 2 * LINE_BYTES] = (&mut out[index * LINE_POSITIONS..][..2 * LINE_BYTES])
                .try_into()
                .expect("the slice has this length");
            let base = line[BASE_BYTE];
            wide |= base;
            for (pair, &codes) in out.as_chunks_mut::<2>().0.iter_mut().zip(line) {
                pair[0] = base.wrapping_add(codes & 15);
                pair[1] = base.wrapping_add(codes >> 4);
            }
        }
        wide & WIDE != 0
    }
}

/// Unpacks one wide line.
pub fn decode_wide(line: &Line, record: &Overflow, out: &mut [u8]) {
    for (place, out) in out.iter_mut().enumerate().take(LINE_POSITIONS) {
        *out = wide_score(line, record, place);
    }
}

per_isa! {
    /// Packs scores into lines; the last line may be filled in part.
    ///
    /// Returns the overflow records in order (wide lines are numbered from 0) and the number of codes beyond 4 bits.
    pub fn encode_lines(scores: &[u8], lines: &mut [Line]) -> (Vec<Overflow>, u64) {
        let (mut records, mut exceptions) = (Vec::new(), 0);
        for (scores, line) in scores.chunks(LINE_POSITIONS).zip(lines) {
            if let Encoded::Wide(record, beyond) = encode(scores, line) {
                set_overflow_index(line, records.len() as u32);
                records.push(record);
                exceptions += u64::from(beyond);
            }
        }
        (records, exceptions)
    }
}
