use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use kalah_core::cancel::{Cancel, Stopped};
use kalah_core::table::{Damage, Table, TableError, TableKey};

use super::address::Address;
use super::client::{Answer, Client, Tries};
use super::error::RemoteError;
use super::listing::{Pins, known};

/// Bytes that are read before they are written.
const BUFFER: usize = 1 << 18;

/// Downloads whole layers to a directory of tables.
///
/// A layer is received in a file beside its own, and gets its name once all checksums and digests match. A stopped
/// download goes on where it was, if the server's file is still the same version.
#[derive(Debug)]
pub struct Download {
    client: Client,
    address: Address,
    directory: PathBuf,
    pins: Pins,
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
    /// The download was stopped.
    #[error("{0}")]
    Stopped(#[from] Stopped),
}

impl Download {
    /// Prepares downloads from `address` to `directory`, which exists.
    pub fn new(address: &Address, directory: &Path) -> Download {
        Download { client: Client::new(), address: address.clone(), directory: directory.to_owned(), pins: known() }
    }

    /// Bytes of the file of a layer, and the bytes of it that this directory has: all, or those of a stopped download.
    ///
    /// # Errors
    /// When the server does not have the layer, or does not answer.
    pub fn size(&self, key: TableKey) -> Result<(u64, u64), DownloadError> {
        let url = self.address.file(&key.file_name());
        let piece = self.client.range(&url, 0..1, false);
        let total = match piece {
            Ok(piece) => piece.total,
            // A server without ranges states the length of the whole file, whose body is not read.
            Err(RemoteError::NoRanges) => {
                let answer = self.client.request(&url, (0, None), None, false).map_err(self.remote(key))?;
                answer.total.unwrap_or(0)
            }
            Err(error) => return Err(self.remote(key)(error)),
        };
        let bytes = |path: &Path| path.metadata().map_or(0, |metadata| metadata.len());
        let path = key.path(&self.directory);
        Ok((total, if path.exists() { total } else { bytes(&partial(&path)).min(total) }))
    }

    /// Downloads a layer unless the directory has it. `count` is called with each number of bytes received.
    ///
    /// # Errors
    /// When the server does not send it, it is damaged or not the table of the built-in manifest, it cannot be written,
    /// or `cancel` is cancelled. What was received is kept, unless it is damaged.
    pub fn layer(&self, key: TableKey, cancel: &Cancel, count: &dyn Fn(u64)) -> Result<Downloaded, DownloadError> {
        let path = key.path(&self.directory);
        if path.exists() {
            self.require_digest(&Table::open_key(&self.directory, key)?)?;
            return Ok(Downloaded::Present);
        }
        let temporary = partial(&path);
        let (bytes, resumed) = self.receive(key, &path, cancel, count)?;
        if let Err(error) = self.check(&temporary, &path, key, cancel) {
            if error.is_damage() {
                // The next download must not go on with it.
                let _ = fs::remove_file(&temporary);
                let _ = fs::remove_file(tag_of(&temporary));
            }
            return Err(error.into());
        }
        fs::rename(&temporary, &path).map_err(TableError::io(&path))?;
        let _ = fs::remove_file(tag_of(&temporary));
        Ok(Downloaded::Received { bytes, resumed })
    }

    /// Receives the rest of a layer's file. Returns its bytes, and those that were there.
    fn receive(
        &self,
        key: TableKey,
        path: &Path,
        cancel: &Cancel,
        count: &dyn Fn(u64),
    ) -> Result<(u64, u64), DownloadError> {
        let (url, temporary) = (self.address.file(&key.file_name()), partial(path));
        let written = |error| DownloadError::Table(TableError::writing(path, "what was received is kept")(error));
        let mut resumed = None;
        let mut tries = Tries::default();
        loop {
            let have = temporary.metadata().map_or(0, |metadata| metadata.len());
            let tag = fs::read_to_string(tag_of(&temporary)).ok();
            let got = match self.client.request(&url, (have, None), tag.as_deref(), false) {
                // All bytes were received before.
                Err(RemoteError::Status(416)) if have > 0 => return Ok((have, resumed.unwrap_or(have))),
                Ok(mut answer) => {
                    let file = self.begin(&temporary, have, &answer).map_err(written)?;
                    resumed.get_or_insert(answer.start.min(have));
                    self.copy(&mut answer, file, cancel, count, &written)?
                }
                Err(error) => Err((0, error)),
            };
            match got {
                Ok(total) => return Ok((total, resumed.unwrap_or(0))),
                Err((received, error)) => {
                    if received > 0 {
                        tries = Tries::default();
                    }
                    tries.wait(error).map_err(self.remote(key))?;
                    cancel.check()?;
                }
            }
        }
    }

    /// Opens the file of a download so that the body of `answer` can be added, from the start if the server sends all.
    fn begin(&self, temporary: &Path, have: u64, answer: &Answer) -> io::Result<File> {
        let file = File::options().create(true).append(true).open(temporary)?;
        if answer.start != have {
            file.set_len(0)?;
        }
        if have == 0 || answer.start != have {
            match &answer.tag {
                Some(tag) => fs::write(tag_of(temporary), tag)?,
                None => drop(fs::remove_file(tag_of(temporary))),
            }
        }
        Ok(file)
    }

    /// Adds the body of an answer to a file. Returns the bytes of the whole file, or the bytes received before an error
    /// of the server.
    #[allow(clippy::type_complexity)]
    fn copy(
        &self,
        answer: &mut Answer,
        mut file: File,
        cancel: &Cancel,
        count: &dyn Fn(u64),
        written: &dyn Fn(io::Error) -> DownloadError,
    ) -> Result<Result<u64, (u64, RemoteError)>, DownloadError> {
        let mut buffer = vec![0; BUFFER];
        let mut received = 0;
        loop {
            cancel.check()?;
            let read = match self.client.read(answer, &mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) => return Ok(Err((received, error))),
            };
            file.write_all(&buffer[..read]).map_err(written)?;
            received += read as u64;
            count(read as u64);
        }
        let end = answer.start + received;
        match answer.total {
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
    fn check(&self, temporary: &Path, path: &Path, key: TableKey, cancel: &Cancel) -> Result<(), TableError> {
        let table = Table::open_before_renaming(temporary, path)?;
        self.require_digest(&table)?;
        for frame in key.frames() {
            table.blocks().check_digest(frame.mover, cancel, &|_| ())?;
        }
        table.check()
    }

    /// Checks that a table is the one of the built-in manifest, if that has it.
    fn require_digest(&self, table: &Table) -> Result<(), TableError> {
        match self.pins.get(&table.key()) {
            Some(digest) if *digest != table.header().digest => {
                Err(TableError::damaged(table.path(), Damage::OtherDigest))
            }
            _ => Ok(()),
        }
    }

    fn remote(&self, key: TableKey) -> impl FnOnce(RemoteError) -> DownloadError + use<> {
        let url = format!("{}/{}", self.address, key.file_name());
        move |source| DownloadError::Remote { url, source }
    }
}

/// The file that receives the one at `path`.
fn partial(path: &Path) -> PathBuf {
    path.with_extension("download")
}

/// The file with the version of the server's file.
fn tag_of(temporary: &Path) -> PathBuf {
    temporary.with_extension("download-tag")
}
