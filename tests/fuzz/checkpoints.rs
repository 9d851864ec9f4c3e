//! Modified checkpoints of searches. A resumed search never gives a different answer, unless the checksum was
//! corrected. Even then it does not panic.

use std::path::PathBuf;
use std::sync::OnceLock;

use kalah::file::Seal;
use kalah::game::{Position, Rules};
use kalah::solve::{Checkpoint, Solution, SolveError, Solver, SolverOptions};
use proptest::prelude::*;
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use crate::{fuzz, mutation};

/// A checkpoint of a search that was stopped half-way, and the right result.
struct Saved {
    directory: tempfile::TempDir,
    position: Position,
    proofs: Vec<u8>,
    table: Vec<u8>,
    right: Solution,
}

impl Saved {
    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Solves from a checkpoint with these files. Returns `None` if they are refused.
    fn solve(&self, name: &str, proofs: &[u8], table: &[u8]) -> Option<Result<Solution, SolveError>> {
        // Files of the last input may not look like a checkpoint, and opening a new one would keep them.
        for file in [self.path(name), self.path(&format!("{name}.table"))] {
            let _ = std::fs::remove_file(file);
        }
        let checkpoint = Checkpoint::open(self.path(name)).unwrap();
        std::fs::write(self.path(name), proofs).unwrap();
        std::fs::write(checkpoint.table_path(), table).unwrap();
        let mut solver = solver(&self.position);
        let taken_up = checkpoint.load(&mut solver, &self.position).ok()?;
        assert!(taken_up.is_some());
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
        let mut saved = Saved { directory, position, proofs: Vec::new(), table: Vec::new(), right };
        let checkpoint = Checkpoint::open(saved.path("whole")).unwrap();
        checkpoint.save_proofs(&solver, &saved.position).unwrap();
        checkpoint.save_table(&solver).unwrap();
        saved.proofs = std::fs::read(saved.path("whole")).unwrap();
        saved.table = std::fs::read(checkpoint.table_path()).unwrap();
        saved
    })
}

#[test]
fn changed_checkpoints_change_no_answer() {
    let saved = saved();
    fuzz("checkpoints", &(mutation::bytes(), any::<bool>()), |(change, of_proofs)| {
        let Saved { proofs, table, right, .. } = saved;
        let changed = change.apply(if of_proofs { proofs } else { table });
        let found =
            if of_proofs { saved.solve("changed", &changed, table) } else { saved.solve("changed", proofs, &changed) };
        match found {
            Some(Ok(solution)) => prop_assert_eq!(&solution, right),
            Some(Err(error)) => prop_assert!(false, "{}", error),
            None => prop_assert_ne!(&changed, if of_proofs { proofs } else { table }),
        }
        Ok(())
    });
}

#[test]
fn forged_proofs_make_no_panic() {
    let saved = saved();
    fuzz("forged proofs", &prop::collection::vec(mutation::json(), 1..4), |changes| {
        let mut proofs: Value = Seal::Page.open(&saved.proofs).unwrap();
        changes.iter().for_each(|change| change.apply(&mut proofs));
        proofs.as_object_mut().unwrap().remove("checksum");
        let forged = Seal::Page.close(&proofs).unwrap();
        if let Some(Ok(solution)) = saved.solve("forged", &forged, &saved.table) {
            // The value, right or wrong, is that of the line.
            let end = solution.line.replay(Rules::Standard, &saved.position).unwrap().final_value();
            let sign = if solution.line.turns().len().is_multiple_of(2) { 1 } else { -1 };
            prop_assert_eq!(end.map(|end| sign * end), Some(solution.value));
        }
        Ok(())
    });
}

#[test]
fn forged_tables_make_no_panic() {
    const HEAD: usize = 17;
    let saved = saved();
    let packed = &saved.table[HEAD..saved.table.len() - 8];
    let words = zstd::decode_all(packed).unwrap();
    fuzz("forged tables", &prop::collection::vec(mutation::bytes(), 1..9), |changes| {
        let mut forged = words.clone();
        for change in changes {
            forged = change.apply(&forged);
            forged.resize(words.len(), 0);
        }
        let table = [&saved.table[..HEAD], &zstd::encode_all(&forged[..], 1).unwrap(), &xxh3_64(&forged).to_le_bytes()]
            .concat();
        let _ = saved.solve("table", &saved.proofs, &table);
        Ok(())
    });
}
