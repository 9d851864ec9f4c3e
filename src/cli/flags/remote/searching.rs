use std::sync::atomic::{AtomicU64, Ordering};

use indicatif::HumanBytes;
use kalah::game::{Position, Rules};
use kalah::index::MAX_TABLE_PITS;
use kalah::table::{AllTables, Layer, Table, TableKey, Tables};

use super::opening;
use crate::cli::{Progress, failure, note};

/// Fetches the layers that searches read, as [`fetch_for_search`] does, for all boards of `all_tables`: as many as fit
/// `--fetch-limit` together, beginning with the usual boards of 6 pits.
///
/// # Errors
/// When they cannot be read, or are damaged.
pub(crate) fn fetch_for_searches(all_tables: &AllTables) -> failure::Result<()> {
    if !all_tables.directory().is_remote() {
        return Ok(());
    }
    let mut limit = opening::fetch_limit();
    for rules in Rules::ALL {
        let pits = (1..=6).rev().chain(7..=MAX_TABLE_PITS);
        for tables in pits.filter_map(|pits| all_tables.tables(rules, pits)) {
            limit -= fetch(tables, limit)?;
        }
    }
    Ok(())
}

/// Fetches the layers that a search of `position` reads, if `tables` are at an address: as many as fit `--fetch-limit`,
/// fewest seeds first. States first what it fetches, and which layers the search does without.
///
/// # Errors
/// When they cannot be read, or are damaged.
pub(crate) fn fetch_for_search(tables: Option<&Tables>, position: Option<&Position>) -> failure::Result<()> {
    let Some(tables) = tables else { return Ok(()) };
    // A position of the tables is only looked up.
    let is_in = |position: &Position| tables.max_seeds().is_some_and(|last| position.seeds() as usize <= last);
    if position.is_some_and(is_in) { Ok(()) } else { fetch(tables, opening::fetch_limit()).map(drop) }
}

/// Fetches layers of tables at an address, at most `limit` bytes in all. Returns the bytes of their files.
fn fetch(tables: &Tables, limit: u64) -> failure::Result<u64> {
    let Some(last) = tables.max_seeds().filter(|_| tables.is_remote()) else { return Ok(0) };
    let size = |table: &Table| if table.is_remote() { table.header().file_bytes } else { 0 };
    let (mut bytes, mut used) = (0, 1);
    for table in tables.layers() {
        let more = size(table);
        if bytes + more > limit {
            break;
        }
        (bytes, used) = (bytes + more, table.key().seeds);
    }
    let address = tables.directory();
    let TableKey { rules, pits, .. } = tables.key(last);
    if used < last {
        let rest: u64 = tables.layers()[used - 1..].iter().map(|table| size(table)).sum();
        let first = used + 1;
        note!(
            "searches do not use the tables of {first} to {last} seeds at {address}, which they would read as a whole: \
             raise --fetch-limit by {}, or download them with `kalah fetch {address} --rules {rules} --pits {pits} \
             --seeds 2..{last}`",
            HumanBytes(rest),
        );
    }
    if used < 2 {
        return Ok(0);
    }
    note!("fetching the tables to {used} seeds, at most {}, from {address}", HumanBytes(bytes));
    let (progress, done) = (Progress::of(bytes, "bytes"), AtomicU64::new(0));
    progress.complete(&done, || {
        tables.layers()[..used - 1].iter().filter(|table| table.is_remote()).try_for_each(|table| {
            table.check()?;
            done.fetch_add(size(table), Ordering::Relaxed);
            Ok::<_, kalah::table::TableError>(())
        })
    })?;
    Ok(bytes)
}
