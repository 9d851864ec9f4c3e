use std::collections::HashMap;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use kalah_core::cancel::Cancel;
use kalah_core::directory::{self, Elsewhere};
use kalah_core::file::{LocalFile, Source};
use kalah_core::game::Rules;
use kalah_core::index::MAX_TABLE_SEEDS;
use kalah_core::table::{Damage, TableHeader, TableKey};
use kalah_tables::table::Manifest;
use parking_lot::Mutex;

use super::address::Address;
use super::cache::{self, Cache};
use super::client::Client;
use super::error::RemoteError;
use super::store::{self, FetchedBytes, Store};

/// Bytes read after which the cache is trimmed again.
const TRIM_AFTER: u64 = 64 << 20;

/// Name of the list of tables that an address may have.
const MANIFEST: &str = "manifest.jsonl";

/// Maximum bytes of that list.
const MANIFEST_BYTES: u64 = 4 << 20;

/// Settings of [`RemoteTables::open`].
#[derive(Clone, Debug)]
pub struct RemoteOptions {
    /// The cache.
    pub cache: Cache,
    /// Rule sets to look for. Fewer save requests.
    pub rules: Vec<Rules>,
    /// Pits a side of the boards to look for; all if `None`.
    pub pits: Option<usize>,
    /// Ends all waits for a server. [`RemoteTables::interrupt`] ends those of a moment.
    pub cancel: Cancel,
    /// Maximum silence of a server. A part of a file may take this time, and that of its bytes at 4 KiB a second.
    pub patience: Duration,
}

impl RemoteOptions {
    /// Maximum silence of a server if none is chosen: 30 seconds.
    pub(crate) const DEFAULT_PATIENCE: Duration = Duration::from_secs(30);

    /// All rule sets, with blocks kept in `cache`.
    pub fn new(cache: Cache) -> RemoteOptions {
        let (rules, patience) = (Rules::ALL.to_vec(), RemoteOptions::DEFAULT_PATIENCE);
        RemoteOptions { cache, rules, pits: None, cancel: Cancel::new(), patience }
    }
}

/// Digests of tables.
type Pins = HashMap<TableKey, [u8; 32]>;

/// The digests in a manifest.
fn pins(manifest: &Manifest) -> Pins {
    let entries = manifest.entries().iter();
    entries.filter_map(|entry| Some((entry.key, *blake3::Hash::from_hex(&entry.digest).ok()?.as_bytes()))).collect()
}

/// The tables at an address.
#[derive(Clone)]
pub struct RemoteTables(Arc<Directory>);

/// The directory of an address.
struct Directory {
    store: Arc<dyn Store>,
    cache: Cache,
    /// The folder of the cache with the blocks that were read.
    folder: PathBuf,
    /// The digests that layers must have: those of the built-in manifest, then those of the address.
    pins: Pins,
    /// Layers whose header in the cache is that of the server, each with the version of its file.
    versions: Mutex<HashMap<TableKey, Option<String>>>,
    /// Bytes received.
    fetched: AtomicU64,
}

impl RemoteTables {
    /// Finds the tables at `address`.
    ///
    /// Only headers are read. Those in the cache are read again unless the built-in manifest has their digests.
    ///
    /// # Errors
    /// When the server does not answer, refuses access, or has no tables; when the cache cannot be used.
    pub fn open(address: &Address, options: RemoteOptions) -> Result<RemoteTables, RemoteError> {
        RemoteTables::of(Arc::new(Client::new(address, options.patience, &options.cancel)), options)
    }

    /// Finds the tables in `store`: see [`RemoteTables::open`].
    ///
    /// # Errors
    /// As [`RemoteTables::open`].
    pub fn of(store: Arc<dyn Store>, options: RemoteOptions) -> Result<RemoteTables, RemoteError> {
        let RemoteOptions { cache, rules, pits, .. } = options;
        let (folder, pins) = (cache.folder(&store::folder(&*store))?, pins(Manifest::built_in()));
        let (versions, fetched) = (Mutex::default(), AtomicU64::default());
        let mut directory = Directory { store, cache, folder, pins, versions, fetched };
        if !directory.find(&rules, pits)? {
            return Err(directory.no_tables());
        }
        // The files of this address stay, since this process may have them open.
        directory.cache.trim(&directory.folder);
        Ok(RemoteTables(Arc::new(directory)))
    }

