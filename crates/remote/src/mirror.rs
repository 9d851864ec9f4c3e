use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kalah_core::game::Rules;
use kalah_core::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};
use kalah_core::table::{TableHeader, TableKey};
use kalah_tables::table::Manifest;

use super::cache::{self, Cache};
use super::error::RemoteError;
use super::parts;
use super::store::{FetchedBytes, Store, folder};

/// Bytes read after which the cache is trimmed again.
const TRIM_AFTER: u64 = 64 << 20;

/// Name of the list of tables that an address may have.
const MANIFEST: &str = "manifest.jsonl";

/// Maximum bytes of that list.
const MANIFEST_BYTES: u64 = 4 << 20;

/// Maximum bytes of a file that stands for a damaged table.
const MOST_BYTES: u64 = 1 << 40;

/// Layers of a board that are requested together where the address has no list.
const WINDOW: usize = 16;

/// Digests of tables.
pub(crate) type Pins = HashMap<TableKey, [u8; 32]>;

/// The digests in a manifest.
fn pins(manifest: &Manifest) -> Pins {
    let entries = manifest.entries().iter();
    entries.filter_map(|entry| Some((entry.key, *blake3::Hash::from_hex(&entry.digest).ok()?.as_bytes()))).collect()
}

/// Requests and bytes so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Parts of files that were asked for.
    pub requests: u64,
    /// Bytes of those that were received.
    pub bytes: u64,
}

/// A header that the server sent to this process.
#[derive(Clone)]
pub(crate) struct Sent {
    pub header: TableHeader,
    /// The version of its file.
    pub tag: Option<String>,
}

/// The directory of an address.
pub(crate) struct Mirror {
    pub store: Arc<dyn Store>,
    pub cache: Cache,
    /// The folder of the cache.
    pub folder: PathBuf,
    /// The digests that layers must have: those of the built-in manifest, then those of the address.
    pub pins: Pins,
    state: Mutex<State>,
}

/// Answers of the server so far.
#[derive(Default)]
pub(crate) struct State {
    pub sent: HashMap<TableKey, Sent>,
    pub traffic: Traffic,
}

impl Mirror {
    /// The directory of `store`, none of whose layers is found yet.
    ///
    /// # Errors
    /// When the cache cannot be used.
    pub(crate) fn new(store: Arc<dyn Store>, cache: Cache) -> Result<Mirror, RemoteError> {
        let folder = cache.folder(&folder(&*store))?;
        Ok(Mirror { store, cache, folder, pins: pins(Manifest::built_in()), state: Mutex::default() })
    }

    /// The answers of the server so far.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads bytes of a file from the store, as [`Store::range`] does. Trims the cache from time to time.
    ///
    /// # Errors
    /// As [`Store::range`].
    pub(crate) fn fetch(&self, name: &str, range: Range<u64>, fresh: bool) -> Result<FetchedBytes, RemoteError> {
        let fetched = self.store.range(name, range, fresh);
        let mut state = self.state();
        let Traffic { requests, bytes } = state.traffic;
        let all = bytes + fetched.as_ref().map_or(0, |fetched| fetched.bytes.len() as u64);
        state.traffic = Traffic { requests: requests + 1, bytes: all };
        drop(state);
        if all / TRIM_AFTER > bytes / TRIM_AFTER {
            self.trim();
        }
        fetched
    }

    /// Trims the cache. The files of this address stay, since this process may have them open.
    pub(crate) fn trim(&self) {
        self.cache.trim(&self.folder);
    }

    /// Finds the layers of these rules and pits, and puts their headers into the cache. Returns false if it
    /// finds no layer.
    ///
    /// # Errors
    /// When the server does not answer, or the cache cannot be written.
    pub(crate) fn find(&mut self, rules: &[Rules], pits: Option<usize>) -> Result<bool, RemoteError> {
        let is_asked = |key: &TableKey| rules.contains(&key.rules) && pits.is_none_or(|pits| pits == key.pits);
        let names = self.store.names()?;
        let has_list = names.as_ref().is_none_or(|names| names.iter().any(|name| name == MANIFEST));
        let listed = if has_list { self.list()? } else { None };
        for (&key, &digest) in listed.iter().flatten() {
            self.pins.entry(key).or_insert(digest);
        }
        let named = |names: Vec<String>| names.iter().filter_map(|name| TableKey::named(Path::new(name))).collect();
        let keys: Option<Vec<TableKey>> = names.map(named).or_else(|| Some(listed?.into_keys().collect()));
        match keys {
            Some(keys) => Ok(!self.present(keys.into_iter().filter(is_asked).collect())?.is_empty()),
            None => {
                let of = |&rules: &Rules| (1..=MAX_TABLE_PITS).map(move |pits| TableKey { rules, pits, seeds: 2 });
                self.search(rules.iter().flat_map(of).filter(is_asked).collect())
            }
        }
    }

