use std::path::Path;

use kalah_base::file::{Document, StateError, StateFile};
use rayon::prelude::*;
use serde::Serialize;

use super::outcome::Limits;
use super::scan::{Batch, OpeningScan};

/// The file: a record for each finished batch.
const DOCUMENT: Document = Document { format: "kalah opening scan", version: 3 };

/// Identity of a scan.
#[derive(Serialize)]
struct Work {
    rules: &'static str,
    limits: Limits,
    wins: bool,
}

/// Opens or creates the state of a scan. Returns the finished batches, whose proofs are checked by the rules on the
/// threads of the current pool.
///
/// # Errors
/// As [`StateFile::open`]; also if the rules do not confirm a batch.
pub fn open_state(path: &Path, scan: &OpeningScan) -> Result<(StateFile, Vec<Batch>), StateError> {
    let work = Work { rules: scan.rules.name(), limits: scan.limits, wins: scan.wins };
    let (file, batches) = StateFile::open::<Batch>(path, DOCUMENT, &work)?;
    batches.par_iter().enumerate().try_for_each(|(index, batch)| {
        scan.confirm(batch).map_err(|error| StateError::damaged_record(file.path(), index, error))
    })?;
    Ok((file, batches))
}
