use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::network::{Network, NetworkError};
use crate::directory::Directory;
use crate::game::{MAX_PITS, Rules};
use crate::header::Kind;
use crate::text::count;

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

/// One network for each phase of the game. The seeds in play determine the phase.
///
/// A network trained on positions with few seeds evaluates positions with many seeds badly: it has
/// hardly seen their numbers of seeds in a pit. So one network covers positions within the tables,
/// and others may cover those above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhasedNetwork {
    /// Ordered by seeds; the first phase begins at 0.
    phases: Vec<Phase>,
}

impl PhasedNetwork {
    /// Makes an evaluation from phases, fewest seeds first.
    ///
    /// # Errors
    /// - When the first phase does not begin at 0 seeds.
    /// - When a phase does not begin above the one before it, or begins above 65,535 seeds.
    /// - When the networks are for different rule sets or boards.
    /// - When there are more than `MOST_PHASES`.
    pub fn new(phases: Vec<Phase>) -> Result<PhasedNetwork, NetworkError> {
        let begins_at_0 = phases.first().is_some_and(|phase| phase.least_seeds == 0);
        let ascends = phases.is_sorted_by(|one, next| one.least_seeds < next.least_seeds);
        let board = |phase: &Phase| (phase.network.rules(), phase.network.pits());
        let of_one_board = phases.iter().all(|phase| board(phase) == board(&phases[0]));
        let fits_the_file =
            phases.len() <= MOST_PHASES && phases.last().is_some_and(|last| u16::try_from(last.least_seeds).is_ok());
        let is_sound = begins_at_0 && ascends && of_one_board && fits_the_file;
        if is_sound { Ok(PhasedNetwork { phases }) } else { Err(NetworkError::Phases) }
    }

    /// All phases, fewest seeds first.
    pub fn phases(&self) -> &[Phase] {
        &self.phases
    }

    /// The network of the phase with the fewest seeds, trained on scores from tables. Bound tables
    /// are made with it.
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

/// Network files built into the program, one for each rule set, made by `kalah train`
/// (docs/evaluation.md in the repository).
///
/// A WebAssembly module has none: its host gives it those that it needs.
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

/// A network file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct NetworkFileError {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    #[source]
    pub reason: NetworkFileReason,
}

/// Reasons why a network file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkFileReason {
    /// It cannot be read.
    #[error("the evaluation network cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The file holds no network that this program can use.
    #[error("{0}")]
    Network(#[from] NetworkError),
    /// The network is for another rule set or board than expected.
    #[error(
        "it evaluates positions of {} with {}, not of {} with {}",
        found.0, count(found.1, "pit"), expected.0, count(expected.1, "pit")
    )]
    Other {
        /// Rule set and pits a side of the network.
        found: (Rules, usize),
        /// Expected rule set and pits a side.
        expected: (Rules, usize),
    },
}

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

    /// Reads the network for a rule set and board from the file at `path`.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or holds a network for another rule set or board.
    pub fn open(path: impl AsRef<Path>, rules: Rules, pits: usize) -> Result<PhasedNetwork, NetworkFileError> {
        let path = path.as_ref();
        let read = || -> Result<PhasedNetwork, NetworkFileReason> {
            let file = crate::file::open(path)?;
            let (found, expected) = (file.metadata()?.len() as usize, PhasedNetwork::file_bytes(MAX_PITS, MOST_PHASES));
            // Any file may have this name, and it may be large.
            let mut bytes = Vec::new();
            (&file).take(expected as u64).read_to_end(&mut bytes)?;
            if found > expected && bytes.starts_with(&Kind::Network.magic()) {
                return Err(NetworkError::Length { found, expected }.into());
            }
            let network = PhasedNetwork::from_bytes(&bytes)?;
            let (found, expected) = ((network.rules(), network.pits()), (rules, pits));
            if found == expected { Ok(network) } else { Err(NetworkFileReason::Other { found, expected }) }
        };
        read().map_err(|reason| NetworkFileError { path: path.to_owned(), reason })
    }

    /// Finds the network to use with the tables in a directory: the file with its
    /// [name](PhasedNetwork::file_name), otherwise the [built-in](PhasedNetwork::shipped) network.
    ///
    /// # Errors
    /// When the file exists but cannot be used.
    pub fn find(
        directory: impl Into<Directory>,
        rules: Rules,
        pits: usize,
    ) -> Result<Option<PhasedNetwork>, NetworkFileError> {
        let path = directory.into().file(&PhasedNetwork::file_name(rules, pits));
        match PhasedNetwork::open(&path, rules, pits) {
            Err(NetworkFileError { reason: NetworkFileReason::Io(error), .. })
                // There may be no file system either.
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::Unsupported) =>
            {
                Ok(PhasedNetwork::shipped(rules, pits))
            }
            opened => opened.map(Some),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{LANES, MOST_HELD, Weights};

    /// Returns a phase whose network adds `output` sixteenths of a seed to half of the seeds.
    fn phase(least_seeds: u32, rules: Rules, output: i16) -> Phase {
        let mut weights = Weights {
            inputs: vec![[0; LANES]; 2 * 6 * (MOST_HELD + 1)],
            bias: [0; LANES],
            floor: [0; LANES],
            outputs: [0; LANES],
            shift: 0,
        };
        (weights.bias[0], weights.outputs[0]) = (1, output);
        Phase { least_seeds, network: Network::new(rules, 6, &weights).unwrap() }
    }

    #[test]
    fn positions_are_evaluated_by_the_network_of_their_phase() {
        let of = [(0, 1), (30, 2), (40, 3)].map(|(least, output)| phase(least, Rules::Standard, output));
        let network = PhasedNetwork::new(of.to_vec()).unwrap();
        let evaluate = |seeds| network.of(seeds).evaluate(&[0; 6], &[0; 6], seeds) - 8 * seeds as i32;
        assert_eq!([0, 29, 30, 39, 40, 96].map(evaluate), [1, 1, 2, 2, 3, 3]);
        assert_eq!(network.first(), network.of(5));
    }

    #[test]
    fn phases_ascend_from_0_and_are_of_one_board() {
        let phase = |(least, rules)| phase(least, rules, 1);
        let new = |of: &[(u32, Rules)]| PhasedNetwork::new(of.iter().copied().map(phase).collect());
        let (standard, other) = (Rules::Standard, Rules::EmptyCapture);
        assert!(new(&[(0, standard), (30, standard)]).is_ok());
        for of in [
            &[][..],
            &[(1, standard)],
            &[(0, standard), (0, standard)],
            &[(0, standard), (40, standard), (30, standard)],
            &[(0, standard), (65_536, standard)],
            &[(0, standard), (30, other)],
        ] {
            assert_eq!(new(of), Err(NetworkError::Phases), "{of:?}");
        }
        let many = |count: u32| PhasedNetwork::new((0..count).map(|least| phase((least, standard))).collect());
        assert!(many(MOST_PHASES as u32).is_ok() && many(MOST_PHASES as u32 + 1).is_err());
    }

    #[test]
    fn shipped_networks_are_sound() {
        for (rules, bytes) in Rules::ALL.into_iter().zip(SHIPPED) {
            let network = PhasedNetwork::from_bytes(bytes.unwrap()).unwrap();
            assert_eq!((network.rules(), network.pits()), (rules, 6));
            assert_eq!(PhasedNetwork::shipped(rules, 6), Some(network));
        }
        assert_eq!(PhasedNetwork::shipped(Rules::Standard, 5), None);
    }
}
