use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use kalah_base::printable::hex;
use kalah_core::file::{Source, SourceError};
use kalah_core::header::Kind;
use kalah_core::index::MAX_TABLE_SEEDS;
use kalah_core::table::{Damage, Layer, Table, TableError, TableKey, TablePositions, Tables};
use serde::{Deserialize, Serialize};

/// A table on the host of the page.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct RemoteTable {
    pub rules: String,
    pub pits: usize,
    pub seeds: usize,
    /// Size of the file.
    pub bytes: u64,
    /// The table's digest.
    pub digest: String,
    /// Path of the file.
    pub file: String,
}

/// A part of a file that an answer needs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(super) struct Part {
    pub file: String,
    pub start: u64,
    pub end: u64,
}

/// Parts of remote files: those that the page has fetched, and those that it must fetch before an answer can be given.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub fetched: HashMap<Part, Vec<u8>>,
    pub needed: Vec<Part>,
}

/// Locks the parts.
pub(super) fn lock(parts: &Mutex<Parts>) -> MutexGuard<'_, Parts> {
    parts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file on the host.
#[derive(Debug)]
struct RemoteFile {
    parts: Arc<Mutex<Parts>>,
    file: String,
    path: PathBuf,
    bytes: u64,
}

impl Source for RemoteFile {
    fn name(&self) -> &Path {
        &self.path
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Notes all parts that the page must fetch first.
    fn read(&self, parts: &[Range<u64>], _: bool) -> Result<Vec<Vec<u8>>, SourceError> {
        let Parts { fetched, needed } = &mut *lock(&self.parts);
        let part = |part: &Range<u64>| Part { file: self.file.clone(), start: part.start, end: part.end };
        let parts: Vec<Part> = parts.iter().map(part).collect();
        let found: Option<Vec<Vec<u8>>> = parts.iter().map(|part| fetched.get(part).cloned()).collect();
        if let Some(found) = found {
            return Ok(found);
        }
        for part in parts {
            if !fetched.contains_key(&part) && !needed.contains(&part) {
                needed.push(part);
            }
        }
        Err(io::Error::from(io::ErrorKind::WouldBlock).into())
    }

    fn is_remote(&self) -> bool {
        true
    }
}

/// A layer of a board: built here, or on the host.
#[derive(Debug)]
pub(super) enum SiteLayer {
    Built(Arc<Table>),
    Remote(Box<RemoteLayer>),
}

/// A layer on the host, opened at the first read.
#[derive(Debug)]
pub(super) struct RemoteLayer {
    key: TableKey,
    path: PathBuf,
    table: RemoteTable,
    parts: Arc<Mutex<Parts>>,
    opened: OnceLock<Table>,
}

impl RemoteLayer {
    /// Opens the table, which must be the one that the site describes.
    fn open(&self) -> Result<&Table, TableError> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let RemoteTable { file, bytes, digest, .. } = &self.table;
        let (parts, path) = (Arc::clone(&self.parts), self.path.clone());
        let file = RemoteFile { parts, file: file.clone(), path, bytes: *bytes };
        let table = Table::of(Kind::Table, Box::new(file))?;
        if hex(&table.header().digest) != *digest {
            return Err(table.blocks().damaged(Damage::OtherDigest));
        }
        if table.key() != self.key {
            return Err(table.blocks().damaged(Damage::Other { found: table.key(), expected: self.key }));
        }
        Ok(self.opened.get_or_init(|| table))
    }
}

impl Layer for SiteLayer {
    fn key(&self) -> TableKey {
        match self {
            SiteLayer::Built(table) => table.key(),
            SiteLayer::Remote(layer) => layer.key,
        }
    }

    fn path(&self) -> &Path {
        match self {
            SiteLayer::Built(table) => table.path(),
            SiteLayer::Remote(layer) => &layer.path,
        }
    }

    fn score(&self, mover: usize, mover_rank: u32, other_rank: u32) -> Result<u8, TableError> {
        match self {
            SiteLayer::Built(table) => table.score(mover, mover_rank, other_rank),
            SiteLayer::Remote(layer) => layer.open()?.score(mover, mover_rank, other_rank),
        }
    }

    fn is_remote(&self) -> bool {
        matches!(self, SiteLayer::Remote(_))
    }

    /// Notes the parts for all positions, so that the page fetches them together.
    fn request(wanted: &[TablePositions<'_, SiteLayer>]) -> Result<(), TableError> {
        let mut requested = Ok(());
        for (layer, positions) in wanted {
            if let SiteLayer::Remote(layer) = layer {
                requested = requested.and(layer.open().and_then(|table| table.request(positions)));
            }
        }
        requested
    }

    fn damaged_score(&self, mover: usize, mover_rank: u32, other_rank: u32) -> TableError {
        match self {
            SiteLayer::Built(table) => table.damaged_score(mover, mover_rank, other_rank),
            SiteLayer::Remote(layer) => match layer.open() {
                Ok(table) => table.damaged_score(mover, mover_rank, other_rank),
                Err(error) => error,
            },
        }
    }
}

/// Returns all layers of a board: those that were built, and those above them on the host.
pub(super) fn layers(built: &Tables, remote: &[RemoteTable], parts: &Arc<Mutex<Parts>>) -> Tables<SiteLayer> {
    let layers = Tables::empty(built.directory(), built.rules(), built.pits(), MAX_TABLE_SEEDS);
    let mut layers = layers.expect("the board has tables");
    for table in built.layers() {
        layers.push(Arc::new(SiteLayer::Built(Arc::clone(table)))).expect("they are in order");
    }
    let first = built.max_seeds().map_or(2, |seeds| seeds + 1);
    for seeds in first..=MAX_TABLE_SEEDS {
        let key = TableKey { rules: built.rules(), pits: built.pits(), seeds };
        let is_it =
            |table: &&RemoteTable| (&*table.rules, table.pits, table.seeds) == (key.rules.name(), key.pits, key.seeds);
        let Some(table) = remote.iter().find(is_it) else { break };
        let path = Path::new(&table.file).file_name().map_or_else(PathBuf::new, PathBuf::from);
        let (table, parts, opened) = (table.clone(), Arc::clone(parts), OnceLock::new());
        let layer = RemoteLayer { key, path, table, parts, opened };
        layers.push(Arc::new(SiteLayer::Remote(Box::new(layer)))).expect("they are in order");
    }
    layers
}
