use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use kalah_base::diagnostic::{Commands, Diagnosis, Diagnostic};
use kalah_base::file::{self, Document, FileContent, LockError};
use kalah_base::progress::Pulse;
use kalah_core::cancel::{Cancel, Stopped};
use kalah_core::header::{HeaderError, Kind};
use kalah_core::table::{Damage, Table, TableError, TableKey};
use kalah_tables::table::archive::{archive_path, decompress, read_info};
use kalah_tables::table::{DirectoryLock, Manifest};

use super::address::Address;
use super::answer::Answer;
use super::answer::Tries;
use super::client::Client;
use super::error::RemoteError;
use super::mirror::RemoteOptions;

/// Format of the file with the version of the server's file.
const TAG: Document = Document { format: "kalah download", version: 1 };

/// Downloads whole layers to a directory of tables.
///
/// A layer is received in a file beside its own, and gets its name once all checksums and digests match. A stopped
/// download goes on where it was, if the server's file is still the same version.
#[derive(Debug)]
pub struct Download {
    client: Client,
    address: Address,
    directory: PathBuf,
    cancel: Cancel,
}

/// Origin of a layer in the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Downloaded {
    /// It was there.
    Present,
    /// It was received; its bytes, and how many of them an earlier download had received.
    Received {
        /// Bytes of the file.
        bytes: u64,
        /// Bytes of an earlier download.
        resumed: u64,
    },
}

