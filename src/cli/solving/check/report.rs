//! Printed results of `kalah check`.

use std::path::Path;

use indicatif::{HumanBytes, HumanCount};
use kalah::answer::Value;
use kalah::certificate::{CheckTally, OpeningBounds, Statement, StoredCertificate, digest_of_tables};
use kalah::game::{Position, ValueBounds};
use kalah::table::{Manifest, TableKey};
use serde::Serialize;

use crate::cli::{line, output};

/// Answer as JSON.
#[derive(Serialize)]
struct CheckAnswer {
    /// `null` if no fault was found and not every claim was checked.
    ok: Option<bool>,
    digest: String,
    bytes: u64,
    rules: &'static str,
    position: String,
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
    tables: Option<TablesAnswer>,
    claims: u64,
    /// `complete`, `sample`, `stopped` or `wrong`.
    extent: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tally: Option<CheckTally>,
    /// Number of claims checked by this run.
    this_run: u64,
    /// Number of claims checked by earlier runs, according to the state.
    earlier: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong: Option<String>,
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
pub(crate) struct Found {
    pub tally: CheckTally,
    /// Number of claims checked by earlier runs, according to the state.
    pub earlier: u64,
    pub extent: Extent,
}

impl Found {
    /// Returns the results of a run that was stopped before its first claim.
    pub(crate) fn stopped(done: CheckTally) -> Found {
        Found { tally: done, earlier: done.claims, extent: Extent::Stopped }
    }

    /// Number of claims checked by this run.
    fn this_run(&self) -> u64 {
        self.tally.claims - self.earlier
    }
}

/// Extent of a check.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Complete,
    Sample,
    Stopped,
}

impl Extent {
    fn name(self) -> &'static str {
        match self {
            Extent::Complete => "complete",
            Extent::Sample => "sample",
            Extent::Stopped => "stopped",
        }
    }
}

/// Properties of a check that are reported, whatever its result.
pub(crate) struct CheckReport<'a> {
    /// Path of the certificate.
    pub path: &'a Path,
    /// Certificate.
    pub file: &'a StoredCertificate,
    /// Seeds of the largest table that was used; 0 for none.
    pub used_seeds: usize,
    /// Tables that were used, if any.
    pub origin: Option<&'a TablesOrigin>,
    /// True with `--sample`.
    pub is_sample: bool,
    /// True with `--state`.
    pub has_state: bool,
    /// Duration.
    pub seconds: f64,
}

