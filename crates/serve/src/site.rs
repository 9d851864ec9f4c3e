//! The page without a server: a folder for any static host, with the engine as WebAssembly, and tables and books that
//! it reads.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kalah_api::answer::{ServerAnswer, TablesAnswer};
use kalah_api::{follow_line, hex};
use kalah_base::file;
use kalah_base::progress::Pulse;
use kalah_base::system::available_disk;
use kalah_core::evaluation::PhasedNetwork;
use kalah_core::game::{MAX_PITS, Position, Rules};
use kalah_core::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS, layer_positions};
use kalah_core::table::{Listing, Opening, Table, Tables};
use kalah_solve::book::{Book, Books};
use serde::Serialize;
use serde_json::{Value, json};

use super::page::SiteAddress;
use super::site_folder::{SiteError, SiteFolder, TABLES, advance, at};
use super::site_page::Site;

/// Bytes of a table copied at a time.
const STEP: usize = 1 << 20;

/// First bytes of every WebAssembly module.
const HEAD: &[u8] = b"\0asm\x01\0\0\0";

/// Kind of a custom section.
const CUSTOM: u8 = 0;

/// Settings of a site.
#[derive(Debug)]
#[non_exhaustive]
pub struct SiteOptions {
    /// The engine, `kalah_wasm.wasm`.
    pub module: PathBuf,
    /// The module that answers until the engine has loaded, `kalah_first.wasm`.
    pub first: PathBuf,
    /// Directory of the tables. Without it there are no tables.
    pub tables: PathBuf,
    /// Maximum bytes of all tables.
    pub size: u64,
    /// Books.
    pub books: Books,
    /// Address at which the folder will be published, for link previews.
    pub address: Option<SiteAddress>,
    /// Seeds of the largest tables that the engine builds for 6 pits, with as many positions for other boards; 0 for
    /// none.
    pub seeds: usize,
}

impl SiteOptions {
    /// Returns the default settings with the engine `module` and the tables in `tables`: up to 100 MiB of them, the
    /// shipped books, and tables to 18 seeds built by the engine. The first module is beside the engine.
    pub fn new(module: PathBuf, tables: PathBuf) -> SiteOptions {
        let first = module.with_file_name("kalah_first.wasm");
        SiteOptions { module, first, tables, size: 100 << 20, books: Books::shipped(), address: None, seeds: 18 }
    }
}

/// Summary of a written site.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct SiteReport {
    /// Number of tables.
    pub tables: usize,
    /// Bytes of the tables.
    pub table_bytes: u64,
    /// Number of tables left out because of their size.
    pub left_out: usize,
    /// Bytes of the engine.
    pub module_bytes: u64,
    /// Number of positions in the books.
    pub book_positions: usize,
}

/// Plan of a site, before it is written.
#[derive(Debug)]
pub struct SitePlan<'o> {
    options: &'o SiteOptions,
    /// The engine and the first module, by their names in the folder.
    modules: Vec<(&'static str, Vec<u8>)>,
    tables: Vec<Arc<Table>>,
    left_out: usize,
    /// Directory of the tables, and all tables there, which must not be in the folder.
    sources: Vec<PathBuf>,
}

impl SitePlan<'_> {
    /// Chooses the tables, the smallest layers first, as long as they fit.
    ///
    /// # Errors
    /// If the engine cannot be read, or a table is damaged or unusable without missing layers below it.
    pub fn new(options: &SiteOptions) -> Result<SitePlan<'_>, SiteError> {
        let modules =
            vec![("kalah_wasm.wasm", module(&options.module)?), ("kalah_first.wasm", module(&options.first)?)];
        let mut layers = Vec::new();
        for rules in Rules::ALL {
            for pits in 1..=MAX_TABLE_PITS {
                let tables = Tables::open(&options.tables, rules, pits, Opening::default().if_there())?;
                tables.require_all()?;
                layers.extend(tables.layers().iter().cloned());
            }
        }
        // Layers of a board with more seeds are larger, so no layer is copied without those below it.
        layers.sort_by_key(|layer| (layer.header().file_bytes, layer.key().seeds));
        let files = layers.iter().map(|layer| layer.path().to_owned());
        let directory = options.tables.exists().then(|| options.tables.clone());
        let sources = directory.into_iter().chain(files).collect();
        let mut plan = SitePlan { options, modules, tables: Vec::new(), left_out: 0, sources };
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

    /// Writes everything else, and replaces the old site by the new one.
    ///
    /// # Errors
    /// If a file cannot be written, or `pulse` was stopped. The old site is unchanged then.
    pub fn write_rest(&self, mut folder: SiteFolder, pulse: &Pulse) -> Result<SiteReport, SiteError> {
        let mut report = SiteReport {
            tables: self.tables(),
            table_bytes: self.bytes(),
            left_out: self.left_out,
            module_bytes: self.modules[0].1.len() as u64,
            book_positions: 0,
        };
        let mut files = data(&self.options.books, &mut report);
        let description = self.description(files.iter().map(|(name, _)| &**name));
        files.extend(self.modules.iter().map(|(name, module)| ((*name).to_owned(), module.clone())));
        pulse.check()?;
        let tables: Vec<String> = self.tables.iter().map(|table| table_path(table)).collect();
        let site = Site::new(files, &description, &self.answers(), &tables, self.options.address.as_ref());
        folder.claim(site.files.keys().cloned())?;
        for (name, bytes) in &site.files {
            folder.put(name, bytes)?;
        }
        folder.publish(&site.page)?;
        Ok(report)
    }

    /// Returns a description of the folder, with the names of the books and networks.
    fn description<'n>(&self, files: impl Iterator<Item = &'n str>) -> Value {
        let tables = self.tables.iter().map(|table| {
            let (key, header) = (table.key(), table.header());
            json!({ "rules": key.rules.name(), "pits": key.pits, "seeds": key.seeds, "positions": header.positions,
                "bytes": header.file_bytes, "digest": hex(&header.digest), "file": table_path(table) })
        });
        let seeds = 2..=self.options.seeds.min(MAX_TABLE_SEEDS);
        let positions: u64 = seeds.map(|seeds| layer_positions(6, seeds)).sum();
        json!({ "positions": positions, "tables": tables.collect::<Vec<Value>>(),
            "files": files.collect::<Vec<&str>>() })
    }

    /// Returns answers that need no engine, by the targets of the requests. It adds the tables that it builds.
    fn answers(&self) -> Value {
        let mut listing = Listing::default();
        let entry = |table: &Arc<Table>| (table.key(), table.header().positions, table.header().file_bytes);
        listing.tables = self.tables.iter().map(entry).collect();
        let mut answers =
            json!({ "": ServerAnswer::of_page(&self.options.books), "tables": TablesAnswer::from(listing) });
        answers.as_object_mut().expect("an object").extend(first_moves());
        answers
    }
}

