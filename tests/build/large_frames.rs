//! Frames of more than 2^31 and 2^32 positions: no number on the way to them overflows.
//!
//! No such frame is built here. The files read here have the size of real ones, but only a few score groups are not
//! empty.
#![cfg(all(unix, target_pointer_width = "64"))]

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use kalah::build::{Backend, BuildPlan};
use kalah::game::Rules;
use kalah::index::{Frame, RowIndex, layer_positions, row_count};
use kalah::isa::Isa;
use kalah::table::format::{BLOCK_BYTES, Entry, FrameEntry, RawEntry, RawHeader, table_digest};
use kalah::table::group::{GROUP_BYTES, GROUP_POSITIONS};
use kalah::table::{Directory, RUN_MARGIN, Section, Table, TableKey, archive};
use xxhash_rust::xxh3::xxh3_64;

use kalah_tests::optional::{self, has_python};
use kalah_tests::program::{Ran, Run};

const READER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/kalah_reader.py");

/// Byte that marks a group with base 0; the next is the flag of a group with a patch.
const BASE_0: u8 = 64;
const PATCHED: u8 = 128;

/// Entry of a frame without patches.
fn empty_entry(frame: Frame, offset: u128) -> FrameEntry {
    FrameEntry {
        offset: offset.try_into().unwrap(),
        rows: frame.mover_rows() as u64,
        groups: frame.positions().div_ceil(GROUP_POSITIONS as u64),
        patch_bytes: 0,
        exceptions: 0,
        digest: [0; 32],
    }
}

/// A file of the size of a table. Its largest frame has patches up to 4 GiB.
struct Sparse {
    file: File,
    /// Frame with the most positions.
    frame: Frame,
    entry: FrameEntry,
}

impl Sparse {
    fn new(directory: &Path, key: TableKey) -> Sparse {
        let frame = key.frames().max_by_key(|frame| frame.positions()).unwrap();
        let mut entries = vec![empty_entry(frame, 0); key.seeds - 1];
        let mut offset = u128::from(key.prefix_bytes());
        for own in key.frames() {
            let mut entry = empty_entry(own, offset);
            if own == frame {
                // Two patches. By the directory, the first holds all exceptions but one; the second follows it.
                entry.patch_bytes = u64::from(u32::MAX) / 2 * 2;
                entry.exceptions = (entry.patch_bytes - 2 * 5) / 2;
            }
            offset = end(&entry, offset);
            assert_eq!(u128::from(entry.section().end()), offset, "{own:?}");
            entries[own.mover - 1] = entry;
        }
        let path = key.path(directory);
        let file = File::options().read(true).write(true).create_new(true).open(path).unwrap();
        let length = u64::try_from(offset).unwrap();
        file.set_len(length).expect("the file system has files with holes");
        let raw: Vec<RawEntry> = entries.iter().map(Entry::raw).collect();
        let directory: &[u8] = bytemuck::cast_slice(&raw);
        let header = RawHeader::finished(key, length, table_digest(key, directory));
        let sparse = Sparse { file, frame, entry: entries[frame.mover - 1] };
        sparse.write(0, bytemuck::bytes_of(&header));
        sparse.write(size_of::<RawHeader>() as u64, directory);
        sparse
    }

    fn write(&self, at: u64, bytes: &[u8]) {
        self.file.write_all_at(bytes, at).unwrap();
    }

    fn read(&self, at: u64, bytes: usize) -> Vec<u8> {
        let mut buffer = vec![0; bytes];
        self.file.read_exact_at(&mut buffer, at).unwrap();
        buffer
    }

    /// Returns the offset of a position's group in the file, and the position's place in the group.
    fn group(&self, index: u64) -> (u64, usize) {
        let number = u128::from(index) / GROUP_POSITIONS as u128;
        let groups_at = u128::from(self.entry.rows).next_multiple_of(64);
        let at = u128::from(self.entry.offset) + groups_at + number * GROUP_BYTES as u128;
        (at.try_into().unwrap(), (index % GROUP_POSITIONS as u64) as usize)
    }

