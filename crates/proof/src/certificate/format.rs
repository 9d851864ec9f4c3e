//! Files of certificates: layout, writing, and reading of all but the claims (docs/certificates.md in the repository).

use std::io::{self, Write};
use std::path::Path;

use bytemuck::{Pod, Zeroable};
use kalah_base::file;
use kalah_core::game::{MAX_PITS, Pit, Position, Row, Rules, ValueBounds};
use kalah_core::header::{self, HeaderError, Kind, Start, sealed};
use kalah_core::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};
use kalah_solve::blocks::{BLOCK_CLAIMS, BlockEntry, ENTRY_BYTES, compressed, entries};
use kalah_solve::bounds::{ClaimKeys, CodedClaim};
use xxhash_rust::xxh3::xxh3_64;

use super::check::Checker;
use super::error::{CertificateError, VERSION};
use super::statement::{Certificate, Head, OpeningBounds, Statement};

/// Bytes of the header.
pub(super) const HEADER_BYTES: usize = size_of::<RawHeader>();

/// Bytes of a checksum.
const CHECKSUM_BYTES: usize = 8;

/// Bytes of the digest at the end.
pub(super) const DIGEST_BYTES: usize = 32;

/// Maximum number of moves of an opening.
const MAX_MOVES: usize = 1000;

/// Returns the bytes before a checksum, if it matches.
fn checked(bytes: &[u8]) -> Option<&[u8]> {
    let (bytes, checksum) = bytes.split_last_chunk::<CHECKSUM_BYTES>()?;
    (xxh3_64(bytes).to_le_bytes() == *checksum).then_some(bytes)
}

/// The header as stored.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct RawHeader {
    start: Start,
    rules: u8,
    pits: u8,
    effort: u8,
    table_seeds: u8,
    claims: u64,
    blocks: u32,
    openings: u32,
    prefix_bytes: u64,
    file_bytes: u64,
    reserved: [u64; 9],
    checksum: u64,
}

/// The bytes of the header of a certificate with this head, with a prefix and blocks of this many bytes.
fn header_bytes(head: &Head, claims: u64, prefix_bytes: u64, block_bytes: u64) -> Vec<u8> {
    let Head { statement: Statement { rules, position, openings, .. }, effort, .. } = head;
    let file_bytes = HEADER_BYTES as u64 + prefix_bytes + block_bytes + DIGEST_BYTES as u64;
    let header = sealed(RawHeader {
        start: Start::new(Kind::Certificate, VERSION),
        rules: rules.code(),
        pits: position.pits() as u8,
        effort: *effort as u8,
        table_seeds: head.table_seeds() as u8,
        claims: claims.to_le(),
        blocks: (claims.div_ceil(BLOCK_CLAIMS as u64) as u32).to_le(),
        openings: (openings.len() as u32).to_le(),
        prefix_bytes: prefix_bytes.to_le(),
        file_bytes: file_bytes.to_le(),
        ..Zeroable::zeroed()
    });
    bytemuck::bytes_of(&header).to_vec()
}

/// The fields of the header.
pub(super) struct Header {
    rules: Rules,
    pub pits: usize,
    effort: u32,
    table_seeds: usize,
    pub claims: u64,
    blocks: usize,
    openings: usize,
    pub prefix_bytes: usize,
}

impl Header {
    /// Parses the header at the start of the file `path`, and compares the file's length, `found`, with it. `bytes` has
    /// at least the first [`HEADER_BYTES`] bytes of the file, or all of a shorter one.
    pub(crate) fn read(path: &Path, bytes: &[u8], found: u64) -> Result<Header, CertificateError> {
        let raw = header::read(bytes, Kind::Certificate, VERSION);
        if let Err(source @ (HeaderError::Foreign(_) | HeaderError::Version { .. })) = raw {
            return Err(CertificateError::Header { path: path.to_owned(), source });
        }
        let require_length = |is_right, expected: u64| {
            let what = || format!("length is {found} bytes, but should be {expected}");
            if is_right { Ok(()) } else { Err(CertificateError::Damaged { path: path.to_owned(), what: what() }) }
        };
        let least = (HEADER_BYTES + DIGEST_BYTES) as u64;
        require_length(found >= least, least)?;
        let damaged = || CertificateError::damaged(path, "header");
        let raw: RawHeader = raw.map_err(|_| damaged())?;
        let header = Header::of(&raw).ok_or_else(damaged)?;
        let expected = u64::from_le(raw.file_bytes);
        require_length(found == expected, expected)?;
        Ok(header)
    }

