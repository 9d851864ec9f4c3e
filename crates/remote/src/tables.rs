use std::fmt;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use kalah_core::cancel::Cancel;
use kalah_core::directory::{self, Elsewhere};
use kalah_core::game::Rules;
use kalah_core::header::Kind;
use kalah_core::index::MAX_TABLE_SEEDS;
use kalah_core::source::{LocalFile, Source, SourceError};
use kalah_core::table::format::TableHeader;
use kalah_core::table::{Damage, TableError, TableKey};
use kalah_tables::table::Manifest;

use super::address::Address;
use super::cache::{self, Cache};
use super::client::Client;
use super::error::RemoteError;
use super::store::{self, FetchedBytes, Store};

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
}

impl RemoteOptions {
    /// All rule sets, with blocks kept in `cache`.
    pub fn new(cache: Cache) -> RemoteOptions {
        RemoteOptions { cache, rules: Rules::ALL.to_vec(), pits: None, cancel: Cancel::new() }
    }
}

/// The tables at an address.
#[derive(Clone)]
pub struct RemoteTables(Arc<Directory>);

/// The directory of an address.
struct Directory {
    store: Arc<dyn Store>,
    /// The folder of the cache with the blocks that were read.
    folder: PathBuf,
    /// Bytes received.
    fetched: AtomicU64,
}

impl RemoteTables {
    /// Finds the tables at `address`, reading only headers.
    ///
    /// # Errors
    /// When the server does not answer, or has no tables or a damaged one; when the cache cannot be used.
    pub fn open(address: &Address, options: RemoteOptions) -> Result<RemoteTables, RemoteError> {
        RemoteTables::of(Arc::new(Client::new(address, &options.cancel)), options)
    }

    /// Finds the tables in `store`: see [`RemoteTables::open`].
    pub fn of(store: Arc<dyn Store>, options: RemoteOptions) -> Result<RemoteTables, RemoteError> {
        let RemoteOptions { cache, rules, pits, .. } = options;
        // The name shows no secrets.
        let folder = cache.folder(&blake3::hash(store.identity().as_bytes()).to_hex()[..16])?;
        let directory = Directory { store, folder, fetched: AtomicU64::default() };
        let keys = directory.list(&rules, pits)?;
        if !store::each(&keys, |&key| directory.is_there(key))?.contains(&true) {
            return Err(RemoteError::NoTables(directory.store.address().display().to_string()));
        }
        // The files of this address stay, since this process may have them open.
        cache.trim(&directory.folder);
        Ok(RemoteTables(Arc::new(directory)))
    }

    /// The directory with the tables, which everything that opens tables takes.
    pub fn directory(&self) -> directory::Directory {
        let directory: Arc<dyn directory::Elsewhere> = Arc::new(self.clone());
        directory.into()
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
    /// Reads bytes of a file from the store, as [`Store::range`] does.
    fn fetch(&self, name: &str, range: Range<u64>, fresh: bool) -> Result<FetchedBytes, RemoteError> {
        let fetched = self.store.range(name, range, fresh)?;
        self.fetched.fetch_add(fetched.bytes.len() as u64, Ordering::Relaxed);
        Ok(fetched)
    }

    /// Layers of these rules and pits that the address may have: those that it lists, or else those of the built-in
    /// manifest, or else all of the board.
    fn list(&self, rules: &[Rules], pits: Option<usize>) -> Result<Vec<TableKey>, RemoteError> {
        let named = |names: Vec<String>| names.iter().filter_map(|name| TableKey::named(Path::new(name))).collect();
        let listed: Option<Vec<TableKey>> = match self.store.names()? {
            Some(names) => Some(named(names)),
            None => match self.fetch(MANIFEST, 0..MANIFEST_BYTES, false) {
                // The second is that of a server without ranges.
                Err(RemoteError::NotFound(_) | RemoteError::Store(_)) => None,
                // Another file is no reason to fail: layers have fixed names.
                fetched => Manifest::parse(&String::from_utf8_lossy(&fetched?.bytes)).ok().map(|list| keys(&list)),
            },
        };
        let is_listed = listed.is_some();
        let mut found = listed.unwrap_or_else(|| keys(Manifest::built_in()));
        found.retain(|key| rules.contains(&key.rules) && pits.is_none_or(|pits| pits == key.pits));
        if let Some(pits) = pits.filter(|_| found.is_empty() && !is_listed) {
            let of = |&rules: &Rules| (2..=MAX_TABLE_SEEDS).map(move |seeds| TableKey { rules, pits, seeds });
            found = rules.iter().flat_map(of).collect();
        }
        Ok(found)
    }

    /// Returns true if the address has a layer, and puts its header into the cache.
    fn is_there(&self, key: TableKey) -> Result<bool, RemoteError> {
        let (path, name) = (key.path(&self.folder), key.file_name());
        let FetchedBytes { bytes, total } = match self.fetch(&name, 0..key.prefix_bytes(), false) {
            Err(RemoteError::NotFound(_)) => {
                // The cache must not list a layer that the address lost.
                let _ = fs::remove_file(&path);
                return Ok(false);
            }
            fetched => fetched?,
        };
        let damaged = |damage| TableError::damaged(Kind::Table, &self.url(&name), damage);
        let header = TableHeader::read(&bytes, total).map_err(damaged)?;
        if header.key != key || Manifest::contradicts(key, &header.digest) {
            return Err(damaged(Damage::OtherDigest).into());
        }
        // The blocks of the same table are kept.
        if File::open(&path).ok().and_then(|file| cache::header(&file, key)) != Some(header) {
            cache::put(&path, &bytes, total)?;
        }
        Ok(true)
    }

    /// Address of a file. Not by `Path::join`, which would use the separator of this system.
    fn url(&self, name: &str) -> PathBuf {
        format!("{}/{name}", self.store.address().display()).into()
    }
}

/// The tables in a manifest.
fn keys(manifest: &Manifest) -> Vec<TableKey> {
    manifest.entries().iter().map(|entry| entry.key).collect()
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

    fn open(&self, name: &str, maps: bool) -> io::Result<Box<dyn Source>> {
        let path = self.0.folder.join(name);
        let file = File::options().read(true).write(true).open(&path)?;
        // Without the note of its use, its blocks are removed earlier.
        let _ = file.set_modified(SystemTime::now());
        let header = TableKey::named(Path::new(name)).and_then(|key| cache::header(&file, key));
        let header = header.ok_or(io::ErrorKind::NotFound)?;
        let local = LocalFile::of(path, file)?;
        let local = if maps { local.mapped() } else { local };
        Ok(Box::new(RemoteFile { directory: Arc::clone(&self.0), header, address: self.0.url(name), local }))
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
    header: TableHeader,
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

    fn read(&self, parts: &[Range<u64>], again: bool) -> Result<Vec<Vec<u8>>, SourceError> {
        let (directory, TableHeader { key, file_bytes, .. }) = (&*self.directory, &self.header);
        let fetch = |part: &Range<u64>| {
            let fetched = directory.fetch(&key.file_name(), part.clone(), again)?;
            match fetched.total == *file_bytes {
                true => Ok((part.clone(), fetched.bytes)),
                false => Err(RemoteError::Broken(format!("the server's file has {} bytes now", fetched.total))),
            }
        };
        let read = store::each(&store::joined(parts), fetch)?;
        Ok(parts.iter().map(|part| store::cut(&read, part)).collect())
    }

    fn local(&self) -> Option<&LocalFile> {
        Some(&self.local)
    }

    fn is_remote(&self) -> bool {
        true
    }
}
