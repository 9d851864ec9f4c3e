use kalah_core::table::PairKey;

use super::log::BuildRecord;

/// The results of a build.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct BuildReport {
    /// Number of layers that existed already.
    pub kept: usize,
    /// Layers built or completed.
    pub built: Vec<BuildRecord>,
    /// In a build shared with other processes: the pairs that this process computed.
    pub pairs: Vec<PairKey>,
    /// In a build shared with other processes: the number of layers that this process joined.
    pub joined: usize,
}

impl BuildReport {
    /// Number of positions computed.
    pub fn positions(&self) -> u64 {
        let layers = self.built.iter().map(|record| record.positions);
        layers.chain(self.pairs.iter().map(|pair| pair.positions())).sum()
    }
}