    /// The fields of a header; `None` if they are impossible.
    fn of(raw: &RawHeader) -> Option<Header> {
        let header = Header {
            rules: Rules::from_code(raw.rules)?,
            pits: raw.pits.into(),
            effort: raw.effort.into(),
            table_seeds: raw.table_seeds.into(),
            claims: u64::from_le(raw.claims),
            blocks: u32::from_le(raw.blocks) as usize,
            openings: u32::from_le(raw.openings) as usize,
            prefix_bytes: usize::try_from(u64::from_le(raw.prefix_bytes)).ok()?,
        };
        let Header { pits, table_seeds, blocks, prefix_bytes, .. } = header;
        let tables_fit =
            table_seeds == 0 || (2..=MAX_TABLE_SEEDS).contains(&table_seeds) && (1..=MAX_TABLE_PITS).contains(&pits);
        let fits = (1..=MAX_PITS).contains(&pits)
            && raw.reserved == [0; 9]
            && header.effort <= Checker::MAX_EFFORT
            && tables_fit
            && header.claims.div_ceil(BLOCK_CLAIMS as u64) == blocks as u64
            && blocks as u64 * ENTRY_BYTES as u64 <= prefix_bytes as u64
            && prefix_bytes as u64 <= u64::from_le(raw.file_bytes);
        fits.then_some(header)
    }

    /// Parses the prefix of the file `path`: statement, digests of the tables, and the list of blocks.
    pub(crate) fn prefix(&self, path: &Path, bytes: &[u8]) -> Result<(Head, Vec<BlockEntry>), CertificateError> {
        let damaged = |part| move || CertificateError::damaged(path, part);
        let split = checked(bytes).zip(self.blocks.checked_mul(ENTRY_BYTES));
        let split = split.and_then(|(prefix, bytes)| prefix.split_at_checked(prefix.len().checked_sub(bytes)?));
        let (statement, directory) = split.ok_or_else(damaged("statement"))?;
        let head = self.head(statement).ok_or_else(damaged("statement"))?;
        head.statement.goals().map_err(|error| CertificateError::Damaged {
            path: path.to_owned(),
            what: format!("statement is invalid: {error}"),
        })?;
        let entries = entries(directory, self.claims).ok_or_else(damaged("list of blocks"))?;
        Ok((head, entries))
    }

    /// Parses the head from the bytes of the statement.
    fn head(&self, bytes: &[u8]) -> Option<Head> {
        let mut at = bytes;
        let [mover_store, other_store] = [take(&mut at)?, take(&mut at)?].map(u32::from_le_bytes);
        let mut row = || {
            let seeds: Option<Vec<u32>> = (0..self.pits).map(|_| take(&mut at).map(u32::from_le_bytes)).collect();
            Row::new(&seeds?)
        };
        let (mover, other) = (row()?, row()?);
        let position = Position::new(mover, other, mover_store, other_store).ok()?;
        let bounds = take_values(&mut at)?;
        let mut openings = Vec::new();
        for _ in 0..self.openings {
            let bounds = take_values(&mut at)?;
            let count = usize::from(u16::from_le_bytes(take(&mut at)?));
            let moves = at.split_off(..count).filter(|_| count <= MAX_MOVES)?;
            let moves = moves.iter().map(|&pit| Pit::from_number(pit.into())).collect::<Option<_>>()?;
            openings.push(OpeningBounds { moves, bounds });
        }
        let tables = (2..=self.table_seeds).map(|_| take(&mut at)).collect::<Option<_>>()?;
        let statement = Statement { rules: self.rules, position, bounds, openings };
        at.is_empty().then_some(Head { statement, effort: self.effort, tables })
    }
}

