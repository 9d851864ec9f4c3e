//! Choice and opening of files.

use std::path::Path;

use super::directory::{Entry, LayerHeader};
use super::error::TableError;
use super::key::TableKey;
use crate::directory::Directory;
use crate::file::Source;
use crate::game::Rules;
use crate::header::Kind;
use crate::index::MAX_TABLE_SEEDS;

/// Ways to read the bytes of tables on this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Storage {
    /// As mapped files in a program that called [`super::map_files`], where the file system has mappings; otherwise as
    /// copies in memory.
    #[default]
    Mapped,
    /// By lookups in the files: a block is compared with its checksum when it is first needed, and no file is mapped.
    /// A lookup takes some ten times as long as in memory. Work on whole frames makes a copy in memory.
    Files,
}

/// Options of [`super::Tables::open`]. A number of seeds converts into the default options with this limit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Opening {
    /// Seeds of the largest layer to open.
    pub max_seeds: usize,
    /// The way to read the bytes.
    pub storage: Storage,
    /// True if a directory that does not exist counts as empty.
    pub may_be_absent: bool,
}

impl Opening {
    /// Opens the layers in the given way.
    #[must_use]
    pub fn storage(self, storage: Storage) -> Opening {
        Opening { storage, ..self }
    }

    /// Counts a directory that does not exist as empty.
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

/// Reads header and directory of a file of this kind.
///
/// # Errors
/// When they cannot be read, or are not valid.
pub(super) fn header<E: Entry>(kind: Kind, source: &dyn Source) -> Result<LayerHeader<E>, TableError> {
    let (name, bytes) = (source.name(), source.bytes());
    let prefix = 0..bytes.min(LayerHeader::<E>::most_prefix_bytes() as u64);
    let read = source.local().map_or(source, |local| local).read(&[prefix], false);
    let prefix = read.map_err(|error| TableError::reading(name, error))?.pop().unwrap_or_default();
    LayerHeader::read_as(kind, &prefix, bytes).map_err(|damage| TableError::damaged_as(kind, name, damage))
}

/// The layers of one rule set and number of pits in a directory, by the names of the
/// files.
///
/// All work on "all layers" starts from this list. A table needs those of all layers below, so
/// layers above a gap are of no use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresentLayers {
    /// Seeds, ascending.
    seeds: Vec<usize>,
}

impl PresentLayers {
    /// Lists `directory`.
    ///
    /// # Errors
    /// When it does not exist or cannot be listed.
    pub fn read(directory: &Directory, rules: Rules, pits: usize) -> Result<PresentLayers, TableError> {
        let names = directory.names().map_err(TableError::io(directory.name()))?;
        let keys = names.iter().filter_map(|name| TableKey::named(Path::new(name)));
        let keys = keys.filter(|key| (key.rules, key.pits) == (rules, pits));
        Ok(PresentLayers::of(keys.map(|key| key.seeds)))
    }

    /// The layers with these seeds.
    pub(super) fn of(seeds: impl IntoIterator<Item = usize>) -> PresentLayers {
        let mut seeds: Vec<usize> = seeds.into_iter().collect();
        seeds.sort_unstable();
        PresentLayers { seeds }
    }

    /// Seeds of the last layer below which no layer is missing, at most `most`; 1 if the layer of 2
    /// seeds is missing.
    pub(super) fn contiguous(&self, most: usize) -> usize {
        self.seeds.iter().zip(2..=most).take_while(|&(&seeds, expected)| seeds == expected).count() + 1
    }

    /// Seeds of the largest layer, at most `most`; `None` if there are no layers.
    pub fn last(&self, most: usize) -> Option<usize> {
        self.seeds.iter().copied().rfind(|&seeds| seeds <= most)
    }

    /// Seeds of the layers missing below [`PresentLayers::last`], ascending.
    pub fn gaps(&self, most: usize) -> Vec<usize> {
        let last = self.last(most).unwrap_or(1);
        (2..last).filter(|seeds| self.seeds.binary_search(seeds).is_err()).collect()
    }
}
