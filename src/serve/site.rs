//! The page without a server: a folder for any static host, with tables, the book and puzzles, which the page reads itself.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

use super::answer::RuleSet;
use super::error::MAX_SEEDS;
use super::page::FILES;
use crate::analyse::{Level, PuzzleMiner};
use crate::book::Books;
use crate::game::{Capture, MAX_PITS, Rules, StartPosition};
use crate::index::MAX_TABLE_PITS;
use crate::table::{Shelf, TableError, TableKey};

/// The modules that answer in place of a server.
const MODULES: [(&str, &str); 5] = [
    ("game.js", include_str!("site/game.js")),
    ("server.js", include_str!("site/server.js")),
    ("tables.js", include_str!("site/tables.js")),
    ("text.js", include_str!("site/text.js")),
    ("xxh3.js", include_str!("site/xxh3.js")),
];

/// The players that answer without a server.
const PLAYERS: [&str; 5] = ["perfect", "minimax:D", "alphabeta:D", "greedy", "random:SEED"];

/// Puzzles of each level and board, and the games in which they are searched for.
const PUZZLES: usize = 60;
const GAMES: usize = 3000;

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
}

impl SiteOptions {
    /// The tables in `tables`, up to 100 MiB; no books.
    pub fn new(tables: PathBuf) -> SiteOptions {
        SiteOptions { tables, size: 100 << 20, books: Books::none() }
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

/// Why a folder could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SiteError {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The folder holds something else.
    #[error("{} is not empty, and not a folder that this command has written", .0.display())]
    NotOurs(PathBuf),
    /// A table is damaged.
    #[error(transparent)]
    Table(#[from] TableError),
    /// It was asked to stop.
    #[error("stopped")]
    Stopped,
}

fn at<T>(path: &Path, result: io::Result<T>) -> Result<T, SiteError> {
    result.map_err(|source| SiteError::File { path: path.to_owned(), source })
}

fn put(directory: &Path, name: &str, text: impl AsRef<[u8]>) -> Result<(), SiteError> {
    let path = directory.join(name);
    at(&path, fs::write(&path, text))
}

/// Writes the folder `to`; one that was written before is replaced. `stop` is asked between files.
///
/// # Errors
/// When a file cannot be read or written, a table is damaged, or `to` holds other files.
pub fn export_site(to: &Path, options: &SiteOptions, stop: &dyn Fn() -> bool) -> Result<SiteReport, SiteError> {
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
    let shelf = Shelf::new(options.tables.clone());
    let mut report = SiteReport::default();
    let tables = copy_tables(to, &shelf, options, &mut report, stop)?;
    let books = write_books(to, &options.books, &mut report)?;
    let puzzles = puzzles(&Shelf::new(to.join("tables")), &report.tables, stop)?;
    report.puzzles = puzzles.len();
    put(to, "site/puzzles.json", Value::Array(puzzles).to_string())?;
    for (name, text) in MODULES {
        put(&to.join("site"), name, text)?;
    }
    write_page(to)?;
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
        "rule_sets": Rules::ALL.map(RuleSet::from), "players": PLAYERS, "time": 0.0, "stream_time": 0.0, "searches": 1,
        "seeds": MAX_SEEDS, "pits": MAX_PITS, "static": true });
    let site = json!({ "server": server, "rules": rules, "tables": tables, "books": books });
    put(to, "site/site.json", site.to_string())?;
    Ok(report)
}

/// Copies the tables, the smallest layers first, as long as they fit; describes them.
fn copy_tables(
    to: &Path,
    shelf: &Shelf,
    options: &SiteOptions,
    report: &mut SiteReport,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<Value>, SiteError> {
    let mut layers = Vec::new();
    for rules in Rules::ALL {
        for pits in 1..=MAX_TABLE_PITS {
            let tables = shelf.tables(rules, pits);
            layers.extend(tables.into_iter().flat_map(|tables| tables.layers()));
        }
    }
    // Of a board, layers with more seeds are larger: none is copied without those below.
    layers.sort_by_key(|layer| (layer.header().file_bytes, layer.key().seeds));
    let mut described = Vec::new();
    for layer in layers {
        let (key, bytes) = (layer.key(), layer.header().file_bytes);
        if report.table_bytes + bytes > options.size {
            report.left_out += 1;
            continue;
        }
        if stop() {
            return Err(SiteError::Stopped);
        }
        let name = key.file_name();
        let (from, target) = (options.tables.join(&name), to.join("tables").join(&name));
        at(&from, fs::copy(&from, &target))?;
        report.table_bytes += bytes;
        report.tables.push(key);
        described.push(json!({ "rules": key.rules.name(), "pits": key.pits, "seeds": key.seeds,
            "positions": layer.header().positions, "bytes": bytes }));
    }
    Ok(described)
}

/// Writes the books, one file a board; returns the boards.
fn write_books(to: &Path, books: &Books, report: &mut SiteReport) -> Result<Vec<String>, SiteError> {
    let mut boards = Vec::new();
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
            let board = format!("{rules}-{pits}");
            put(&to.join("book"), &format!("{board}.json"), json!(entries).to_string())?;
            boards.push(board);
        }
    }
    Ok(boards)
}