    /// Sets the score of a position whose group has no patch. The score is below 16.
    fn set(&self, index: u64, score: u8) {
        let (at, place) = self.group(index);
        let byte = at + place as u64 / 2;
        let before = self.read(byte, 1)[0];
        let (shift, other) = (4 * (place % 2), 0xf0 >> (4 * (place % 2)));
        self.write(byte, &[before & other as u8 | score << shift]);
        self.write(at + 63, &[BASE_0]);
    }

    /// Gives a position an exception, the only one of the last patch.
    fn set_exception(&self, index: u64, score: u8) {
        let offset = self.entry.patch_bytes - 7;
        let (at, place) = self.group(index);
        self.write(at, &u32::try_from(offset).unwrap().to_le_bytes());
        self.write(at + 63, &[BASE_0 | PATCHED]);
        let patch = self.entry.offset + self.entry.patches_at() + offset;
        self.write(patch, &[0, 0, 0, 0, 1, place as u8, score]);
        self.seal(patch, 7);
    }

    /// Writes the checksums of the profile and of the blocks that hold these bytes of the file.
    fn seal(&self, at: u64, bytes: u64) {
        let section = self.entry.section();
        let block = |at: u64| (at - section.offset) / BLOCK_BYTES as u64;
        for number in (0..=block(section.offset + section.head)).chain(block(at)..=block(at + bytes - 1)) {
            self.seal_block(&section, number);
        }
    }

    fn seal_block(&self, section: &Section, number: u64) {
        let bytes = section.block_bytes(number);
        let checksum = xxh3_64(&self.read(bytes.start, (bytes.end - bytes.start) as usize));
        self.write(section.checksum_at(number), &checksum.to_le_bytes());
    }
}

/// End of a frame at this offset, in 128-bit arithmetic.
fn end(entry: &FrameEntry, offset: u128) -> u128 {
    let data = u128::from(entry.rows).next_multiple_of(64)
        + u128::from(entry.groups) * 64
        + u128::from(entry.patch_bytes).next_multiple_of(64);
    offset + data + (data.div_ceil(1 << 16) * 8).next_multiple_of(64)
}

/// Layers whose largest frames have more than 2^31 and 2^32 positions.
const LARGE: [(usize, usize, u32); 3] = [(6, 41, 31), (6, 44, 32), (8, 27, 32)];

#[test]
fn readers_find_scores_beyond_four_billion_positions() {
    for (pits, seeds, bits) in LARGE {
        let key = TableKey { rules: Rules::Standard, pits, seeds };
        let directory = tempfile::tempdir().unwrap();
        let sparse = Sparse::new(directory.path(), key);
        let (frame, positions) = (sparse.frame, sparse.frame.positions());
        assert!(positions > 1 << bits && sparse.entry.patch_bytes > 1 << 31, "{positions} positions");
        let round = [0, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, positions / 2, positions - 1];
        let mut scores: Vec<(u64, u8)> = round.into_iter().filter(|&index| index < positions).zip(1..).collect();
        for &(index, score) in &scores {
            sparse.set(index, score);
        }
        scores.push((positions - 1000, 21));
        sparse.set_exception(positions - 1000, 21);
        for &(index, _) in &scores {
            let (at, _) = sparse.group(index);
            sparse.seal(at, 64);
        }

        let rows = RowIndex::new(pits, seeds).unwrap();
        // SAFETY: the file is finished, so no process writes to it. It is too large to be read into memory.
        unsafe { kalah::table::map_files() };
        let table = Table::open(key.path(directory.path())).unwrap();
        let read_at = Table::find(Directory::from(directory.path()).reading_files(), key).unwrap().unwrap();
        let mut literals = String::new();
        for &(index, score) in &scores {
            let (mover, other) = frame.ranks(index);
            assert_eq!(frame.index(mover, other), index);
            let mut run = vec![0; 2 * RUN_MARGIN + 1];
            let unpacked = table.frame_unchecked(frame.mover);
            unpacked.unpack_run(Isa::detect(), mover, other, 1, &mut run, RUN_MARGIN).unwrap();
            let read = [&table, &read_at].map(|table| table.score(frame.mover, mover, other).unwrap());
            assert_eq!((read, run[RUN_MARGIN]), ([score; 2], score), "{key}, index {index}");
            let text = |row: &[u8]| row.iter().map(|held| format!(",{held}")).collect::<String>();
            let (mover, other) = (rows.unrank(frame.mover, mover), rows.unrank(frame.other, other));
            literals += &format!("<{pits},0,0{}{}>\n", text(&mover[..pits]), text(&other[..pits]));
        }
        let right: Vec<String> = scores.iter().map(|(_, score)| score.to_string()).collect();
        if has_python(optional::PYTHON) {
            let mut command = std::process::Command::new("python3");
            command.arg(READER).arg(directory.path()).arg(key.rules.name());
            let output = command.run_with(&literals);
            let printed = output.stdout();
            let read: Vec<&str> = printed.lines().filter_map(|line| line.split(' ').nth(1)).collect();
            assert_eq!(read, right, "{}", output.stderr());
        }
    }
}

