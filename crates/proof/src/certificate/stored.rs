use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use kalah_base::progress::Pulse;
use kalah_base::system::check_memory;
use kalah_core::file;
use kalah_core::game::{Bounds, Position};
use kalah_solve::blocks::{BLOCK_CLAIMS, BlockEntry};
use kalah_solve::bounds::{Claim, ClaimKeys, ClaimSet, CodedClaim};
use rayon::prelude::*;

use super::error::{CertificateError, CheckError};
use super::format::{DIGEST_BYTES, HEADER_BYTES, Header};
use super::statement::{Certificate, Head};

/// Blocks whose claims are checked at a time, at least.
const WINDOW_BLOCKS: usize = 8;

/// Maximum number of windows. Each of them decompresses most of the blocks before it.
const MAX_WINDOWS: usize = 64;

/// Maximum bytes of memory for a claim while a certificate is read.
const MEMORY_A_CLAIM: u64 = 96;

/// A certificate whose claims stay in its file, which is read again when they are needed.
#[derive(Debug)]
pub struct StoredCertificate {
    path: PathBuf,
    file: File,
    head: Head,
    claims: u64,
    bytes: u64,
    digest: [u8; 32],
    keys: ClaimKeys,
    blocks: Vec<Block>,
}

/// A block of claims in the file.
#[derive(Debug)]
struct Block {
    offset: u64,
    entry: BlockEntry,
    /// Key of the first claim.
    first: u128,
}

impl Certificate {
    /// Reads the certificate at `path` into memory, and verifies its checksums and its digest. The claims are then
    /// well-formed: sorted, each position once, bounds within 0 and the seeds in play. [`super::Check`] checks that
    /// they are true, from the file.
    ///
    /// # Errors
    /// If the file cannot be read, is not a complete and unchanged certificate, or its claims need more memory
    /// than there is.
    pub fn read(path: impl AsRef<Path>) -> Result<Certificate, CertificateError> {
        let path = path.as_ref();
        // A few bytes can stand for thousands of claims.
        let what = |claims| format!("the {claims} claims of {} need", path.display());
        let fits = |claims: u64| check_memory(claims.saturating_mul(MEMORY_A_CLAIM), None, || what(claims));
        let stored = StoredCertificate::open_if(path, |claims| Ok(fits(claims)?))?;
        let mut claims = Vec::with_capacity(stored.claims as usize);
        // On this thread alone, since a command may read it before it starts the others.
        for number in 0..stored.blocks.len() {
            claims.extend(stored.block(number)?);
        }
        Ok(Certificate { claims: ClaimSet::of_sorted(stored.keys, claims), head: stored.head })
    }
}

/// The name of a block in errors.
fn block(number: usize) -> String {
    format!("block {number} of claims")
}

impl StoredCertificate {
    /// Opens the certificate at `path` and verifies its checksums and its digest, as [`Certificate::read`] does,
    /// without holding more than one block.
    ///
    /// # Errors
    /// If the file cannot be read, or is not a complete and unchanged certificate.
    pub fn open(path: impl AsRef<Path>) -> Result<StoredCertificate, CertificateError> {
        StoredCertificate::open_if(path.as_ref(), |_| Ok(()))
    }

    /// Opens a certificate if `require` accepts its number of claims.
    fn open_if(
        path: &Path,
        require: impl FnOnce(u64) -> Result<(), CertificateError>,
    ) -> Result<StoredCertificate, CertificateError> {
        let io = CertificateError::io(path);
        let damaged = |part: &str| CertificateError::damaged(path, part);
        let mut file = file::open(path).map_err(&io)?;
        let bytes = file.metadata().map_err(&io)?.len();
        let mut hash = blake3::Hasher::new();
        let mut read = |count: usize| {
            let mut part = vec![0; count];
            file.read_exact(&mut part).map_err(&io).map(|()| part)
        };
        let start = read(bytes.min(HEADER_BYTES as u64) as usize)?;
        let header = Header::read(path, &start, bytes)?;
        require(header.claims)?;
        hash.update(&start);
        let (mut offset, end) = (HEADER_BYTES as u64, bytes - DIGEST_BYTES as u64);
        if header.prefix_bytes as u64 > end - offset {
            return Err(damaged("statement"));
        }
        let prefix = read(header.prefix_bytes)?;
        hash.update(&prefix);
        offset += prefix.len() as u64;
        let (head, entries) = header.prefix(path, &prefix)?;
        let keys = ClaimKeys::new(header.pits);
        let (mut blocks, mut claims) = (Vec::new(), Vec::<CodedClaim>::new());
        for (number, entry) in entries.into_iter().enumerate() {
            let damaged = || CertificateError::damaged(path, block(number));
            if entry.compressed_bytes() as u64 > end - offset {
                return Err(damaged());
            }
            let compressed = read(entry.compressed_bytes())?;
            hash.update(&compressed);
            // The last claim of a block is compared with the first one of the next.
            claims.drain(..claims.len().saturating_sub(1));
            let before = claims.len();
            entry.decompress(&compressed, &keys, &mut claims).ok_or_else(damaged)?;
            blocks.push(Block { offset, entry, first: claims[before].0 });
            offset += compressed.len() as u64;
        }
        if offset != end {
            return Err(damaged("list of blocks"));
        }
        let digest: [u8; DIGEST_BYTES] = *hash.finalize().as_bytes();
        if read(DIGEST_BYTES)? != digest {
            return Err(damaged("digest"));
        }
        Ok(StoredCertificate { path: path.to_owned(), file, head, claims: header.claims, bytes, digest, keys, blocks })
    }

