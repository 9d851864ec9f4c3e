//! The codec: 126 residuals in a line of 64 bytes, one cache line.
//!
//! A *residual* is a score less the profile of its mover's row (see [`super::PackedFrame`]), modulo 256. Bytes 0 to 62
//! of a line hold 4-bit codes, two a byte, the even place in the low half. The low 7 bits of byte 63 hold the *base*
//! plus 64. A residual is base + code.
//!
//! Where the residuals of a line span more than 15, the base is chosen so that most fit, and the others are
//! *exceptions*: bit 7 of byte 63 is set, and the first four bytes of the line tell where its *patch* begins among the
//! patches of the frame. A patch holds the eight codes that stood in these bytes, the number of exceptions, and for each
//! its place and its code, now of 8 bits. So any score is found with one read, or two in a line with exceptions.

use crate::isa::per_isa;

/// Bytes of a line.
pub const LINE_BYTES: usize = 64;

/// Residuals in a line.
pub const LINE_POSITIONS: usize = 126;

/// A line.
pub type Line = [u8; LINE_BYTES];

/// Bit of the base byte that marks a line with exceptions.
pub(crate) const PATCHED: u8 = 0x80;

/// What the base byte adds to the base, so that bases from -64 to 63 fit.
pub(crate) const BASE_BIAS: u8 = 64;

const BASE_BYTE: usize = LINE_BYTES - 1;

/// Bytes at the front of a line with exceptions that hold the offset of its patch.
const OFFSET_BYTES: usize = 4;

/// Bytes of a patch before its exceptions.
pub(crate) const PATCH_HEAD_BYTES: usize = OFFSET_BYTES + 1;

/// Bytes of an exception in a patch.
pub(crate) const EXCEPTION_BYTES: usize = 2;

/// Bytes of a patch at the most: every residual of the line an exception.
pub(super) const MAX_PATCH_BYTES: u64 = (PATCH_HEAD_BYTES + EXCEPTION_BYTES * u8::MAX as usize) as u64;

/// Codes in these bytes.
pub(crate) const MOVED_CODES: usize = 2 * OFFSET_BYTES;

/// Where the patch of a line begins; `None` if it has no exceptions.
#[inline]
pub fn patch_offset(line: &Line) -> Option<u32> {
    (line[BASE_BYTE] & PATCHED != 0).then(|| u32::from_le_bytes([line[0], line[1], line[2], line[3]]))
}

/// Sets where the patch of a line with exceptions begins.
#[inline]
pub fn set_patch_offset(line: &mut Line, offset: u32) {
    line[..OFFSET_BYTES].copy_from_slice(&offset.to_le_bytes());
}

/// The exceptions of a line.
#[derive(Clone, Copy)]
pub struct Patch<'a> {
    moved: &'a [u8; OFFSET_BYTES],
    /// Place and code of each, places ascending.
    exceptions: &'a [[u8; 2]],
}

