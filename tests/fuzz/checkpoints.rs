//! Modified checkpoints of searches. A resumed search never gives a different answer, unless the checksum was
//! corrected. Even then it does not panic.

use std::sync::LazyLock;

use kalah::game::{Position, Rules};
use kalah::solve::{Checkpoint, Solution, SolveError, Solver, SolverOptions};
use proptest::prelude::*;

use crate::fuzz;
use crate::mutation::{self, changed};

/// A checkpoint of a search that was stopped half-way, and the right result.
struct Saved {
    position: Position,
    bytes: Vec<u8>,
    right: Solution,
}

static SAVED: LazyLock<Saved> = LazyLock::new(|| {
    let (directory, position): (_, Position) = (tempfile::tempdir().unwrap(), "3x3".parse().unwrap());
    let (path, solver) = (directory.path().join("search"), solver(&position));
    let right = solver.solve(&position, 0).unwrap();
    Checkpoint::open(&path).unwrap().save(&solver, &position).unwrap();
    Saved { position, bytes: std::fs::read(path).unwrap(), right }
});

impl Saved {
    /// The first line, and the transposition table.
    fn parts(&self) -> (&[u8], &[u8]) {
        self.bytes.split_at(self.bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1)
    }

    /// Solves from a checkpoint with these bytes. Returns `None` if they are refused.
    fn solve(&self, bytes: &[u8]) -> Option<Result<Solution, SolveError>> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("search");
        // Bytes that do not look like a checkpoint are not opened as one.
        let checkpoint = Checkpoint::open(&path).unwrap();
        std::fs::write(path, bytes).unwrap();
        let mut solver = solver(&self.position);
        let taken_up = checkpoint.load(&mut solver, &self.position).ok()?;
        assert_eq!(taken_up.is_some(), !bytes.is_empty());
        Some(solver.solve(&self.position, 0))
    }
}

fn solver(position: &Position) -> Solver<'static> {
    Solver::new(SolverOptions::new(Rules::Standard, position).transpositions(1 << 13)).unwrap()
}

#[test]
fn changed_checkpoints_change_no_answer() {
    let saved = &*SAVED;
    fuzz("checkpoints", &(mutation::bytes(), any::<bool>()), |(change, of_line)| {
        let (line, table) = saved.parts();
        let changed = match of_line {
            true => [change.apply(line), table.to_vec()].concat(),
            false => [line.to_vec(), change.apply(table)].concat(),
        };
        match saved.solve(&changed) {
            Some(Ok(solution)) => prop_assert_eq!(&solution, &saved.right),
            Some(Err(error)) => prop_assert!(false, "{}", error),
            None => prop_assert_ne!(&changed, &saved.bytes),
        }
        Ok(())
    });
}

#[test]
fn forged_tables_make_no_panic() {
    let saved = &*SAVED;
    let (line, table) = saved.parts();
    let frame = zstd::decode_all(table).unwrap();
    let words = frame.strip_prefix(line).unwrap();
    fuzz("forged tables", &prop::collection::vec(mutation::bytes(), 1..9), |changes| {
        let mut forged = changed(words, &changes);
        forged.resize(words.len(), 0);
        let packed = zstd::encode_all(&[line, &forged].concat()[..], 1).unwrap();
        if let Some(Ok(solution)) = saved.solve(&[line, &packed].concat()) {
            // The value, right or wrong, is that of the line.
            let end = solution.line.replay(Rules::Standard, &saved.position).unwrap().final_value();
            let sign = if solution.line.turns().len().is_multiple_of(2) { 1 } else { -1 };
            prop_assert_eq!(end.map(|end| sign * end), Some(solution.value));
        }
        Ok(())
    });
}
