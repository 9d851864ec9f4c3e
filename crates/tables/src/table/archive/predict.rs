//! Predicts a score from those before it in the chunk.

use super::order::PARENTS;

/// Number of contexts: four differences, each clamped to one of 7 values.
pub(super) const CONTEXTS: usize = 7 * 7 * 7 * 7;

/// Visits the scores of a chunk in order, each with its context and its prediction.
///
/// `others` and `movers` hold the parents of the rows. `scores` holds, for each other row, a score
/// for each mover's row. Before a visit only the scores before it are read, so a decoder can set
/// the score in its visit.
#[inline]
pub(super) fn visit(
    others: &[[u32; PARENTS]],
    movers: &[[u32; PARENTS]],
    scores: &mut [u8],
    mut visit: impl FnMut(usize, u8, &mut u8),
) {
    let width = movers.len();
    for (row, above) in others.iter().enumerate() {
        let (done, run) = scores.split_at_mut(row * width);
        let run = &mut run[..width];
        if row == 0 {
            visit(context_of_corner(), 0, &mut run[0]);
            for place in 1..width {
                let left = movers[place].map(|parent| run[parent as usize]);
                let (context, prediction) = predict(left, left, left);
                visit(context, prediction, &mut run[place]);
            }
            continue;
        }
        let above = above.map(|parent| &done[parent as usize * width..][..width]);
        let up = above.map(|run| run[0]);
        let (context, prediction) = predict(up, up, up);
        visit(context, prediction, &mut run[0]);
        for place in 1..width {
            let parents = movers[place];
            let left = parents.map(|parent| run[parent as usize]);
            let up = above.map(|run| run[place]);
            let corner = std::array::from_fn(|k| above[k][parents[k] as usize]);
            let (context, prediction) = predict(left, up, corner);
            visit(context, prediction, &mut run[place]);
        }
    }
}

/// Context and prediction of a score from those at the parents of its mover's row (left), its other
/// row (up), and both (corner).
///
/// Each of the three parents gives a guess: the median of left, up and left + up - corner. That is
/// the plane through the three unless it lies outside them (the predictor MED of LOCO-I,
/// Weinberger, Seroussi, Sapiro 2000, section 3.1). The prediction is the median of the guesses.
/// The differences among guesses and neighbours are the context.
#[inline]
fn predict(left: [u8; PARENTS], up: [u8; PARENTS], corner: [u8; PARENTS]) -> (usize, u8) {
    let guess: [i32; PARENTS] = std::array::from_fn(|k| {
        let (left, up, corner) = (i32::from(left[k]), i32::from(up[k]), i32::from(corner[k]));
        (left + up - corner).clamp(left.min(up), left.max(up))
    });
    let differences = [
        i32::from(left[0]) - i32::from(corner[0]),
        i32::from(up[0]) - i32::from(corner[0]),
        guess[1] - guess[0],
        guess[2] - guess[0],
    ];
    let context = differences.iter().fold(0, |context, difference| context * 7 + (difference.clamp(&-3, &3) + 3));
    let (low, high) = (guess[0].min(guess[1]), guess[0].max(guess[1]));
    (context as usize, guess[2].clamp(low, high) as u8)
}

/// The context without differences.
fn context_of_corner() -> usize {
    CONTEXTS / 2
}
