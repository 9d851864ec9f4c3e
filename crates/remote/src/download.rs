use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use kalah_base::file::{self, FileContent};
use kalah_base::progress::Pulse;
use kalah_core::cancel::Cancel;
use kalah_core::header::{HeaderError, Kind};
use kalah_core::table::{Damage, Table, TableError, TableKey};
use kalah_tables::table::archive::{archive_path, decompress, read_info};
use kalah_tables::table::{DirectoryLock, Manifest};

use super::address::Address;
use super::client::{Client, NO_END};
use super::error::RemoteError;
use super::store::Store;
use super::tables::RemoteOptions;

/// Downloads whole layers to a directory of tables.
///
/// A layer is received in a file beside its own, and gets its name once all checksums and digests match. A stopped
/// download goes on where it was; if the server's file changed, these show it, and it begins anew.
#[derive(Debug)]
pub struct Download {
    client: Client,
    directory: PathBuf,
    cancel: Cancel,
}

impl Download {
    /// Prepares downloads from `address` to `directory`, which exists. They stop when `cancel` is cancelled.
    pub fn new(address: &Address, directory: impl Into<PathBuf>, cancel: &Cancel) -> Download {
        let client = Client::new(address, RemoteOptions::DEFAULT_PATIENCE, cancel);
        Download { client, directory: directory.into(), cancel: cancel.clone() }
    }

    /// Bytes of the file of a layer, table or archive, and the bytes of it that this directory has: all, or those of a
    /// stopped download.
    ///
    /// # Errors
    /// When the server does not have the layer, or does not answer.
    pub fn size(&self, key: TableKey) -> Result<(u64, u64), RemoteError> {
        self.first_there(key, |path| {
            let total = match self.client.range(&name(path), 0..1, false) {
                Ok(first) => first.total,
                // A server without ranges.
                Err(RemoteError::Store(_)) => 0,
                Err(error) => return Err(error.of_file(self.url(path))),
            };
            let received = partial(path).metadata().map_or(0, |metadata| metadata.len());
            Ok((total, if key.path(&self.directory).exists() { total } else { received.min(total) }))
        })
    }

    /// Does `work` with the path of a layer's table, or with that of its archive where the server has no table.
    fn first_there<T>(&self, key: TableKey, work: impl Fn(&Path) -> Result<T, RemoteError>) -> Result<T, RemoteError> {
        let missing = match work(&key.path(&self.directory)) {
            Err(error) if error.is_missing_file() => error,
            done => return done,
        };
        match work(&archive_path(&self.directory, key)) {
            // A missing layer is reported as a missing table.
            Err(error) if error.is_missing_file() => Err(missing),
            done => done,
        }
    }

    /// Downloads a layer unless the directory has it: its table, or its archive where the server has no table, which is
    /// unpacked. Returns the bytes that an earlier download had received; `None` if the layer was there. Bytes are
    /// added to `received` as they come.
    ///
    /// # Errors
    /// When the server does not send it, it is damaged or not the table of the built-in manifest, it cannot be written,
    /// or the download is cancelled. What was received is kept, unless it is damaged.
    pub fn layer(&self, key: TableKey, received: &AtomicU64) -> Result<Option<u64>, RemoteError> {
        let path = key.path(&self.directory);
        if !path.exists() {
            return self.first_there(key, |path| self.file(path, key, received));
        }
        require_known(&Table::open_key(&self.directory, key)?)?;
        // A download that a build overtook.
        for path in [path, archive_path(&self.directory, key)] {
            let _ = file::remove_own(&partial(&path), content(&path));
        }
        Ok(None)
    }