    /// Statement, effort and tables.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Number of claims.
    pub fn claims(&self) -> u64 {
        self.claims
    }

    /// Size of the file.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// BLAKE3 of the file without its last 32 bytes, which are this digest.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// The keys of positions of its board.
    pub(super) fn keys(&self) -> &ClaimKeys {
        &self.keys
    }

    /// Ranges of claims, in their order, that are checked one after the other. All but the last have whole blocks.
    pub(super) fn windows(&self) -> impl Iterator<Item = Range<u64>> + use<> {
        let size = (WINDOW_BLOCKS.max(self.blocks.len().div_ceil(MAX_WINDOWS)) * BLOCK_CLAIMS) as u64;
        let claims = self.claims;
        (0..claims.div_ceil(size)).map(move |window| window * size..claims.min((window + 1) * size))
    }

    /// Reads claims, numbered from 0 in the order of the file; the range begins with a block.
    pub(super) fn read(&self, range: Range<u64>) -> Result<Vec<CodedClaim>, CertificateError> {
        let blocks = range.start as usize / BLOCK_CLAIMS..(range.end as usize).div_ceil(BLOCK_CLAIMS);
        let parts: Vec<Vec<CodedClaim>> =
            blocks.into_par_iter().map(|number| self.block(number)).collect::<Result<_, _>>()?;
        Ok(parts.concat())
    }

    /// The claim of this key and these bounds.
    pub(super) fn claim(&self, (key, [lower, upper]): CodedClaim) -> Claim {
        let position = self.keys.position(key).expect("its positions were checked");
        Claim { position, bounds: Bounds { lower: lower.into(), upper: upper.into() } }
    }

    /// Looks up the claims with the keys `wanted`, in any order, in one pass over the file.
    pub(super) fn look_up(&self, mut wanted: Vec<u128>, pulse: &Pulse) -> Result<Known, CheckError> {
        wanted.par_sort_unstable();
        wanted.dedup();
        let mut bounds = vec![UNCLAIMED; wanted.len()];
        let (mut jobs, mut keys, mut rest) = (Vec::new(), &wanted[..], &mut bounds[..]);
        for number in 0..self.blocks.len() {
            let count = match self.blocks.get(number + 1) {
                Some(next) => keys.partition_point(|&key| key < next.first),
                None => keys.len(),
            };
            let (mine, others) = keys.split_at(count);
            let (found, left) = std::mem::take(&mut rest).split_at_mut(count);
            (keys, rest) = (others, left);
            if count > 0 {
                jobs.push((number, mine, found));
            }
        }
        jobs.into_par_iter().try_for_each(|(number, keys, found)| {
            pulse.check()?;
            let claims = self.block(number)?;
            let mut left = &claims[..];
            for (key, found) in keys.iter().zip(found) {
                left = &left[left.partition_point(|(claimed, _)| claimed < key)..];
                if let Some((_, bounds)) = left.first().filter(|(claimed, _)| claimed == key) {
                    *found = *bounds;
                }
            }
            Ok::<_, CheckError>(())
        })?;
        Ok(Known { all: self.keys, keys: wanted, bounds })
    }

    /// Reads the claims of a block again.
    ///
    /// # Errors
    /// If the file cannot be read, or is damaged.
    fn block(&self, number: usize) -> Result<Vec<CodedClaim>, CertificateError> {
        let Block { offset, entry, .. } = &self.blocks[number];
        let mut compressed = vec![0; entry.compressed_bytes()];
        file::read_exact_at(&self.file, &mut compressed, *offset).map_err(CertificateError::io(&self.path))?;
        let mut claims = Vec::with_capacity(entry.claims());
        let read = entry.decompress_again(&compressed, &self.keys, &mut claims);
        read.ok_or_else(|| CertificateError::damaged(&self.path, block(number)))?;
        Ok(claims)
    }
}

/// Bounds of a position without a claim.
const UNCLAIMED: [u8; 2] = [1, 0];

/// Claims about some positions.
#[derive(Debug)]
pub(super) struct Known {
    all: ClaimKeys,
    /// The keys of the positions, ascending.
    keys: Vec<u128>,
    /// Lower and upper bounds, or [`UNCLAIMED`].
    bounds: Vec<[u8; 2]>,
}

impl Known {
    /// The bounds claimed for a position, which must be one of those looked up.
    pub(crate) fn get(&self, position: &Position) -> Option<Bounds> {
        let place = self.keys.binary_search(&self.all.key(position)?);
        let [lower, upper] = self.bounds[place.expect("claims of all positions asked for were looked up")];
        (lower <= upper).then_some(Bounds { lower: lower.into(), upper: upper.into() })
    }
}
