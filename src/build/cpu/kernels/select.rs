use crate::isa::Isa;
#[cfg(target_arch = "x86_64")]
use crate::isa::Set;
use crate::rows::SpillMap;

/// How many bytes `out` must have beyond the ranks of the map: whole blocks are stored.
const MARGIN: usize = 64;

/// Copies the scores at the ranks that `map` selects to the start of `out`, in order.
///
/// `out` must have 64 bytes more than the map has ranks; `scores` has one score for every rank after the spill.
///
/// # Panics
/// When `out` is shorter, or the map selects ranks beyond the scores.
pub fn select(isa: Isa, scores: &[u8], map: &SpillMap, out: &mut [u8]) {
    assert!(out.len() >= map.ranks().len() + MARGIN);
    #[cfg(target_arch = "x86_64")]
    match isa.set() {
        // SAFETY: this `Isa` exists only where the machine supports the features.
        Set::Avx512 => return unsafe { select_avx512(scores, map, out) },
        // SAFETY: as above.
        Set::Avx2 => return unsafe { select_avx2(scores, map, out) },
        Set::Baseline => {}
    }
    let _ = isa;
    #[cfg(target_arch = "aarch64")]
    return select_neon(scores, map, out);
    #[cfg(not(target_arch = "aarch64"))]
    for (out, &rank) in out.iter_mut().zip(map.ranks()) {
        *out = scores[rank as usize];
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi2,avx512f,avx512bw,avx512vbmi2")]
fn select_avx512(scores: &[u8], map: &SpillMap, out: &mut [u8]) {
    use std::arch::x86_64::{
        _mm512_loadu_si512, _mm512_maskz_compress_epi8, _mm512_maskz_loadu_epi8, _mm512_storeu_si512,
    };
    assert!(out.len() >= map.ranks().len() + MARGIN);
    let mut filled = 0;
    let (blocks, rest) = scores.as_chunks::<64>();
    let mut selected = map.selected().iter();
    for (block, &mask) in blocks.iter().zip(&mut selected) {
        // SAFETY: the block has 64 bytes; `filled` is at most the number of ranks, and `out` has 64 bytes more.
        unsafe {
            let packed = _mm512_maskz_compress_epi8(mask, _mm512_loadu_si512(block.as_ptr().cast()));
            _mm512_storeu_si512(out.as_mut_ptr().add(filled).cast(), packed);
        }
        filled += mask.count_ones() as usize;
    }
    let mask = selected.next().copied().unwrap_or(0);
    assert!(filled + (mask.count_ones() as usize) <= map.ranks().len());
    // SAFETY: the mask keeps the load inside `rest`; for the store see above.
    unsafe {
        let block = _mm512_maskz_loadu_epi8((1 << rest.len()) - 1, rest.as_ptr().cast());
        _mm512_storeu_si512(out.as_mut_ptr().add(filled).cast(), _mm512_maskz_compress_epi8(mask, block));
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,avx2")]
fn select_avx2(scores: &[u8], map: &SpillMap, out: &mut [u8]) {
    use std::arch::x86_64::{_mm_cvtsi64_si128, _mm_cvtsi128_si64, _mm_shuffle_epi8};
    let shuffle = |bytes, places| {
        let (bytes, places) =
            (_mm_cvtsi64_si128(i64::from_le_bytes(bytes)), _mm_cvtsi64_si128(i64::from_le_bytes(places)));
        _mm_cvtsi128_si64(_mm_shuffle_epi8(bytes, places)).to_le_bytes()
    };
    select_by_shuffles(scores, map, out, shuffle);
}

#[cfg(target_arch = "aarch64")]
fn select_neon(scores: &[u8], map: &SpillMap, out: &mut [u8]) {
    use std::arch::aarch64::{vcreate_u8, vget_lane_u64, vreinterpret_u64_u8, vtbl1_u8};
    let shuffle = |bytes, places| {
        // SAFETY: NEON belongs to every machine of this target.
        unsafe {
            let shuffled = vtbl1_u8(vcreate_u8(u64::from_le_bytes(bytes)), vcreate_u8(u64::from_le_bytes(places)));
            vget_lane_u64::<0>(vreinterpret_u64_u8(shuffled)).to_le_bytes()
        }
    };
    select_by_shuffles(scores, map, out, shuffle);
}

/// For every eight bits of a [`SpillMap`]: which bytes they select, in order.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
static PLACES: [[u8; 8]; 256] = {
    let mut places = [[0; 8]; 256];
    let mut bits = 0;
    while bits < 256 {
        let (mut bit, mut filled) = (0, 0);
        while bit < 8 {
            if bits >> bit & 1 == 1 {
                places[bits][filled] = bit;
                filled += 1;
            }
            bit += 1;
        }
        bits += 1;
    }
    places
};

/// [`select`] in groups of eight: `shuffle(bytes, places)` returns the bytes at these places of 0 to 7.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn select_by_shuffles(scores: &[u8], map: &SpillMap, out: &mut [u8], shuffle: impl Fn([u8; 8], [u8; 8]) -> [u8; 8]) {
    let mut filled = 0;
    let (blocks, rest) = scores.as_chunks::<64>();
    let mut selected = map.selected().iter();
    for (block, &mask) in blocks.iter().zip(&mut selected) {
        filled += pack(block, mask, &mut out[filled..], &shuffle);
    }
    let mut block = [0; 64];
    block[..rest.len()].copy_from_slice(rest);
    pack(&block, selected.next().copied().unwrap_or(0), &mut out[filled..], &shuffle);
}

/// Copies the bytes that the mask selects to the start of `out`; returns how many they are.
///
/// The first pits vary most slowly in the order of rows, so that after a spill of few seeds most masks select all or nothing.
// Not a closure, which would lack the instruction set of the function that this is compiled into.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn pack(block: &[u8; 64], mask: u64, out: &mut [u8], shuffle: &impl Fn([u8; 8], [u8; 8]) -> [u8; 8]) -> usize {
    if mask == 0 {
        return 0;
    }
    let out = out.first_chunk_mut::<64>().expect("a margin after the ranks");
    if mask == u64::MAX {
        *out = *block;
        return 64;
    }
    let (groups, _) = block.as_chunks::<8>();
    let mut place = 0;
    for (group, bits) in groups.iter().zip(mask.to_le_bytes()) {
        // At most eight bytes for each group before this one.
        out[place..][..8].copy_from_slice(&shuffle(*group, PLACES[usize::from(bits)]));
        place += bits.count_ones() as usize;
    }
    place
}
