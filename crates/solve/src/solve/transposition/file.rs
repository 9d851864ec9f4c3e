//! The file of a transposition table (docs/solving.md).

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use super::table::{ROOM, TranspositionTable};
use crate::solve::packed::Word;

/// Bytes between the line and the entries: those of an entry, bits of a key and of a bucket's number.
const HEAD_BYTES: usize = 3;

/// Writes the table of the search that `line` identifies. This is possible during the search, since each entry is read
/// atomically and is valid by itself.
pub(crate) fn save<W: Word>(table: &TranspositionTable<W>, line: &[u8], file: &mut dyn Write) -> io::Result<()> {
    let _kept = table.keep_size();
    let (key_bits, bucket_bits) = table.sizes();
    let mut compressed = zstd::Encoder::new(file, 1)?;
    compressed.include_checksum(true)?;
    let mut bytes = BufWriter::with_capacity(1 << 20, compressed);
    bytes.write_all(line)?;
    bytes.write_all(&[size_of::<W>() as u8, key_bits as u8, bucket_bits as u8])?;
    for word in table.words(bucket_bits) {
        bytes.write_all(&word.array()[..size_of::<W>()])?;
    }
    bytes.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?;
    Ok(())
}

/// Loads the entries of a file into a table of a board with `seeds` seeds, which may have another size, for the search
/// that `line` identifies. Returns their number, or the reason why the file is invalid; then the table is empty.
///
/// Entries are loaded directly into the table, so a resumed search needs no additional memory. No search uses
/// the table meanwhile, so no entry is used before all are checked.
pub(crate) fn load<W: Word>(
    table: &mut TranspositionTable<W>,
    seeds: usize,
    line: &[u8],
    file: &mut dyn BufRead,
) -> io::Result<u64> {
    let taken = take(table, seeds, line, file);
    if taken.is_err() {
        table.clear();
    }
    taken
}

fn take<W: Word>(table: &TranspositionTable<W>, seeds: usize, line: &[u8], file: &mut dyn BufRead) -> io::Result<u64> {
    let mut bytes = BufReader::with_capacity(1 << 20, zstd::Decoder::with_buffer(file)?);
    let mut own = vec![0; line.len()];
    bytes.read_exact(&mut own)?;
    if own != line {
        return Err(io::Error::other("its transposition table is that of another search"));
    }
    let mut head = [0; HEAD_BYTES];
    bytes.read_exact(&mut head)?;
    let (key_bits, bucket_bits) = (table.sizes().0, u32::from(head[2]));
    let count = TranspositionTable::<W>::entries_of(key_bits, bucket_bits);
    let is_own = head[..2] == [size_of::<W>() as u8, key_bits as u8];
    let other = || io::Error::other("its transposition table is that of another board");
    let count = count.filter(|_| is_own).ok_or_else(other)?;
    table.make_room(count / ROOM);
    let mut taken = 0;
    for index in 0..count {
        let mut word = [0; 16];
        bytes.read_exact(&mut word[..size_of::<W>()])?;
        let word = W::pack(word[..size_of::<W>()].iter().copied());
        if word != W::default() {
            if !table.restore(bucket_bits, index, word, seeds) {
                return Err(io::Error::other("it has impossible bounds"));
            }
            taken += 1;
        }
    }
    // At the end of the frame, its checksum is compared.
    if bytes.read(&mut head)? != 0 {
        return Err(io::Error::other("it is too long"));
    }
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use kalah_core::game::Bounds;

    use super::*;

    /// Otherwise each later save walks through all of a large table.
    #[test]
    fn a_loaded_table_is_no_larger_than_the_saved_one() {
        let new = |bytes| TranspositionTable::<u64>::new(1 << 40, bytes).unwrap();
        let saved = new(1 << 20);
        (0..1000u64).for_each(|key| saved.put(saved.locate(key << 20), Bounds { lower: 1, upper: 2 }, 1));
        let mut file = Vec::new();
        save(&saved, b"", &mut file).unwrap();
        let mut loaded = new(1 << 26);
        assert_eq!(load(&mut loaded, 48, b"", &mut &file[..]).unwrap(), 1000);
        assert_eq!(loaded.sizes(), saved.sizes());
    }
}
