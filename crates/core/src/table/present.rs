use std::path::Path;

use super::error::TableError;
use super::key::TableKey;
use crate::directories::Directories;
use crate::game::Rules;

/// The layers of one rule set and number of pits in one or more directories, by the names of the
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
    /// Lists `directories`.
    ///
    /// # Errors
    /// When one does not exist or cannot be listed.
    pub fn read(directories: impl Into<Directories>, rules: Rules, pits: usize) -> Result<PresentLayers, TableError> {
        let mut seeds = Vec::new();
        for place in directories.into().places() {
            for name in place.names().map_err(TableError::io(place.name()))? {
                let key = TableKey::named(Path::new(&name));
                seeds.extend(key.filter(|key| (key.rules, key.pits) == (rules, pits)).map(|key| key.seeds));
            }
        }
        Ok(PresentLayers::of(seeds))
    }

    /// The layers with these seeds.
    pub(super) fn of(seeds: impl IntoIterator<Item = usize>) -> PresentLayers {
        let mut seeds: Vec<usize> = seeds.into_iter().collect();
        seeds.sort_unstable();
        seeds.dedup();
        PresentLayers { seeds }
    }

    /// Seeds of the last layer below which no layer is missing, at most `most`; 1 if the layer of 2
    /// seeds is missing.
    pub fn contiguous(&self, most: usize) -> usize {
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