    /// Reads the list of tables, if the address has one.
    fn list(&self) -> Result<Option<Pins>, RemoteError> {
        let fetched = match self.fetch(MANIFEST, 0..MANIFEST_BYTES, false) {
            // The second is a large list, or one without a length.
            Err(error) if error.is_absence() || matches!(error, RemoteError::NoRanges) => return Ok(None),
            fetched => fetched?,
        };
        // A list of a later version, or another file, is no reason to fail: layers have fixed names.
        let text = String::from_utf8(fetched.bytes).unwrap_or_default();
        Ok(Manifest::parse(&text).ok().map(|manifest| pins(&manifest)).filter(|pins| !pins.is_empty()))
    }

    /// Looks for the layers of boards by their names, from 2 seeds up to the first that is missing. `boards` are the
    /// layers of 2 seeds. Returns false if it finds no layer.
    fn search(&self, boards: Vec<TableKey>) -> Result<bool, RemoteError> {
        // A single board needs no request of its own.
        let (mut found, first) = if boards.len() == 1 {
            (false, boards)
        } else {
            let there = self.present(boards)?;
            (!there.is_empty(), there.into_iter().map(|key| TableKey { seeds: 3, ..key }).collect())
        };
        // One after the other, since each sends many requests at once.
        for first in first {
            for start in (first.seeds..=MAX_TABLE_SEEDS).step_by(WINDOW) {
                let seeds = start..(start + WINDOW).min(MAX_TABLE_SEEDS + 1);
                let keys: Vec<TableKey> = seeds.map(|seeds| TableKey { seeds, ..first }).collect();
                let asked = keys.len();
                let present = self.present(keys)?.len();
                found |= present > 0;
                if present < asked {
                    break;
                }
            }
        }
        Ok(found)
    }

    /// Returns those of these layers that the address has, and puts their headers into the cache.
    fn present(&self, keys: Vec<TableKey>) -> Result<Vec<TableKey>, RemoteError> {
        let are_there = parts::each(&keys, |&key| self.is_there(key))?;
        Ok(keys.into_iter().zip(are_there).filter_map(|(key, is_there)| is_there.then_some(key)).collect())
    }

    /// Returns true if the address has a layer. Its header is requested unless the cache has it and its digest is
    /// known.
    fn is_there(&self, key: TableKey) -> Result<bool, RemoteError> {
        let path = key.path(&self.folder);
        let kept = cache::used(&path, key);
        if kept.as_ref().is_some_and(|header| self.pins.get(&key) == Some(&header.digest)) {
            return Ok(true);
        }
        let FetchedBytes { bytes, total, tag } = match self.fetch(&key.file_name(), 0..key.prefix_bytes(), false) {
            Err(error) if error.is_absence() => {
                // The cache must not list a layer that the address lost.
                let _ = std::fs::remove_file(&path);
                return Ok(false);
            }
            fetched => fetched?,
        };
        let Some(header) = TableHeader::read(&bytes, total).ok().filter(|header| header.key == key) else {
            // Opening the file reports what is wrong with it.
            self.cache.put(&path, &bytes, total.min(MOST_BYTES))?;
            return Ok(false);
        };
        if kept.as_ref() != Some(&header) {
            self.cache.put(&path, &bytes[..key.prefix_bytes() as usize], total)?;
        }
        self.state().sent.insert(key, Sent { header, tag });
        Ok(true)
    }

    /// The error of an address without layers. A refusal of a layer counts as its absence above.
    pub(crate) fn no_tables(&self) -> RemoteError {
        let key = TableKey { rules: Rules::default(), pits: 6, seeds: 2 };
        match self.fetch(&key.file_name(), 0..key.prefix_bytes(), false) {
            Err(error @ (RemoteError::Refused(_) | RemoteError::Keys(_))) => error,
            _ => RemoteError::NoTables(self.store.address().display().to_string()),
        }
    }
}

impl fmt::Debug for Mirror {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mirror").field("store", &self.store).field("folder", &self.folder).finish_non_exhaustive()
    }
}
