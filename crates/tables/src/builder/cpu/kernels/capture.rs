use crate::rows::CaptureMap;
#[cfg(target_arch = "x86_64")]
use kalah_core::isa::Set;
use kalah_core::isa::{Isa, per_isa};

/// Bytes after the scores of a capture that may be read.
pub const CAPTURE_MARGIN: usize = 64;

/// [`max_after_pass`](super::max_after_pass) of the scores at the places of `map`.
/// [`CAPTURE_MARGIN`] bytes must follow the scores.
///
/// # Panics
/// When there are fewer scores, or `best` does not have one score for each row of the map.
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

per_isa! {
    /// [`max_after_pass`](super::max_after_pass) of the scores at `places`.
    ///
    /// # Panics
    /// When a place is beyond the scores.
    fn max_at_places(best: &mut [u8], scores: &[u8], places: &[u32], total: u8) {
        let (bests, best_rest) = best.as_chunks_mut::<8>();
        let (groups, place_rest) = places.as_chunks::<8>();
        for (best, places) in bests.iter_mut().zip(groups) {
            let found = places.map(|place| scores[place as usize]);
            for (best, found) in best.iter_mut().zip(found) {
                *best = (*best).max(total.wrapping_sub(found));
            }
        }
        for (best, &place) in best_rest.iter_mut().zip(place_rest) {
            *best = (*best).max(total.wrapping_sub(scores[place as usize]));
        }
    }
}