/// Reasons why a layer was not downloaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DownloadError {
    /// The server's file cannot be read.
    #[error("{url}: {source}")]
    Remote {
        /// The file.
        url: String,
        /// The reason.
        source: RemoteError,
    },
    /// A file on this machine cannot be read or written, or the received one is damaged.
    #[error("{0}")]
    Table(#[from] TableError),
    /// Another process writes to the directory.
    #[error("{0}")]
    Lock(#[from] LockError),
    /// The download was stopped.
    #[error("{0}")]
    Stopped(#[from] Stopped),
}

impl Diagnostic for DownloadError {
    fn diagnosis(&self, commands: &dyn Commands) -> Diagnosis {
        match self {
            DownloadError::Remote { source, .. } => source.diagnosis(commands),
            DownloadError::Table(error) => error.diagnosis(commands),
            DownloadError::Lock(error) => error.diagnosis(commands),
            DownloadError::Stopped(error) => error.diagnosis(commands),
        }
    }
}

impl Download {
    /// Prepares downloads from `address` to `directory`, which exists. They stop when `cancel` is cancelled.
    pub fn new(address: &Address, directory: impl Into<PathBuf>, cancel: &Cancel) -> Download {
        let client = Client::new(address, RemoteOptions::DEFAULT_PATIENCE, cancel);
        let (address, directory) = (address.clone(), directory.into());
        Download { client, address, directory, cancel: cancel.clone() }
    }

    /// Returns true if the built-in manifest has the layer. Nothing but the server vouches for the others.
    pub fn is_known(&self, key: TableKey) -> bool {
        Manifest::built_in().entry(key).is_some()
    }

    /// Bytes of the file of a layer, table or archive, and the bytes of it that this directory has: all, or those of a
    /// stopped download.
    ///
    /// # Errors
    /// When the server does not have the layer, or does not answer.
    pub fn size(&self, key: TableKey) -> Result<(u64, u64), DownloadError> {
        let path = key.path(&self.directory);
        let (file, total) = match self.total(&path) {
            Err(RemoteError::NotFound(_)) => {
                let archive = archive_path(&self.directory, key);
                // A missing layer is reported as a missing table.
                let total = self.total(&archive).map_err(|error| match error {
                    RemoteError::NotFound(_) => self.remote(&path)(error),
                    error => self.remote(&archive)(error),
                });
                (archive, total?)
            }
            total => (path.clone(), total.map_err(self.remote(&path))?),
        };
        let received = partial(&file).metadata().map_or(0, |metadata| metadata.len());
        Ok((total, if path.exists() { total } else { received.min(total) }))
    }

    /// Bytes of the server's file that becomes the one at `path`.
    fn total(&self, path: &Path) -> Result<u64, RemoteError> {
        let url = self.address.file(&name(path));
        match self.client.range(&url, 0..1, false) {
            Ok(fetched) => Ok(fetched.total),
            // A server without ranges states the length of the whole file, whose body is not read.
            Err(RemoteError::NoRanges) => {
                Ok(self.client.request(&url, (0, None), None, false, &self.cancel)?.head.total.unwrap_or(0))
            }
            Err(error) => Err(error),
        }
    }

    /// Downloads a layer unless the directory has it: its table, or its archive where the server has no table, which is
    /// unpacked. `count` is called with each number of bytes received.
    ///
    /// # Errors
    /// When the server does not send it, it is damaged or not the table of the built-in manifest, it cannot be written,
    /// or the download is cancelled. What was received is kept, unless it is damaged.
    pub fn layer(&self, key: TableKey, count: &dyn Fn(u64)) -> Result<Downloaded, DownloadError> {
        let path = key.path(&self.directory);
        if path.exists() {
            require_known(&Table::open_key(&self.directory, key)?)?;
            // A download that a build overtook, or that was killed at its end.
            for path in [&path, &archive_path(&self.directory, key)] {
                let _ = file::remove_own(&tag_of(&partial(path)), FileContent::State);
                let _ = file::remove_own(&partial(path), content(path));
            }
            return Ok(Downloaded::Present);
        }
        let lock = DirectoryLock::take(&self.directory)?;
        match self.receive(&path, count) {
            Err(DownloadError::Remote { source: RemoteError::NotFound(_), .. }) => {}
            received => {
                let (bytes, resumed) = received?;
                self.finish(&path, self.check(&path, key))?;
                return Ok(Downloaded::Received { bytes, resumed });
            }
        }
        let archive = archive_path(&self.directory, key);
        let (bytes, resumed) = self.receive(&archive, count)?;
        // Unpacking takes it itself.
        drop(lock);
        self.restore(&partial(&archive)).map_err(|error| self.refused(&archive, error))?;
        discard(&archive);
        Ok(Downloaded::Received { bytes, resumed })
    }

    /// Unpacks a received archive.
    fn restore(&self, archive: &Path) -> Result<(), TableError> {
        let info = read_info(archive)?;
        if Manifest::contradicts(info.key, &info.digest) {
            return Err(TableError::damaged_as(Kind::Archive, archive, Damage::OtherDigest));
        }
        decompress(archive, &self.directory, &Pulse::new(self.cancel.clone())).map(drop)
    }

    /// Gives a received table its name, if it was `checked` successfully.
    fn finish(&self, path: &Path, checked: Result<(), TableError>) -> Result<(), TableError> {
        checked.map_err(|error| self.refused(path, error))?;
        // Without its version, the next download still finds it complete.
        file::remove_own(&tag_of(&partial(path)), FileContent::State).map_err(TableError::io(path))?;
        fs::rename(partial(path), path).map_err(TableError::io(path))
    }

    /// Error of what was received for the file at `path`. If it is damaged, it is removed, since the next download must
    /// not go on with it, and the error names the server's file.
    fn refused(&self, path: &Path, error: TableError) -> TableError {
        match error {
            TableError::Damaged { path: of, damage, kind } if of == path || of == partial(path) => {
                discard(path);
                TableError::Damaged { path: self.url(path).into(), damage, kind }
            }
            error => error,
        }
    }

    /// Receives the rest of the file that becomes the one at `path`. Returns its bytes, and those that were there.
    fn receive(&self, path: &Path, count: &dyn Fn(u64)) -> Result<(u64, u64), DownloadError> {
        let (url, temporary) = (self.address.file(&name(path)), partial(path));
        let written = |error| DownloadError::Table(TableError::writing(path, "what was received is kept")(error));
        let files = [(&temporary, content(path)), (&tag_of(&temporary), FileContent::State)];
        for (path, content) in files {
            file::require_own(path, content).map_err(TableError::io(path))?;
        }
        let mut resumed = None;
        let mut tries = Tries::default();
        loop {
            let have = temporary.metadata().map_or(0, |metadata| metadata.len());
            let tag = file::read(&tag_of(&temporary)).ok().and_then(|bytes| TAG.parse(&bytes).ok());
            let tag = tag.and_then(|mut fields: BTreeMap<String, String>| fields.remove("tag"));
            let got = match self.client.request(&url, (have, None), tag.as_deref(), false, &self.cancel) {
                // All bytes were received before.
                Err(RemoteError::Status(416)) if have > 0 => return Ok((have, resumed.unwrap_or(have))),
                Ok(answer) if answer.head.is_part && answer.head.start != have => {
                    let (found, expected) =
                        (format!("bytes from {} on", answer.head.start), format!("those from {have} on"));
                    Err((0, RemoteError::Range { found, expected }))
                }
                Ok(mut answer) => {
                    let file = self.begin(&temporary, content(path), have, &answer).map_err(written)?;
                    resumed.get_or_insert(answer.head.start.min(have));
                    self.copy(&mut answer, (file, path), count, &written)?
                }
                Err(error) => Err((0, error)),
            };
            match got {
                Ok(total) => return Ok((total, resumed.unwrap_or(0))),
                Err((received, error)) => tries.wait(received > 0, error, &self.cancel).map_err(self.remote(path))?,
            }
        }
    }

    /// Opens the file of a download so that the body of `answer` can be added, from the start if the server sends all.
    fn begin(&self, temporary: &Path, content: FileContent, have: u64, answer: &Answer) -> io::Result<File> {
        let file = file::open_companion(temporary, content, File::options().read(true).append(true))?;
        if answer.head.start != have {
            file.set_len(0)?;
        }
        if have == 0 || answer.head.start != have {
            match &answer.head.tag {
                Some(tag) => TAG.write(&tag_of(temporary), &BTreeMap::from([("tag", tag)]))?,
                None => file::remove_own(&tag_of(temporary), FileContent::State)?,
            }
        }
        Ok(file)
    }

    /// Adds the body of an answer to the file that becomes the one at `path`. Returns the bytes of the whole file, or
    /// the bytes received before an error of the server.
    #[allow(clippy::type_complexity)]
    fn copy(
        &self,
        answer: &mut Answer,
        (mut file, path): (File, &Path),
        count: &dyn Fn(u64),
        written: &dyn Fn(io::Error) -> DownloadError,
    ) -> Result<Result<u64, (u64, RemoteError)>, DownloadError> {
        let mut received = 0;
        loop {
            let bytes = match self.client.read(answer) {
                Ok(Some(bytes)) => bytes,
                Ok(None) => break,
                Err(error) => return Ok(Err((received, error))),
            };
            if answer.head.start + received == 0 && !content(path).may_begin(&bytes) {
                discard(path);
                return Err(TableError::damaged(path, Damage::Header(HeaderError::Foreign(Kind::Table))).into());
            }
            file.write_all(&bytes).map_err(written)?;
            received += bytes.len() as u64;
            count(bytes.len() as u64);
        }
        let end = answer.head.start + received;
        match answer.head.total {
            Some(total) if end < total => {
                let (found, expected) = (format!("{end} bytes"), format!("{total} bytes"));
                Ok(Err((received, RemoteError::Range { found, expected })))
            }
            _ => {
                file.sync_all().map_err(written)?;
                Ok(Ok(end))
            }
        }
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

    /// Error of the server's file that becomes the one at `path`.
    fn remote(&self, path: &Path) -> impl FnOnce(RemoteError) -> DownloadError + use<> {
        let url = self.url(path);
        move |source| match source {
            RemoteError::Stopped(stopped) => stopped.into(),
            source => DownloadError::Remote { url, source },
        }
    }

    /// Address of the server's file that becomes the one at `path`.
    fn url(&self, path: &Path) -> String {
        format!("{}/{}", self.address, name(path))
    }
}

/// Checks that a table is the one of the built-in manifest, if that has it.
fn require_known(table: &Table) -> Result<(), TableError> {
    let is_other = Manifest::contradicts(table.key(), &table.header().digest);
    if is_other { Err(table.blocks().damaged(Damage::OtherDigest)) } else { Ok(()) }
}

/// Removes what was received of the file at `path`.
fn discard(path: &Path) {
    let _ = file::remove_own(&tag_of(&partial(path)), FileContent::State);
    // It may hold anything that the server sent.
    let _ = fs::remove_file(partial(path));
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

/// The file with the version of the server's file.
fn tag_of(temporary: &Path) -> PathBuf {
    temporary.with_extension("download-tag")
}