    /// The directory with the tables, which everything that opens tables takes.
    pub fn directory(&self) -> directory::Directory {
        directory::Directory::Elsewhere(Arc::new(self.clone()))
    }

    /// The folder of the cache with the blocks that were read.
    pub fn folder(&self) -> &Path {
        &self.0.folder
    }

    /// Ends the waits for the server of now, in all threads: lookups in progress fail with
    /// [`Stopped`](kalah_core::cancel::Stopped), and later ones do not.
    pub fn interrupt(&self) {
        self.0.store.interrupt();
    }

    /// Bytes received so far.
    pub fn fetched(&self) -> u64 {
        self.0.fetched.load(Ordering::Relaxed)
    }
}

impl Directory {
    /// Reads bytes of a file from the store, as [`Store::range`] does. Trims the cache from time to time.
    ///
    /// # Errors
    /// As [`Store::range`].
    fn fetch(&self, name: &str, range: Range<u64>, fresh: bool) -> Result<FetchedBytes, RemoteError> {
        let fetched = self.store.range(name, range, fresh);
        let new = fetched.as_ref().map_or(0, |fetched| fetched.bytes.len() as u64);
        let before = self.fetched.fetch_add(new, Ordering::Relaxed);
        if (before + new) / TRIM_AFTER > before / TRIM_AFTER {
            self.cache.trim(&self.folder);
        }
        fetched
    }

    /// Finds the layers of these rules and pits, and puts their headers into the cache. Returns false if it
    /// finds no layer.
    ///
    /// # Errors
    /// When the server does not answer, or the cache cannot be written.
    fn find(&mut self, rules: &[Rules], pits: Option<usize>) -> Result<bool, RemoteError> {
        let is_asked = |key: &TableKey| rules.contains(&key.rules) && pits.is_none_or(|pits| pits == key.pits);
        let names = self.store.names()?;
        let has_list = names.as_ref().is_none_or(|names| names.iter().any(|name| name == MANIFEST));
        let listed = if has_list { self.list()? } else { None };
        for (&key, &digest) in listed.iter().flatten() {
            self.pins.entry(key).or_insert(digest);
        }
        let is_listed = names.is_some() || listed.is_some();
        let named = |names: Vec<String>| names.iter().filter_map(|name| TableKey::named(Path::new(name))).collect();
        let all = || listed.as_ref().unwrap_or(&self.pins).keys().copied().collect();
        let mut keys: Vec<TableKey> = names.map_or_else(all, named);
        keys.retain(is_asked);
        // Of a board that the built-in manifest has not, all layers are asked for.
        if let Some(pits) = pits.filter(|_| keys.is_empty() && !is_listed) {
            let of = |&rules: &Rules| (2..=MAX_TABLE_SEEDS).map(move |seeds| TableKey { rules, pits, seeds });
            keys = rules.iter().flat_map(of).collect();
        }
        Ok(store::each(&keys, |&key| self.is_there(key))?.contains(&true))
    }

    /// Reads the list of tables, if the address has one.
    fn list(&self) -> Result<Option<Pins>, RemoteError> {
        let fetched = match self.fetch(MANIFEST, 0..MANIFEST_BYTES, false) {
            // The second is a large list of a server without ranges, or one without a length.
            Err(error) if error.is_absence() || matches!(error, RemoteError::Store(_)) => return Ok(None),
            fetched => fetched?,
        };
        // A list of a later version, or another file, is no reason to fail: layers have fixed names.
        let text = String::from_utf8(fetched.bytes).unwrap_or_default();
        Ok(Manifest::parse(&text).ok().map(|manifest| pins(&manifest)).filter(|pins| !pins.is_empty()))
    }

    /// Returns true if the address has a layer. Its header is requested unless the cache has it and its digest is
    /// known.
    fn is_there(&self, key: TableKey) -> Result<bool, RemoteError> {
        let path = key.path(&self.folder);
        let kept = File::open(&path).ok().and_then(|file| cache::header(&file, key));
        if kept.as_ref().is_some_and(|header| self.pins.get(&key) == Some(&header.digest)) {
            return Ok(true);
        }
        let FetchedBytes { bytes, total, tag } = match self.fetch(&key.file_name(), 0..key.prefix_bytes(), false) {
            Err(error) if error.is_absence() => {
                // The cache must not list a layer that the address lost.
                let _ = fs::remove_file(&path);
                return Ok(false);
            }
            fetched => fetched?,
        };
        let Some(header) = TableHeader::read(&bytes, total).ok().filter(|header| header.key == key) else {
            // Opening the file reports what is wrong with it.
            self.cache.put(&path, &bytes, bytes.len() as u64)?;
            return Ok(false);
        };
        if kept.as_ref() != Some(&header) {
            self.cache.put(&path, &bytes[..key.prefix_bytes() as usize], total)?;
        }
        self.versions.lock().insert(key, tag);
        Ok(true)
    }

