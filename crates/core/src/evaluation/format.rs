//! The bytes of a network file (docs/evaluation.md in the repository).

use bytemuck::{Pod, Zeroable};
use xxhash_rust::xxh3::xxh3_64;

use super::network::{HELD, LANES, Network, NetworkError, Weights};
use super::phased::{MOST_PHASES, Phase, PhasedNetwork};
use crate::game::{MAX_PITS, Rules};
use crate::header::{Kind, Start};

/// The version of the format with one network.
pub(super) const NETWORK_VERSION: u32 = 1;

/// The version of the format with a network for each phase of the game.
pub(super) const PHASED_VERSION: u32 = 2;

/// Bytes of the checksum at the end of the file.
const CHECKSUM_BYTES: usize = size_of::<u64>();

/// The head of a file. The inputs follow, then the checksum of all bytes before it.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Head {
    start: Start,
    rules: u8,
    pits: u8,
    lanes: u8,
    shift: u8,
    bias: [i16; LANES],
    floor: [i16; LANES],
    outputs: [i16; LANES],
}

/// The head of a file with several phases. The least seeds of each phase follow, two bytes each,
/// then the networks, each as in its own file, then the checksum of all bytes before it.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct PhasedHead {
    start: Start,
    rules: u8,
    pits: u8,
    phases: u8,
    zero: u8,
}

/// Converts numbers between native and file byte order.
fn little_endian(numbers: &[i16; LANES]) -> [i16; LANES] {
    numbers.map(i16::to_le)
}

/// The bytes before the checksum of a file that should have `expected` bytes.
fn content(bytes: &[u8], expected: usize) -> Result<&[u8], NetworkError> {
    let found = bytes.len();
    if found != expected {
        return Err(NetworkError::Length { found, expected });
    }
    let (content, checksum) = bytes.split_at(expected - CHECKSUM_BYTES);
    if xxh3_64(content).to_le_bytes() == checksum { Ok(content) } else { Err(NetworkError::Damaged) }
}

impl Network {
    /// Bytes of a network file for boards with `pits` pits a side.
    pub fn file_bytes(pits: usize) -> usize {
        size_of::<Head>() + 2 * pits * HELD * size_of::<[i16; LANES]>() + CHECKSUM_BYTES
    }

    /// Returns the network as the bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Weights { inputs, bias, floor, outputs, shift } = self.weights();
        let head = Head {
            start: Start::new(Kind::Network, NETWORK_VERSION),
            rules: self.rules().code(),
            pits: self.pits() as u8,
            lanes: LANES as u8,
            shift,
            bias: little_endian(&bias),
            floor: little_endian(&floor),
            outputs: little_endian(&outputs),
        };
        let mut bytes = bytemuck::bytes_of(&head).to_vec();
        inputs.iter().for_each(|lanes| bytes.extend_from_slice(bytemuck::bytes_of(&little_endian(lanes))));
        bytes.extend_from_slice(&xxh3_64(&bytes).to_le_bytes());
        bytes
    }

    /// Reads a network from the bytes of a file.
    ///
    /// # Errors
    /// When the bytes are not a network file, have another version, are damaged, or hold numbers
    /// that do not form a network.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Network, NetworkError> {
        Start::read(bytes, Kind::Network, &[NETWORK_VERSION])?;
        let shorter = NetworkError::Length { found: bytes.len(), expected: Network::file_bytes(1) };
        let head: Head = bytemuck::pod_read_unaligned(bytes.get(..size_of::<Head>()).ok_or(shorter)?);
        let pits = usize::from(head.pits);
        let rules = Rules::from_code(head.rules).filter(|_| (1..=MAX_PITS).contains(&pits));
        let rules = rules.filter(|_| usize::from(head.lanes) == LANES).ok_or(NetworkError::Damaged)?;
        let content = content(bytes, Network::file_bytes(pits))?;
        let weights = Weights {
            inputs: content[size_of::<Head>()..]
                .chunks_exact(size_of::<[i16; LANES]>())
                .map(|lanes| little_endian(&bytemuck::pod_read_unaligned(lanes)))
                .collect(),
            bias: little_endian(&head.bias),
            floor: little_endian(&head.floor),
            outputs: little_endian(&head.outputs),
            shift: head.shift,
        };
        Network::new(rules, pits, &weights)
    }

    /// BLAKE3 of the network's file. Networks with equal digests give equal evaluations.
    pub fn digest(&self) -> [u8; 32] {
        *blake3::hash(&self.to_bytes()).as_bytes()
    }
}

