//! Writing certificates (docs/certificates.md in the repository).

use std::io::Write;
use std::path::Path;

use kalah_base::file::{self, FileContent};
use kalah_core::game::ValueBounds;
use kalah_core::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};
use kalah_solve::bounds::{BLOCK_CLAIMS, ClaimKeys, CodedClaim, ENTRY_BYTES, compressed};
use xxhash_rust::xxh3::xxh3_64;

use super::check::Checker;
use super::error::CertificateError;
use super::format::{DIGEST_BYTES, MAX_MOVES, header_bytes};
use super::statement::{Certificate, Head, Statement};

impl Certificate {
    /// Writes the certificate to `path`, replacing an existing file. Returns its size and its digest.
    ///
    /// # Errors
    /// If it cannot be written or is invalid: effort, tables or openings exceed the limits of the format,
    /// claims are for another board than the statement, or [`Statement::goals`] fails.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(u64, [u8; 32]), CertificateError> {
        let path = path.as_ref();
        write_sorted(path, &self.head, *self.claims.keys(), self.claims.len() as u64, self.claims.coded())
    }
}

/// Writes a certificate of `count` claims to `path`, replacing an existing file. The claims come in the order of the
/// file: [key](ClaimKeys), lower and upper bound. Returns the size of the file and its digest.
///
/// Only the compressed claims are in memory.
///
/// # Errors
/// As [`Certificate::write`].
pub(crate) fn write_sorted(
    path: &Path,
    head: &Head,
    keys: ClaimKeys,
    count: u64,
    claims: impl Iterator<Item = CodedClaim>,
) -> Result<(u64, [u8; 32]), CertificateError> {
    let io = |source| CertificateError::Io { path: path.to_owned(), source };
    validate(head, keys).map_err(|reason| CertificateError::Invalid { path: path.to_owned(), reason })?;
    let (directory, blocks) = compressed(claims).map_err(io)?;
    debug_assert_eq!(directory.len(), count.div_ceil(BLOCK_CLAIMS as u64) as usize * ENTRY_BYTES);
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
    file::replace(path, Some(FileContent::Certificate), write).map_err(io)?;
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