impl Certificate {
    /// Writes the certificate to `path`, replacing an existing file. Returns its size and its digest.
    ///
    /// # Errors
    /// If it cannot be written or is invalid: effort, tables or openings exceed the limits of the format,
    /// claims are for another board than the statement, or [`Statement::goals`] fails.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(u64, [u8; 32]), CertificateError> {
        let path = path.as_ref();
        write_sorted(path, &self.head, *self.claims.keys(), self.claims.coded())
    }
}

/// Writes a certificate to `path`, replacing an existing file. The claims come in the order of the file:
/// [key](ClaimKeys), lower and upper bound. Returns the size of the file and its digest.
///
/// Only the compressed claims are in memory.
///
/// # Errors
/// As [`Certificate::write`].
pub(crate) fn write_sorted(
    path: &Path,
    head: &Head,
    keys: ClaimKeys,
    claims: impl Iterator<Item = CodedClaim>,
) -> Result<(u64, [u8; 32]), CertificateError> {
    let io = CertificateError::io(path);
    validate(head, keys).map_err(|reason| io(io::Error::new(io::ErrorKind::InvalidInput, reason)))?;
    let mut count = 0;
    let (directory, blocks) = compressed(claims.inspect(|_| count += 1)).map_err(&io)?;
    let mut prefix = statement_bytes(head);
    prefix.extend(directory);
    prefix.extend(xxh3_64(&prefix).to_le_bytes());
    let block_bytes: usize = blocks.iter().map(Vec::len).sum();
    let header = header_bytes(head, count, prefix.len() as u64, block_bytes as u64);
    let (mut hash, mut bytes) = (blake3::Hasher::new(), 0);
    let write = |file: &mut file::Replacement| {
        for part in [&header, &prefix].into_iter().chain(&blocks) {
            hash.update(part);
            bytes += part.len() as u64;
            file.write_all(part)?;
        }
        file.write_all(hash.finalize().as_bytes())
    };
    file::replace(path, write).map_err(io)?;
    Ok((bytes + DIGEST_BYTES as u64, *hash.finalize().as_bytes()))
}

/// Returns the reason if a certificate with this head cannot be written.
fn validate(head: &Head, keys: ClaimKeys) -> Result<(), String> {
    let Head { statement, effort, tables } = head;
    let pits = statement.position.pits();
    statement.goals().map_err(|error| error.to_string())?;
    if keys.pits() != pits {
        return Err("its claims are for another board".to_owned());
    }
    if *effort > Checker::MAX_EFFORT {
        return Err(format!("the effort {effort} is above {}", Checker::MAX_EFFORT));
    }
    if head.table_seeds() > MAX_TABLE_SEEDS || !tables.is_empty() && pits > MAX_TABLE_PITS {
        return Err("tables for this board and number of seeds do not exist".to_owned());
    }
    if statement.openings.iter().any(|opening| opening.moves.len() > MAX_MOVES) {
        return Err(format!("an opening has more than {MAX_MOVES} moves"));
    }
    Ok(())
}

/// The statement and the digests of the tables.
fn statement_bytes(head: &Head) -> Vec<u8> {
    let Statement { position, bounds, openings, .. } = &head.statement;
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
    head.tables.iter().for_each(|digest| bytes.extend(digest));
    bytes
}

fn put_values(bytes: &mut Vec<u8>, bounds: ValueBounds) {
    bytes.extend(bounds.lower.to_le_bytes());
    bytes.extend(bounds.upper.to_le_bytes());
}

/// Removes some bytes from the front.
fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    bytes.split_off(..N)?.try_into().ok()
}

/// Removes bounds of a value from the front.
fn take_values(bytes: &mut &[u8]) -> Option<ValueBounds> {
    let [lower, upper] = [take(bytes)?, take(bytes)?].map(i64::from_le_bytes);
    Some(ValueBounds { lower, upper })
}