impl CheckReport<'_> {
    /// Prints a JSON document: the results, or the fault.
    pub(crate) fn json(&self, found: Option<&Found>, wrong: Option<String>) -> std::io::Result<()> {
        let head = self.file.head();
        let statement = &head.statement;
        let opening = |opening: &OpeningBounds| OpeningAnswer {
            r#move: statement.line(opening).to_string(),
            bounds: stated(&statement.position, opening.bounds),
        };
        let extent = found.map_or(Extent::Stopped, |found| found.extent);
        output::json(&CheckAnswer {
            ok: match (&wrong, extent) {
                (Some(_), _) => Some(false),
                (None, Extent::Complete) => Some(true),
                (None, Extent::Sample | Extent::Stopped) => None,
            },
            digest: output::hex(&self.file.digest()),
            bytes: self.file.bytes(),
            rules: statement.rules.name(),
            position: statement.position.to_string(),
            bounds: stated(&statement.position, statement.bounds),
            openings: statement.openings.iter().map(opening).collect(),
            effort: head.effort,
            table_seeds: head.table_seeds(),
            used_seeds: Some(self.used_seeds).filter(|&seeds| seeds > head.table_seeds()),
            tables: self.origin.map(TablesOrigin::answer),
            claims: self.file.claims(),
            extent: if wrong.is_some() { "wrong" } else { extent.name() },
            tally: found.map(|found| found.tally),
            this_run: found.map_or(0, Found::this_run),
            earlier: found.map_or(0, |found| found.earlier),
            wrong,
            seconds: self.seconds,
        })
    }

    /// Prints the results as text.
    pub(crate) fn text(&self, found: &Found) -> std::io::Result<()> {
        let (tally, claims) = (&found.tally, self.file.claims());
        if found.extent == Extent::Stopped {
            let kept = match (self.is_sample, self.has_state) {
                (false, true) => "run the same command again to continue",
                (false, false) => "no progress is kept; --state FILE keeps it",
                (true, _) => "the same command starts over",
            };
            let (checked, claims) = (HumanCount(tally.claims), output::many(claims, "claim"));
            let how_far = format!("stopped: {checked} of {claims} are checked and hold; {kept}");
            output::message(if self.is_sample { format!("stopped; {kept}") } else { how_far });
            return Ok(());
        }
        line!("{}, digest {}", self.path.display(), output::hex(&self.file.digest()))?;
        output::line(statement_text(&self.file.head().statement))?;
        if let Some(origin) = self.origin {
            output::line(origin.text())?;
        }
        let (checked, all) = (HumanCount(tally.claims), output::many(claims, "claim"));
        output::line(match found.extent {
            Extent::Complete => format!("{all}: every one was checked, and holds"),
            _ => format!("a sample, not a full check: {checked} of {all} hold; the others were not checked"),
        })?;
        if self.has_state {
            let (this_run, earlier) = (HumanCount(found.this_run()), HumanCount(found.earlier));
            let by = format!("{this_run} checked by this run, {earlier} by earlier runs of this program");
            line!("  {by}, according to the state")?;
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
        let searches = match self.file.head().effort {
            0 => "no searches".to_owned(),
            _ => format!("{} of searches", output::many(tally.nodes, "node")),
        };
        line!("  {searches}, {:.1} s", self.seconds)?;
        Ok(())
    }
}

/// Describes the certificate briefly.
pub(crate) fn description(file: &StoredCertificate) -> String {
    let head = file.head();
    let tables = match head.table_seeds() {
        0 => "no tables".to_owned(),
        seeds => format!("the tables to {seeds} seeds"),
    };
    let searches = match head.effort {
        0 => "no searches".to_owned(),
        effort => format!("searches of at most 2^{effort} nodes"),
    };
    format!(
        "{} in {}, effort {} ({searches}), resting on {tables}",
        output::many(file.claims(), "claim"),
        HumanBytes(file.bytes()),
        head.effort,
    )
}

/// Returns the stated bounds of a value, without trivial ones.
fn stated(position: &Position, bounds: ValueBounds) -> Value {
    Value::new(bounds).beyond(Statement::all_values(position))
}

/// Returns the stated value in words.
pub(crate) fn value_text(position: &Position, bounds: ValueBounds) -> String {
    Value::new(bounds).beyond(Statement::all_values(position)).words("not stated")
}

/// Returns a statement in words.
fn statement_text(statement: &Statement) -> String {
    let Statement { rules, position, bounds, openings } = statement;
    let mut text =
        format!("the value of {position} under {rules} rules for the mover: {}", value_text(position, *bounds));
    for opening in openings {
        text += &format!("\n  after {}: {}", statement.line(opening), value_text(position, opening.bounds));
    }
    text
}

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
struct TablesAnswer {
    /// One digest of all tables.
    digest: String,
    /// `as in the manifest` or `unknown`.
    origin: &'static str,
    /// Seeds of the smallest table that is not in the manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_unknown: Option<usize>,
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

    /// Describes the tables.
    fn text(&self) -> String {
        format!(
            "tables to {} seeds: every frame was compared with its digest\n  digest of all {}: {}",
            self.seeds,
            output::hex(&self.digest),
            self.origin()
        )
    }

    /// Returns the JSON form.
    fn answer(&self) -> TablesAnswer {
        let first_unknown = self.unknown.as_ref().map(|unknown| unknown.key.seeds);
        TablesAnswer { digest: output::hex(&self.digest), origin: self.origin(), first_unknown }
    }

    fn origin(&self) -> &'static str {
        if self.unknown.is_none() { "as in the manifest" } else { "unknown" }
    }
}
