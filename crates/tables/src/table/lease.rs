use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kalah_base::file::{FileLock, LockError, create_directory};
use kalah_base::parallel::small_thread;
use kalah_core::cancel::Cancel;
use kalah_core::file::{found, read, read_to_string};
use kalah_core::table::{PairKey, TableError, TableKey};

use super::piece::temporary;

/// Interval at which the holder of a lease shows that it is alive.
const BEAT: Duration = Duration::from_millis(500);

/// The leases in a directory, as one process sees them: small files that show which process does
/// what, so that the others do something else.
///
/// Two processes may hold the same lease without harm: they do the same work with the same result.
/// So leases need neither locks, nor synchronised clocks, nor any sign that a process died. A lease
/// is taken over if its file does not change for a while.
#[derive(Debug)]
pub struct Leases {
    /// A lease unchanged for this long is taken over.
    patience: Duration,
    /// Last contents of other processes' leases, and when they were first seen.
    seen: HashMap<PathBuf, (Vec<u8>, Instant)>,
}

/// A lease of this process on some work, held until this is dropped.
#[derive(Debug)]
pub struct Lease {
    path: PathBuf,
    /// Prefix of the file as long as this process holds the lease.
    id: String,
    ended: Cancel,
    beating: Option<JoinHandle<()>>,
}

impl Leases {
    /// Starts without any lease. Leases that do not change for `patience`, at least a few seconds,
    /// are taken over.
    pub fn new(patience: Duration) -> Leases {
        Leases { patience, seen: HashMap::new() }
    }

    /// Leases a pair; `None` while another process seems to compute it.
    ///
    /// # Errors
    /// When reading or writing fails.
    pub fn pair(&mut self, directory: &Path, pair: PairKey) -> Result<Option<Lease>, TableError> {
        self.file(pair.piece_path(directory).with_extension("lease"))
    }

    /// Leases the joining of a layer's pieces; `None` while another process seems to do it.
    ///
    /// # Errors
    /// When reading or writing fails.
    pub fn join(&mut self, directory: &Path, key: TableKey) -> Result<Option<Lease>, TableError> {
        self.file(directory.join(format!("{}.join.lease", key.file_stem())))
    }

    /// Leases any work by the file `path`; `None` while another process seems to do it.
    ///
    /// # Errors
    /// When reading or writing fails.
    pub fn file(&mut self, path: PathBuf) -> Result<Option<Lease>, TableError> {
        let io = TableError::io;
        let host = sysinfo::System::host_name().unwrap_or_default();
        let id = format!("process {} on {host}, {:016x}", std::process::id(), fastrand::u64(..));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                file.write_all(beat(&id, 0).as_bytes()).map_err(io(&path))?;
                self.seen.remove(&path);
                return Ok(Some(Lease::new(path, id)));
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(io(&path)(error)),
        }
        // If it was released just now, the next call takes it.
        let Some(now) = found(read(&path)).map_err(io(&path))? else { return Ok(None) };
        match self.seen.get(&path) {
            Some((before, since)) if *before == now => {
                if since.elapsed() < self.patience {
                    return Ok(None);
                }
            }
            _ => {
                self.seen.insert(path, (now, Instant::now()));
                return Ok(None);
            }
        }
        self.seen.remove(&path);
        let mut file = temporary(&path)?;
        file.write_all(beat(&id, 0).as_bytes()).map_err(io(&path))?;
        file.persist(&path).map_err(|error| io(&path)(error.error))?;
        Ok(Some(Lease::new(path, id)))
    }
}

/// Contents of a lease's file at its `count`th beat.
fn beat(id: &str, count: u32) -> String {
    format!("{id}: {count:010}\n")
}

impl Lease {
    fn new(path: PathBuf, id: String) -> Lease {
        let ended = Cancel::new();
        let beating = {
            let (path, id, ended) = (path.clone(), id.clone(), ended.clone());
            // Without this thread there is no sign of life: at worst, others do the same work.
            small_thread("lease")
                .spawn(move || {
                    let mut count = 0;
                    loop {
                        std::thread::park_timeout(BEAT);
                        if ended.is_cancelled() || !is_ours(&path, &id) {
                            return;
                        }
                        count += 1;
                        // If a beat fails, at worst others do the same work. The file is opened
                        // each time, since closing it makes the change visible to other machines.
                        let _ = write_over(&path, &beat(&id, count));
                    }
                })
                .ok()
        };
        Lease { path, id, ended, beating }
    }
}

fn is_ours(path: &Path, id: &str) -> bool {
    read_to_string(path).is_ok_and(|text| text.starts_with(id))
}

/// Overwrites a file without truncating it first, so that it is never seen empty.
fn write_over(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes())
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.ended.cancel();
        if let Some(beating) = self.beating.take() {
            beating.thread().unpark();
            let _ = beating.join();
        }
        if is_ours(&self.path, &self.id) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Decides about the file `path`, a table or archive that was `opened`, before that of `source` is written there.
/// Returns it if `is_same`; `None` if it may be replaced, since it does not exist or is certainly damaged.
///
/// # Errors
/// When it must stay ([`TableError::Occupied`]): it holds another table, or is of another kind or version. When it
/// cannot be read.
pub(crate) fn unless_other<T>(
    path: &Path,
    opened: Result<T, TableError>,
    source: &Path,
    is_same: impl FnOnce(&T) -> bool,
) -> Result<Option<T>, TableError> {
    match opened {
        Ok(found) if is_same(&found) => Ok(Some(found)),
        Ok(_) => {
            let reason = format!("it holds another table than {}", source.display());
            Err(TableError::Occupied { path: path.to_owned(), reason })
        }
        Err(TableError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.is_worthless() => Ok(None),
        Err(TableError::Damaged { path, damage, .. }) => Err(TableError::Occupied { path, reason: damage.to_string() }),
        Err(error) => Err(error),
    }
}

/// The name of the lock file in a directory of tables.
const LOCK_FILE: &str = "build.lock";

/// The right to write to a directory of tables, held by one process at a time and released when it
/// ends, however it ends.
#[derive(Debug)]
pub struct DirectoryLock {
    directory: PathBuf,
    _lock: FileLock,
}

impl DirectoryLock {
    /// Creates the directory if it does not exist, and takes its lock.
    ///
    /// # Errors
    /// When another process holds the lock, or the lock file cannot be created.
    pub fn take(directory: &Path) -> Result<DirectoryLock, LockError> {
        let path = directory.join(LOCK_FILE);
        create_directory(directory).map_err(|source| LockError::Io { path: directory.to_owned(), source })?;
        Ok(DirectoryLock { directory: directory.to_owned(), _lock: FileLock::take(path, directory)? })
    }

    /// The directory.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }
}
