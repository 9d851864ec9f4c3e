use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kalah_core::cancel::Cancel;
use kalah_core::directories::{Directories, Elsewhere, Place};
use kalah_core::file::{LocalFile, Source};
use kalah_core::game::Rules;
use kalah_core::index::MAX_TABLE_PITS;
use kalah_core::table::{Damage, TableHeader, TableKey};

use super::address::Address;
use super::cache::{self, Cache};
use super::client::{FetchedBytes, Traffic};
use super::client::{HttpStore, Store, folder};
use super::error::RemoteError;
use super::listing::{Boards, Layer, Listing, Pins};
use super::parts;

/// Bytes read after which the cache is trimmed again.
const TRIM_AFTER: u64 = 64 << 20;

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

/// The tables at an address.
#[derive(Clone, Debug)]
pub struct RemoteTables {
    mirror: Arc<Mirror>,
}

impl RemoteTables {
    /// Finds the tables at `address`.
    ///
    /// Only headers are read. Those in the cache are read again unless the built-in manifest has their digests.
    ///
    /// # Errors
    /// When the server does not answer, refuses access, or has no tables; when the cache cannot be used.
    pub fn open(address: &Address, options: RemoteOptions) -> Result<RemoteTables, RemoteError> {
        RemoteTables::of(Arc::new(HttpStore::new(address, options.patience, &options.cancel)), options)
    }

    /// Finds the tables in `store`: see [`RemoteTables::open`].
    ///
    /// # Errors
    /// As [`RemoteTables::open`].
    pub fn of(store: Arc<dyn Store>, options: RemoteOptions) -> Result<RemoteTables, RemoteError> {
        let RemoteOptions { cache, rules, pits, .. } = options;
        let folder = cache.folder(&folder(&*store))?;
        let listing = Listing { store: &*store, cache: &cache, folder: &folder };
        let pits = pits.map_or(1..=MAX_TABLE_PITS, |pits| pits..=pits);
        let (layers, pins) = listing.read(&Boards { rules, pits })?;
        let files = layers.into_iter().map(|Layer { header, tag, fresh }| {
            (header.key.file_name(), Known { header, tag, is_confirmed: fresh, tags_vary: false })
        });
        let mirror =
            Mirror { store, cache, folder, pins, files: Mutex::new(files.collect()), untrimmed: AtomicU64::new(0) };
        mirror.trim();
        Ok(RemoteTables { mirror: Arc::new(mirror) })
    }

    /// The directory with the tables, which everything that opens tables takes.
    pub fn directory(&self) -> Directories {
        Place::from(self.clone()).into()
    }

    /// The folder of the cache with the blocks that were read.
    pub fn folder(&self) -> &Path {
        &self.mirror.folder
    }

    /// Ends the waits for the server of now, in all threads: lookups in progress fail with
    /// [`Stopped`](kalah_core::cancel::Stopped), and later ones do not.
    pub fn interrupt(&self) {
        self.mirror.store.interrupt();
    }

    /// Requests to the server so far.
    pub fn traffic(&self) -> Traffic {
        self.mirror.store.traffic()
    }
}

/// Header and version of a file.
#[derive(Clone, Debug)]
struct Known {
    header: TableHeader,
    /// The version of the file.
    tag: Option<String>,
    /// True if the server sent this header to this process.
    is_confirmed: bool,
    /// True if the tags of one version differ, as those of several servers behind one name may.
    tags_vary: bool,
}

/// The directory of an address.
struct Mirror {
    store: Arc<dyn Store>,
    cache: Cache,
    folder: PathBuf,
    pins: Pins,
    files: Mutex<HashMap<String, Known>>,
    /// Bytes read since the cache was trimmed.
    untrimmed: AtomicU64,
}

