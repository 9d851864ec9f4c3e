//! A frame as the sum of a term for each row and of products of terms for both: what some numbers kept for each row can
//! tell about the position of two rows.

use rayon::prelude::*;

/// Products that are fitted.
pub const PRODUCTS: usize = 64;

/// Entries of the matrix from which the terms of the mover's rows are fitted.
const FITTED: usize = 16_000_000;

/// A matrix of other rows by mover's rows, approximated by least squares:
/// other[y] + mover[x] + the sum over j of factors_other[y][j] factors_mover[x][j].
pub struct Fit {
    other: Vec<f32>,
    mover: Vec<f32>,
    factors_other: Vec<[f32; PRODUCTS]>,
    factors_mover: Vec<[f32; PRODUCTS]>,
}

impl Fit {
    /// Fits `matrix`, other row by other row, each `width` long.
    ///
    /// The products come from orthogonal iteration (the largest singular vectors first), on evenly spaced other rows;
    /// all other rows are then projected on them.
    pub fn new(matrix: &[i16], width: usize) -> Fit {
        let other: Vec<f32> = matrix
            .par_chunks(width)
            .map(|run| (run.iter().map(|&entry| f64::from(entry)).sum::<f64>() / width as f64) as f32)
            .collect();
        let height = other.len();
        let stride = (matrix.len() / FITTED).max(1);
        let chosen: Vec<usize> = (0..height).step_by(stride).collect();
        let mut mover = vec![0.0; width];
        for &y in &chosen {
            let run = &matrix[y * width..][..width];
            mover.iter_mut().zip(run).for_each(|(sum, &entry)| *sum += f32::from(entry) - other[y]);
        }
        mover.iter_mut().for_each(|sum| *sum /= chosen.len() as f32);

        let mut random = fastrand::Rng::with_seed(1);
        let mut basis: Vec<[f32; PRODUCTS]> = (0..width).map(|_| std::array::from_fn(|_| random.f32() - 0.5)).collect();
        orthonormalise(&mut basis);
        let mut fit = Fit { other, mover, factors_other: Vec::new(), factors_mover: basis };
        for _ in 0..4 {
            let mut next = chosen
                .par_chunks(chosen.len().div_ceil(8))
                .map(|part| {
                    let mut sums = vec![[0.0; PRODUCTS]; width];
                    for &y in part {
                        let run = &matrix[y * width..][..width];
                        let projected = fit.project(run, y);
                        for (x, (sums, &entry)) in sums.iter_mut().zip(run).enumerate() {
                            let rest = f32::from(entry) - fit.other[y] - fit.mover[x];
                            sums.iter_mut().zip(projected).for_each(|(sum, factor)| *sum += rest * factor);
                        }
                    }
                    sums
                })
                .reduce_with(|mut a, b| {
                    a.iter_mut().flatten().zip(b.iter().flatten()).for_each(|(a, b)| *a += b);
                    a
                })
                .expect("there are other rows");
            orthonormalise(&mut next);
            fit.factors_mover = next;
        }
        fit.factors_other = matrix.par_chunks(width).enumerate().map(|(y, run)| fit.project(run, y)).collect();
        fit
    }

    /// The factors of other row `y` that are best for these of the mover's rows, which are orthonormal.
    fn project(&self, run: &[i16], y: usize) -> [f32; PRODUCTS] {
        let mut sums = [0.0; PRODUCTS];
        for ((&entry, mover), factors) in run.iter().zip(&self.mover).zip(&self.factors_mover) {
            let rest = f32::from(entry) - self.other[y] - mover;
            sums.iter_mut().zip(factors).for_each(|(sum, factor)| *sum += rest * factor);
        }
        sums
    }

    /// The entry of other row `y` and mover's row `x` by the first `counts` products, for each of the ascending counts.
    pub fn values<const COUNTS: usize>(&self, y: usize, x: usize, counts: [usize; COUNTS]) -> [i32; COUNTS] {
        let (mut value, mut done) = (self.other[y] + self.mover[x], 0);
        let (others, movers) = (&self.factors_other[y], &self.factors_mover[x]);
        counts.map(|count| {
            value += others[done..count].iter().zip(&movers[done..count]).map(|(a, b)| a * b).sum::<f32>();
            done = count;
            value.round() as i32
        })
    }
}

/// Makes the columns orthogonal and of length 1, in order (Gram and Schmidt).
fn orthonormalise(columns: &mut [[f32; PRODUCTS]]) {
    for j in 0..PRODUCTS {
        for _ in 0..2 {
            let mut products = [0.0f64; PRODUCTS];
            for row in columns.iter() {
                (0..j).for_each(|i| products[i] += f64::from(row[i]) * f64::from(row[j]));
            }
            for row in columns.iter_mut() {
                row[j] -= (0..j).map(|i| products[i] as f32 * row[i]).sum::<f32>();
            }
        }
        let length = columns.iter().map(|row| f64::from(row[j]).powi(2)).sum::<f64>().sqrt();
        let scale = if length > 1e-6 { 1.0 / length } else { 0.0 };
        columns.iter_mut().for_each(|row| row[j] *= scale as f32);
    }
}