impl PhasedNetwork {
    /// Bytes of a file with this number of phases, for boards with `pits` pits a side.
    pub(crate) fn file_bytes(pits: usize, phases: usize) -> usize {
        if phases == 1 {
            return Network::file_bytes(pits);
        }
        size_of::<PhasedHead>() + phases * (size_of::<u16>() + Network::file_bytes(pits)) + CHECKSUM_BYTES
    }

    /// Returns the bytes of a file. A single phase gives the same file as its network.
    pub fn to_bytes(&self) -> Vec<u8> {
        if let [only] = self.phases() {
            return only.network.to_bytes();
        }
        let head = PhasedHead {
            start: Start::new(Kind::Network, PHASED_VERSION),
            rules: self.rules().code(),
            pits: self.pits() as u8,
            phases: self.phases().len() as u8,
            zero: 0,
        };
        let mut bytes = bytemuck::bytes_of(&head).to_vec();
        self.phases().iter().for_each(|phase| bytes.extend_from_slice(&(phase.least_seeds as u16).to_le_bytes()));
        self.phases().iter().for_each(|phase| bytes.extend_from_slice(&phase.network.to_bytes()));
        bytes.extend_from_slice(&xxh3_64(&bytes).to_le_bytes());
        bytes
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
        let shorter = NetworkError::Length { found: bytes.len(), expected: PhasedNetwork::file_bytes(1, 2) };
        let head: PhasedHead = bytemuck::pod_read_unaligned(bytes.get(..size_of::<PhasedHead>()).ok_or(shorter)?);
        let (pits, phases) = (usize::from(head.pits), usize::from(head.phases));
        if !(1..=MAX_PITS).contains(&pits) || !(2..=MOST_PHASES).contains(&phases) {
            return Err(NetworkError::Damaged);
        }
        let content = content(bytes, PhasedNetwork::file_bytes(pits, phases))?;
        let (least, networks) = content[size_of::<PhasedHead>()..].split_at(phases * size_of::<u16>());
        let least = least.as_chunks().0.iter().map(|&least| u16::from_le_bytes(least).into());
        let networks = networks.chunks_exact(Network::file_bytes(pits)).map(Network::from_bytes);
        let phase = |(least_seeds, network): (u32, Result<Network, _>)| Ok(Phase { least_seeds, network: network? });
        let network = PhasedNetwork::new(least.zip(networks).map(phase).collect::<Result<_, NetworkError>>()?)?;
        let is_of_head = (network.rules().code(), network.pits(), 0) == (head.rules, pits, head.zero);
        if is_of_head { Ok(network) } else { Err(NetworkError::Damaged) }
    }

