//! The file of a transposition table (docs/solving.md).

use std::io::{self, BufRead, Read, Write};

use xxhash_rust::xxh3::Xxh3Default;

use super::table::TranspositionTable;
use crate::solve::packed::Word;

/// Entries written at a time.
const CHUNK: usize = 1 << 16;

/// Bytes before the entries: those of an entry, bits of a key and of a bucket's number.
const HEAD_BYTES: usize = 3;

/// Writes a table. This is possible during a search, since each entry is read atomically and is valid by
/// itself.
pub(crate) fn save<W: Word>(table: &TranspositionTable<W>, file: &mut dyn Write) -> io::Result<()> {
    let _kept = table.keep_size();
    let (key_bits, bucket_bits) = table.sizes();
    file.write_all(&[size_of::<W>() as u8, key_bits as u8, bucket_bits as u8])?;
    let mut hash = Xxh3Default::new();
    let mut compressed = zstd::Encoder::new(&mut *file, 1)?;
    let mut bytes = Vec::with_capacity(size_of::<W>() * CHUNK);
    let mut words = table.words(bucket_bits).peekable();
    while words.peek().is_some() {
        bytes.clear();
        bytes.extend(words.by_ref().take(CHUNK).flat_map(W::bytes));
        hash.update(&bytes);
        compressed.write_all(&bytes)?;
    }
    compressed.finish()?;
    file.write_all(&hash.digest().to_le_bytes())
}

/// Loads the entries of a file into a table of a board with `seeds` seeds, which may have another size. Returns
/// their number, or the reason why the file is invalid; then the table is empty.
///
/// Entries are loaded directly into the table, so a resumed search needs no additional memory. No search uses
/// the table meanwhile, so no entry is used before all are checked.
pub(crate) fn load<W: Word>(
    table: &mut TranspositionTable<W>,
    seeds: usize,
    file: &mut dyn BufRead,
) -> Result<u64, &'static str> {
    let taken = take(table, seeds, file);
    if taken.is_err() {
        table.clear();
    }
    taken
}

fn take<W: Word>(table: &TranspositionTable<W>, seeds: usize, mut file: &mut dyn BufRead) -> Result<u64, &'static str> {
    let short = |_| "it ends too early or was changed";
    let mut found = [0; HEAD_BYTES];
    file.read_exact(&mut found).map_err(short)?;
    let (key_bits, bucket_bits) = (table.sizes().0, u32::from(found[2]));
    let count = TranspositionTable::<W>::entries_of(key_bits, bucket_bits);
    let is_own = found[..2] == [size_of::<W>() as u8, key_bits as u8];
    let count = count.filter(|_| is_own).ok_or("its transposition table is that of another board")?;
    table.make_room(u64::MAX);
    let (mut taken, mut hash) = (0, Xxh3Default::new());
    {
        let mut compressed = zstd::Decoder::with_buffer(&mut file).map_err(short)?.single_frame();
        let mut bytes = vec![0; size_of::<W>() * CHUNK];
        let mut index = 0u64;
        while index < count {
            let part = size_of::<W>() * (count - index).min(CHUNK as u64) as usize;
            compressed.read_exact(&mut bytes[..part]).map_err(short)?;
            hash.update(&bytes[..part]);
            for word in bytes[..part].chunks_exact(size_of::<W>()) {
                let word = W::pack(word.iter().copied());
                if word != W::default() {
                    if !table.restore(bucket_bits, index, word, seeds) {
                        return Err("it has impossible bounds");
                    }
                    taken += 1;
                }
                index += 1;
            }
        }
        // The end of the frame.
        if compressed.read(&mut bytes[..1]).map_err(short)? != 0 {
            return Err("it is too long");
        }
    }
    let mut checksum = [0; 8];
    file.read_exact(&mut checksum).map_err(short)?;
    if u64::from_le_bytes(checksum) != hash.digest() {
        return Err("its checksum is wrong");
    }
    if file.read(&mut checksum).map_err(short)? != 0 {
        return Err("it is too long");
    }
    Ok(taken)
}
