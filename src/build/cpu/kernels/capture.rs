use crate::isa::Isa;
#[cfg(target_arch = "x86_64")]
use crate::isa::Set;
use crate::rows::CaptureMap;

/// Bytes after the scores of a capture that may be read.
pub const CAPTURE_MARGIN: usize = 64;

/// [`max_after_pass`](super::max_after_pass) of the scores at the places of `map`, which [`CAPTURE_MARGIN`] bytes follow.
///
/// # Panics
/// When the scores are fewer, or `best` does not have one score for each row of the map.
pub fn max_after_capture(isa: Isa, best: &mut [u8], scores: &[u8], map: &CaptureMap, total: u8) {
    assert_eq!(best.len(), map.rows(), "a score for each row");
    assert!(scores.len() >= map.rows() + CAPTURE_MARGIN, "a score for each place, and a margin");
    #[cfg(target_arch = "x86_64")]
    if isa.set() == Set::Avx512 {
        // SAFETY: this `Isa` exists only where the machine supports the features.
        return unsafe { max_after_capture_avx512(best, scores, map, total) };
    }
    max_at_places(isa, best, scores, map.places(), total);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2")]
fn max_after_capture_avx512(best: &mut [u8], scores: &[u8], map: &CaptureMap, total: u8) {
    use std::arch::x86_64::{
        _mm512_loadu_si512, _mm512_mask_expand_epi8, _mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8, _mm512_max_epu8,
        _mm512_set1_epi8, _mm512_sub_epi8,
    };
    let total = _mm512_set1_epi8(total as i8);
    for (block, best) in best.chunks_mut(64).enumerate() {
        let mut found = total;
        for part in map.parts(block) {
            let from = &scores[part.place as usize..][..64];
            // SAFETY: 64 bytes are loaded.
            found = _mm512_mask_expand_epi8(found, part.rows, unsafe { _mm512_loadu_si512(from.as_ptr().cast()) });
        }
        let all = u64::MAX >> (64 - best.len());
        // SAFETY: only the bytes of `best` are loaded and stored.
        unsafe {
            let raised =
                _mm512_max_epu8(_mm512_maskz_loadu_epi8(all, best.as_ptr().cast()), _mm512_sub_epi8(total, found));
            _mm512_mask_storeu_epi8(best.as_mut_ptr().cast(), all, raised);
        }
    }
}

/// [`max_after_pass`](super::max_after_pass) of the scores at `places`.
///
/// # Panics
/// When a place is beyond the scores, and possibly when it is one of their last three.
fn max_at_places(isa: Isa, best: &mut [u8], scores: &[u8], places: &[u32], total: u8) {
    #[cfg(target_arch = "x86_64")]
    if isa.set() == Set::Avx2 {
        // SAFETY: this `Isa` exists only where the machine supports the features.
        return unsafe { max_at_places_avx2(best, scores, places, total) };
    }
    let _ = isa;
    for (best, &place) in best.iter_mut().zip(places) {
        *best = (*best).max(total.wrapping_sub(scores[place as usize]));
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn max_at_places_avx2(best: &mut [u8], scores: &[u8], places: &[u32], total: u8) {
    use std::arch::x86_64::{
        _mm_cvtsi64_si128, _mm_cvtsi128_si64, _mm_max_epu8, _mm_set1_epi8, _mm_sub_epi8, _mm_unpacklo_epi32,
        _mm256_castsi256_si128, _mm256_cmpeq_epi32, _mm256_extracti128_si256, _mm256_i32gather_epi32,
        _mm256_loadu_si256, _mm256_max_epu32, _mm256_movemask_epi8, _mm256_set1_epi32, _mm256_shuffle_epi8,
    };
    // Four bytes are gathered for each place.
    let last = scores.len().checked_sub(4).expect("scores of one place at least");
    assert!(last <= i32::MAX as usize, "places have 31 bits");
    let (bests, best_rest) = best.as_chunks_mut::<8>();
    let (groups, place_rest) = places.as_chunks::<8>();
    let (limit, total_8) = (_mm256_set1_epi32(last as i32), _mm_set1_epi8(total as i8));
    // The lowest byte of each element.
    let low_bytes = _mm256_set1_epi32(0x0c08_0400);
    for (best, group) in bests.iter_mut().zip(groups) {
        // SAFETY: the group has 8 elements; the comparison keeps the gathered bytes inside `scores`.
        let gathered = unsafe {
            let places = _mm256_loadu_si256(group.as_ptr().cast());
            let within = _mm256_cmpeq_epi32(_mm256_max_epu32(places, limit), limit);
            assert!(_mm256_movemask_epi8(within) == -1, "a place is too near the end of the scores");
            _mm256_shuffle_epi8(_mm256_i32gather_epi32::<1>(scores.as_ptr().cast(), places), low_bytes)
        };
        let gathered = _mm_unpacklo_epi32(_mm256_castsi256_si128(gathered), _mm256_extracti128_si256::<1>(gathered));
        let before = _mm_cvtsi64_si128(i64::from_le_bytes(*best));
        *best = _mm_cvtsi128_si64(_mm_max_epu8(before, _mm_sub_epi8(total_8, gathered))).to_le_bytes();
    }
    for (best, &place) in best_rest.iter_mut().zip(place_rest) {
        *best = (*best).max(total.wrapping_sub(scores[place as usize]));
    }
}