    /// The error of an address without layers. A refusal of a layer counts as its absence above.
    fn no_tables(&self) -> RemoteError {
        let key = TableKey { rules: Rules::default(), pits: 6, seeds: 2 };
        match self.fetch(&key.file_name(), 0..key.prefix_bytes(), false) {
            Err(error @ RemoteError::Refused { .. }) => error,
            _ => RemoteError::NoTables(self.store.address().display().to_string()),
        }
    }
}

impl Elsewhere for RemoteTables {
    fn address(&self) -> &Path {
        self.0.store.address()
    }

    fn names(&self) -> io::Result<Vec<String>> {
        directory::Directory::from(&self.0.folder).names()
    }

    fn has(&self, name: &str) -> bool {
        self.0.folder.join(name).exists()
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Source>> {
        let path = self.0.folder.join(name);
        let file = File::options().read(true).write(true).open(&path)?;
        // Without the note of its use, its blocks are removed earlier.
        let _ = file.set_modified(SystemTime::now());
        // A damaged header is left to the reader.
        let header = TableKey::named(Path::new(name)).and_then(|key| cache::header(&file, key));
        let is_other = |header: &TableHeader| self.0.pins.get(&header.key).is_some_and(|pin| *pin != header.digest);
        if header.as_ref().is_some_and(is_other) {
            return Err(io::Error::other(Damage::OtherDigest));
        }
        let local = LocalFile { path, bytes: file.metadata()?.len(), file };
        // Not `Path::join`, which would use the separator of this system.
        let address = format!("{}/{name}", self.address().display()).into();
        Ok(Box::new(RemoteFile { directory: Arc::clone(&self.0), header, address, local }))
    }
}

impl fmt::Debug for RemoteTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RemoteTables").field(&self.address()).finish()
    }
}

/// A file at an address. Its local file is that of the cache.
struct RemoteFile {
    directory: Arc<Directory>,
    /// The header of the local file, if it is valid.
    header: Option<TableHeader>,
    address: PathBuf,
    local: LocalFile,
}

impl Source for RemoteFile {
    fn name(&self) -> &Path {
        &self.address
    }

    fn bytes(&self) -> u64 {
        self.local.bytes
    }

    /// Reads the parts from the store. The header is compared the first time, and when the file has another version.
    fn read(&self, parts: &[Range<u64>], again: bool) -> io::Result<Vec<Vec<u8>>> {
        let header = self.header.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let (directory, name) = (&*self.directory, header.key.file_name());
        let fetch = |part: &Range<u64>| directory.fetch(&name, part.clone(), again);
        let read = store::each(&store::joined(parts), |part| Ok::<_, RemoteError>((part.clone(), fetch(part)?)))?;
        let known = directory.versions.lock().get(&header.key).cloned();
        if read.iter().any(|(_, fetched)| known.as_ref() != Some(&fetched.tag)) {
            let FetchedBytes { bytes, total, tag } = fetch(&(0..header.key.prefix_bytes()))?;
            if TableHeader::read(&bytes, total).map_err(io::Error::other)? != *header {
                return Err(io::Error::other(Damage::OtherDigest));
            }
            directory.versions.lock().insert(header.key, tag);
        }
        if let Some((_, fetched)) = read.iter().find(|(_, fetched)| fetched.total != header.file_bytes) {
            let (found, expected) = (fetched.total, header.file_bytes);
            let found = format_args!("a file of {found} bytes");
            return Err(RemoteError::other(found, format_args!("one of {expected} bytes")).into());
        }
        Ok(parts.iter().map(|part| store::cut(&read, part)).collect())
    }

    fn local(&self) -> Option<&LocalFile> {
        Some(&self.local)
    }

    fn is_remote(&self) -> bool {
        true
    }
}