#[test]
fn every_number_of_a_file_agrees_with_128_bits() {
    for pits in 1..=8 {
        for seeds in 2..=48 {
            let key = TableKey { rules: Rules::EmptyCapture, pits, seeds };
            let mut offset = u128::from(key.prefix_bytes());
            let mut positions = 0u128;
            for frame in key.frames() {
                let (movers, others) = (row_count(pits, frame.mover), row_count(pits, frame.other));
                let all = movers as u128 * others as u128;
                assert_eq!(u128::from(frame.positions()), all);
                assert_eq!(u128::from(frame.index(movers as u32 - 1, others as u32 - 1)), all - 1);
                assert_eq!(frame.ranks((all - 1) as u64), (movers as u32 - 1, others as u32 - 1));
                positions += all;
                let entry = empty_entry(frame, offset);
                assert_eq!(entry.rows, movers as u64);
                offset = end(&entry, offset);
                assert_eq!(u128::from(entry.section().end()), offset);
            }
            assert_eq!(u128::from(layer_positions(pits, seeds)), positions);
            // Numbers in JavaScript are exact to 53 bits; offsets in files have 63.
            assert!(offset < 1 << 53, "{key}: {offset} bytes");
        }
    }
}

#[test]
fn plans_of_41_seeds_agree_with_128_bits() {
    let last = TableKey { rules: Rules::EmptyCapture, pits: 6, seeds: 41 };
    let plan = BuildPlan::new(Path::new("nothing is here"), last, &Backend::Cpu(Isa::detect()), 2);
    assert_eq!(plan.missing.len(), 40);
    let size = |mover: usize, other: usize| row_count(6, mover) as u128 * row_count(6, other) as u128;
    // A table takes 4.2 bits a position, and a header.
    let bytes = |positions: u128| positions * 42 / 80;
    let (mut all, mut below) = (0, 0);
    for layer in &plan.missing {
        let seeds = layer.key.seeds;
        let sizes = || (1..seeds).map(|mover| size(mover, seeds - mover));
        let positions: u128 = sizes().sum();
        assert_eq!(u128::from(layer.positions), positions);
        assert!(u128::from(layer.disk).abs_diff(bytes(positions) + 4096) <= 1, "{seeds}");
        assert!(u128::from(layer.read).abs_diff(bytes(below)) <= 41, "{seeds}");
        assert!(u128::from(layer.memory) > 3 * sizes().max().unwrap(), "{seeds}");
        (all, below) = (all + positions, below + positions);
    }
    assert_eq!(u128::from(plan.positions), all);
    assert!(u128::from(plan.disk).abs_diff(bytes(all) + 40 * 4096) <= 1);
    assert_eq!(Some(plan.memory), plan.missing.iter().map(|layer| layer.memory).max());
    for mover in 1..41 {
        let frame = Frame { pits: 6, mover, other: 41 - mover };
        let needs = kalah::build::lower_frames(last.rules, frame);
        let read: u128 = needs.iter().map(|frame| size(frame.mover, frame.other)).sum();
        assert_eq!(u128::from(needs.iter().map(|frame| frame.positions()).sum::<u64>()), read, "{frame:?}");
    }
    // Memory to pack the layer of 41 seeds: one byte for each position of its largest frame, half a byte for the
    // table's frame that it is compared with, and a little more.
    let largest = row_count(6, 20) as u64 * row_count(6, 21) as u64;
    assert!(largest > 1 << 31);
    let packing = archive::compress_memory(last, 2);
    assert!(packing > largest / 2 * 3 && packing < largest / 2 * 3 + (256 << 20), "{packing}");
}
