use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kalah_base::printable::hex;
use kalah_core::header::Kind;
use kalah_core::index::MAX_TABLE_SEEDS;
use kalah_core::source::{Source, SourceError};
use kalah_core::table::{Damage, Table, TableError, TableKey, Tables};
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
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub(super) struct Part {
    file: String,
    start: u64,
    end: u64,
    /// True if it must come from the host itself, past all caches, since these bytes were damaged.
    fresh: bool,
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
    /// True if all parts are read past caches.
    fresh: bool,
}

impl Source for RemoteFile {
    fn name(&self) -> &Path {
        &self.path
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Notes all parts that the page must fetch first.
    fn read(&self, parts: &[Range<u64>], again: bool) -> Result<Vec<Vec<u8>>, SourceError> {
        let Parts { fetched, needed } = &mut *lock(&self.parts);
        let fresh = again || self.fresh;
        let part = |part: &Range<u64>| Part { file: self.file.clone(), start: part.start, end: part.end, fresh };
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

impl RemoteTable {
    /// Opens the table of the layer `key`, which must be the one that the site describes. If a cache has damaged it, or
    /// has another one, it is read past caches.
    fn open(&self, key: TableKey, parts: &Arc<Mutex<Parts>>) -> Result<Table, TableError> {
        match self.open_once(key, parts, false) {
            Err(TableError::Damaged { .. }) => self.open_once(key, parts, true),
            opened => opened,
        }
    }

    fn open_once(&self, key: TableKey, parts: &Arc<Mutex<Parts>>, fresh: bool) -> Result<Table, TableError> {
        let path = Path::new(&self.file).file_name().map_or_else(PathBuf::new, PathBuf::from);
        let file = RemoteFile { parts: Arc::clone(parts), file: self.file.clone(), path, bytes: self.bytes, fresh };
        let table = Table::of(Kind::Table, Box::new(file))?;
        if hex(&table.header().digest) != self.digest {
            return Err(table.blocks().damaged(Damage::OtherDigest));
        }
        let found = table.key();
        if found == key { Ok(table) } else { Err(table.blocks().damaged(Damage::Other { found, expected: key })) }
    }
}

/// Returns all layers of a board: those that were built, and those above them on the host.
pub(super) fn layers(built: &Tables, remote: &[RemoteTable], parts: &Arc<Mutex<Parts>>) -> Tables {
    let layers = Tables::empty(built.directory(), built.rules(), built.pits(), MAX_TABLE_SEEDS);
    let mut layers = layers.expect("the board has tables");
    for table in built.layers() {
        layers.push(Arc::clone(table)).expect("they are in order");
    }
    let first = built.max_seeds().map_or(2, |seeds| seeds + 1);
    for seeds in first..=MAX_TABLE_SEEDS {
        let key = TableKey { rules: built.rules(), pits: built.pits(), seeds };
        let is_it =
            |table: &&RemoteTable| (&*table.rules, table.pits, table.seeds) == (key.rules.name(), key.pits, key.seeds);
        let Some(table) = remote.iter().find(is_it) else { break };
        let (table, parts) = (table.clone(), Arc::clone(parts));
        layers.push_later(move || table.open(key, &parts));
    }
    layers
}
