//! The codec: a *group* of 126 residuals in 64 bytes, one cache line.
//!
//! A *residual* is a score minus the profile of its mover's row (see [`super::FrameScores`]), modulo 256. Bytes 0 to 62
//! of a group hold 4-bit codes, two per byte, the even place in the low half. The low 7 bits of byte 63 hold the *base*
//! plus 64. A residual is base + code.
//!
//! If the residuals of a group span more than 15, the base is chosen so that most fit. The others are *exceptions*. Bit
//! 7 of byte 63 is set then, and the first four bytes of the group are the offset of its *patch* in the patches of the
//! frame. A patch holds the eight codes that these bytes replaced, the number of exceptions, and the place and 8-bit
//! code of each. A score therefore takes one read, or two in a group with exceptions.

use crate::isa::per_isa;

/// Bytes of a group.
pub const GROUP_BYTES: usize = 64;

/// Residuals in a group.
pub const GROUP_POSITIONS: usize = 126;

/// A group.
pub type Group = [u8; GROUP_BYTES];

/// The bit of the base byte that marks a group with exceptions.
pub const PATCHED: u8 = 0x80;

/// Added to the base in the base byte, so that bases from -64 to 63 fit.
pub const BASE_BIAS: u8 = 64;

pub(super) const BASE_BYTE: usize = GROUP_BYTES - 1;

/// First bytes of a group with exceptions, which hold the offset of its patch.
const OFFSET_BYTES: usize = 4;

/// Bytes of a patch before its exceptions.
pub const PATCH_HEAD_BYTES: usize = OFFSET_BYTES + 1;

/// Bytes of an exception in a patch.
pub const EXCEPTION_BYTES: usize = 2;

/// Maximum bytes of a patch, given its one-byte count.
pub(super) const MAX_PATCH_BYTES: u64 = (PATCH_HEAD_BYTES + EXCEPTION_BYTES * u8::MAX as usize) as u64;

/// Codes that the offset replaces.
pub const MOVED_CODES: usize = 2 * OFFSET_BYTES;

/// Offset of the patch of a group; `None` if it has no exceptions.
#[inline]
pub fn patch_offset(group: &Group) -> Option<u32> {
    (group[BASE_BYTE] & PATCHED != 0).then(|| u32::from_le_bytes([group[0], group[1], group[2], group[3]]))
}

/// Sets the offset of the patch of a group with exceptions.
#[inline]
pub fn set_patch_offset(group: &mut Group, offset: u32) {
    group[..OFFSET_BYTES].copy_from_slice(&offset.to_le_bytes());
}

/// The exceptions of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupPatch<'a> {
    moved: &'a [u8; OFFSET_BYTES],
    /// Place and code of each, places ascending.
    exceptions: &'a [[u8; 2]],
}