    /// Receives the file that becomes the one at `path`, and finishes it. If an earlier download left a part of it, and
    /// the whole is damaged, the server's file may have changed: then all is received anew.
    fn file(&self, path: &Path, key: TableKey, received: &AtomicU64) -> Result<Option<u64>, RemoteError> {
        let is_table = content(path) == FileContent::Table;
        let lock = DirectoryLock::take(&self.directory)?;
        loop {
            let resumed = self.receive(path, received)?;
            match if is_table { self.finish(path, key) } else { self.restore(path, &lock) } {
                Ok(()) => return Ok(Some(resumed)),
                Err(TableError::Damaged { path: of, damage, kind }) if of == path || of == partial(path) => {
                    let removed = fs::remove_file(partial(path));
                    if resumed == 0 || removed.is_err() {
                        return Err(TableError::Damaged { path: self.url(path).into(), damage, kind }.into());
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Receives the rest of the file that becomes the one at `path`. Returns the bytes that were there.
    fn receive(&self, path: &Path, received: &AtomicU64) -> Result<u64, RemoteError> {
        let (temporary, content) = (partial(path), content(path));
        file::require_own(&temporary, content).map_err(TableError::io(&temporary))?;
        let resumed = temporary.metadata().map_or(0, |metadata| metadata.len());
        let mut opened = None;
        let take = |bytes: &[u8]| {
            if resumed == 0 && opened.is_none() && !content.may_begin(bytes) {
                let damage = Damage::Header(HeaderError::Foreign(Kind::Table));
                return Err(TableError::damaged(Path::new(&self.url(path)), damage).into());
            }
            let mut write = || {
                if opened.is_none() {
                    let mut options = File::options();
                    opened = Some(file::open_companion(&temporary, content, options.read(true).append(true))?);
                }
                opened.as_mut().map_or(Ok(()), |file| file.write_all(bytes))
            };
            write().map_err(TableError::io(path))?;
            received.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            Ok(())
        };
        self.client
            .receive(&name(path), resumed..NO_END, false, take)
            .map_err(|error| error.of_file(self.url(path)))?;
        Ok(resumed)
    }

    /// Unpacks a received archive.
    fn restore(&self, archive: &Path, lock: &DirectoryLock) -> Result<(), TableError> {
        let received = partial(archive);
        let info = read_info(&received)?;
        if Manifest::contradicts(info.key, &info.digest) {
            return Err(TableError::damaged_as(Kind::Archive, &received, Damage::OtherDigest));
        }
        decompress(&received, lock, &Pulse::new(self.cancel.clone()))?;
        fs::remove_file(&received).map_err(TableError::io(archive))
    }

    /// Gives a received table its name, if all its checksums and digests match.
    fn finish(&self, path: &Path, key: TableKey) -> Result<(), TableError> {
        self.check(path, key)?;
        File::options()
            .append(true)
            .open(partial(path))
            .and_then(|file| file.sync_all())
            .map_err(TableError::io(path))?;
        fs::rename(partial(path), path).map_err(TableError::io(path))
    }

    /// Compares a received file with all its checksums and digests.
    fn check(&self, path: &Path, key: TableKey) -> Result<(), TableError> {
        let table = Table::open_before_renaming(&partial(path), path)?;
        require_known(&table)?;
        for frame in key.frames() {
            table.blocks().check_digest(frame.mover, |_| Ok(self.cancel.check()?))?;
        }
        table.check()
    }

    /// Address of the server's file that becomes the one at `path`.
    fn url(&self, path: &Path) -> String {
        format!("{}/{}", self.client.address, name(path))
    }
}

/// Checks that a table is the one of the built-in manifest, if that has it.
fn require_known(table: &Table) -> Result<(), TableError> {
    let is_other = Manifest::contradicts(table.key(), &table.header().digest);
    if is_other { Err(table.blocks().damaged(Damage::OtherDigest)) } else { Ok(()) }
}

/// Content of the file at `path`.
fn content(path: &Path) -> FileContent {
    if TableKey::named(path).is_some() { FileContent::Table } else { FileContent::Archive }
}

/// Name of the file at `path`.
fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The file that receives the one at `path`.
fn partial(path: &Path) -> PathBuf {
    path.with_extension("download")
}
