//! Writing large sections, and sealed documents.

use std::fs::File;

use kalah::file::{BulkFile, Document, DocumentError, read_exact_at};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Bytes of a page, and from which on a section may be written past the page cache.
const PAGE: usize = 1 << 12;
const LARGE: usize = 8 << 20;

/// Bytes that differ from place to place.
fn content(len: usize) -> Vec<u8> {
    (0..len as u64).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// Creates files on the disk and, where the system has such a directory, in memory. Not every in-memory file system
/// supports direct writes, so the first one is beside the program.
fn files() -> impl Iterator<Item = File> {
    let program = std::env::current_exe().unwrap();
    [tempfile::tempfile_in(program.parent().unwrap()).unwrap()]
        .into_iter()
        .chain(tempfile::tempfile_in("/dev/shm").ok())
}

/// Copies bytes to memory in which they begin `place` bytes after the start of a page.
fn at_place(memory: &mut Vec<u8>, place: usize, bytes: &[u8]) -> std::ops::Range<usize> {
    *memory = vec![0; bytes.len() + PAGE];
    let start = place.wrapping_sub(memory.as_ptr() as usize) % PAGE;
    memory[start..start + bytes.len()].copy_from_slice(bytes);
    start..start + bytes.len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn sections_after_each_other_are_in_the_file(
        start in 0u64..10_000,
        lens in prop::collection::vec(prop_oneof![0..20_000usize, LARGE - 5000..LARGE + 20_000], 1..5),
        // As the offset in the file, or not.
        shift in prop_oneof![Just(0), 1..PAGE],
    ) {
        for file in files() {
            let mut bulk = BulkFile::new(file);
            let whole = content(lens.iter().sum());
            let (mut at, mut rest, mut memory) = (start, &whole[..], Vec::new());
            for &len in &lens {
                let place = at_place(&mut memory, at as usize + shift, rest.split_off(..len).unwrap());
                bulk.write_at(at, &memory[place]).unwrap();
                at += len as u64;
            }
            let mut found = vec![0; whole.len()];
            read_exact_at(bulk.file(), &mut found, start).unwrap();
            prop_assert!(found == whole);
            prop_assert_eq!(bulk.file().metadata().unwrap().len(), start + whole.len() as u64);
        }
    }
}

#[test]
fn every_changed_bit_of_a_document_is_found() {
    let document = Document { format: "kalah test", version: 1 };
    let content = json!({ "name": "a \"checksum\": b", "list": [1, { "two": 3.25 }] });
    let line = document.line(&content).unwrap();
    assert_eq!(document.parse::<Value>(&line).unwrap(), content);
    for at in 0..line.len() {
        for bit in 0..8 {
            let mut changed = line.clone();
            changed[at] ^= 1 << bit;
            assert!(document.parse::<Value>(&changed).is_err(), "byte {at}, bit {bit}");
        }
        assert!(document.parse::<Value>(&line[..at]).is_err(), "cut at {at}");
    }
    let newer = Document { version: 2, ..document }.line(&content).unwrap();
    assert!(matches!(document.parse::<Value>(&newer), Err(DocumentError::Version { found: 2, known: 1, .. })));
}
