//! Tables at an address such as `https://example.org/tables`, in place of a directory.
//!
//! Before a command runs, an address of its tables is opened, by `opening`. So commands need no code for addresses,
//! except those that search.

#[cfg(feature = "remote")]
mod opening;

use std::sync::atomic::{AtomicU64, Ordering};

use indicatif::HumanBytes;
use kalah::game::{Position, Rules};
use kalah::index::MAX_TABLE_PITS;
use kalah::table::{AllTables, Table, TableKey, Tables};

use crate::cli::flags::tables_flag::Given;
use crate::cli::{Progress, failure, note, usage};

pub(crate) use opening::with_flags;

/// Commands that read tables at an address.
const READERS: [&str; 11] =
    ["check", "engine", "info", "play", "probe", "puzzles", "review", "serve", "solve", "tournament", "verify"];

/// Opens the tables at the address that `--tables` or the environment gives.
///
/// # Errors
/// When the command does not read tables at an address, or they cannot be opened.
pub(crate) fn open(given: &Given) -> failure::Result<()> {
    let Some(address) = given.address().filter(|_| !given.is_set("no_tables")) else { return Ok(()) };
    if given.is_set("build") {
        return Err(usage("--build cannot build tables at an address; leave it out, or give --tables a directory"));
    }
    if given.names.last().is_none_or(|name| !READERS.contains(name)) {
        return Err(usage(
            "this command does not use tables at an address: give --tables a directory; `kalah fetch` downloads layers",
        ));
    }
    let opened = opening::open(address, given.matches)?;
    let _ = given.named().map(|named| named.opened.set(opened));
    Ok(())
}

/// Fetches the layers that searches read, as [`fetch_for_search`] does, for all boards of `all_tables`: as many as fit
/// `limit` together, beginning with the usual boards of 6 pits.
///
/// # Errors
/// When they cannot be read, or are damaged.
pub(crate) fn fetch_for_searches(all_tables: &AllTables, mut limit: u64) -> failure::Result<()> {
    if !all_tables.directory().is_remote() {
        return Ok(());
    }
    for rules in Rules::ALL {
        let pits = (1..=6).rev().chain(7..=MAX_TABLE_PITS);
        for tables in pits.filter_map(|pits| all_tables.tables(rules, pits)) {
            limit -= fetch(tables, limit)?;
        }
    }
    Ok(())
}

/// Fetches the layers that a search of `position` reads, if `tables` are at an address: as many as fit `limit`,
/// fewest seeds first. States first what it fetches, and which layers the search does without.
///
/// # Errors
/// When they cannot be read, or are damaged.
pub(crate) fn fetch_for_search(
    tables: Option<&Tables>,
    position: Option<&Position>,
    limit: u64,
) -> failure::Result<()> {
    let Some(tables) = tables else { return Ok(()) };
    // A position of the tables is only looked up.
    let is_in = |position: &Position| tables.max_seeds().is_some_and(|last| position.seeds() as usize <= last);
    if position.is_some_and(is_in) { Ok(()) } else { fetch(tables, limit).map(drop) }
}

/// Fetches layers of tables at an address, at most `limit` bytes in all. Returns the bytes of their files.
fn fetch(tables: &Tables, limit: u64) -> failure::Result<u64> {
    let Some(last) = tables.max_seeds().filter(|_| tables.is_remote()) else { return Ok(0) };
    let size = |table: &Table| if table.blocks().is_remote() { table.header().file_bytes } else { 0 };
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
        tables.layers()[..used - 1].iter().filter(|table| table.blocks().is_remote()).try_for_each(|table| {
            table.check()?;
            done.fetch_add(size(table), Ordering::Relaxed);
            Ok::<_, kalah::table::TableError>(())
        })
    })?;
    Ok(bytes)
}

/// A program without tables at addresses.
#[cfg(not(feature = "remote"))]
mod opening {
    use clap::{ArgMatches, Command};
    use kalah::table::Directory;

    use crate::cli::failure::{self, usage};

    /// Returns the command without further flags.
    pub(crate) fn with_flags(command: Command) -> Command {
        command
    }

    /// Returns an error: this program reads no tables at addresses.
    pub(crate) fn open(_: &str, _: &ArgMatches) -> failure::Result<(Directory, u64)> {
        Err(usage(
            "this program was built without the feature `remote`: build it with `cargo build --release --locked \
             --features remote`, or give --tables a directory",
        ))
    }
}
