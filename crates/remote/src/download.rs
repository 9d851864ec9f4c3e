use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use kalah_base::progress::Pulse;
use kalah_core::cancel::Cancel;
use kalah_core::file::open_with;
use kalah_core::header::Kind;
use kalah_core::table::{Damage, Table, TableError, TableKey};
use kalah_tables::table::archive::{decompress, read_info};
use kalah_tables::table::{DirectoryLock, Manifest};

use super::address::Address;
use super::client::{Client, NO_END};
use super::error::RemoteError;
use super::store::Store;

/// Downloads whole layers to a directory of tables. A layer is received in a file beside its own, and gets its name
/// once all checksums and digests match. A stopped download goes on where it was.
#[derive(Debug)]
pub struct Download {
    client: Client,
    directory: PathBuf,
    cancel: Cancel,
}

impl Download {
    /// Prepares downloads from `address` to `directory`, which exists. They stop when `cancel` is cancelled.
    pub fn new(address: &Address, directory: impl Into<PathBuf>, cancel: &Cancel) -> Download {
        Download { client: Client::new(address, cancel), directory: directory.into(), cancel: cancel.clone() }
    }

    /// Bytes of the file of a layer, table or archive, and the bytes of it that this directory has: all, or those of a
    /// stopped download. An error if the server does not have the layer, or does not answer.
    pub fn size(&self, key: TableKey) -> Result<(u64, u64), RemoteError> {
        let (name, total) = self.find(key)?;
        let received = self.partial(&name).metadata().map_or(0, |metadata| metadata.len());
        Ok((total, if key.path(&self.directory).exists() { total } else { received.min(total) }))
    }

    /// Name of the server's file of a layer, its table or else its archive, and its bytes.
    fn find(&self, key: TableKey) -> Result<(String, u64), RemoteError> {
        let bytes = |name: &str| Ok(self.client.range(name, 0..1, false)?.total);
        let (table, archive) = (key.file_name(), key.name_of(Kind::Archive));
        match bytes(&table) {
            Err(missing @ RemoteError::NotFound(_)) => match bytes(&archive) {
                Err(RemoteError::NotFound(_)) => Err(missing),
                total => Ok((archive, total?)),
            },
            total => Ok((table, total?)),
        }
    }

    /// The file that receives the server's one with this name.
    fn partial(&self, name: &str) -> PathBuf {
        self.directory.join(name).with_extension("download")
    }

    /// Downloads a layer unless the directory has it: its table, or its archive where the server has no table, which is
    /// unpacked. Returns the bytes that an earlier download had received; `None` if the layer was there. Bytes are
    /// added to `received` as they come.
    ///
    /// # Errors
    /// When the server does not send it, it is damaged or not the table of the built-in manifest, it cannot be written,
    /// or the download is cancelled. What was received is kept, unless it is damaged.
    pub fn layer(&self, key: TableKey, received: &AtomicU64) -> Result<Option<u64>, RemoteError> {
        if key.path(&self.directory).exists() {
            require_known(&Table::open_key(&self.directory, key)?)?;
            return Ok(None);
        }
        let lock = DirectoryLock::take(&self.directory)?;
        let (name, _) = self.find(key)?;
        let partial = self.partial(&name);
        let file = open_with(&partial, File::options().create(true).append(true));
        let mut file = file.map_err(TableError::io(&partial))?;
        let resumed = file.metadata().map_err(TableError::io(&partial))?.len();
        self.client.receive(&name, resumed..NO_END, false, |bytes| {
            file.write_all(bytes).map_err(TableError::io(&partial))?;
            received.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            Ok(())
        })?;
        let finished =
            if name == key.file_name() { self.finish(&file, &partial, key) } else { self.restore(&partial, &lock) };
        finished.map_err(|error| match error {
            TableError::Damaged { damage, kind, .. } => {
                let _ = fs::remove_file(&partial);
                let path = format!("{}/{name}", self.client.address).into();
                TableError::Damaged { path, damage, kind }
            }
            error => error,
        })?;
        Ok(Some(resumed))
    }

    /// Unpacks a received archive.
    fn restore(&self, archive: &Path, lock: &DirectoryLock) -> Result<(), TableError> {
        let info = read_info(archive)?;
        if Manifest::contradicts(info.key, &info.digest) {
            return Err(TableError::damaged(Kind::Archive, archive, Damage::OtherDigest));
        }
        decompress(archive, lock, &Pulse::new(self.cancel.clone()))?;
        fs::remove_file(archive).map_err(TableError::io(archive))
    }

    /// Gives a received table its name, if all its checksums and digests match.
    fn finish(&self, file: &File, partial: &Path, key: TableKey) -> Result<(), TableError> {
        let path = key.path(&self.directory);
        let table = Table::open_before_renaming(partial, &path)?;
        require_known(&table)?;
        for frame in key.frames() {
            table.blocks().check_digest(frame.mover, |_| Ok(self.cancel.check()?))?;
        }
        table.check()?;
        drop(table);
        file.sync_all().and_then(|()| fs::rename(partial, &path)).map_err(TableError::io(&path))
    }
}

/// Checks that a table is the one of the built-in manifest, if that has it.
fn require_known(table: &Table) -> Result<(), TableError> {
    let is_other = Manifest::contradicts(table.key(), &table.header().digest);
    if is_other { Err(table.blocks().damaged(Damage::OtherDigest)) } else { Ok(()) }
}
