//! The bytes of a network file (docs/evaluation.md in the repository).

use bytemuck::{Pod, Zeroable};
use xxhash_rust::xxh3::xxh3_64;

use super::network::{HELD, LANES, Network, NetworkError, Weights};
use super::phased::{MOST_PHASES, Phase, PhasedNetwork};
use crate::game::{MAX_PITS, Rules};
use crate::header::{Kind, Start};

/// The version of the format with one network.
const NETWORK_VERSION: u32 = 1;

/// The version of the format with a network for each phase of the game.
const PHASED_VERSION: u32 = 2;

/// Bytes of the checksum at the end of the file.
const CHECKSUM_BYTES: usize = size_of::<u64>();

/// The head of a file of either version. The content follows, then the checksum of all bytes before it.
///
/// The content of one network is bias, floor, outputs and inputs. Otherwise it is the least seeds of each phase, two
/// bytes each, then the networks, each as in its own file.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Head {
    start: Start,
    rules: u8,
    pits: u8,
    /// Lanes of a network, or phases.
    count: u8,
    /// Of a network; otherwise 0.
    shift: u8,
}

/// The head of these bytes, with its pits.
fn head(bytes: &[u8]) -> Result<(Head, usize), NetworkError> {
    let head: Head = bytemuck::pod_read_unaligned(bytes.get(..size_of::<Head>()).ok_or(NetworkError::Damaged)?);
    let pits = Some(usize::from(head.pits)).filter(|pits| (1..=MAX_PITS).contains(pits));
    Ok((head, pits.ok_or(NetworkError::Damaged)?))
}

/// The bytes between head and checksum of a file that should have `expected` bytes.
fn content(bytes: &[u8], expected: usize) -> Result<&[u8], NetworkError> {
    let (content, checksum) = bytes.split_last_chunk().ok_or(NetworkError::Damaged)?;
    let is_sound = bytes.len() == expected && xxh3_64(content).to_le_bytes() == *checksum;
    if is_sound { Ok(&content[size_of::<Head>()..]) } else { Err(NetworkError::Damaged) }
}

/// Adds the checksum at the end of a file.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.extend_from_slice(&xxh3_64(&bytes).to_le_bytes());
    bytes
}

impl Network {
    /// Bytes of a network file for boards with `pits` pits a side.
    pub fn file_bytes(pits: usize) -> usize {
        size_of::<Head>() + (3 + 2 * pits * HELD) * size_of::<[i16; LANES]>() + CHECKSUM_BYTES
    }

    /// Returns the network as the bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Weights { inputs, bias, floor, outputs, shift } = self.weights();
        let head = Head {
            start: Start::new(Kind::Network, NETWORK_VERSION),
            rules: self.rules().code(),
            pits: self.pits() as u8,
            count: LANES as u8,
            shift,
        };
        let mut bytes = bytemuck::bytes_of(&head).to_vec();
        let numbers = [bias, floor, outputs].into_iter().chain(inputs);
        numbers.for_each(|lanes| bytes.extend_from_slice(bytemuck::bytes_of(&lanes.map(i16::to_le))));
        sealed(bytes)
    }

    /// Reads a network from the bytes of a file.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Network, NetworkError> {
        Start::read(bytes, Kind::Network, &[NETWORK_VERSION])?;
        let (head, pits) = head(bytes)?;
        let rules = Rules::from_code(head.rules).filter(|_| usize::from(head.count) == LANES);
        let rules = rules.ok_or(NetworkError::Damaged)?;
        let lanes = content(bytes, Network::file_bytes(pits))?.chunks_exact(size_of::<[i16; LANES]>());
        let mut lanes = lanes.map(|lanes| bytemuck::pod_read_unaligned::<[i16; LANES]>(lanes).map(i16::from_le));
        let [bias, floor, outputs] = std::array::from_fn(|_| lanes.next().expect("a file has more lanes"));
        let weights = Weights { bias, floor, outputs, inputs: lanes.collect(), shift: head.shift };
        Network::new(rules, pits, &weights)
    }

    /// BLAKE3 of the network's file. Networks with equal digests give equal evaluations.
    pub fn digest(&self) -> [u8; 32] {
        *blake3::hash(&self.to_bytes()).as_bytes()
    }
}

impl PhasedNetwork {
    /// Bytes of a file with several phases, for boards with `pits` pits a side.
    pub(super) fn file_bytes(pits: usize, phases: usize) -> usize {
        size_of::<Head>() + phases * (size_of::<u16>() + Network::file_bytes(pits)) + CHECKSUM_BYTES
    }

    /// Returns the bytes of a file. A single phase gives the same file as its network.
    pub fn to_bytes(&self) -> Vec<u8> {
        if let [only] = self.phases() {
            return only.network.to_bytes();
        }
        let head = Head {
            start: Start::new(Kind::Network, PHASED_VERSION),
            rules: self.rules().code(),
            pits: self.pits() as u8,
            count: self.phases().len() as u8,
            shift: 0,
        };
        let mut bytes = bytemuck::bytes_of(&head).to_vec();
        self.phases().iter().for_each(|phase| bytes.extend_from_slice(&(phase.least_seeds as u16).to_le_bytes()));
        self.phases().iter().for_each(|phase| bytes.extend_from_slice(&phase.network.to_bytes()));
        sealed(bytes)
    }

    /// Reads one network or several from the bytes of a file of either version.
    ///
    /// # Errors
    /// When the bytes are not a network file, have another version, are damaged, or hold numbers
    /// that do not form a network.
    pub fn from_bytes(bytes: &[u8]) -> Result<PhasedNetwork, NetworkError> {
        if Start::read(bytes, Kind::Network, &[NETWORK_VERSION, PHASED_VERSION])? == NETWORK_VERSION {
            return Network::from_bytes(bytes).map(PhasedNetwork::from);
        }
        let (head, pits) = head(bytes)?;
        let phases = usize::from(head.count);
        if !(2..=MOST_PHASES).contains(&phases) {
            return Err(NetworkError::Damaged);
        }
        let content = content(bytes, PhasedNetwork::file_bytes(pits, phases))?;
        let (least, networks) = content.split_at(phases * size_of::<u16>());
        let least = least.as_chunks().0.iter().map(|&least| u16::from_le_bytes(least).into());
        let networks = networks.chunks_exact(Network::file_bytes(pits)).map(Network::from_bytes);
        let phase = |(least_seeds, network): (u32, Result<Network, _>)| Ok(Phase { least_seeds, network: network? });
        let network = PhasedNetwork::new(least.zip(networks).map(phase).collect::<Result<_, NetworkError>>()?)?;
        let is_of_head = (network.rules().code(), network.pits(), 0) == (head.rules, pits, head.shift);
        if is_of_head { Ok(network) } else { Err(NetworkError::Damaged) }
    }

    /// BLAKE3 of the file. Equal digests mean equal evaluations.
    pub fn digest(&self) -> [u8; 32] {
        *blake3::hash(&self.to_bytes()).as_bytes()
    }
}
