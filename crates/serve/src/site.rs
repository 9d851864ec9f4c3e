//! The page without a server: a folder for any static host, with tables, the book and puzzles that the page reads
//! itself.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kalah_core::game::{Capture, MAX_PITS, Rules};
use kalah_core::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};
use kalah_solve::book::Books;
use kalah_tables::file;
use kalah_tables::progress::Pulse;
use kalah_tables::system::available_disk;
use kalah_tables::table::{Shelf, Table, TableError, TableKey, Tables};
use serde_json::{Value, json};

use super::answer::RuleSet;
use super::error::MAX_SEEDS;
use super::site_files::{SiteError, advance, at};
use super::site_folder::{SiteFolder, TABLES};
use super::site_page::Site;
use super::site_puzzles::{has_puzzles, puzzles, steps};

/// Bytes of a table copied at a time.
const STEP: usize = 1 << 20;

/// Players that work without a server.
const PLAYERS: [&str; 5] = ["perfect", "minimax:D", "alphabeta:D", "greedy", "random:SEED"];

/// Settings of a site.
#[derive(Debug)]
#[non_exhaustive]
pub struct SiteOptions {
    /// Directory of the tables.
    pub tables: PathBuf,
    /// Maximum bytes of all tables.
    pub size: u64,
    /// Books.
    pub books: Books,
    /// Number of days with a puzzle of the day, from yesterday on.
    pub days: u32,
}

impl SiteOptions {
    /// Returns the default settings with the tables in `tables`: up to 100 MiB of them, no books, puzzles for a year.
    pub fn new(tables: PathBuf) -> SiteOptions {
        SiteOptions { tables, size: 100 << 20, books: Books::none(), days: 366 }
    }
}

/// Summary of a written site.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SiteReport {
    /// The tables.
    pub tables: Vec<TableKey>,
    /// Bytes of the tables.
    pub table_bytes: u64,
    /// Number of tables left out because of their size.
    pub left_out: usize,
    /// Number of positions in the books.
    pub book_positions: usize,
    /// Number of puzzles.
    pub puzzles: usize,
}

/// Plan of a site, before it is written.
#[derive(Debug)]
pub struct SitePlan<'o> {
    options: &'o SiteOptions,
    tables: Vec<Arc<Table>>,
    left_out: usize,
    /// Directory of the tables, and all tables there, which must not be in the folder.
    sources: Vec<PathBuf>,
}

