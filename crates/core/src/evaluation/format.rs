//! The bytes of a network file (docs/evaluation.md in the repository).

use bytemuck::{Pod, Zeroable};
use xxhash_rust::xxh3::xxh3_64;

use super::network::{HELD, LANES, Network, NetworkError, Weights};
use crate::game::{MAX_PITS, Rules};

/// The first bytes of every network file.
pub const NETWORK_MAGIC: [u8; 8] = *b"KALAHNN\n";

/// The version of the format.
pub const NETWORK_VERSION: u32 = 1;

/// Bytes of the checksum, the last of the file.
const CHECKSUM_BYTES: usize = size_of::<u64>();

/// The first bytes of a file; the inputs follow, then the checksum of all bytes before it.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Head {
    magic: [u8; 8],
    version: u32,
    rules: u8,
    pits: u8,
    lanes: u8,
    shift: u8,
    bias: [i16; LANES],
    floor: [i16; LANES],
    outputs: [i16; LANES],
}

/// The numbers in the byte order of files, or back.
fn little_endian(numbers: &[i16; LANES]) -> [i16; LANES] {
    numbers.map(i16::to_le)
}

impl Network {
    /// Bytes of a network file of boards of `pits` pits a side.
    pub fn file_bytes(pits: usize) -> usize {
        size_of::<Head>() + 2 * pits * HELD * size_of::<[i16; LANES]>() + CHECKSUM_BYTES
    }

    /// The bytes of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Weights { inputs, bias, floor, outputs, shift } = self.weights();
        let head = Head {
            magic: NETWORK_MAGIC,
            version: NETWORK_VERSION.to_le(),
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

    /// The network in the bytes of a file.
    ///
    /// # Errors
    /// When they are no network file, one of another version, damaged, or hold numbers that are no network.
    pub fn from_bytes(bytes: &[u8]) -> Result<Network, NetworkError> {
        if !bytes.starts_with(&NETWORK_MAGIC) {
            return Err(NetworkError::Foreign);
        }
        let shorter = NetworkError::Length { found: bytes.len(), expected: Network::file_bytes(1) };
        let head: Head = bytemuck::pod_read_unaligned(bytes.get(..size_of::<Head>()).ok_or(shorter)?);
        let found = u32::from_le(head.version);
        if found != NETWORK_VERSION {
            return Err(NetworkError::Version { found, known: NETWORK_VERSION });
        }
        let pits = usize::from(head.pits);
        let rules = Rules::from_code(head.rules).filter(|_| (1..=MAX_PITS).contains(&pits));
        let rules = rules.filter(|_| usize::from(head.lanes) == LANES).ok_or(NetworkError::Damaged)?;
        let expected = Network::file_bytes(pits);
        if bytes.len() != expected {
            return Err(NetworkError::Length { found: bytes.len(), expected });
        }
        let (content, checksum) = bytes.split_at(expected - CHECKSUM_BYTES);
        if xxh3_64(content).to_le_bytes() != checksum {
            return Err(NetworkError::Damaged);
        }
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

    /// BLAKE3 of the bytes of its file: networks with the same digest give the same evaluations.
    pub fn digest(&self) -> [u8; 32] {
        *blake3::hash(&self.to_bytes()).as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn every_changed_byte_is_found() {
        let bytes = network(2).to_bytes();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x11;
            let error = Network::from_bytes(&damaged).unwrap_err();
            let expected = match at {
                0..=7 => matches!(error, NetworkError::Foreign),
                8..=11 => matches!(error, NetworkError::Version { .. }),
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