impl<'a> GroupPatch<'a> {
    /// Reads the patch at `offset` of `patches`; `None` if it does not fit there.
    #[inline]
    pub(super) fn read(patches: &'a [u8], offset: u32) -> Option<GroupPatch<'a>> {
        let (moved, rest) = patches.get(offset as usize..)?.split_first_chunk::<OFFSET_BYTES>()?;
        let (&count, rest) = rest.split_first()?;
        let exceptions = rest.as_chunks::<2>().0.get(..usize::from(count))?;
        Some(GroupPatch { moved, exceptions })
    }

    /// The residual at `place` of the patched `group`.
    #[inline]
    pub(super) fn residual(&self, group: &Group, place: usize) -> u8 {
        let code = match self.exceptions.iter().find(|exception| usize::from(exception[0]) == place) {
            Some(exception) => exception[1],
            None if place < MOVED_CODES => nibble(self.moved[place / 2], place),
            None => nibble(group[place / 2], place),
        };
        base(group).wrapping_add(code)
    }

    /// Corrects the residuals of the patched `group` that [`decode_groups`] unpacked.
    #[inline]
    pub(super) fn apply(&self, group: &Group, residuals: &mut [u8; GROUP_POSITIONS]) {
        let base = base(group);
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

/// Counts the exceptions in a frame's patches; `None` if `patches` is not a sequence of complete patches.
pub fn count_exceptions(mut patches: &[u8]) -> Option<u64> {
    let mut exceptions = 0;
    while !patches.is_empty() {
        let patch = GroupPatch::read(patches, 0).filter(|patch| !patch.exceptions.is_empty())?;
        exceptions += patch.exceptions.len() as u64;
        patches = &patches[PATCH_HEAD_BYTES + patch.exceptions.len() * EXCEPTION_BYTES..];
    }
    Some(exceptions)
}

/// Residual at `place` (below [`GROUP_POSITIONS`]) of a group without exceptions.
#[inline]
pub fn residual(group: &Group, place: usize) -> u8 {
    base(group).wrapping_add(nibble(group[place / 2], place))
}

#[inline]
pub(super) fn base(group: &Group) -> u8 {
    (group[BASE_BYTE] & !PATCHED).wrapping_sub(BASE_BIAS)
}

#[inline]
fn nibble(byte: u8, place: usize) -> u8 {
    byte >> (4 * (place % 2)) & 15
}

per_isa! {
    /// Unpacks whole groups, [`GROUP_POSITIONS`] residuals each, one after the other. Returns true if a group has
    /// exceptions; those are not corrected. `out` must have two more bytes, which are overwritten.
    pub(super) fn decode_groups(groups: &[Group], out: &mut [u8]) -> bool {
        let mut marks = 0;
        for (index, group) in groups.iter().enumerate() {
            // All 128 places. The last two come from the base byte and are overwritten by the next group.
            let out: &mut [u8; 2 * GROUP_BYTES] = (&mut out[index * GROUP_POSITIONS..][..2 * GROUP_BYTES])
                .try_into()
                .expect("the slice has this length");
            marks |= group[BASE_BYTE];
            let base = base(group);
            for (pair, &codes) in out.as_chunks_mut::<2>().0.iter_mut().zip(group) {
                pair[0] = base.wrapping_add(codes & 15);
                pair[1] = base.wrapping_add(codes >> 4);
            }
        }
        marks & PATCHED != 0
    }
}

per_isa! {
    /// Packs residuals, signed from -64 to 63, into groups. In a partly filled last group, the other places get code 0.
    /// Appends to `patches`, from whose start offsets in the groups count, and returns the number of exceptions.
    pub fn encode_groups(residuals: &[u8], groups: &mut [Group], patches: &mut Vec<u8>) -> u64 {
        let mut exceptions = 0;
        for (residuals, group) in residuals.chunks(GROUP_POSITIONS).zip(groups) {
            let mut biased = [residuals[0].wrapping_add(BASE_BIAS); 2 * GROUP_BYTES];
            for (biased, residual) in biased.iter_mut().zip(residuals) {
                *biased = residual.wrapping_add(BASE_BIAS);
            }
            let (min, max) = biased.iter().fold((u8::MAX, 0), |(min, max), &value| (value.min(min), value.max(max)));
            debug_assert!(max < PATCHED, "residuals fit 7 bits");
            let base = if max - min <= 15 { min } else { best_base(&biased[..residuals.len()], min, max) };
            biased[residuals.len()..].fill(base);
            for (byte, pair) in group.iter_mut().zip(biased.as_chunks::<2>().0) {
                // Both 4-bit codes, combined from the two bytes of a word.
                let codes = u16::from_le_bytes([pair[0].wrapping_sub(base) & 15, pair[1].wrapping_sub(base) & 15]);
                *byte = (codes | codes >> 4) as u8;
            }
            group[BASE_BYTE] = base;
            if max - min > 15 {
                exceptions += patch(&biased[..residuals.len()], base, group, patches);
            }
        }
        exceptions
    }
}

/// Finds the smallest base with which the most values fit 4 bits.
#[inline(always)]
fn best_base(values: &[u8], min: u8, max: u8) -> u8 {
    let mut best = (0, min);
    for base in min..=max - 15 {
        let mut fitting = 0;
        for value in values {
            fitting += u8::from(value.wrapping_sub(base) <= 15);
        }
        // On a tie the smaller base stays.
        if fitting > best.0 {
            best = (fitting, base);
        }
    }
    best.1
}

/// Moves residuals that do not fit 4 bits from a group to a patch. Returns the number of exceptions.
#[inline(never)]
fn patch(values: &[u8], base: u8, group: &mut Group, patches: &mut Vec<u8>) -> u64 {
    let offset = patches.len() as u32;
    patches.extend_from_slice(&group[..OFFSET_BYTES]);
    let count_at = patches.len();
    patches.push(0);
    let mut codes = [0; 2 * GROUP_BYTES];
    for (code, value) in codes.iter_mut().zip(values) {
        *code = value.wrapping_sub(base);
    }
    for (word, codes) in codes.as_chunks::<8>().0.iter().enumerate() {
        // Most sets of eight codes fit.
        if u64::from_le_bytes(*codes) & 0xf0f0_f0f0_f0f0_f0f0 == 0 {
            continue;
        }
        for (place, &code) in (8 * word..).zip(codes).filter(|&(_, &code)| code > 15) {
            patches.extend_from_slice(&[place as u8, code]);
            patches[count_at] += 1;
            // Clears the exception's own 4 bits, so that equal scores give equal bytes.
            let codes =
                if place < MOVED_CODES { &mut patches[offset as usize + place / 2] } else { &mut group[place / 2] };
            *codes &= 0xf0 >> (4 * (place % 2));
        }
    }
    set_patch_offset(group, offset);
    group[BASE_BYTE] |= PATCHED;
    u64::from(patches[count_at])
}
