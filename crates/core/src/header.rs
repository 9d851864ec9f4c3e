//! The beginning of binary files: their kind and version, and headers that end with their own checksum.

use std::fmt;

use bytemuck::{Pod, Zeroable, bytes_of, bytes_of_mut};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of the checksum, the last field of a header.
const CHECKSUM_BYTES: usize = size_of::<u64>();

/// The kinds of binary files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// The exact scores of a layer.
    Table,
    /// Some frames of a table.
    Piece,
    /// Bounds of the scores of a layer.
    BoundTable,
    /// A compressed table.
    Archive,
    /// Evaluation networks.
    Network,
    /// Bounds of positions near a start.
    Book,
    /// Proved claims.
    Certificate,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 7] =
        [Kind::Table, Kind::Piece, Kind::BoundTable, Kind::Archive, Kind::Network, Kind::Book, Kind::Certificate];

    /// The first bytes of every file of this kind.
    pub const fn magic(self) -> [u8; 8] {
        *match self {
            Kind::Table => b"KALAHTB\n",
            Kind::Piece => b"KALAHPC\n",
            Kind::BoundTable => b"KALAHBD\n",
            Kind::Archive => b"KALAHAR\n",
            Kind::Network => b"KALAHNN\n",
            Kind::Book => b"KALAHBK\n",
            Kind::Certificate => b"KALAHCT\n",
        }
    }
}

impl fmt::Display for Kind {
    /// Writes a name with its article: "a kalah table".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Table => "a kalah table",
            Kind::Piece => "a piece of a kalah table",
            Kind::BoundTable => "a bound table",
            Kind::Archive => "a kalah archive",
            Kind::Network => "an evaluation network",
            Kind::Book => "a book",
            Kind::Certificate => "a certificate",
        })
    }
}

/// Reasons to refuse a file by its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// The first bytes are not those of this kind.
    #[error("it is not {0}")]
    Foreign(Kind),
    /// It ends within the header.
    #[error("it is not {0}")]
    Short(Kind),
    /// This program cannot read the version.
    #[error("its format has version {found}, this program reads version {known}")]
    Version {
        /// Version of the file.
        found: u32,
        /// Version that this program reads.
        known: u32,
    },
    /// The header does not match its checksum.
    #[error("its header is damaged")]
    Damaged,
}

/// The first field of every header: kind and version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Start {
    magic: [u8; 8],
    version: u32,
}

impl Start {
    /// The start of a file of this kind and version.
    pub const fn new(kind: Kind, version: u32) -> Start {
        Start { magic: kind.magic(), version: version.to_le() }
    }

    /// Reads the version of a file of this kind that begins with `bytes`.
    ///
    /// # Errors
    /// When it is of another kind, or its version is not one of `known`.
    pub fn read(bytes: &[u8], kind: Kind, known: &[u32]) -> Result<u32, HeaderError> {
        let version = bytes.strip_prefix(&kind.magic()).and_then(|rest| rest.first_chunk());
        let found = u32::from_le_bytes(*version.ok_or(HeaderError::Foreign(kind))?);
        let newest = known.iter().copied().max().unwrap_or(0);
        if known.contains(&found) { Ok(found) } else { Err(HeaderError::Version { found, known: newest }) }
    }
}

/// Reads the header of a file of this kind and version that begins with `bytes`. Its first field is a [`Start`].
///
/// # Errors
/// When it is of another kind or version, too short, or does not match its checksum.
pub fn read<H: Pod>(bytes: &[u8], kind: Kind, version: u32) -> Result<H, HeaderError> {
    Start::read(bytes, kind, &[version])?;
    let header = bytemuck::pod_read_unaligned(bytes.get(..size_of::<H>()).ok_or(HeaderError::Short(kind))?);
    if bytes_of(&sealed(header)) == bytes_of(&header) { Ok(header) } else { Err(HeaderError::Damaged) }
}

/// Returns the header with its checksum, the last field: XXH3 of all its bytes, with zeros in its place.
#[must_use]
pub fn sealed<H: Pod>(mut header: H) -> H {
    let checksum_at = size_of::<H>() - CHECKSUM_BYTES;
    bytes_of_mut(&mut header)[checksum_at..].fill(0);
    let checksum = xxh3_64(bytes_of(&header)).to_le_bytes();
    bytes_of_mut(&mut header)[checksum_at..].copy_from_slice(&checksum);
    header
}
