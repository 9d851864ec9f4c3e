//! The bytes of a certificate: writing and reading (docs/certificates.md in the repository).

use std::io::Write;
use std::path::Path;

use kalah_core::game::{MAX_PITS, Pit, Position, Row, Rules, ValueBounds};
use kalah_core::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};
use kalah_tables::file::{self, FileContent};
use kalah_tables::system::AvailableMemory;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use super::block::{self, BLOCK_CLAIMS};
use super::bytes::Bytes;
use super::check::Checker;
use super::claim::ClaimSet;
use super::error::{CertificateDamage, CertificateError, CertificatePart, VERSION};
use super::key::Keys;
use super::statement::{Certificate, Head, Opening, Statement};

/// The first bytes of every certificate.
pub const MAGIC: [u8; 8] = *b"KALAHCT\n";

/// Bytes of the header.
const HEADER_BYTES: usize = 128;

/// Where the checksum of the header is.
const CHECKSUM_AT: usize = 120;

/// Bytes before it that are zeros.
const RESERVED_BYTES: usize = 72;

/// Bytes of an entry of the directory.
const ENTRY_BYTES: usize = 24;

/// Bytes of a checksum.
const CHECKSUM_BYTES: usize = 8;

/// Bytes of the digest at the end.
const DIGEST_BYTES: usize = 32;

/// The most bytes of memory that a claim takes while a certificate is read.
const MEMORY_A_CLAIM: u64 = 96;

/// The most moves of an opening.
const MAX_MOVES: usize = 1000;

/// A certificate in a file.
#[derive(Clone, Debug)]
pub struct CertificateFile {
    /// What it contains.
    pub certificate: Certificate,
    /// Bytes of the file.
    pub bytes: u64,
    /// BLAKE3 of the file without its last 32 bytes, which are this digest.
    pub digest: [u8; 32],
}

impl CertificateFile {
    /// Reads the certificate at `path` and compares it with its checksums and its digest. Claims are sound in
    /// themselves then: sorted, each position once, bounds within 0 and the seeds in play. Whether they are true is
    /// another question: see [`super::Checker`].
    ///
    /// # Errors
    /// When the file cannot be read, is not a certificate, complete and unchanged, or there is not enough memory for its claims.
    pub fn read(path: &Path) -> Result<CertificateFile, CertificateError> {
        let bytes = file::read(path).map_err(|source| CertificateError::Io { path: path.to_owned(), source })?;
        let damaged = |damage| CertificateError::Damaged { path: path.to_owned(), damage };
        // A few bytes can stand for thousands of claims.
        let header = RawHeader::read(&bytes).map_err(damaged)?;
        let (claims, needed) = (header.claims, header.claims.saturating_mul(MEMORY_A_CLAIM));
        if let Some(available) = AvailableMemory::now().filter(|available| needed > available.bytes) {
            return Err(CertificateError::Memory { path: path.to_owned(), claims, needed, available });
        }
        CertificateFile::from_bytes(&bytes).map_err(damaged)
    }

    /// The certificate with these bytes, as [`CertificateFile::read`].
    ///
    /// # Errors
    /// When they are not a certificate, complete and unchanged.
    pub fn from_bytes(bytes: &[u8]) -> Result<CertificateFile, CertificateDamage> {
        let header = RawHeader::read(bytes)?;
        let (body, digest) = bytes.split_at(bytes.len() - DIGEST_BYTES);
        if blake3::hash(body).as_bytes() != digest {
            // A part that does not match its checksum says more.
            header.contents(body)?;
            return Err(CertificateDamage::Part(CertificatePart::Digest));
        }
        let certificate = header.contents(body)?;
        let digest = digest.try_into().expect("32 bytes");
        Ok(CertificateFile { certificate, bytes: bytes.len() as u64, digest })
    }
}

