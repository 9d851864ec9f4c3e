//! Comparison of the tables that a check uses with the manifest.

use kalah::certificate::digest_of_tables;
use kalah::table::{Manifest, TableKey};
use serde::Serialize;

use crate::cli::output;

/// Tables of a check, compared with the manifest inside the program.
pub(crate) struct TablesOrigin {
    /// Seeds of the largest table.
    seeds: usize,
    /// One digest of all tables.
    digest: [u8; 32],
    unknown: Option<Unknown>,
}

/// Table with the fewest seeds that is not in the manifest.
struct Unknown {
    key: TableKey,
    /// True if the manifest has another table for this key.
    has_another: bool,
}

/// JSON form of [`TablesOrigin`].
#[derive(Serialize)]
pub(crate) struct TablesAnswer {
    /// One digest of all tables.
    digest: String,
    /// `as in the manifest` or `unknown`.
    origin: &'static str,
    /// Seeds of the smallest table that is not in the manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_unknown: Option<usize>,
    /// False with `--trust-tables`.
    compared: bool,
}

impl TablesOrigin {
    /// Returns the origin of the tables with these digests, from 2 seeds up; `None` without tables. `last` is the
    /// largest of them.
    pub(crate) fn of(last: TableKey, digests: &[[u8; 32]]) -> Option<TablesOrigin> {
        let digest = digest_of_tables(digests)?;
        let known = Manifest::built_in();
        let unknown = digests.iter().zip(2..).find_map(|(digest, seeds)| {
            let key = TableKey { seeds, ..last };
            let entry = known.entry(key);
            let is_known = entry.is_some_and(|entry| entry.digest == output::hex(digest));
            (!is_known).then_some(Unknown { key, has_another: entry.is_some() })
        });
        Some(TablesOrigin { seeds: last.seeds, digest, unknown })
    }

    /// Returns a warning if the manifest does not have all tables.
    pub(crate) fn warning(&self) -> Option<String> {
        let Unknown { key, has_another } = self.unknown.as_ref()?;
        let why = if *has_another {
            format!("the manifest has a different table for {key}")
        } else {
            format!("the manifest has no table for {key}")
        };
        Some(format!(
            "warning: the check uses unknown tables: {why}. Its result is only as good as they are: `kalah \
             verify --consistency` checks their scores"
        ))
    }

    /// Describes the tables; `compared` is false with `--trust-tables`.
    pub(crate) fn text(&self, compared: bool) -> String {
        let origin = self.origin();
        let how = if compared {
            "every frame was compared with its digest"
        } else {
            "TRUSTED: their contents were not compared with their digests (--trust-tables)"
        };
        format!("tables to {} seeds: {how}\n  digest of all {}: {origin}", self.seeds, output::hex(&self.digest))
    }

    /// Returns the JSON form; `compared` is false with `--trust-tables`.
    pub(crate) fn answer(&self, compared: bool) -> TablesAnswer {
        let first_unknown = self.unknown.as_ref().map(|unknown| unknown.key.seeds);
        TablesAnswer { digest: output::hex(&self.digest), origin: self.origin(), first_unknown, compared }
    }

    fn origin(&self) -> &'static str {
        if self.unknown.is_none() { "as in the manifest" } else { "unknown" }
    }
}