    /// BLAKE3 of the file. Equal digests mean equal evaluations.
    pub fn digest(&self) -> [u8; 32] {
        *blake3::hash(&self.to_bytes()).as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::HeaderError;

    fn network(pits: usize) -> Network {
        let mut next = 0u32;
        let mut number = || {
            next = next.wrapping_mul(0x9e37_79b1).wrapping_add(1);
            (next >> 24) as i16 - 128
        };
        let mut lanes = || [(); LANES].map(|()| number());
        let weights = Weights {
            inputs: (0..2 * pits * HELD).map(|_| lanes()).collect(),
            bias: lanes(),
            floor: std::array::from_fn(|lane| if lane == 3 { i16::MIN } else { 0 }),
            outputs: lanes(),
            shift: 9,
        };
        Network::new(Rules::Standard, pits, &weights).unwrap()
    }

    #[test]
    fn bytes_give_the_network_back() {
        for pits in [1, 4, 6, MAX_PITS] {
            let network = network(pits);
            let bytes = network.to_bytes();
            assert_eq!(bytes.len(), Network::file_bytes(pits));
            let again = Network::from_bytes(&bytes).unwrap();
            assert_eq!((&again, again.digest()), (&network, network.digest()));
        }
    }

    fn phased(pits: usize, phases: u32) -> PhasedNetwork {
        let phase = |phase: u32| Phase { least_seeds: 20 * phase, network: network(pits) };
        PhasedNetwork::new((0..phases).map(phase).collect()).unwrap()
    }

    #[test]
    fn bytes_give_the_phases_back() {
        for (pits, phases) in [(1, 2), (6, 3), (MAX_PITS, MOST_PHASES as u32)] {
            let network = phased(pits, phases);
            let bytes = network.to_bytes();
            assert_eq!(bytes.len(), PhasedNetwork::file_bytes(pits, phases as usize));
            let again = PhasedNetwork::from_bytes(&bytes).unwrap();
            assert_eq!((&again, again.digest()), (&network, network.digest()));
            // A file with several phases cannot be read as a single network.
            let refused = HeaderError::Version { found: PHASED_VERSION, known: NETWORK_VERSION };
            assert_eq!(Network::from_bytes(&bytes), Err(NetworkError::Header(refused)));
        }
        let single = PhasedNetwork::from(network(6));
        assert_eq!(single.to_bytes(), network(6).to_bytes());
        assert_eq!(PhasedNetwork::from_bytes(&network(6).to_bytes()), Ok(single));
    }

    #[test]
    fn every_changed_byte_of_phases_is_found() {
        let bytes = phased(1, 2).to_bytes();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x11;
            assert!(PhasedNetwork::from_bytes(&damaged).is_err(), "byte {at}");
        }
        for length in 0..bytes.len() {
            assert!(PhasedNetwork::from_bytes(&bytes[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn phases_that_do_not_belong_together_are_refused_though_their_checksum_is_right() {
        let change = |at: usize, byte: u8| {
            let mut bytes = phased(1, 2).to_bytes();
            bytes[at] = byte;
            let end = bytes.len() - CHECKSUM_BYTES;
            let checksum = xxh3_64(&bytes[..end]).to_le_bytes();
            bytes[end..].copy_from_slice(&checksum);
            PhasedNetwork::from_bytes(&bytes).unwrap_err()
        };
        let (rules, zero, second) = (12, 15, size_of::<PhasedHead>() + 2);
        assert_eq!(change(rules, Rules::EmptyCapture.code()), NetworkError::Damaged);
        assert_eq!(change(zero, 1), NetworkError::Damaged);
        assert_eq!(change(second, 0), NetworkError::Phases);
        assert_eq!(change(second - 2, 1), NetworkError::Phases);
    }

    #[test]
    fn every_changed_byte_is_found() {
        let bytes = network(2).to_bytes();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x11;
            let error = Network::from_bytes(&damaged).unwrap_err();
            let expected = match at {
                0..=7 => error == NetworkError::Header(HeaderError::Foreign(Kind::Network)),
                8..=11 => matches!(error, NetworkError::Header(HeaderError::Version { .. })),
                13 => matches!(error, NetworkError::Length { .. } | NetworkError::Damaged),
                _ => error == NetworkError::Damaged,
            };
            assert!(expected, "byte {at}: {error}");
        }
        for length in 0..bytes.len() {
            assert!(Network::from_bytes(&bytes[..length]).is_err(), "{length} bytes");
        }
    }
}
