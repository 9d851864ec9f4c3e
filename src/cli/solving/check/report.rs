//! Printed results of `kalah check`.

use std::path::Path;

use indicatif::HumanCount;
use kalah::answer::Value;
use kalah::certificate::{CheckTally, OpeningBounds, Statement, StoredCertificate, digest_of_tables};
use kalah::game::{Position, Rules, ValueBounds};
use kalah::table::{Manifest, TableKey};
use serde::Serialize;

use crate::cli::{line, message, output};

/// The answer.
#[derive(Serialize)]
pub(crate) struct CheckAnswer {
    /// `null` if the check was stopped before it found a fault.
    ok: Option<bool>,
    digest: String,
    bytes: u64,
    rules: Rules,
    position: Position,
    #[serde(flatten)]
    bounds: Value,
    openings: Vec<OpeningAnswer>,
    effort: u32,
    /// Seeds of the largest table that the proof rests on.
    table_seeds: usize,
    /// Seeds of the largest table that was used, if the proof rests on fewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    used_seeds: Option<usize>,
    /// `null` if the check used none.
    tables: Option<TablesOrigin>,
    claims: u64,
    #[serde(flatten)]
    found: Found,
    seconds: f64,
}

/// Opening of a statement.
#[derive(Serialize)]
pub(crate) struct OpeningAnswer {
    pub r#move: String,
    #[serde(flatten)]
    pub bounds: Value,
}

/// Results of a run.
#[derive(Serialize)]
pub(crate) struct Found {
    pub extent: Extent,
    pub tally: CheckTally,
    /// Number of claims checked by this run.
    this_run: u64,
    /// Number of claims checked by earlier runs, according to the state.
    earlier: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrong: Option<String>,
}

impl Found {
    /// Returns the results of a run that checked claims to this extent, after `earlier` claims.
    pub(crate) fn new(extent: Extent, tally: CheckTally, earlier: u64) -> Found {
        Found { extent, tally, this_run: tally.claims - earlier, earlier, wrong: None }
    }

    /// Returns a fault.
    pub(crate) fn wrong(fault: String) -> Found {
        Found { wrong: Some(fault), ..Found::new(Extent::Wrong, CheckTally::default(), 0) }
    }
}

/// Extent of a check.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Extent {
    Complete,
    Stopped,
    Wrong,
}

impl CheckAnswer {
    /// Returns what a check with tables of up to `used_seeds` seeds found.
    pub(crate) fn new(
        file: &StoredCertificate,
        used_seeds: usize,
        tables: Option<TablesOrigin>,
        found: Found,
        seconds: f64,
    ) -> CheckAnswer {
        let (head, Statement { rules, position, bounds, openings }) = (file.head(), &file.head().statement);
        let opening = |opening: &OpeningBounds| OpeningAnswer {
            r#move: head.statement.line(opening).to_string(),
            bounds: stated(position, opening.bounds),
        };
        CheckAnswer {
            ok: match found.extent {
                Extent::Complete => Some(true),
                Extent::Wrong => Some(false),
                Extent::Stopped => None,
            },
            digest: output::hex(&file.digest()),
            bytes: file.bytes(),
            rules: *rules,
            position: *position,
            bounds: stated(position, *bounds),
            openings: openings.iter().map(opening).collect(),
            effort: head.effort,
            table_seeds: head.table_seeds(),
            used_seeds: Some(used_seeds).filter(|&seeds| seeds > head.table_seeds()),
            tables,
            claims: file.claims(),
            found,
            seconds,
        }
    }

