use std::collections::HashMap;
use std::path::Path;

use kalah_core::game::Rules;
use kalah_core::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};
use kalah_core::table::{TableHeader, TableKey};
use kalah_tables::table::Manifest;

use super::address::Address;
use super::cache::Cache;
use super::client::{Client, Piece};
use super::error::RemoteError;
use super::parts;

/// Name of the list of tables that an address may have.
const MANIFEST: &str = "manifest.jsonl";

/// Maximum bytes of that list.
const MANIFEST_BYTES: u64 = 4 << 20;

/// Maximum bytes of a file that stands for a damaged table.
const MOST_BYTES: u64 = 1 << 40;

/// Layers that are requested together where the address has no list.
const WINDOW: usize = 8;

/// The layers at an address, and the digests that they must have.
pub(crate) struct Listing<'a> {
    pub client: &'a Client,
    pub address: &'a Address,
    pub cache: &'a Cache,
    pub folder: &'a Path,
}

/// A layer at the address.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub key: TableKey,
    pub header: TableHeader,
    /// Version of the file, if its header was requested now.
    pub tag: Option<String>,
    /// True if the header was requested now, not taken from the cache.
    pub fresh: bool,
}

/// Digests of tables.
pub(crate) type Pins = HashMap<TableKey, [u8; 32]>;

/// The digests in the built-in manifest.
pub(crate) fn known() -> Pins {
    pins(&Manifest::known())
}

fn pins(manifest: &Manifest) -> Pins {
    let entries = manifest.entries().iter();
    entries.filter_map(|entry| Some((entry.key()?, *blake3::Hash::from_hex(&entry.digest).ok()?.as_bytes()))).collect()
}

impl Listing<'_> {
    /// Finds the layers of these rule sets, and the digests that they must have: those of the built-in manifest before
    /// those of the address.
    ///
    /// # Errors
    /// When the server does not answer, refuses access to everything, or has no layer.
    pub fn read(&self, rules: &[Rules]) -> Result<(Vec<Layer>, Pins), RemoteError> {
        let (listed, mut pins) = (self.manifest()?, known());
        let layers = match listed {
            Some(listed) => {
                for (&key, digest) in &listed {
                    pins.entry(key).or_insert(*digest);
                }
                let keys: Vec<TableKey> = listed.into_keys().filter(|key| rules.contains(&key.rules)).collect();
                self.layers(&keys, &pins)?.into_iter().flatten().collect()
            }
            None => self.search(rules, &pins)?,
        };
        if layers.is_empty() {
            self.require_access()?;
            return Err(RemoteError::NoTables(self.address.to_string()));
        }
        Ok((layers, pins))
    }

    /// Reads the list of tables at the address, if it has one.
    fn manifest(&self) -> Result<Option<Pins>, RemoteError> {
        let piece = match self.client.range(&self.address.file(MANIFEST), 0..MANIFEST_BYTES, false) {
            Ok(piece) => piece,
            Err(error) if error.is_absence() => return Ok(None),
            // A large list, or one without a length.
            Err(RemoteError::NoRanges) => return Ok(None),
            Err(error) => return Err(error),
        };
        // A list of a later version, or another file, is no reason to fail: layers have fixed names.
        let text = String::from_utf8(piece.bytes).unwrap_or_default();
        Ok(Manifest::parse(&text).ok().map(|manifest| pins(&manifest)).filter(|pins| !pins.is_empty()))
    }

    /// Looks for layers by their names, from 2 seeds up to the first that is missing.
    fn search(&self, rules: &[Rules], pins: &Pins) -> Result<Vec<Layer>, RemoteError> {
        let boards = rules.iter().flat_map(|&rules| (1..=MAX_TABLE_PITS).map(move |pits| (rules, pits)));
        let first: Vec<TableKey> = boards.map(|(rules, pits)| TableKey { rules, pits, seeds: 2 }).collect();
        let mut found: Vec<Layer> = self.layers(&first, pins)?.into_iter().flatten().collect();
        for TableKey { rules, pits, .. } in found.iter().map(|layer| layer.key).collect::<Vec<_>>() {
            for start in (3..=MAX_TABLE_SEEDS).step_by(WINDOW) {
                let seeds = start..(start + WINDOW).min(MAX_TABLE_SEEDS + 1);
                let keys: Vec<TableKey> = seeds.map(|seeds| TableKey { rules, pits, seeds }).collect();
                let layers = self.layers(&keys, pins)?;
                let present = layers.iter().take_while(|layer| layer.is_some()).count();
                found.extend(layers.into_iter().take(present).flatten());
                if present < keys.len() {
                    break;
                }
            }
        }
        Ok(found)
    }

    /// Checks that the server does not refuse access to a layer, which counts as absence above.
    fn require_access(&self) -> Result<(), RemoteError> {
        let key = TableKey { rules: Rules::default(), pits: 6, seeds: 2 };
        match self.client.range(&self.address.file(&key.file_name()), 0..TableHeader::MAX_PREFIX_BYTES as u64, false) {
            Err(error @ RemoteError::Refused(_)) => Err(error),
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
            return Ok(Some(Layer { key, header, tag: None, fresh: false }));
        }
        let url = self.address.file(&key.file_name());
        let Piece { bytes, total, tag } = match self.client.range(&url, 0..TableHeader::MAX_PREFIX_BYTES as u64, false)
        {
            Ok(piece) => piece,
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
                Ok(Some(Layer { key, header, tag, fresh: true }))
            }
            // Opening the file reports what is wrong with it.
            _ => {
                self.cache.put(&path, &bytes, total.min(MOST_BYTES))?;
                Ok(None)
            }
        }
    }
}
