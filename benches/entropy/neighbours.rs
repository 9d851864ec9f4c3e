//! Prediction from scores that were decoded before, as archives do (docs/archive.md), within blocks of any size.

use kalah::index::{RowIndex, TableRow};

const PARENTS: usize = 3;

/// Contexts that [`predict`] gives.
pub const CONTEXTS: usize = 7 * 7 * 7 * 7;

/// The rows with one number of seeds in lexicographic order.
pub struct Order {
    /// The ranks of the rows.
    pub ranks: Vec<u32>,
    /// The places of each row's parents in this order; a missing one is replaced by the one before, the first by the
    /// row just before.
    parents: Vec<[u32; PARENTS]>,
}

impl Order {
    pub fn new(index: &RowIndex, rows: &[TableRow]) -> Order {
        let mut ranks: Vec<u32> = (0..rows.len() as u32).collect();
        ranks.sort_unstable_by_key(|&rank| rows[rank as usize]);
        let mut places = vec![0; rows.len()];
        ranks.iter().enumerate().for_each(|(place, &rank)| places[rank as usize] = place as u32);
        let last = index.pits() - 1;
        let parents_of = |(place, &rank): (usize, &u32)| {
            let row = rows[rank as usize];
            let mut parents = [(place as u32).saturating_sub(1); PARENTS];
            for (k, pit) in (0..last).rev().filter(|&pit| row[pit] > 0).take(PARENTS).enumerate() {
                let mut moved = row;
                moved[pit] -= 1;
                moved[last] += 1;
                parents[k..].fill(places[index.rank(&moved) as usize]);
            }
            parents
        };
        let parents = ranks.iter().enumerate().map(parents_of).collect();
        Order { ranks, parents }
    }

    /// The parents of the row at `place` that are at `start` or after it, numbered from there.
    pub fn parents(&self, place: usize, start: usize) -> [usize; PARENTS] {
        let mut before = place.saturating_sub(1).max(start);
        self.parents[place].map(|parent| {
            if parent as usize >= start {
                before = parent as usize;
            }
            before - start
        })
    }
}

/// Visits the entries of a block of `height` other rows and `width` mover's rows with the context, the prediction and the
/// entry of each; `entry` is asked for those before it only, and for itself. Places start at `start` (other, mover).
pub fn visit(
    (others, movers): (&Order, &Order),
    start: (usize, usize),
    (height, width): (usize, usize),
    entry: impl Fn(usize, usize) -> i32,
    mut visit: impl FnMut(usize, usize, usize, i32),
) {
    for y in 0..height {
        let above = others.parents(start.0 + y, start.0);
        for x in 0..width {
            let before = movers.parents(start.1 + x, start.1);
            let (context, prediction) = match (y, x) {
                (0, 0) => (CONTEXTS / 2, 0),
                (0, _) => {
                    let left = before.map(|before| entry(0, before));
                    predict(left, left, left)
                }
                (_, 0) => {
                    let up = above.map(|above| entry(above, 0));
                    predict(up, up, up)
                }
                _ => predict(
                    before.map(|before| entry(y, before)),
                    above.map(|above| entry(above, x)),
                    std::array::from_fn(|k| entry(above[k], before[k])),
                ),
            };
            visit(y, x, context, entry(y, x) - prediction);
        }
    }
}

/// The context and the prediction of archives.
pub fn predict(left: [i32; PARENTS], up: [i32; PARENTS], corner: [i32; PARENTS]) -> (usize, i32) {
    let guess: [i32; PARENTS] =
        std::array::from_fn(|k| (left[k] + up[k] - corner[k]).clamp(left[k].min(up[k]), left[k].max(up[k])));
    let differences = [left[0] - corner[0], up[0] - corner[0], guess[1] - guess[0], guess[2] - guess[0]];
    let context = differences.iter().fold(0, |context, difference| context * 7 + (difference.clamp(&-3, &3) + 3));
    (context as usize, guess[2].clamp(guess[0].min(guess[1]), guess[0].max(guess[1])))
}
