use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kalah_core::cancel::Cancel;
use kalah_core::directories::{Directories, Elsewhere, Place};
use kalah_core::file::{LocalFile, Source};
use kalah_core::game::Rules;
use kalah_core::table::{Damage, TableHeader, TableKey};

use super::address::Address;
use super::cache::{self, Cache};
use super::client::Client;
use super::error::RemoteError;
use super::mirror::{Mirror, Sent, Traffic};
use super::parts;
use super::store::{FetchedBytes, Store};

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
        RemoteTables::of(Arc::new(Client::new(address, options.patience, &options.cancel)), options)
    }

    /// Finds the tables in `store`: see [`RemoteTables::open`].
    ///
    /// # Errors
    /// As [`RemoteTables::open`].
    pub fn of(store: Arc<dyn Store>, options: RemoteOptions) -> Result<RemoteTables, RemoteError> {
        let RemoteOptions { cache, rules, pits, .. } = options;
        let mut mirror = Mirror::new(store, cache)?;
        if !mirror.find(&rules, pits)? {
            return Err(mirror.no_tables());
        }
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
        self.mirror.state().traffic
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
        // A damaged header is left to the reader.
        let header = TableKey::named(Path::new(name)).and_then(|key| cache::header(&file, key));
        let is_other =
            |header: &TableHeader| self.mirror.pins.get(&header.key).is_some_and(|pin| *pin != header.digest);
        if header.as_ref().is_some_and(is_other) {
            return Err(io::Error::other(Damage::OtherDigest));
        }
        let local = LocalFile { path, bytes: file.metadata()?.len(), file };
        // Not `Path::join`, which would use the separator of this system.
        let address = format!("{}/{name}", self.address().display()).into();
        Ok(Box::new(RemoteFile { mirror: Arc::clone(&self.mirror), header, address, local }))
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

    /// Reads the parts from the store. The header comes with them unless the server sent it before, and once more if
    /// the file has another version by now.
    fn read(&self, parts: &[Range<u64>], again: bool) -> io::Result<Vec<Vec<u8>>> {
        let header = self.header.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let (name, prefix) = (header.key.file_name(), 0..header.key.prefix_bytes());
        let sent = self.mirror.state().sent.get(&header.key).filter(|sent| sent.header == *header).cloned();
        let mut wanted = parts.to_vec();
        if sent.is_none() {
            wanted.push(prefix.clone());
        }
        let fetch = |part: &Range<u64>| self.mirror.fetch(&name, part.clone(), again);
        let read = parts::each(&parts::joined(&wanted), |part| Ok::<_, RemoteError>((part.clone(), fetch(part)?)))?;
        match sent {
            None => self.confirm(header, &parts::cut(&read, &prefix), &read[0].1)?,
            Some(sent) if read.iter().any(|(_, fetched)| fetched.tag != sent.tag) => {
                let fetched = fetch(&prefix)?;
                self.confirm(header, &fetched.bytes, &fetched)?;
            }
            Some(_) => {}
        }
        if let Some((_, fetched)) = read.iter().find(|(_, fetched)| fetched.total != header.file_bytes) {
            let (found, expected) = (fetched.total, header.file_bytes);
            let (found, expected) = (format!("a file of {found} bytes"), format!("one of {expected} bytes"));
            return Err(RemoteError::Range { found, expected }.into());
        }
        Ok(parts.iter().map(|part| parts::cut(&read, part)).collect())
    }

    fn local(&self) -> Option<&LocalFile> {
        Some(&self.local)
    }

    fn is_remote(&self) -> bool {
        true
    }
}

impl RemoteFile {
    /// Compares the header in `bytes`, a part of the file that was `fetched`, with that of the local file.
    ///
    /// # Errors
    /// When it is another one.
    fn confirm(&self, header: &TableHeader, bytes: &[u8], fetched: &FetchedBytes) -> io::Result<()> {
        let found = TableHeader::read(bytes, fetched.total).map_err(io::Error::other)?;
        if found != *header {
            return Err(io::Error::other(Damage::OtherDigest));
        }
        self.mirror.state().sent.insert(header.key, Sent { header: found, tag: fetched.tag.clone() });
        Ok(())
    }
}