/// Puzzles of all levels from the starts with 4 seeds in each pit, as far as the tables have some.
fn puzzles(shelf: &Shelf, keys: &[TableKey], stop: &dyn Fn() -> bool) -> Result<Vec<Value>, SiteError> {
    let mut boards: Vec<(Rules, usize)> = keys.iter().map(|key| (key.rules, key.pits)).collect();
    boards.sort_by_key(|&(rules, pits)| (rules.index(), pits));
    boards.dedup();
    let mut found = Vec::new();
    for (rules, pits) in boards.into_iter().filter(|&(_, pits)| pits >= 3) {
        let Some(tables) = shelf.tables(rules, pits) else { continue };
        let Ok(start) = (StartPosition { pits, seeds: 4 }).position() else { continue };
        let (mut miner, mut counts) = (PuzzleMiner::new(tables, start, 0), [0; Level::ALL.len()]);
        for _ in 0..GAMES {
            if stop() {
                return Err(SiteError::Stopped);
            }
            for puzzle in miner.game()? {
                let count = &mut counts[Level::ALL.iter().position(|&level| level == puzzle.level()).expect("a level")];
                if *count >= PUZZLES {
                    continue;
                }
                *count += 1;
                found.push(json!({ "start": start.to_string(), "position": puzzle.position.to_string(),
                    "rules": rules.name(), "seeds": puzzle.position.seeds(), "move": puzzle.pit.number(),
                    "outcome": if puzzle.value > 0 { "win" } else { "draw" }, "value": puzzle.value,
                    "second": puzzle.second, "gap": puzzle.gap(), "line": puzzle.line.to_string(),
                    "turns": puzzle.line.turns().len(), "depth": puzzle.depth, "level": puzzle.level().name() }));
            }
            if counts.iter().all(|&count| count >= PUZZLES) {
                break;
            }
        }
    }
    Ok(found)
}

/// Writes the page, with the modules that answer it before its own.
fn write_page(to: &Path) -> Result<(), SiteError> {
    let mut names = vec!["./".to_owned()];
    let mut all = Vec::new();
    for file in FILES {
        let name = file.path.trim_start_matches('/');
        all.extend_from_slice(file.text.as_bytes());
        if name.is_empty() {
            let head = "<link rel=\"manifest\" href=\"site/manifest.json\">\n\
                <script type=\"module\" src=\"site/server.js\"></script>\n\
                <script type=\"module\" src=\"site/start.js\"></script>\n";
            // Modules run in their order. There is no server to ask before they do.
            let (before, after) = file.text.split_once("<script").expect("the page has a script");
            let before: String =
                before.lines().filter(|line| !line.contains("href=\"api\"")).map(|line| format!("{line}\n")).collect();
            put(to, "index.html", format!("{before}{head}<script{after}"))?;
            names.push("index.html".to_owned());
        } else {
            put(to, name, file.text)?;
            names.push(name.to_owned());
        }
    }
    names.extend(MODULES.map(|(name, _)| format!("site/{name}")));
    names.extend(["site/site.json", "site/puzzles.json"].map(str::to_owned));
    MODULES.iter().for_each(|(_, text)| all.extend_from_slice(text.as_bytes()));
    let version = format!("{:016x}", xxh3_64(&all));
    let worker =
        include_str!("site/worker.js").replace("VERSION", &version).replace("FILES", &json!(names).to_string());
    // A worker answers for the folder it is in.
    put(to, "worker.js", worker)?;
    put(to, "site/start.js", "navigator.serviceWorker?.register(\"worker.js\").catch(() => {});\n")?;
    let manifest = json!({ "name": "Kalah", "short_name": "Kalah", "start_url": "../", "scope": "../", "display": "standalone",
        "icons": [{ "src": "icon.svg", "sizes": "any", "type": "image/svg+xml" }] });
    put(to, "site/manifest.json", manifest.to_string())?;
    put(to, "site/icon.svg", ICON)
}

/// Two pits and a store.
const ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 64 64\"><rect width=\"64\" height=\"64\" rx=\"12\" \
    fill=\"#7a4a20\"/><circle cx=\"20\" cy=\"20\" r=\"11\" fill=\"#3d230c\"/><circle cx=\"20\" cy=\"46\" r=\"11\" \
    fill=\"#3d230c\"/><rect x=\"38\" y=\"9\" width=\"18\" height=\"48\" rx=\"9\" fill=\"#3d230c\"/><circle cx=\"47\" \
    cy=\"24\" r=\"5\" fill=\"#e8d9b0\"/><circle cx=\"46\" cy=\"40\" r=\"5\" fill=\"#e8d9b0\"/></svg>\n";