impl Certificate {
    /// Writes the certificate to `path`, replacing an existing file; returns its bytes and its digest.
    ///
    /// # Errors
    /// When it cannot be written, or is none: effort, tables or openings are outside of what the format can hold,
    /// claims are for another board than the statement, or [`Statement::goals`] gives an error.
    pub fn write(&self, path: &Path) -> Result<(u64, [u8; 32]), CertificateError> {
        let io = |source| CertificateError::Io { path: path.to_owned(), source };
        self.validate().map_err(|reason| CertificateError::Invalid { path: path.to_owned(), reason })?;
        let bytes = self.to_bytes().map_err(io)?;
        file::replace(path, Some(FileContent::Certificate), |file| file.write_all(&bytes)).map_err(io)?;
        let digest = bytes[bytes.len() - DIGEST_BYTES..].try_into().expect("32 bytes");
        Ok((bytes.len() as u64, digest))
    }

    /// Returns what is wrong if this cannot be written.
    fn validate(&self) -> Result<(), String> {
        let Head { statement, effort, tables } = &self.head;
        let pits = statement.position.pits();
        statement.goals().map_err(|error| error.to_string())?;
        if self.claims.keys().pits() != pits {
            return Err("its claims are for another board".to_owned());
        }
        if *effort > Checker::MAX_EFFORT {
            return Err(format!("the effort {effort} is above {}", Checker::MAX_EFFORT));
        }
        if self.head.table_seeds() > MAX_TABLE_SEEDS || !tables.is_empty() && pits > MAX_TABLE_PITS {
            return Err("there are no such tables".to_owned());
        }
        if statement.openings.iter().any(|opening| opening.moves.len() > MAX_MOVES) {
            return Err(format!("an opening has more than {MAX_MOVES} moves"));
        }
        Ok(())
    }

    /// The bytes of the file; the certificate is valid.
    fn to_bytes(&self) -> std::io::Result<Vec<u8>> {
        let claims: Vec<_> = self.claims.packed().collect();
        let (mut directory, mut blocks) = (Vec::new(), Vec::new());
        for claims in claims.chunks(BLOCK_CLAIMS) {
            let (packed, raw_bytes) = block::pack(claims)?;
            let entry = Entry { claims: claims.len(), raw_bytes, packed_bytes: packed.len() };
            directory.extend(entry.bytes());
            directory.extend(entry.checksum(&packed).to_le_bytes());
            blocks.extend(packed);
        }
        let mut prefix = self.statement_bytes();
        prefix.extend(directory);
        prefix.extend(xxh3_64(&prefix).to_le_bytes());
        let total = HEADER_BYTES + prefix.len() + blocks.len() + DIGEST_BYTES;
        let Head { statement: Statement { rules, position, openings, .. }, effort, .. } = &self.head;
        let mut bytes = Vec::with_capacity(total);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend([rules.code(), position.pits() as u8, *effort as u8, self.head.table_seeds() as u8]);
        bytes.extend((claims.len() as u64).to_le_bytes());
        bytes.extend((claims.len().div_ceil(BLOCK_CLAIMS) as u32).to_le_bytes());
        bytes.extend((openings.len() as u32).to_le_bytes());
        bytes.extend((prefix.len() as u64).to_le_bytes());
        bytes.extend((total as u64).to_le_bytes());
        bytes.resize(HEADER_BYTES, 0);
        let checksum = xxh3_64(&bytes);
        bytes[CHECKSUM_AT..].copy_from_slice(&checksum.to_le_bytes());
        bytes.extend(prefix);
        bytes.extend(blocks);
        bytes.extend(blake3::hash(&bytes).as_bytes());
        Ok(bytes)
    }

    /// The statement and the digests of the tables.
    fn statement_bytes(&self) -> Vec<u8> {
        let Statement { position, bounds, openings, .. } = &self.head.statement;
        let mut bytes = Vec::new();
        let stores = [position.mover_store(), position.other_store()];
        let pits = position.mover().seeds().iter().chain(position.other().seeds());
        stores.iter().chain(pits).for_each(|number| bytes.extend(number.to_le_bytes()));
        put_values(&mut bytes, *bounds);
        for opening in openings {
            put_values(&mut bytes, opening.bounds);
            bytes.extend((opening.moves.len() as u16).to_le_bytes());
            bytes.extend(opening.moves.iter().map(|pit| pit.number() as u8));
        }
        self.head.tables.iter().for_each(|digest| bytes.extend(digest));
        bytes
    }
}

