/// A median with a 95 % confidence interval by order statistics, which needs no assumption about the
/// distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Median {
    /// The middle value, or the mean of the two middle values.
    pub median: f64,
    /// The interval; `None` for fewer than 6 values, which are too few.
    pub interval: Option<(f64, f64)>,
}

impl Median {
    /// The median of some values; `None` without values.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Median> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let count = values.len();
        let upper = *values.get(count / 2)?;
        let median = if count % 2 == 1 { upper } else { (values[count / 2 - 1] + upper) / 2.0 };
        let interval = outside(count).checked_sub(1).map(|cut| (values[cut], values[count - 1 - cut]));
        Some(Median { median, interval })
    }
}

/// The rank, from 1, of the values that bound the interval from both ends; 0 if there are too few values.
///
/// The true median lies below the k-th of n values with the probability of fewer than k heads in n throws of a
/// coin.
fn outside(count: usize) -> usize {
    // Logarithms, since 2^-n of a long tournament is too small for a number.
    let mut term = -(count as f64) * 2f64.ln();
    let mut tail = 0.0;
    for place in 0..count {
        tail += term.exp();
        if tail > 0.025 {
            return place;
        }
        term += ((count - place) as f64 / (place + 1) as f64).ln();
    }
    0
}
