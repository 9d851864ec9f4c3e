use std::fs::{self, File, Metadata};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use kalah_base::file::temporary_beside;
use kalah_core::file::read_part;
use kalah_core::table::format::TableHeader;
use kalah_core::table::{TableError, TableKey};

/// The directory that keeps the blocks of tables on other machines, for all processes of a user.
///
/// It has a folder for each address, and in it a file for each layer, with holes in place of the blocks that were not
/// read. Files appear by renaming. A process that has opened a file keeps it.
#[derive(Clone, Debug)]
pub struct Cache {
    directory: PathBuf,
    limit: u64,
}

impl Cache {
    /// Limit if none is chosen: 4 GiB.
    pub const DEFAULT_LIMIT: u64 = 4 << 30;

    /// The cache in `directory`, which is made when it is needed, with at most `limit` bytes.
    pub fn new(directory: impl Into<PathBuf>, limit: u64) -> Cache {
        Cache { directory: directory.into(), limit }
    }

    /// Makes the folder with this name, and returns its path.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf, TableError> {
        let folder = self.directory.join(name);
        fs::create_dir_all(&folder).map(|()| folder).map_err(TableError::io(&self.directory))
    }

    /// Removes the files that were not used for longest, except those in the folder `kept`, until the cache is within
    /// its limit.
    pub(crate) fn trim(&self, kept: &Path) {
        let mut files = self.files();
        let mut total: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        files.sort_unstable();
        for (_, bytes, path) in files.iter().filter(|(_, _, path)| !path.starts_with(kept)) {
            if total > self.limit && fs::remove_file(path).is_ok() {
                total -= bytes;
            }
        }
    }

    /// All files, each with the time of its last use and its bytes on disk.
    fn files(&self) -> Vec<(SystemTime, u64, PathBuf)> {
        let list = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let files = list(&self.directory).flat_map(|folder| list(&folder).collect::<Vec<_>>());
        let file = |path: PathBuf| {
            let metadata = path.metadata().ok()?;
            Some((metadata.modified().ok()?, on_disk(&metadata), path))
        };
        files.filter(|path| TableKey::named(path).is_some()).filter_map(file).collect()
    }
}

/// Makes or replaces the file at `path` by one of `bytes` bytes that begins with `prefix` and has no blocks.
pub(crate) fn put(path: &Path, prefix: &[u8], bytes: u64) -> Result<(), TableError> {
    let written = temporary_beside(path).and_then(|mut file| {
        file.as_file().set_len(bytes)?;
        file.write_all(prefix)?;
        file.persist(path).map(drop).map_err(|error| error.error)
    });
    written.map_err(TableError::io(path))
}

/// The header of a file of the cache, if it is one of the table `key`.
pub(crate) fn header(file: &File, key: TableKey) -> Option<TableHeader> {
    let prefix = read_part(file, 0..key.prefix_bytes()).ok()?;
    let header = TableHeader::read(&prefix, file.metadata().ok()?.len()).ok()?;
    (header.key == key).then_some(header)
}

/// Bytes that a file occupies.
#[cfg(unix)]
fn on_disk(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(metadata) * 512
}

/// Bytes of the file, holes included.
#[cfg(not(unix))]
fn on_disk(metadata: &Metadata) -> u64 {
    metadata.len()
}