fn put_values(bytes: &mut Vec<u8>, bounds: ValueBounds) {
    bytes.extend(bounds.lower.to_le_bytes());
    bytes.extend(bounds.upper.to_le_bytes());
}

/// The bytes before a checksum, if it matches.
fn checked(bytes: &[u8]) -> Option<&[u8]> {
    let (bytes, checksum) = bytes.split_last_chunk::<CHECKSUM_BYTES>()?;
    (xxh3_64(bytes).to_le_bytes() == *checksum).then_some(bytes)
}

/// The numbers of the header.
struct RawHeader {
    rules: Rules,
    pits: usize,
    effort: u32,
    table_seeds: usize,
    claims: u64,
    blocks: usize,
    openings: usize,
    prefix_bytes: usize,
}

impl RawHeader {
    /// The header of a file with these bytes, if it has as many as the header says.
    fn read(bytes: &[u8]) -> Result<RawHeader, CertificateDamage> {
        let damaged = CertificateDamage::Part(CertificatePart::Header);
        let found = bytes.len() as u64;
        let too_short = CertificateDamage::Length { found, expected: (HEADER_BYTES + DIGEST_BYTES) as u64 };
        let mut at = Bytes::new(bytes);
        if at.take(MAGIC.len()) != Some(&MAGIC) {
            return Err(CertificateDamage::Foreign);
        }
        let version = at.u32().ok_or(too_short.clone())?;
        if version != VERSION {
            return Err(CertificateDamage::Version(version));
        }
        if bytes.len() < HEADER_BYTES + DIGEST_BYTES {
            return Err(too_short);
        }
        let mut header = bytes[..HEADER_BYTES].to_vec();
        header[CHECKSUM_AT..].fill(0);
        if xxh3_64(&header).to_le_bytes() != bytes[CHECKSUM_AT..HEADER_BYTES] {
            return Err(damaged);
        }
        let (read, expected) = RawHeader::numbers(&mut at).ok_or(damaged)?;
        if expected != found {
            return Err(CertificateDamage::Length { found, expected });
        }
        Ok(read)
    }

    /// The numbers after the version, and the bytes of the file; `None` if they are impossible.
    fn numbers(at: &mut Bytes) -> Option<(RawHeader, u64)> {
        let rules = Rules::from_code(at.u8()?)?;
        let pits = usize::from(at.u8()?);
        let effort = u32::from(at.u8()?);
        let table_seeds = usize::from(at.u8()?);
        let claims = at.u64()?;
        let blocks = at.u32()?;
        let openings = at.u32()? as usize;
        let prefix_bytes = usize::try_from(at.u64()?).ok()?;
        let bytes = at.u64()?;
        let is_reserved_zero = at.take(RESERVED_BYTES)?.iter().all(|&byte| byte == 0);
        let tables_fit =
            table_seeds == 0 || (2..=MAX_TABLE_SEEDS).contains(&table_seeds) && (1..=MAX_TABLE_PITS).contains(&pits);
        let fits = (1..=MAX_PITS).contains(&pits)
            && is_reserved_zero
            && effort <= Checker::MAX_EFFORT
            && tables_fit
            && claims.div_ceil(BLOCK_CLAIMS as u64) == u64::from(blocks)
            && u64::from(blocks) * ENTRY_BYTES as u64 <= prefix_bytes as u64
            && prefix_bytes as u64 <= bytes;
        let blocks = blocks as usize;
        let header = RawHeader { rules, pits, effort, table_seeds, claims, blocks, openings, prefix_bytes };
        fits.then_some((header, bytes))
    }

