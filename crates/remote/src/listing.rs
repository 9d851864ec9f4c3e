use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::Path;

use kalah_core::game::Rules;
use kalah_core::index::MAX_TABLE_SEEDS;
use kalah_core::table::{TableHeader, TableKey};
use kalah_tables::table::Manifest;

use super::cache::Cache;
use super::client::FetchedBytes;
use super::client::Store;
use super::error::RemoteError;
use super::parts;

/// Name of the list of tables that an address may have.
const MANIFEST: &str = "manifest.jsonl";

/// Maximum bytes of that list.
const MANIFEST_BYTES: u64 = 4 << 20;

/// Maximum bytes of a file that stands for a damaged table.
const MOST_BYTES: u64 = 1 << 40;

/// Layers of a board that are requested together where the address has no list.
const WINDOW: usize = 16;

/// The layers at an address, and the digests that they must have.
pub(crate) struct Listing<'a> {
    pub store: &'a dyn Store,
    pub cache: &'a Cache,
    pub folder: &'a Path,
}

/// A layer at the address.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub header: TableHeader,
    /// Version of the file, if its header was requested now.
    pub tag: Option<String>,
    /// True if the header was requested now, not taken from the cache.
    pub fresh: bool,
}

/// Digests of tables.
pub(crate) type Pins = HashMap<TableKey, [u8; 32]>;

/// The digests in a manifest.
fn pins(manifest: &Manifest) -> Pins {
    let entries = manifest.entries().iter();
    entries.filter_map(|entry| Some((entry.key, *blake3::Hash::from_hex(&entry.digest).ok()?.as_bytes()))).collect()
}

/// Boards to look for: rule sets, and pits a side.
pub(crate) struct Boards {
    pub rules: Vec<Rules>,
    pub pits: RangeInclusive<usize>,
}

impl Boards {
    fn contain(&self, key: TableKey) -> bool {
        self.rules.contains(&key.rules) && self.pits.contains(&key.pits)
    }
}

impl Listing<'_> {
    /// Finds the layers of these boards, and the digests that they must have: those of the built-in manifest before
    /// those of the address.
    ///
    /// # Errors
    /// When the server does not answer, refuses access to everything, or has no layer.
    pub(crate) fn read(&self, boards: &Boards) -> Result<(Vec<Layer>, Pins), RemoteError> {
        let (names, mut pins) = (self.store.names()?, pins(Manifest::built_in()));
        let has_list = names.as_ref().is_none_or(|names| names.iter().any(|name| name == MANIFEST));
        let listed = if has_list { self.manifest()? } else { None };
        for (&key, digest) in listed.iter().flatten() {
            pins.entry(key).or_insert(*digest);
        }
        let named = |names: Vec<String>| names.iter().filter_map(|name| TableKey::named(Path::new(name))).collect();
        let keys: Option<Vec<TableKey>> = names.map(named).or_else(|| Some(listed?.into_keys().collect()));
        let layers: Vec<Layer> = match keys {
            Some(mut keys) => {
                keys.retain(|&key| boards.contain(key));
                self.layers(&keys, &pins)?.into_iter().flatten().collect()
            }
            None => self.search(boards, &pins)?,
        };
        if layers.is_empty() {
            self.require_access()?;
            return Err(RemoteError::NoTables(self.store.address().display().to_string()));
        }
        Ok((layers, pins))
    }

    /// Reads the list of tables at the address, if it has one.
    fn manifest(&self) -> Result<Option<Pins>, RemoteError> {
        let fetched = match self.store.range(MANIFEST, 0..MANIFEST_BYTES, false) {
            Ok(fetched) => fetched,
            Err(error) if error.is_absence() => return Ok(None),
            // A large list, or one without a length.
            Err(RemoteError::NoRanges) => return Ok(None),
            Err(error) => return Err(error),
        };
        // A list of a later version, or another file, is no reason to fail: layers have fixed names.
        let text = String::from_utf8(fetched.bytes).unwrap_or_default();
        Ok(Manifest::parse(&text).ok().map(|manifest| pins(&manifest)).filter(|pins| !pins.is_empty()))
    }

    /// Looks for layers by their names, from 2 seeds up to the first that is missing.
    fn search(&self, boards: &Boards, pins: &Pins) -> Result<Vec<Layer>, RemoteError> {
        let of = |&rules: &Rules| boards.pits.clone().map(move |pits| TableKey { rules, pits, seeds: 2 });
        let first: Vec<TableKey> = boards.rules.iter().flat_map(of).collect();
        // A single board needs no request of its own.
        if let [board] = *first {
            return self.board(board, pins);
        }
        let mut found: Vec<Layer> = self.layers(&first, pins)?.into_iter().flatten().collect();
        let above: Vec<TableKey> = found.iter().map(|layer| TableKey { seeds: 3, ..layer.header.key }).collect();
        // One after the other, since each sends many requests at once.
        for first in above {
            found.extend(self.board(first, pins)?);
        }
        Ok(found)
    }

    /// Looks for the layers of a board from `first` up.
    fn board(&self, first: TableKey, pins: &Pins) -> Result<Vec<Layer>, RemoteError> {
        let mut found = Vec::new();
        for start in (first.seeds..=MAX_TABLE_SEEDS).step_by(WINDOW) {
            let seeds = start..(start + WINDOW).min(MAX_TABLE_SEEDS + 1);
            let keys: Vec<TableKey> = seeds.map(|seeds| TableKey { seeds, ..first }).collect();
            let layers = self.layers(&keys, pins)?;
            let present = layers.iter().take_while(|layer| layer.is_some()).count();
            found.extend(layers.into_iter().take(present).flatten());
            if present < keys.len() {
                break;
            }
        }
        Ok(found)
    }

    /// Checks that the server does not refuse access to a layer, which counts as absence above.
    fn require_access(&self) -> Result<(), RemoteError> {
        let key = TableKey { rules: Rules::default(), pits: 6, seeds: 2 };
        match self.store.range(&key.file_name(), 0..key.prefix_bytes(), false) {
            Err(error @ (RemoteError::Refused(_) | RemoteError::Keys(_))) => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns these layers, as far as the address has them.
    fn layers(&self, keys: &[TableKey], pins: &Pins) -> Result<Vec<Option<Layer>>, RemoteError> {
        parts::each(keys, |&key| self.layer(key, pins.get(&key)))
    }

    /// Returns a layer, from the cache if its digest is known; `None` if the address does not have it.
    fn layer(&self, key: TableKey, pin: Option<&[u8; 32]>) -> Result<Option<Layer>, RemoteError> {
        let path = key.path(self.folder);
        let kept = Cache::header(&path, key);
        if let Some(header) = kept.clone().filter(|header| Some(&header.digest) == pin) {
            return Ok(Some(Layer { header, tag: None, fresh: false }));
        }
        let FetchedBytes { bytes, total, tag } = match self.store.range(&key.file_name(), 0..key.prefix_bytes(), false)
        {
            Ok(fetched) => fetched,
            Err(error) if error.is_absence() => {
                // The cache must not list a layer that the address lost.
                let _ = std::fs::remove_file(&path);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        match TableHeader::read(&bytes, total) {
            Ok(header) if header.key == key => {
                if kept.is_none_or(|kept| kept != header) {
                    self.cache.put(&path, &bytes[..key.prefix_bytes() as usize], total)?;
                }
                Ok(Some(Layer { header, tag, fresh: true }))
            }
            // Opening the file reports what is wrong with it.
            _ => {
                self.cache.put(&path, &bytes, total.min(MOST_BYTES))?;
                Ok(None)
            }
        }
    }
}
