use std::path::{Path, PathBuf};

use kalah_core::evaluation::{Network, NetworkFileError, PhasedNetwork};
use kalah_core::game::Rules;
use kalah_core::table::{BoundTable, TableKey};
use kalah_tables::verify::Survey;

/// The evaluation network for new bound tables.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BoundNetwork {
    /// The network.
    pub network: Network,
    /// The bound table that this network comes from, if the network of the tables' directory or the shipped one
    /// is not used because of it.
    pub instead: Option<PathBuf>,
}

impl BoundNetwork {
    /// Finds the network for new bound tables in `bounds`, made from the exact tables in `tables`. It is that
    /// of the existing bound tables, since a search uses bound tables of one network only. Without any, it is
    /// that of the directory of the exact tables, or the shipped one. `None` if there is no network.
    ///
    /// # Errors
    /// If the network beside the exact tables cannot be read.
    pub fn find(
        tables: &Path,
        bounds: &Path,
        rules: Rules,
        pits: usize,
    ) -> Result<Option<BoundNetwork>, NetworkFileError> {
        let usual = PhasedNetwork::find(tables, rules, pits)?.map(|found| found.first().clone());
        let there = bound_tables(bounds, rules, pits);
        let is_usual = |table: &BoundTable| usual.as_ref() == Some(table.network());
        Ok(match there.first().filter(|_| !there.iter().any(is_usual)) {
            Some(first) => {
                let instead = usual.is_some().then(|| first.path().to_owned());
                Some(BoundNetwork { network: first.network().clone(), instead })
            }
            None => usual.map(|network| BoundNetwork { network, instead: None }),
        })
    }
}

/// The bound tables of a board in `directory` that can be opened, fewest seeds first.
pub fn bound_tables(directory: &Path, rules: Rules, pits: usize) -> Vec<BoundTable> {
    let survey = Survey::read(directory).unwrap_or_default();
    let keys = survey.bound_layers(rules, pits).iter().map(|&seeds| TableKey { rules, pits, seeds });
    keys.filter_map(|key| BoundTable::open_key(directory, key).ok().flatten()).collect()
}
