//! The page without a server: a folder for any static host, with tables, the book and puzzles, which the page reads itself.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::answer::RuleSet;
use super::error::MAX_SEEDS;
use super::site_files::{SiteError, SitePulse, at, put};
use super::site_page::write_page;
use super::site_puzzles::{boards, steps, write_puzzles};
use crate::book::Books;
use crate::file;
use crate::game::{Capture, MAX_PITS, Rules};
use crate::index::MAX_TABLE_PITS;
use crate::system::available_disk;
use crate::table::{Shelf, TableKey};

/// The players that answer without a server.
const PLAYERS: [&str; 5] = ["perfect", "minimax:D", "alphabeta:D", "greedy", "random:SEED"];

/// What a folder is made of.
#[derive(Debug)]
#[non_exhaustive]
pub struct SiteOptions {
    /// The directory of the tables.
    pub tables: PathBuf,
    /// The most bytes of all tables.
    pub size: u64,
    /// The books.
    pub books: Books,
    /// For how many days there are puzzles of the day, from yesterday on.
    pub days: u32,
}

impl SiteOptions {
    /// The tables in `tables`, up to 100 MiB; no books; puzzles of a year.
    pub fn new(tables: PathBuf) -> SiteOptions {
        SiteOptions { tables, size: 100 << 20, books: Books::none(), days: 366 }
    }
}

/// What was written.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SiteReport {
    /// The tables.
    pub tables: Vec<TableKey>,
    /// Their bytes.
    pub table_bytes: u64,
    /// Tables that were left out, for their size.
    pub left_out: usize,
    /// Positions of the books.
    pub book_positions: usize,
    /// Puzzles.
    pub puzzles: usize,
}

/// A table that is to be copied.
#[derive(Debug)]
struct Copied {
    key: TableKey,
    bytes: u64,
    positions: u64,
    digest: String,
}

/// What a folder will hold, before it is written.
#[derive(Debug)]
pub struct SitePlan<'o> {
    options: &'o SiteOptions,
    tables: Vec<Copied>,
    left_out: usize,
}

impl SitePlan<'_> {
    /// Chooses the tables: the smallest layers first, as long as they fit.
    pub fn new(options: &SiteOptions) -> SitePlan<'_> {
        let shelf = Shelf::new(options.tables.clone());
        let mut layers = Vec::new();
        for rules in Rules::ALL {
            for pits in 1..=MAX_TABLE_PITS {
                let tables = shelf.tables(rules, pits);
                layers.extend(tables.into_iter().flat_map(|tables| tables.layers()));
            }
        }
        // Of a board, layers with more seeds are larger: none is copied without those below.
        layers.sort_by_key(|layer| (layer.header().file_bytes, layer.key().seeds));
        let mut plan = SitePlan { options, tables: Vec::new(), left_out: 0 };
        for layer in layers {
            let header = layer.header();
            if plan.bytes() + header.file_bytes > options.size {
                plan.left_out += 1;
                continue;
            }
            let digest = header.digest.iter().map(|byte| format!("{byte:02x}")).collect();
            let (key, bytes, positions) = (layer.key(), header.file_bytes, header.positions);
            plan.tables.push(Copied { key, bytes, positions, digest });
        }
        plan
    }

    /// How many tables there are.
    pub fn tables(&self) -> usize {
        self.tables.len()
    }

    /// Bytes of all tables.
    pub fn bytes(&self) -> u64 {
        self.tables.iter().map(|table| table.bytes).sum()
    }

    /// Steps in which puzzles are searched for; fewer are enough where many puzzles are found.
    pub fn puzzle_steps(&self) -> u64 {
        boards(self.tables.iter().map(|table| table.key)).len() as u64 * steps(self.options.days)
    }

    /// Begins the folder `to` with the tables; one that was written before is replaced.
    ///
    /// # Errors
    /// When a file cannot be read or written, `to` holds other files, or the disk is too small.
    pub fn copy_tables(&self, to: &Path, pulse: &SitePulse) -> Result<(), SiteError> {
        let marker = to.join("site").join("site.json");
        if to.exists() && !marker.exists() && at(to, fs::read_dir(to))?.next().is_some() {
            return Err(SiteError::NotOurs(to.to_owned()));
        }
        for folder in ["site", "tables", "book"] {
            let folder = to.join(folder);
            if folder.exists() {
                at(&folder, fs::remove_dir_all(&folder))?;
            }
            at(&folder, fs::create_dir_all(&folder))?;
        }
        // Until all is there, so that it can be written anew.
        put(to, "site/site.json", "{}")?;
        if let Some(free) = available_disk(to).filter(|&free| free < self.bytes()) {
            return Err(SiteError::Disk { path: to.to_owned(), needed: self.bytes(), free });
        }
        let mut copied = 0;
        for table in &self.tables {
            let name = table.key.file_name();
            copied = copy(&self.options.tables.join(&name), &to.join("tables").join(&name), copied, pulse)?;
        }
        Ok(())
    }

    /// Searches for puzzles in the copied tables and writes everything else, the description of the folder last.
    ///
    /// # Errors
    /// When a file cannot be read or written, or a table is damaged.
    pub fn write_rest(&self, to: &Path, pulse: &SitePulse) -> Result<SiteReport, SiteError> {
        let mut report = SiteReport {
            tables: self.tables.iter().map(|table| table.key).collect(),
            table_bytes: self.bytes(),
            left_out: self.left_out,
            ..SiteReport::default()
        };
        let books = write_books(to, &self.options.books, &mut report)?;
        pulse.advance(0)?;
        let shelf = Shelf::new(to.join("tables"));
        report.puzzles = write_puzzles(to, &shelf, &boards(report.tables.iter().copied()), self.options.days, pulse)?;
        write_page(to)?;
        put(to, "site/site.json", self.description(&books).to_string())?;
        Ok(report)
    }

    /// What the folder holds, and what the page asks a server first; `books` describes the books.
    fn description(&self, books: &[Value]) -> Value {
        let tables = self.tables.iter().map(|table| {
            let (key, positions, bytes) = (table.key, table.positions, table.bytes);
            json!({ "rules": key.rules.name(), "pits": key.pits, "seeds": key.seeds, "positions": positions,
                "bytes": bytes, "digest": table.digest })
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

/// Copies a file, `copied` bytes after those before it; returns how many there are then.
fn copy(from: &Path, to: &Path, mut copied: u64, pulse: &SitePulse) -> Result<u64, SiteError> {
    let (mut source, mut target) = (at(from, file::open(from))?, at(to, fs::File::create(to))?);
    let mut buffer = vec![0; 1 << 20];
    loop {
        pulse.advance(copied)?;
        let count = match source.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => at(from, read)?,
        };
        if count == 0 {
            return Ok(copied);
        }
        at(to, target.write_all(&buffer[..count]))?;
        copied += count as u64;
    }
}

/// Writes the books, one file a board; describes them.
fn write_books(to: &Path, books: &Books, report: &mut SiteReport) -> Result<Vec<Value>, SiteError> {
    let mut described = Vec::new();
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
            put(&to.join("book"), &format!("{rules}-{pits}.json"), json!(entries).to_string())?;
            described.push(json!({ "rules": rules.name(), "pits": pits, "positions": entries.len() }));
        }
    }
    Ok(described)
}
