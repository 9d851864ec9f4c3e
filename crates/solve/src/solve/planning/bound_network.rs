use std::path::{Path, PathBuf};

use kalah_core::evaluation::{Network, NetworkFileError, PhasedNetwork};
use kalah_core::game::Rules;
use kalah_tables::table::{BoundTable, TableKey};
use kalah_tables::verify::Survey;

/// The evaluation network of new bound tables.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BoundNetwork {
    /// The network.
    pub network: Network,
    /// The bound table whose network this is, if the network of the tables' directory or the shipped one is passed over
    /// for it.
    pub instead: Option<PathBuf>,
}

impl BoundNetwork {
    /// Returns the network for more bound tables in `bounds`, made from the exact ones in `tables`: that of the bound
    /// tables which are there, since a search uses those of one network only. Without any it is that of the directory of
    /// the exact tables, or the shipped one. `None` if there is none.
    ///
    /// # Errors
    /// When the network beside the exact tables cannot be read.
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

/// Returns the bound tables of a board in `directory` that can be opened, the fewest seeds first.
pub fn bound_tables(directory: &Path, rules: Rules, pits: usize) -> Vec<BoundTable> {
    let survey = Survey::read(directory).unwrap_or_default();
    let keys = survey.bound_layers(rules, pits).iter().map(|&seeds| TableKey { rules, pits, seeds });
    keys.filter_map(|key| BoundTable::open_key(directory, key).ok().flatten()).collect()
}
