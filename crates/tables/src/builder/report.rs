use super::log::BuildRecord;
use super::unpacked::ArchiveReads;
use crate::table::PairKey;

/// What a build did.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct BuildReport {
    /// Layers that existed already.
    pub kept: usize,
    /// Layers built or completed.
    pub built: Vec<BuildRecord>,
    /// Archives that were written.
    pub packed: usize,
    /// What was read from archives.
    pub reads: ArchiveReads,
    /// Of a build shared with other processes: the pairs that this one computed.
    pub pairs: Vec<PairKey>,
    /// Of a build shared with other processes: the layers whose pieces this one joined.
    pub joined: usize,
}

impl BuildReport {
    /// Positions computed.
    pub fn positions(&self) -> u64 {
        let layers = self.built.iter().map(|record| record.positions);
        layers.chain(self.pairs.iter().map(|pair| pair.positions())).sum()
    }
}

/// The result of [`super::Builder::run_pair`].
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairReport {
    /// Whether the pair was computed; otherwise its piece or its layer existed already.
    pub computed: bool,
    /// Whether its layer is finished now.
    pub finished: bool,
}
