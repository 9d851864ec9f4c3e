//! The page without a server: a folder for any static host, with the engine as WebAssembly, and tables and books that
//! it reads.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use kalah_api::answer::{PAGE_STREAM_TIME, PAGE_TIME, ServerAnswer, TableEntry};
use kalah_api::follow_line;
use kalah_base::file;
use kalah_base::printable::hex;
use kalah_base::progress::Pulse;
use kalah_core::evaluation::PhasedNetwork;
use kalah_core::game::{MAX_PITS, Position, Rules};
use kalah_core::index::{MAX_TABLE_SEEDS, layer_positions};
use kalah_core::table::{Table, TableError, Tables};
use kalah_solve::book::{Book, Books};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::site_page::Site;

/// Bytes of a table copied at a time.
const STEP: usize = 1 << 20;

/// First bytes of every WebAssembly module.
const HEAD: &[u8] = b"\0asm\x01\0\0\0";

/// Kind of a custom section.
const CUSTOM: u8 = 0;

/// Settings of a site.
#[derive(Debug)]
pub struct SiteOptions {
    /// The engine, `kalah_wasm.wasm`. The module that answers until it has loaded, `kalah_first.wasm`, is beside it.
    pub module: PathBuf,
    /// Directory of the tables. Without it there are no tables.
    pub tables: PathBuf,
    /// Maximum bytes of all tables.
    pub size: u64,
    /// Books.
    pub books: Books,
    /// Seeds of the largest tables that the engine builds for 6 pits, with as many positions for other boards; 0 for
    /// none.
    pub seeds: usize,
}

/// Summary of a written site.
#[derive(Clone, Debug, Serialize)]
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
}

impl SitePlan<'_> {
    /// Chooses the tables, the smallest layers first, as long as they fit.
    ///
    /// # Errors
    /// If the engine cannot be read, or a table is damaged or unusable without missing layers below it.
    pub fn new(options: &SiteOptions) -> Result<SitePlan<'_>, TableError> {
        let first = options.module.with_file_name("kalah_first.wasm");
        let modules = vec![("kalah_wasm.wasm", module(&options.module)?), ("kalah_first.wasm", module(&first)?)];
        let mut layers = Vec::new();
        for tables in Tables::open_all(&options.tables.clone().into())? {
            layers.extend(tables.layers().iter().cloned());
        }
        // Layers of a board with more seeds are larger, so no layer is copied without those below it.
        layers.sort_by_key(|layer| (layer.header().file_bytes, layer.key().seeds));
        let mut plan = SitePlan { options, modules, tables: Vec::new(), left_out: 0 };
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

    /// Writes the site into the new or empty folder `to`, its page last. `pulse` counts the copied bytes of tables.
    ///
    /// # Errors
    /// If `to` has files, a file cannot be read or written, a table is damaged, or `pulse` was stopped.
    pub fn write(&self, to: &Path, pulse: &Pulse) -> Result<SiteReport, TableError> {
        at(to, file::create_directory(to))?;
        if at(to, to.read_dir())?.next().is_some() {
            return at(to, Err(io::Error::other("it is not empty; choose a new folder, or empty this one")));
        }
        for table in &self.tables {
            table.check()?;
            let path = to.join(table_path(table));
            let mut copy = at(&path, create(&path))?;
            for bytes in table.bytes().chunks(STEP) {
                pulse.check()?;
                at(&path, copy.write_all(bytes))?;
                pulse.positions.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            }
        }
        pulse.check()?;
        let mut files = self.data();
        let description = self.description(&files);
        files.extend(self.modules.iter().map(|(name, module)| ((*name).to_owned(), module.clone())));
        let tables: Vec<String> = self.tables.iter().map(|table| table_path(table)).collect();
        let server = ("".to_owned(), json!(ServerAnswer::new(&self.options.books, PAGE_TIME, PAGE_STREAM_TIME, 1)));
        let answers: Map<String, Value> = first_moves().chain([server]).collect();
        let site = Site::new(files, &description, &answers.into(), &tables);
        for (name, bytes) in site.files.iter().chain([(&"index.html".to_owned(), &site.page.into_bytes())]) {
            let path = to.join(name);
            at(&path, create(&path).and_then(|mut file| file.write_all(bytes)))?;
        }
        Ok(SiteReport {
            tables: self.tables(),
            table_bytes: self.bytes(),
            left_out: self.left_out,
            module_bytes: self.modules[0].1.len() as u64,
            book_positions: self.options.books.iter().map(Book::len).sum(),
        })
    }

    /// Returns the books and the networks, as the names and bytes of files. The engine asks for those of a board.
    fn data(&self) -> Vec<(String, Vec<u8>)> {
        let of_board = |(rules, pits)| {
            let book = self.options.books.get(rules, pits);
            let network = PhasedNetwork::shipped(rules, pits);
            [
                book.map(|book| (Book::file_name(rules, pits), book.to_bytes())),
                network.map(|network| (PhasedNetwork::file_name(rules, pits), network.to_bytes())),
            ]
        };
        boards().flat_map(of_board).flatten().collect()
    }

    /// Returns a description of the folder, with the names of the books and networks.
    fn description(&self, files: &[(String, Vec<u8>)]) -> Value {
        let tables = self.tables.iter().map(|table| {
            let mut entry = json!(TableEntry::from(&**table));
            entry["file"] = table_path(table).into();
            entry
        });
        let seeds = 2..=self.options.seeds.min(MAX_TABLE_SEEDS);
        let positions: u64 = seeds.map(|seeds| layer_positions(6, seeds)).sum();
        json!({ "positions": positions, "tables": tables.collect::<Vec<Value>>(),
            "files": files.iter().map(|(name, _)| name).collect::<Vec<_>>() })
    }
}

/// All boards.
fn boards() -> impl Iterator<Item = (Rules, usize)> {
    Rules::ALL.into_iter().flat_map(|rules| (1..=MAX_PITS).map(move |pits| (rules, pits)))
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
fn module(path: &Path) -> Result<Vec<u8>, TableError> {
    let bytes = at(path, kalah_core::file::read(path))?;
    let sections = bytes.strip_prefix(HEAD).and_then(program);
    let sections = at(path, sections.ok_or_else(|| io::Error::other("it is not a WebAssembly module")))?;
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

/// Returns the path of a table in the folder. It contains the beginning of the digest, since files are never changed.
fn table_path(table: &Table) -> String {
    format!("tables/{}-{}.kalah", table.key().file_stem(), hex(&table.header().digest[..8]))
}

/// Creates a file, and the directories of its path.
fn create(path: &Path) -> io::Result<File> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    File::create_new(path)
}

fn at<T>(path: &Path, result: io::Result<T>) -> Result<T, TableError> {
    result.map_err(TableError::io(path))
}
