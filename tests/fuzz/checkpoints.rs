//! Modified checkpoints of searches. A resumed search never gives a different answer, unless the checksum was
//! corrected. Even then it does not panic.

use std::path::PathBuf;
use std::sync::OnceLock;

use kalah::game::{Position, Rules};
use kalah::solve::{Checkpoint, Solution, SolveError, Solver, SolverOptions};
use proptest::prelude::*;

use crate::{fuzz, mutation};

/// A checkpoint of a search that was stopped half-way, and the right result.
struct Saved {
    directory: tempfile::TempDir,
    position: Position,
    bytes: Vec<u8>,
    right: Solution,
}

impl Saved {
    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The first line, and the transposition table.
    fn parts(&self) -> (&[u8], &[u8]) {
        self.bytes.split_at(self.bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1)
    }

    /// Solves from a checkpoint with these bytes. Returns `None` if they are refused.
    fn solve(&self, name: &str, bytes: &[u8]) -> Option<Result<Solution, SolveError>> {
        // The file of the last input may not look like a checkpoint, and opening a new one would keep it.
        let _ = std::fs::remove_file(self.path(name));
        let checkpoint = Checkpoint::open(self.path(name)).unwrap();
        std::fs::write(self.path(name), bytes).unwrap();
        let mut solver = solver(&self.position);
        let taken_up = checkpoint.load(&mut solver, &self.position).ok()?;
        assert_eq!(taken_up.is_some(), !bytes.is_empty());
        Some(solver.solve(&self.position, 0))
    }
}

fn solver(position: &Position) -> Solver<'static> {
    Solver::new(SolverOptions::new(Rules::Standard, position).transpositions(1 << 13)).unwrap()
}

fn saved() -> &'static Saved {
    static SAVED: OnceLock<Saved> = OnceLock::new();
    SAVED.get_or_init(|| {
        let (directory, position): (_, Position) = (tempfile::tempdir().unwrap(), "3x3".parse().unwrap());
        let solver = solver(&position);
        let right = solver.solve(&position, 0).unwrap();
        let mut saved = Saved { directory, position, bytes: Vec::new(), right };
        let checkpoint = Checkpoint::open(saved.path("whole")).unwrap();
        checkpoint.save(&solver, &saved.position).unwrap();
        saved.bytes = std::fs::read(saved.path("whole")).unwrap();
        saved
    })
}

#[test]
fn changed_checkpoints_change_no_answer() {
    let saved = saved();
    fuzz("checkpoints", &(mutation::bytes(), any::<bool>()), |(change, of_line)| {
        let (line, table) = saved.parts();
        let changed = match of_line {
            true => [change.apply(line), table.to_vec()].concat(),
            false => [line.to_vec(), change.apply(table)].concat(),
        };
        match saved.solve("changed", &changed) {
            Some(Ok(solution)) => prop_assert_eq!(&solution, &saved.right),
            Some(Err(error)) => prop_assert!(false, "{}", error),
            None => prop_assert_ne!(&changed, &saved.bytes),
        }
        Ok(())
    });
}

#[test]
fn forged_tables_make_no_panic() {
    let saved = saved();
    let (line, table) = saved.parts();
    let frame = zstd::decode_all(table).unwrap();
    let words = frame.strip_prefix(line).unwrap();
    fuzz("forged tables", &prop::collection::vec(mutation::bytes(), 1..9), |changes| {
        let mut forged = words.to_vec();
        for change in changes {
            forged = change.apply(&forged);
            forged.resize(words.len(), 0);
        }
        let packed = zstd::encode_all(&[line, &forged].concat()[..], 1).unwrap();
        if let Some(Ok(solution)) = saved.solve("table", &[line, &packed].concat()) {
            // The value, right or wrong, is that of the line.
            let end = solution.line.replay(Rules::Standard, &saved.position).unwrap().final_value();
            let sign = if solution.line.turns().len().is_multiple_of(2) { 1 } else { -1 };
            prop_assert_eq!(end.map(|end| sign * end), Some(solution.value));
        }
        Ok(())
    });
}
