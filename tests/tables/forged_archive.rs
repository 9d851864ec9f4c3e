//! Archives with other chunks and correct checksums. The fuzzers use them, too.

use kalah::header::Kind;
use kalah::table::archive::ArchiveEntry;
use kalah::table::format::{BLOCK_BYTES, Entry, LayerHeader, prefix};
use xxhash_rust::xxh3::xxh3_64;

pub(crate) fn header(bytes: &[u8]) -> LayerHeader<ArchiveEntry> {
    LayerHeader::read_as(Kind::Archive, bytes, bytes.len() as u64).unwrap()
}

/// Returns an archive with every checksum corrected after `alter` has changed the chunks of each frame, which it gets
/// with the seeds of the mover's row and the list of the chunks' lengths. The list keeps its length.
pub(crate) fn forged(bytes: &[u8], mut alter: impl FnMut(usize, &mut Vec<u8>, &mut Vec<u8>)) -> Vec<u8> {
    let LayerHeader { key, form, source, mut entries, .. } = header(bytes);
    let mut forged = prefix(Kind::Archive, key, form, source, &[], &entries);
    for frame in key.frames() {
        let entry = &mut entries[frame.mover - 1];
        let (chunks, list) = bytes[entry.offset as usize..].split_at(entry.chunk_bytes as usize);
        let (mut data, mut list) = (chunks.to_vec(), list[..4 * entry.chunks as usize].to_vec());
        alter(frame.mover, &mut data, &mut list);
        (entry.offset, entry.chunk_bytes) = (forged.len() as u64, data.len() as u64);
        data.extend(list);
        data.resize(data.len().next_multiple_of(64), 0);
        let checksums = data.chunks(BLOCK_BYTES).flat_map(|block| xxh3_64(block).to_le_bytes());
        let mut checksums: Vec<u8> = checksums.collect();
        checksums.resize(checksums.len().next_multiple_of(64), 0);
        data.extend(checksums);
        entry.digest = *blake3::hash(&data).as_bytes();
        assert_eq!(entry.section_of(frame.mover).bytes(), data.len() as u64);
        forged.extend(data);
    }
    let first = prefix(Kind::Archive, key, form, source, &[], &entries);
    forged[..first.len()].copy_from_slice(&first);
    forged
}

/// Returns an archive with other content of one chunk, and every checksum corrected.
pub(crate) fn with_content(bytes: &[u8], chunk: usize, mut alter: impl FnMut(&mut Vec<u8>)) -> Vec<u8> {
    let count: u64 = header(bytes).entries.iter().map(|entry| entry.chunks).sum();
    let mut numbers = 0..count as usize;
    forged(bytes, |_, chunks, list| {
        let mut at = 0;
        for length in list.as_chunks_mut().0 {
            let mut end = at + u32::from_le_bytes(*length) as usize;
            if numbers.next() == Some(chunk % count as usize) {
                let mut content = zstd::decode_all(&chunks[at..end]).unwrap();
                alter(&mut content);
                let packed = zstd::bulk::compress(&content, 1).unwrap();
                *length = (packed.len() as u32).to_le_bytes();
                chunks.splice(at..end, packed);
                end = at + u32::from_le_bytes(*length) as usize;
            }
            at = end;
        }
    })
}
