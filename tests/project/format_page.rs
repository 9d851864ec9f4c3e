//! The page on the format agrees with the files.

use blake3::hash;
use kalah::game::Rules;
use kalah::table::TableKey;
use kalah_tests::tables::built;
use xxhash_rust::xxh3::xxh3_64;

const PAGE: &str = include_str!("../../docs/format.md");

/// A table of the board with two pits.
fn file(seeds: usize) -> Vec<u8> {
    let (rules, pits) = (Rules::EmptyCapture, 2);
    std::fs::read(TableKey { rules, pits, seeds }.path(built(&[(rules, pits, 17)]))).unwrap()
}

fn number(file: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(file[at..at + 8].try_into().unwrap())
}

#[test]
fn the_example_of_the_format_page_is_the_file() {
    let dump = PAGE.split_once("```hexdump\n").unwrap().1.split_once("```").unwrap().0;
    let mut shown = Vec::new();
    for line in dump.lines() {
        let (offset, bytes) = line.split_at(3);
        // Lines of zeros are left out.
        shown.resize(usize::from_str_radix(offset, 16).unwrap(), 0);
        let digits: Vec<char> = bytes.chars().filter(|letter| !letter.is_whitespace()).collect();
        shown.extend(digits.chunks(2).map(|byte| u8::from_str_radix(&String::from_iter(byte), 16).unwrap()));
    }
    let file = file(3);
    assert_eq!(shown, file);

    // The digests and checksums agree with the page.
    assert_eq!(hash(&file[0x140..0x200]).as_bytes()[..], file[128 + 40..200]);
    assert_eq!(hash(&file[0x200..0x2c0]).as_bytes()[..], file[200 + 40..272]);
    let table = [&file[..8], &1u32.to_le_bytes(), &[0, 2, 3], &file[128..272]].concat();
    assert_eq!(hash(&table).as_bytes()[..], file[32..64]);
    assert_eq!(xxh3_64(&file[0x140..0x1c0]), number(&file, 0x1c0));
    assert_eq!(xxh3_64(&[&file[..120], &[0; 8]].concat()), number(&file, 120));
}

#[test]
fn the_patch_of_the_format_page_is_in_the_file() {
    let file = file(17);
    let frame = number(&file, 128) as usize;
    let line = &file[frame + 64..][..64];
    assert_eq!(file[frame..frame + 2], [0x01, 0x09]);
    assert_eq!((&line[..4], line[63]), ([0; 4].as_slice(), 0xb8));
    let patch = &file[frame + 128..][..7];
    assert_eq!(patch, [0x08, 0x18, 0x28, 0x38, 0x01, 0x21, 0x10]);
    let shown: Vec<String> = patch.iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(PAGE.contains(&shown.join(" ")));
}
