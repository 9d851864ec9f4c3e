//! Reading the residuals of a line from scores: see `shaders/shared/residual.wgsl`.

use super::{BASE_BIAS, Encode, LINE_POSITIONS, extract_bits};

/// The residuals, biased so that they are positive, of the positions of `line`.
///
/// Beyond the scores, which a damaged parameter would ask for, it panics.
pub(super) fn residuals<'a>(
    params: &'a Encode,
    scores: &'a [u32],
    head: &'a [u32],
    line: u32,
) -> impl Iterator<Item = u32> + 'a {
    let first = line * LINE_POSITIONS;
    (first..first + LINE_POSITIONS.min(params.positions - first)).map(move |index| {
        let (row, mover) = (index / params.rows, index % params.rows);
        let (word, shift) = (row * params.words + mover / 4 - params.base, 8 * (mover % 4));
        let score = extract_bits(scores[word as usize], shift, 8);
        (score + BASE_BIAS).wrapping_sub(extract_bits(head[mover as usize / 4], shift, 8))
    })
}
