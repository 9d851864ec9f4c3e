/// Added to the diagonal, so that an unknown without observations is 0.
const RIDGE: f64 = 0.1;

/// A linear least-squares problem in which each observation is a sum of a few unknowns.
pub(crate) struct LeastSquares {
    unknowns: usize,
    /// The normal matrix by rows; only the lower triangle is stored.
    matrix: Vec<f64>,
    right: Vec<f64>,
}

impl LeastSquares {
    /// A problem with `unknowns` unknowns and no observations.
    pub(crate) fn new(unknowns: usize) -> LeastSquares {
        LeastSquares { unknowns, matrix: vec![0.0; unknowns * unknowns], right: vec![0.0; unknowns] }
    }

    /// Adds an observation: the unknowns with these indices, in ascending order, have the sum `value`.
    pub(crate) fn add(&mut self, numbers: &[usize], value: f64) {
        for (i, &row) in numbers.iter().enumerate() {
            self.right[row] += value;
            for &column in &numbers[..=i] {
                self.matrix[row * self.unknowns + column] += 1.0;
            }
        }
    }

    /// The unknowns, by Cholesky decomposition.
    pub(crate) fn solve(mut self) -> Vec<f64> {
        let n = self.unknowns;
        let (matrix, solution) = (&mut self.matrix, &mut self.right);
        for row in 0..n {
            matrix[row * n + row] += RIDGE;
            for column in 0..=row {
                let (above, here) = matrix.split_at_mut(row * n);
                let pivot = if column < row { &above[column * n..] } else { &here[..n] };
                let known: f64 = (0..column).map(|i| here[i] * pivot[i]).sum();
                let rest = here[column] - known;
                here[column] = if column < row { rest / pivot[column] } else { rest.sqrt() };
            }
        }
        for row in 0..n {
            let known: f64 = (0..row).map(|i| matrix[row * n + i] * solution[i]).sum();
            solution[row] = (solution[row] - known) / matrix[row * n + row];
        }
        for row in (0..n).rev() {
            let known: f64 = (row + 1..n).map(|i| matrix[i * n + row] * solution[i]).sum();
            solution[row] = (solution[row] - known) / matrix[row * n + row];
        }
        self.right
    }
}

#[cfg(test)]
mod tests {
    use super::LeastSquares;

    #[test]
    fn unknowns_are_found_from_their_sums() {
        let right = [3.0, -1.5, 0.25, 7.0, 0.0];
        let mut squares = LeastSquares::new(right.len() + 1);
        for set in 1..1usize << right.len() {
            let numbers: Vec<usize> = (0..right.len()).filter(|i| set >> i & 1 == 1).collect();
            (0..1000).for_each(|_| squares.add(&numbers, numbers.iter().map(|&i| right[i]).sum()));
        }
        let found = squares.solve();
        for (found, right) in found.iter().zip(right.into_iter().chain([0.0])) {
            assert!((found - right).abs() < 1e-3, "{found} for {right}");
        }
    }
}