impl<'a> Patch<'a> {
    /// The patch that begins at `offset` of `patches`; `None` if there is no sound one.
    #[inline]
    pub fn read(patches: &'a [u8], offset: u32) -> Option<Patch<'a>> {
        let (moved, rest) = patches.get(offset as usize..)?.split_first_chunk::<OFFSET_BYTES>()?;
        let (&count, rest) = rest.split_first()?;
        let exceptions = rest.as_chunks::<2>().0.get(..usize::from(count))?;
        Some(Patch { moved, exceptions })
    }

    /// The residual at `place` of the patched `line`.
    #[inline]
    pub fn residual(&self, line: &Line, place: usize) -> u8 {
        let code = match self.exceptions.iter().find(|exception| usize::from(exception[0]) == place) {
            Some(exception) => exception[1],
            None if place < MOVED_CODES => nibble(self.moved[place / 2], place),
            None => nibble(line[place / 2], place),
        };
        base(line).wrapping_add(code)
    }

    /// Mends the residuals of the patched `line` that [`decode_lines`] unpacked.
    #[inline]
    pub fn mend(&self, line: &Line, residuals: &mut [u8; LINE_POSITIONS]) {
        let base = base(line);
        for (place, residual) in residuals.iter_mut().enumerate().take(MOVED_CODES) {
            *residual = base.wrapping_add(nibble(self.moved[place / 2], place));
        }
        for &[place, code] in self.exceptions {
            if let Some(residual) = residuals.get_mut(usize::from(place)) {
                *residual = base.wrapping_add(code);
            }
        }
    }
}

/// The exceptions in a frame's patches; `None` if these are not patches that follow each other to the end.
pub(super) fn count_exceptions(mut patches: &[u8]) -> Option<u64> {
    let mut exceptions = 0;
    while !patches.is_empty() {
        let patch = Patch::read(patches, 0).filter(|patch| !patch.exceptions.is_empty())?;
        exceptions += patch.exceptions.len() as u64;
        patches = &patches[PATCH_HEAD_BYTES + patch.exceptions.len() * EXCEPTION_BYTES..];
    }
    Some(exceptions)
}

/// The residual at `place` (below [`LINE_POSITIONS`]) of a line without exceptions.
#[inline]
pub fn residual(line: &Line, place: usize) -> u8 {
    base(line).wrapping_add(nibble(line[place / 2], place))
}

#[inline]
fn base(line: &Line) -> u8 {
    (line[BASE_BYTE] & !PATCHED).wrapping_sub(BASE_BIAS)
}

#[inline]
fn nibble(byte: u8, place: usize) -> u8 {
    byte >> (4 * (place % 2)) & 15
}

per_isa! {
    /// Unpacks whole lines: [`LINE_POSITIONS`] residuals each, one after the other.
    ///
    /// `out` must have room for two more bytes, which are overwritten. Lines with exceptions are unpacked as if they had
    /// none; the return value tells whether there was one.
    pub fn decode_lines(lines: &[Line], out: &mut [u8]) -> bool {
        let mut marks = 0;
        for (index, line) in lines.iter().enumerate() {
            // Whole 128 places; the last two are the base byte's and are overwritten by the next line.
            let out: &mut [u8; 2 * LINE_BYTES] = (&mut out[index * LINE_POSITIONS..][..2 * LINE_BYTES])
                .try_into()
                .expect("the slice has this length");
            marks |= line[BASE_BYTE];
            let base = base(line);
            for (pair, &codes) in out.as_chunks_mut::<2>().0.iter_mut().zip(line) {
                pair[0] = base.wrapping_add(codes & 15);
                pair[1] = base.wrapping_add(codes >> 4);
            }
        }
        marks & PATCHED != 0
    }
}

per_isa! {
    /// Packs residuals into lines; the last line may be filled in part, its other places get code 0.
    ///
    /// Appends to `patches` (offsets in the lines count from the start of that buffer) and returns the number of
    /// exceptions. Residuals are taken as signed, and must lie between -64 and 63.
    pub fn encode_lines(residuals: &[u8], lines: &mut [Line], patches: &mut Vec<u8>) -> u64 {
        let mut exceptions = 0;
        for (residuals, line) in residuals.chunks(LINE_POSITIONS).zip(lines) {
            let mut biased = [residuals[0].wrapping_add(BASE_BIAS); 2 * LINE_BYTES];
            for (biased, residual) in biased.iter_mut().zip(residuals) {
                *biased = residual.wrapping_add(BASE_BIAS);
            }
            let (min, max) = biased.iter().fold((u8::MAX, 0), |(min, max), &value| (value.min(min), value.max(max)));
            debug_assert!(max < PATCHED, "residuals fit 7 bits");
            let base = if max - min <= 15 { min } else { best_base(&biased[..residuals.len()], min, max) };
            biased[residuals.len()..].fill(base);
            for (byte, pair) in line.iter_mut().zip(biased.as_chunks::<2>().0) {
                // The low halves of both codes, put together from the halves of a word.
                let codes = u16::from_le_bytes([pair[0].wrapping_sub(base) & 15, pair[1].wrapping_sub(base) & 15]);
                *byte = (codes | codes >> 4) as u8;
            }
            line[BASE_BYTE] = base;
            if max - min > 15 {
                exceptions += patch(&biased[..residuals.len()], base, line, patches);
            }
        }
        exceptions
    }
}

/// The base for which most values fit 4 bits; the smallest of these.
#[inline(never)]
fn best_base(values: &[u8], min: u8, max: u8) -> u8 {
    let mut counts = [0u8; 256 + 16];
    values.iter().for_each(|&value| counts[usize::from(value)] += 1);
    let mut best = (0, min);
    for base in min..=max - 15 {
        let fitting = counts[usize::from(base)..][..16].iter().sum::<u8>();
        // Later bases must be better.
        if fitting > best.0 {
            best = (fitting, base);
        }
    }
    best.1
}

/// Moves what does not fit 4 bits from a line to a patch; returns the number of exceptions.
#[inline(never)]
fn patch(values: &[u8], base: u8, line: &mut Line, patches: &mut Vec<u8>) -> u64 {
    let offset = patches.len() as u32;
    patches.extend_from_slice(&line[..OFFSET_BYTES]);
    let count_at = patches.len();
    patches.push(0);
    for (place, &value) in values.iter().enumerate() {
        let code = value.wrapping_sub(base);
        if code > 15 {
            patches.extend_from_slice(&[place as u8, code]);
            patches[count_at] += 1;
            // What the exception left in the line is cleared, so that equal scores give equal bytes.
            let codes =
                if place < MOVED_CODES { &mut patches[offset as usize + place / 2] } else { &mut line[place / 2] };
            *codes &= 0xf0 >> (4 * (place % 2));
        }
    }
    set_patch_offset(line, offset);
    line[BASE_BYTE] |= PATCHED;
    u64::from(patches[count_at])
}
