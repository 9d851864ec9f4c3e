use super::error::TableError;
use super::format::TableHeader;
use super::mapping::files_are_mapped;
use crate::directories::Place;
use crate::index::MAX_TABLE_SEEDS;
use crate::source::{LocalFile, Source};

/// Ways to read the bytes of tables on this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Storage {
    /// As mapped files in a program that called [`super::map_files`], where the file system has mappings; otherwise as
    /// copies in memory.
    #[default]
    Mapped,
    /// As copies in memory: later changes of the files do not matter.
    Copied,
    /// By lookups in the files: a block is compared with its checksum when it is first needed, and no file is mapped.
    /// A lookup takes some ten times as long as in memory. Work on whole frames makes a copy in memory.
    Files,
}

impl Storage {
    /// Returns true if the bytes of whole files are mapped.
    pub(super) fn is_mapped(self) -> bool {
        self == Storage::Mapped && files_are_mapped()
    }
}

/// Options of [`super::Tables::open`]. A number of seeds converts into the default options with this limit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Opening {
    /// Seeds of the largest layer to open.
    pub max_seeds: usize,
    /// The way to read the bytes.
    pub storage: Storage,
    /// True if a single directory that does not exist counts as empty.
    pub may_be_absent: bool,
}

impl Opening {
    /// Opens the layers in the given way.
    #[must_use]
    pub fn storage(self, storage: Storage) -> Opening {
        Opening { storage, ..self }
    }

    /// Counts a single directory that does not exist as empty.
    #[must_use]
    pub fn if_there(self) -> Opening {
        Opening { may_be_absent: true, ..self }
    }

    /// Opens the layers of at most this number of seeds.
    #[must_use]
    pub fn to(max_seeds: usize) -> Opening {
        Opening { max_seeds, ..Opening::default() }
    }
}

impl Default for Opening {
    fn default() -> Opening {
        Opening { max_seeds: MAX_TABLE_SEEDS, storage: Storage::default(), may_be_absent: false }
    }
}

impl From<usize> for Opening {
    fn from(max_seeds: usize) -> Opening {
        Opening::to(max_seeds)
    }
}

/// Opens the file `name` of a directory, to be read at offsets.
///
/// # Errors
/// When it does not exist or cannot be opened.
pub(super) fn source(place: &Place, name: &str) -> Result<Box<dyn Source>, TableError> {
    let opened = match place {
        Place::Here(directory) => LocalFile::open(&directory.join(name)).map(|file| Box::new(file) as Box<dyn Source>),
        Place::Elsewhere(directory) => directory.open(name),
    };
    opened.map_err(|error| TableError::reading(&place.file(name), error))
}

/// Reads header and directory of a table.
///
/// # Errors
/// When they cannot be read, or are not valid.
pub(super) fn header(source: &dyn Source) -> Result<TableHeader, TableError> {
    let (name, bytes) = (source.name(), source.bytes());
    let prefix = 0..bytes.min(TableHeader::MAX_PREFIX_BYTES as u64);
    let read = match source.local() {
        Some(local) => local.read(&[prefix], false),
        None => source.read(&[prefix], false),
    };
    let prefix = read.map_err(|error| TableError::reading(name, error))?.pop().unwrap_or_default();
    TableHeader::read(&prefix, bytes).map_err(|damage| TableError::damaged(name, damage))
}