impl Mirror {
    fn files(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Trims the cache. The files of this address stay, since this process may have them open.
    fn trim(&self) {
        self.cache.trim(&|path| path.parent() == Some(&self.folder));
    }

    /// Reads parts of a file, and its header unless this process has it. `None` if the file changed meanwhile, so that
    /// the next try must begin with the header.
    fn try_read(&self, name: &str, parts: &[Range<u64>], again: bool) -> io::Result<Option<Vec<Vec<u8>>>> {
        let known = self.files().get(name).cloned().ok_or(io::ErrorKind::NotFound)?;
        let prefix = 0..known.header.key.prefix_bytes();
        let mut ranges = parts.to_vec();
        if !known.is_confirmed {
            ranges.push(prefix.clone());
        }
        let ranges = parts::joined(&ranges);
        let answers = parts::each(&ranges, |range| self.store.range(name, range.clone(), again))?;
        let expected = known.header.file_bytes;
        if let Some(other) =
            answers.iter().map(|fetched| fetched.total).find(|&total| total != expected && known.is_confirmed)
        {
            let (found, expected) = (format!("a file of {other} bytes"), format!("one of {expected} bytes"));
            return Err(RemoteError::Range { found, expected }.into());
        }
        let has_changed = |fetched: &FetchedBytes| !known.tags_vary && fetched.tag != known.tag;
        if known.is_confirmed && answers.iter().any(has_changed) {
            if let Some(known) = self.files().get_mut(name) {
                // If the header is the same, the tags say nothing about the file.
                (known.is_confirmed, known.tags_vary) = (false, true);
            }
            return Ok(None);
        }
        let (total, tag) = answers.first().map_or((0, None), |fetched| (fetched.total, fetched.tag.clone()));
        let read: Vec<(Range<u64>, Vec<u8>)> =
            ranges.into_iter().zip(answers.into_iter().map(|fetched| fetched.bytes)).collect();
        if !known.is_confirmed {
            match TableHeader::read(&parts::cut(&read, &prefix), total) {
                Ok(header) if header == known.header => {}
                Ok(_) => return Err(io::Error::other(Damage::OtherDigest)),
                Err(damage) => return Err(io::Error::other(damage)),
            }
            self.files().insert(name.to_owned(), Known { tag, is_confirmed: true, ..known });
        }
        Ok(Some(parts.iter().map(|part| parts::cut(&read, part)).collect()))
    }
}

impl Mirror {
    /// Reads parts of a file from the store.
    fn read(&self, name: &str, parts: &[Range<u64>], again: bool) -> io::Result<Vec<Vec<u8>>> {
        let bytes: u64 = parts.iter().map(|part| part.end - part.start).sum();
        if self.untrimmed.fetch_add(bytes, Ordering::Relaxed) + bytes > TRIM_AFTER {
            self.untrimmed.store(0, Ordering::Relaxed);
            self.trim();
        }
        // Only the first try can find that the file changed.
        for _ in 0..2 {
            if let Some(read) = self.try_read(name, parts, again)? {
                return Ok(read);
            }
        }
        Err(RemoteError::Connection("the file changes while it is read".to_owned()).into())
    }

    /// Checks that the file `name` has the expected digest, and notes its header. One that is damaged is left to the
    /// reader.
    fn expect(&self, name: &str, file: &LocalFile) -> Result<(), Damage> {
        let prefix = TableKey::named(Path::new(name)).and_then(|key| cache::prefix(&file.file, key));
        let Some(header) = prefix.and_then(|prefix| TableHeader::read(&prefix, file.bytes).ok()) else {
            return Ok(());
        };
        let is_other = self.pins.get(&header.key).is_some_and(|digest| *digest != header.digest);
        let mut files = self.files();
        // Another process may have replaced the file by one with a later header.
        if files.get(name).is_none_or(|known| known.header != header) {
            files.insert(name.to_owned(), Known { header, tag: None, is_confirmed: false, tags_vary: false });
        }
        if is_other { Err(Damage::OtherDigest) } else { Ok(()) }
    }
}

impl Elsewhere for RemoteTables {
    fn address(&self) -> &Path {
        self.mirror.store.address()
    }

    fn names(&self) -> io::Result<Vec<String>> {
        Place::Here(self.mirror.folder.clone()).names()
    }

    fn has(&self, name: &str) -> bool {
        self.mirror.folder.join(name).exists()
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Source>> {
        let path = self.mirror.folder.join(name);
        let file = File::options().read(true).write(true).open(&path)?;
        let local = LocalFile { path, bytes: file.metadata()?.len(), file };
        self.mirror.expect(name, &local).map_err(io::Error::other)?;
        // Not `Path::join`, which would use the separator of this system.
        let address = format!("{}/{name}", self.address().display()).into();
        Ok(Box::new(RemoteFile { mirror: Arc::clone(&self.mirror), name: name.to_owned(), address, local }))
    }
}

impl From<RemoteTables> for Place {
    fn from(tables: RemoteTables) -> Place {
        Place::Elsewhere(Arc::new(tables))
    }
}

/// A file at an address. Its local file is that of the cache.
struct RemoteFile {
    mirror: Arc<Mirror>,
    name: String,
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

    fn read(&self, parts: &[Range<u64>], again: bool) -> io::Result<Vec<Vec<u8>>> {
        self.mirror.read(&self.name, parts, again)
    }

    fn local(&self) -> Option<&LocalFile> {
        Some(&self.local)
    }

    fn is_remote(&self) -> bool {
        true
    }
}

impl fmt::Debug for Mirror {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mirror").field("store", &self.store).field("folder", &self.folder).finish_non_exhaustive()
    }
}