impl SitePlan<'_> {
    /// Chooses the tables, the smallest layers first, as long as they fit.
    ///
    /// # Errors
    /// If the directory of the tables does not exist, or one of its tables is damaged or unusable without missing
    /// layers below it.
    pub fn new(options: &SiteOptions) -> Result<SitePlan<'_>, SiteError> {
        if !options.tables.is_dir() {
            return Err(SiteError::NoTables(options.tables.clone()));
        }
        let shelf = Shelf::new(options.tables.clone());
        let mut layers = Vec::new();
        for rules in Rules::ALL {
            for pits in 1..=MAX_TABLE_PITS {
                layers.extend(shelf.tables(rules, pits).into_iter().flat_map(Tables::layers).cloned());
            }
        }
        require_all(&options.tables, &layers)?;
        // Layers of a board with more seeds are larger, so no layer is copied without those below it.
        layers.sort_by_key(|layer| (layer.header().file_bytes, layer.key().seeds));
        let files = layers.iter().map(|layer| layer.path().to_owned());
        let sources = std::iter::once(options.tables.clone()).chain(files).collect();
        let mut plan = SitePlan { options, tables: Vec::new(), left_out: 0, sources };
        for layer in layers {
            if plan.bytes() + layer.header().file_bytes > options.size {
                plan.left_out += 1;
            } else {
                plan.tables.push(layer);
            }
        }
        Ok(plan)
    }

    /// Returns the number of tables.
    pub fn tables(&self) -> usize {
        self.tables.len()
    }

    /// Returns the bytes of all tables.
    pub fn bytes(&self) -> u64 {
        self.tables.iter().map(|table| table.header().file_bytes).sum()
    }

    /// Returns the steps of the search for puzzles. If many are found, it takes fewer.
    pub fn puzzle_steps(&self) -> u64 {
        self.boards().len() as u64 * steps(self.options.days)
    }

    /// Returns the tables of each board that has puzzles.
    fn boards(&self) -> Vec<Tables> {
        let mut boards: BTreeMap<(usize, usize), Tables> = BTreeMap::new();
        for table in self.tables.iter().filter(|table| has_puzzles(table.key().pits)) {
            let TableKey { rules, pits, .. } = table.key();
            let empty = || Tables::empty(&self.options.tables, rules, pits, MAX_TABLE_SEEDS);
            let board = boards.entry((rules.index(), pits)).or_insert_with(empty);
            board.push(Arc::clone(table)).expect("layers come with those below");
        }
        boards.into_values().collect()
    }

    /// Begins a site in the folder `to` with the tables. An existing site stays unchanged until
    /// [`SitePlan::write_rest`] has written everything else.
    ///
    /// # Errors
    /// If a file cannot be read or written, a table is damaged, the tables are in `to`, `to` has other files than
    /// those of a site, the disk is too small, or `pulse` was stopped.
    pub fn copy_tables(&self, to: &Path, pulse: &Pulse) -> Result<SiteFolder, SiteError> {
        let mut folder = SiteFolder::open(to, &self.sources)?;
        folder.claim(self.tables.iter().map(|table| table_path(table)))?;
        let is_missing = |table: &&Arc<Table>| !to.join(table_path(table)).exists();
        let needed = self.tables.iter().filter(is_missing).map(|table| table.header().file_bytes).sum();
        if let Some(free) = available_disk(to).filter(|&free| free < needed) {
            return Err(SiteError::Disk { path: to.to_owned(), needed, free });
        }
        let mut copied = 0;
        for table in &self.tables {
            copied = copy(table, &folder, copied, pulse)?;
        }
        Ok(folder)
    }

    /// Searches for puzzles, writes everything else, and replaces the old site by the new one.
    ///
    /// # Errors
    /// If a file cannot be read or written, a table is damaged, or `pulse` was stopped. The old site is unchanged
    /// then.
    pub fn write_rest(&self, mut folder: SiteFolder, pulse: &Pulse) -> Result<SiteReport, SiteError> {
        let mut report = SiteReport {
            tables: self.tables.iter().map(|table| table.key()).collect(),
            table_bytes: self.bytes(),
            left_out: self.left_out,
            ..SiteReport::default()
        };
        let (mut files, books) = books(&self.options.books, &mut report);
        advance(pulse, 0)?;
        let (puzzles, count) = puzzles(&self.boards(), self.options.days, pulse)?;
        report.puzzles = count;
        files.extend(puzzles);
        files.push(("site.json".to_owned(), self.description(&books).to_string()));
        let tables: Vec<String> = self.tables.iter().map(|table| table_path(table)).collect();
        let site = Site::new(files, &tables);
        folder.claim(site.files.keys().cloned())?;
        for (name, text) in &site.files {
            folder.put(name, text.as_bytes())?;
        }
        folder.publish(&site.page)?;
        Ok(report)
    }

    /// Returns a description of the folder, with the first answers of a server; `books` describes the books.
    fn description(&self, books: &[Value]) -> Value {
        let tables = self.tables.iter().map(|table| {
            let (key, header) = (table.key(), table.header());
            json!({ "rules": key.rules.name(), "pits": key.pits, "seeds": key.seeds, "positions": header.positions,
                "bytes": header.file_bytes, "digest": hex(&header.digest), "file": table_path(table) })
        });
        let rules = Rules::ALL.map(|rules| {
            let capture = match rules.capture() {
                Capture::Always => "always",
                Capture::OppositeSeeds => "opposite",
                Capture::Never => "never",
            };
            json!({ "name": rules.name(), "code": rules.code(), "again": rules.moves_again(), "capture": capture,
                "relays": rules.relays() })
        });
        let server = json!({ "version": env!("CARGO_PKG_VERSION"), "rules": Rules::ALL.map(Rules::name),
            "rule_sets": Rules::ALL.map(RuleSet::from), "players": PLAYERS, "time": 0.0, "stream_time": 0.0,
            "searches": 1, "seeds": MAX_SEEDS, "pits": MAX_PITS, "books": books, "static": true });
        json!({ "server": server, "rules": rules, "tables": tables.collect::<Vec<Value>>() })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the path of a table in the folder. It contains the beginning of the digest, since files are never changed.
fn table_path(table: &Table) -> String {
    format!("{TABLES}/{}-{}.kalah", table.key().file_stem(), hex(&table.header().digest[..8]))
}

/// Returns an error if a file in `directory` is named like a table but is not in `layers`.
fn require_all(directory: &Path, layers: &[Arc<Table>]) -> Result<(), SiteError> {
    let mut others = Vec::new();
    for entry in at(directory, fs::read_dir(directory))? {
        let key = TableKey::named(&at(directory, entry)?.path());
        others.extend(key.filter(|&key| layers.iter().all(|layer| layer.key() != key)));
    }
    // Layers above a damaged one are unusable.
    for key in &others {
        Table::open_key(directory, *key)?;
    }
    let Some(&key) = others.iter().min_by_key(|key| key.seeds) else { return Ok(()) };
    let missing = (2..key.seeds).filter(|&seeds| !TableKey { seeds, ..key }.path(directory).exists()).collect();
    Err(TableError::Missing { directory: directory.to_owned(), key, missing }.into())
}

/// Copies a table into the folder, unless the copy exists. `copied` counts the bytes of tables before it; returns the
/// new count.
fn copy(table: &Table, folder: &SiteFolder, copied: u64, pulse: &Pulse) -> Result<u64, SiteError> {
    let (name, all) = (table_path(table), copied + table.header().file_bytes);
    let path = folder.path().join(&name);
    if is_copy(&path, table.bytes()) {
        advance(pulse, all)?;
        return Ok(all);
    }
    table.check()?;
    let mut target = folder.begin(&name)?;
    for (step, bytes) in table.bytes().chunks(STEP).enumerate() {
        advance(pulse, copied + (step * STEP) as u64)?;
        at(&path, target.write_all(bytes))?;
    }
    at(&path, target.finish())?;
    advance(pulse, all)?;
    Ok(all)
}

/// Returns true if a file has these bytes.
fn is_copy(path: &Path, bytes: &[u8]) -> bool {
    let compare = || -> io::Result<bool> {
        let mut file = file::open(path)?;
        if file.metadata()?.len() != bytes.len() as u64 {
            return Ok(false);
        }
        let mut buffer = vec![0; STEP];
        for bytes in bytes.chunks(STEP) {
            let buffer = &mut buffer[..bytes.len()];
            file.read_exact(buffer)?;
            if buffer != bytes {
                return Ok(false);
            }
        }
        Ok(true)
    };
    // An unreadable file is written again.
    compare().unwrap_or(false)
}

/// Returns files with the books, one for each board, and their description.
fn books(books: &Books, report: &mut SiteReport) -> (Vec<(String, String)>, Vec<Value>) {
    let (mut files, mut described) = (Vec::new(), Vec::new());
    for rules in Rules::ALL {
        for pits in 1..=MAX_PITS {
            let Some(book) = books.get(rules, pits).filter(|book| !book.is_empty()) else { continue };
            let row = |seeds: &[u32]| seeds.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
            let entries: BTreeMap<String, [u32; 2]> = book
                .iter()
                .map(|(position, bounds)| {
                    let key = format!("{}/{}", row(position.mover().seeds()), row(position.other().seeds()));
                    (key, [bounds.lower, bounds.upper])
                })
                .collect();
            report.book_positions += entries.len();
            files.push((format!("book-{rules}-{pits}.json"), json!(entries).to_string()));
            described.push(json!({ "rules": rules.name(), "pits": pits, "positions": entries.len() }));
        }
    }
    (files, described)
}
