//! Sources of networks: the program itself, or a file beside the tables.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::network::NetworkError;
use super::phased::{MOST_PHASES, PhasedNetwork};
use crate::directories::Directories;
use crate::game::{MAX_PITS, Rules};
use crate::header::Kind;
use crate::text::count;

/// Network files built into the program, one for each rule set, made by `kalah train`
/// (docs/evaluation.md in the repository).
const SHIPPED: &[&[u8]] = &[
    include_bytes!("networks/empty-capture-6.network"),
    include_bytes!("networks/standard-6.network"),
    include_bytes!("networks/s-kalaha-6.network"),
    include_bytes!("networks/single-move-6.network"),
];

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
        let networks =
            SHIPPED.iter().map(|bytes| PhasedNetwork::from_bytes(bytes).expect("the program's own networks are sound"));
        networks.into_iter().find(|network| (network.rules(), network.pits()) == (rules, pits))
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

    /// Finds the network to use with the tables in a directory, or several: the file with its
    /// [name](PhasedNetwork::file_name), otherwise the [built-in](PhasedNetwork::shipped) network.
    ///
    /// # Errors
    /// When the file exists but cannot be used.
    pub fn find(
        directories: impl Into<Directories>,
        rules: Rules,
        pits: usize,
    ) -> Result<Option<PhasedNetwork>, NetworkFileError> {
        let path = directories.into().file(&PhasedNetwork::file_name(rules, pits));
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

    #[test]
    fn shipped_networks_are_sound() {
        assert_eq!(SHIPPED.len(), Rules::ALL.len());
        for (rules, bytes) in Rules::ALL.into_iter().zip(SHIPPED) {
            let network = PhasedNetwork::from_bytes(bytes).unwrap();
            assert_eq!((network.rules(), network.pits()), (rules, 6));
            assert_eq!(PhasedNetwork::shipped(rules, 6), Some(network));
        }
        assert_eq!(PhasedNetwork::shipped(Rules::Standard, 5), None);
    }
}