    /// Prints the answer as text, for the certificate in the file `path`.
    pub(crate) fn text(&self, path: &Path, has_state: bool) -> std::io::Result<()> {
        let Found { extent, tally, this_run, earlier, wrong } = &self.found;
        if let Some(wrong) = wrong {
            return line!("WRONG: {wrong}");
        }
        let (checked, all) = (HumanCount(tally.claims), output::many(self.claims, "claim"));
        if *extent == Extent::Stopped {
            let kept = match has_state {
                true => "run the same command again to continue",
                false => "no progress is kept; --state FILE keeps it",
            };
            message!("stopped: {checked} of {all} are checked and hold; {kept}");
            return Ok(());
        }
        line!("{}, digest {}", path.display(), self.digest)?;
        let (CheckAnswer { position, rules, .. }, value) = (self, self.bounds.words("not stated"));
        line!("the value of {position} under {rules} rules for the mover: {value}")?;
        for OpeningAnswer { r#move, bounds } in &self.openings {
            line!("  after {move}: {}", bounds.words("not stated"))?;
        }
        if let Some(TablesOrigin { seeds, digest, origin, .. }) = &self.tables {
            line!("tables to {seeds} seeds: every frame was compared with its digest")?;
            line!("  digest of all {digest}: {origin}")?;
        }
        line!("{all}: every one was checked, and holds")?;
        if has_state {
            let (this_run, earlier) = (HumanCount(*this_run), HumanCount(*earlier));
            line!(
                "  {this_run} checked by this run, {earlier} by earlier runs of this program, according to the state"
            )?;
        }
        let bounds = [
            (tally.one_ply, "by one ply from other claims, ends and tables"),
            (tally.searched, "by a search"),
            (tally.one_ply_and_search, "by one ply and searches"),
            (tally.in_tables, "by a table"),
        ];
        for (count, how) in bounds.into_iter().filter(|(count, _)| *count > 0) {
            line!("  {} {how}", output::many(count, "bound"))?;
        }
        let searches = match self.effort {
            0 => "no searches".to_owned(),
            _ => format!("{} of searches", output::many(tally.nodes, "node")),
        };
        line!("  {searches}, {:.1} s", self.seconds)
    }
}

/// Returns the stated bounds of a value, without trivial ones.
fn stated(position: &Position, bounds: ValueBounds) -> Value {
    Value::new(bounds).beyond_stores(position)
}

/// Returns the stated value in words.
pub(crate) fn value_text(position: &Position, bounds: ValueBounds) -> String {
    stated(position, bounds).words("not stated")
}

/// Tables of a check, compared with the manifest inside the program.
#[derive(Serialize)]
pub(crate) struct TablesOrigin {
    /// Seeds of the largest table.
    #[serde(skip)]
    seeds: usize,
    /// One digest of all tables.
    digest: String,
    /// `as in the manifest` or `unknown`.
    origin: &'static str,
    /// Seeds of the smallest table that is not in the manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_unknown: Option<usize>,
}

impl TablesOrigin {
    /// Returns the origin of the tables with these digests, from 2 seeds up; `None` without tables. Warns if the
    /// manifest does not have all of them. `last` is the largest of them.
    pub(crate) fn of(last: TableKey, digests: &[[u8; 32]]) -> Option<TablesOrigin> {
        let digest = output::hex(&digest_of_tables(digests)?);
        let known = |seeds| Manifest::built_in().entry(TableKey { seeds, ..last });
        let is_known = |digest, seeds| known(seeds).is_some_and(|entry| entry.digest == output::hex(digest));
        let first_unknown = digests.iter().zip(2..).find(|&(digest, seeds)| !is_known(digest, seeds));
        let first_unknown = first_unknown.map(|(_, seeds)| seeds);
        if let Some(seeds) = first_unknown {
            let key = TableKey { seeds, ..last };
            message!(
                "warning: the check uses unknown tables: the manifest has {} table for {key}. Its result is only as \
                 good as they are: `kalah verify --consistency` checks their scores",
                if known(seeds).is_some() { "a different" } else { "no" }
            );
        }
        let origin = if first_unknown.is_none() { "as in the manifest" } else { "unknown" };
        Some(TablesOrigin { seeds: last.seeds, digest, origin, first_unknown })
    }
}