    /// The certificate with this header; `body` is the file without its digest.
    fn contents(&self, body: &[u8]) -> Result<Certificate, CertificateDamage> {
        let damaged = CertificateDamage::Part;
        let mut at = Bytes::new(body);
        at.take(HEADER_BYTES);
        let prefix = at.take(self.prefix_bytes).and_then(checked);
        let directory_bytes = self.blocks.checked_mul(ENTRY_BYTES);
        let split = prefix.zip(directory_bytes);
        let split = split.and_then(|(prefix, bytes)| prefix.split_at_checked(prefix.len().checked_sub(bytes)?));
        let (statement, directory) = split.ok_or(damaged(CertificatePart::Statement))?;
        let head = self.head(statement).ok_or(damaged(CertificatePart::Statement))?;
        head.statement.goals()?;
        let mut directory = Bytes::new(directory);
        let keys = Keys::new(self.pits);
        let mut claims = Vec::new();
        for block in 0..self.blocks {
            let left = self.claims - (block * BLOCK_CLAIMS) as u64;
            let (entry, checksum) = Entry::read(&mut directory)
                .filter(|(entry, _)| entry.claims as u64 == left.min(BLOCK_CLAIMS as u64))
                .ok_or(damaged(CertificatePart::Directory))?;
            let packed = at.take(entry.packed_bytes).filter(|packed| entry.checksum(packed) == checksum);
            packed
                .and_then(|packed| block::unpack(packed, entry.raw_bytes, entry.claims, &keys, &mut claims))
                .ok_or(damaged(CertificatePart::Block(block)))?;
        }
        if !at.is_empty() {
            return Err(damaged(CertificatePart::Directory));
        }
        let claims = ClaimSet::from_sorted(keys, claims).ok_or(damaged(CertificatePart::Block(0)))?;
        Ok(Certificate { head, claims })
    }

    /// The head from the bytes of the statement.
    fn head(&self, bytes: &[u8]) -> Option<Head> {
        let mut at = Bytes::new(bytes);
        let (mover_store, other_store) = (at.u32()?, at.u32()?);
        let mut row = || (0..self.pits).map(|_| at.u32()).collect::<Option<Vec<u32>>>().and_then(|row| Row::new(&row));
        let (mover, other) = (row()?, row()?);
        let position = Position::new(mover, other, mover_store, other_store).ok()?;
        let bounds = ValueBounds { lower: at.i64()?, upper: at.i64()? };
        let mut openings = Vec::new();
        for _ in 0..self.openings {
            let bounds = ValueBounds { lower: at.i64()?, upper: at.i64()? };
            let count = usize::from(at.u16()?);
            let moves = at.take(count).filter(|_| count <= MAX_MOVES)?;
            let moves = moves.iter().map(|&pit| Pit::from_number(pit.into())).collect::<Option<_>>()?;
            openings.push(Opening { moves, bounds });
        }
        let tables = (2..=self.table_seeds).map(|_| at.digest()).collect::<Option<_>>()?;
        let statement = Statement { rules: self.rules, position, bounds, openings };
        at.is_empty().then_some(Head { statement, effort: self.effort, tables })
    }
}

/// What the directory says of a block.
struct Entry {
    claims: usize,
    raw_bytes: usize,
    packed_bytes: usize,
}

impl Entry {
    /// An entry and the checksum of its block.
    fn read(at: &mut Bytes) -> Option<(Entry, u64)> {
        let (claims, raw_bytes, packed_bytes, reserved) = (at.u32()?, at.u32()?, at.u32()?, at.u32()?);
        let [claims, raw_bytes, packed_bytes] = [claims, raw_bytes, packed_bytes].map(|number| number as usize);
        let checksum = at.u64()?;
        (reserved == 0).then_some((Entry { claims, raw_bytes, packed_bytes }, checksum))
    }

    /// Its bytes without the checksum.
    fn bytes(&self) -> [u8; 16] {
        let numbers = [self.claims, self.raw_bytes, self.packed_bytes, 0].map(|number| (number as u32).to_le());
        bytemuck::cast(numbers)
    }

    /// The checksum of the block with these bytes.
    fn checksum(&self, packed: &[u8]) -> u64 {
        let mut hash = Xxh3Default::new();
        hash.update(&self.bytes());
        hash.update(packed);
        hash.digest()
    }
}