/// Returns the answers about the first moves of Kalah(6,4), by the targets that the page requests. With them, it can be
/// played before any module has loaded.
fn first_moves() -> impl Iterator<Item = (String, Value)> {
    let board: Position = "6x4".parse().expect("the start of Kalah(6,4)");
    let board = board.to_string().replace('<', "%3C").replace(',', "%2C").replace('>', "%3E");
    Rules::ALL.into_iter().flat_map(move |rules| {
        let query = format!("board={board}&rules={}&moves=", rules.name());
        (1..=6).map(move |pit| {
            let query = format!("{query}{pit}");
            let answer = follow_line(&query).expect("the first move of a game");
            (format!("line?{query}"), json!(answer))
        })
    })
}

/// Reads a WebAssembly module, without its custom sections: the books and networks for other hosts.
fn module(path: &Path) -> Result<Vec<u8>, SiteError> {
    let bytes = at(path, file::read(path))?;
    let sections = bytes.strip_prefix(HEAD).and_then(program).ok_or_else(|| SiteError::NoModule(path.to_owned()))?;
    Ok([HEAD, &sections].concat())
}

/// Returns the `sections` of a module except custom ones; `None` if they are incomplete.
fn program(mut sections: &[u8]) -> Option<Vec<u8>> {
    let mut kept = Vec::new();
    while let Some((&kind, after)) = sections.split_first() {
        // The size, seven bits in each byte, the lowest first.
        let digits = 1 + after.iter().position(|byte| byte & 0x80 == 0)?;
        let size = after[..digits].iter().rfold(0, |size, byte| size << 7 | usize::from(byte & 0x7f));
        let (section, others) = sections.split_at_checked((1 + digits).checked_add(size)?)?;
        if kind != CUSTOM {
            kept.extend_from_slice(section);
        }
        sections = others;
    }
    Some(kept)
}

/// Returns all boards that may have a book.
fn boards() -> impl Iterator<Item = (Rules, usize)> {
    Rules::ALL.into_iter().flat_map(|rules| (1..=MAX_PITS).map(move |pits| (rules, pits)))
}

/// Returns the path of a table in the folder. It contains the beginning of the digest, since files are never changed.
fn table_path(table: &Table) -> String {
    format!("{TABLES}/{}-{}.kalah", table.key().file_stem(), hex(&table.header().digest[..8]))
}

/// Copies a table into the folder, unless the copy exists. `copied` counts the bytes of tables before it; returns the
/// new count.
fn copy(table: &Table, folder: &SiteFolder, copied: u64, pulse: &Pulse) -> Result<u64, SiteError> {
    let (name, all) = (table_path(table), copied + table.header().file_bytes);
    let path = folder.path().join(&name);
    // An unreadable file is written again.
    if Table::open(&path).is_ok_and(|copy| copy.bytes() == table.bytes()) {
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

/// Returns the books, whose positions it counts, and the networks, as the names and bytes of files. The engine asks for
/// those of a board.
fn data(books: &Books, report: &mut SiteReport) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for (rules, pits) in boards() {
        if let Some(book) = books.get(rules, pits) {
            report.book_positions += book.len();
            files.push((Book::file_name(rules, pits), book.to_bytes()));
        }
        if let Some(network) = PhasedNetwork::shipped(rules, pits) {
            files.push((PhasedNetwork::file_name(rules, pits), network.to_bytes()));
        }
    }
    files
}
