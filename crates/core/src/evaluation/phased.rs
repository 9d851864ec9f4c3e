use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::OnceLock;

use super::network::{Network, NetworkError};
use crate::directory::Directory;
use crate::file::{self, InFile};
use crate::game::{MAX_PITS, Rules};

/// Maximum number of phases.
pub(super) const MOST_PHASES: usize = 16;

/// A phase of the game and the network that evaluates its positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Fewest seeds in play. The phase ends where the next one begins; the last has no end.
    pub least_seeds: u32,
    /// The network.
    pub network: Network,
}

/// One network for each phase of the game, which the seeds in play determine. A network trained on positions with few
/// seeds evaluates those with many badly, since it has hardly seen their numbers of seeds in a pit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhasedNetwork {
    /// Ordered by seeds; the first phase begins at 0.
    phases: Vec<Phase>,
}

impl PhasedNetwork {
    /// Makes an evaluation from at most `MOST_PHASES` phases, fewest seeds first.
    ///
    /// # Errors
    /// When the first does not begin at 0 seeds, one begins above 65,535 seeds or not above the one before it, or the
    /// networks are for different rule sets or boards.
    pub fn new(phases: Vec<Phase>) -> Result<PhasedNetwork, NetworkError> {
        let board = |phase: &Phase| (phase.network.rules(), phase.network.pits());
        let is_sound = phases.first().is_some_and(|first| first.least_seeds == 0)
            && phases.is_sorted_by(|one, next| one.least_seeds < next.least_seeds)
            && phases.iter().all(|phase| board(phase) == board(&phases[0]) && phase.least_seeds <= u16::MAX.into())
            && phases.len() <= MOST_PHASES;
        let wrong = "has phases that do not ascend from 0 seeds, are for different boards, or are too many";
        if is_sound { Ok(PhasedNetwork { phases }) } else { Err(NetworkError::Unfit(wrong)) }
    }

    /// All phases, fewest seeds first.
    pub fn phases(&self) -> &[Phase] {
        &self.phases
    }

    /// The network of the phase with the fewest seeds, trained on scores from tables. Bound tables are made with it.
    pub fn first(&self) -> &Network {
        &self.phases[0].network
    }

    /// The network for positions with `seeds` seeds in play.
    #[inline]
    pub fn of(&self, seeds: u32) -> &Network {
        let phase = self.phases[1..].iter().rev().find(|phase| phase.least_seeds <= seeds);
        &phase.unwrap_or(&self.phases[0]).network
    }

    /// Rule set of the networks.
    pub fn rules(&self) -> Rules {
        self.first().rules()
    }

    /// Pits a side of the boards that the networks evaluate.
    pub fn pits(&self) -> usize {
        self.first().pits()
    }
}

impl From<Network> for PhasedNetwork {
    /// Uses one network for all positions.
    fn from(network: Network) -> PhasedNetwork {
        PhasedNetwork { phases: vec![Phase { least_seeds: 0, network }] }
    }
}

/// Network files built into the program, one for each rule set, made by `kalah train` (docs/evaluation.md in the
/// repository). A WebAssembly module has none: its host gives it those that it needs.
const SHIPPED: [Option<&[u8]>; Rules::ALL.len()] = if cfg!(all(target_family = "wasm", target_os = "unknown")) {
    [None; Rules::ALL.len()]
} else {
    [
        Some(include_bytes!("networks/empty-capture-6.network")),
        Some(include_bytes!("networks/standard-6.network")),
        Some(include_bytes!("networks/s-kalaha-6.network")),
        Some(include_bytes!("networks/single-move-6.network")),
    ]
};

/// The shipped networks in use, one for each rule set.
static NETWORKS: [OnceLock<PhasedNetwork>; Rules::ALL.len()] = [const { OnceLock::new() }; Rules::ALL.len()];

impl PhasedNetwork {
    /// The network built into the program for a rule set and board, if there is one.
    pub fn shipped(rules: Rules, pits: usize) -> Option<PhasedNetwork> {
        let network = &NETWORKS[rules.index()];
        if let Some(bytes) = SHIPPED[rules.index()] {
            network.get_or_init(|| PhasedNetwork::from_bytes(bytes).expect("the program's own networks are sound"));
        }
        network.get().filter(|network| network.pits() == pits).cloned()
    }

    /// Makes this the [shipped](PhasedNetwork::shipped) network of its rule set, unless there is one.
    pub fn ship(self) {
        NETWORKS[self.rules().index()].get_or_init(|| self);
    }

    /// The name of a network's file in a directory of tables, such as `empty-capture-6.network`.
    pub fn file_name(rules: Rules, pits: usize) -> String {
        format!("{rules}-{pits}.network")
    }

    /// Reads the network from the file at `path`. An error if it cannot be read, is damaged, or is for another board.
    pub fn open(path: impl AsRef<Path>, rules: Rules, pits: usize) -> Result<PhasedNetwork, InFile<NetworkError>> {
        let path = path.as_ref();
        let read = || {
            let mut bytes = Vec::new();
            // Any file may have this name, and it may be large.
            let most = PhasedNetwork::file_bytes(MAX_PITS, MOST_PHASES) as u64 + 1;
            file::open(path)?.take(most).read_to_end(&mut bytes)?;
            let network = PhasedNetwork::from_bytes(&bytes)?;
            let (found, expected) = ((network.rules(), network.pits()), (rules, pits));
            if found == expected { Ok(network) } else { Err(NetworkError::Other { found, expected }) }
        };
        read().map_err(InFile::of(path))
    }

    /// Finds the network to use with the tables in a directory: the file with its [name](PhasedNetwork::file_name),
    /// otherwise the [built-in](PhasedNetwork::shipped) network. A file that cannot be used is an error.
    pub fn find(
        directory: impl Into<Directory>,
        rules: Rules,
        pits: usize,
    ) -> Result<Option<PhasedNetwork>, InFile<NetworkError>> {
        match PhasedNetwork::open(directory.into().file(&PhasedNetwork::file_name(rules, pits)), rules, pits) {
            Err(InFile { error: NetworkError::Io(error), .. })
                // There may be no file system either.
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Unsupported) =>
            {
                Ok(PhasedNetwork::shipped(rules, pits))
            }
            opened => opened.map(Some),
        }
    }
}
