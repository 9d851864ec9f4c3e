//! A certificate has one encoding. Both readers refuse every other encoding of the same contents, even with right
//! checksums.

use kalah::certificate::{CertificateError, ClaimKeys, ClaimSet};
use kalah::game::{Bounds, Rules};
use kalah::prove::Wanted;
use xxhash_rust::xxh3::xxh3_64;
use zstd::bulk::{Compressor, compress, decompress};
use zstd::zstd_safe::CParameter;

use crate::certificate::{bytes_of, seal};
use crate::certificates::{read, read_in_python};
use crate::prove::Board;
use kalah_tests::optional::{self, has_python};
use kalah_tests::program::Ran;

/// Parts of a certificate, to be changed and joined again with right checksums, lengths and digest.
#[derive(Clone)]
struct Parts {
    header: Vec<u8>,
    /// Statement and digests of the tables.
    statement: Vec<u8>,
    blocks: Vec<Block>,
    /// Bytes between the blocks and the digest, where a valid file has none.
    rest: Vec<u8>,
}

#[derive(Clone)]
struct Block {
    /// Numbers of a block: claims, bytes before compression, reserved.
    numbers: [u32; 3],
    packed: Vec<u8>,
}

/// A small block before compression: one claim with 3 seeds and two with 4. First come the number of groups, and the
/// seeds and claims of each. Ranks follow, each less the one before in its group. At the end are the lower bounds, and
/// the seeds less the upper bounds.
const RAW: [u8; 14] = [2, 3, 1, 4, 2, 10, 5, 40, 1, 2, 0, 1, 1, 1];

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"))
}

impl Parts {
    fn of(bytes: &[u8]) -> Parts {
        let (blocks, prefix) = (word(bytes, 24) as usize, word(bytes, 32) as usize);
        let directory = 128 + prefix - 8 - 24 * blocks;
        let mut at = 128 + prefix;
        let block = |number: usize| {
            let entry = &bytes[directory + 24 * number..];
            let packed = bytes[at..at + word(entry, 8) as usize].to_vec();
            at += packed.len();
            Block { numbers: [word(entry, 0), word(entry, 4), word(entry, 12)], packed }
        };
        let blocks = (0..blocks).map(block).collect();
        assert_eq!(at + 32, bytes.len());
        Parts { header: bytes[..128].to_vec(), statement: bytes[128..directory].to_vec(), blocks, rest: Vec::new() }
    }

    fn bytes(&self) -> Vec<u8> {
        let (mut prefix, mut blocks) = (self.statement.clone(), Vec::new());
        for Block { numbers: [claims, raw, reserved], packed } in &self.blocks {
            let entry: Vec<u8> =
                [*claims, *raw, packed.len() as u32, *reserved].into_iter().flat_map(u32::to_le_bytes).collect();
            let checksum = xxh3_64(&[&entry[..], packed].concat());
            prefix.extend(entry);
            prefix.extend(checksum.to_le_bytes());
            blocks.extend(packed);
        }
        // Room for its checksum, and for the digest of the file.
        prefix.extend([0; 8]);
        let mut bytes = [&self.header, &prefix, &blocks, &self.rest, &vec![0; 32]].map(Vec::as_slice).concat();
        let claims: u64 = self.blocks.iter().map(|block| u64::from(block.numbers[0])).sum();
        let length = bytes.len() as u64;
        bytes[16..24].copy_from_slice(&claims.to_le_bytes());
        bytes[24..28].copy_from_slice(&(self.blocks.len() as u32).to_le_bytes());
        bytes[32..40].copy_from_slice(&(prefix.len() as u64).to_le_bytes());
        bytes[40..48].copy_from_slice(&length.to_le_bytes());
        seal(&mut bytes);
        bytes
    }

    /// Bytes of the only block before compression.
    fn raw(&self) -> Vec<u8> {
        let [Block { numbers, packed }] = &self.blocks[..] else { panic!("several blocks") };
        decompress(packed, numbers[1] as usize).expect("a zstd frame")
    }

    /// Returns the parts with other blocks.
    fn with_blocks(&self, blocks: Vec<Block>) -> Parts {
        Parts { blocks, ..self.clone() }
    }

    /// Returns the parts with this frame in the only block, which unpacks to the same bytes.
    fn with_packed(&self, packed: Vec<u8>) -> Parts {
        self.with_blocks(vec![Block { packed, ..self.blocks[0] }])
    }
}

/// A block of these bytes.
fn block(raw: &[u8], claims: u32) -> Block {
    Block { numbers: [claims, raw.len() as u32, 0], packed: compress(raw, 19).expect("compression in memory") }
}

/// A certificate in parts.
fn sound() -> Parts {
    let certificate = Board::new(Rules::Standard, "3x3", 0).without_searches(Wanted::Openings).certificate();
    let bytes = bytes_of(&certificate);
    let parts = Parts::of(&bytes);
    assert_eq!(parts.bytes(), bytes);
    parts
}

/// The same statement with a small block, which need not prove it.
fn small(sound: &Parts) -> Parts {
    let mut certificate = read(&sound.bytes()).expect("it was just written");
    certificate.claims = ClaimSet::new(3);
    for (seeds, rank, lower, upper) in [(3, 10, 1, 2), (4, 5, 2, 3), (4, 45, 0, 3)] {
        let position = ClaimKeys::new(3).position(seeds << 120 | rank).expect("a position");
        certificate.claims.add(&position, Bounds { lower, upper }).expect("a claim of this board");
    }
    let parts = Parts::of(&bytes_of(&certificate));
    assert_eq!(parts.raw(), RAW);
    read(&parts.with_blocks(vec![block(&RAW, 3)]).bytes()).expect("the block is right");
    parts
}

/// Changes of the zstd frame of a block. Each of them unpacks to the same bytes.
fn other_frames(sound: &Parts) -> Vec<(&'static str, Parts)> {
    let raw = sound.raw();
    let packed = &sound.blocks[0].packed;
    let mut frames = Vec::new();
    let (one, two) = raw.split_at(raw.len() / 2);
    let halves = [one, two].map(|half| compress(half, 19).expect("compression in memory"));
    frames.push(("two frames", halves.concat()));
    let skippable = [&0x184d_2a50_u32.to_le_bytes()[..], &3u32.to_le_bytes(), b"abc"].concat();
    frames.push(("a skippable frame before", [&skippable[..], packed].concat()));
    frames.push(("a skippable frame after", [&packed[..], &skippable].concat()));
    frames.push(("an empty frame after", [&packed[..], &compress(&[], 19).expect("nothing")].concat()));
    for (name, parameter) in
        [("a checksum", CParameter::ChecksumFlag(true)), ("no content size", CParameter::ContentSizeFlag(false))]
    {
        let mut compressor = Compressor::new(19).expect("memory");
        compressor.set_parameter(parameter).expect("a parameter of zstd");
        frames.push((name, compressor.compress(&raw).expect("compression in memory")));
    }
    // The header of the frame: magic, descriptor, and the content size less 256 in two bytes.
    assert_eq!(packed[4], 0x60, "{} bytes", raw.len());
    let body = &packed[7..];
    let header = |bytes: &[u8]| [&packed[..4], bytes, body].concat();
    frames.push(("the unused bit", header(&[&[0x70], &packed[5..7]].concat())));
    frames.push(("a longer content size", header(&[&[0xa0], &(raw.len() as u32).to_le_bytes()[..]].concat())));
    frames.push(("the longest content size", header(&[&[0xe0], &(raw.len() as u64).to_le_bytes()[..]].concat())));
    frames.push(("a window", header(&[&[0x40, 0x60], &packed[5..7]].concat())));
    for (name, frame) in &frames {
        let unpacked = zstd::stream::decode_all(&frame[..]).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(unpacked, raw, "{name}");
    }
    frames.into_iter().map(|(name, frame)| (name, sound.with_packed(frame))).collect()
}

/// Changes of the bytes of a small block before compression.
fn other_blocks(small: &Parts) -> Vec<(&'static str, Parts)> {
    let last_rank = 7..8;
    let others = [
        ("an overlong number of groups", 0..1, &[0x82, 0][..]),
        ("an overlong number of claims", 2..3, &[0x81, 0]),
        ("an overlong first rank", 5..6, &[0x8a, 0]),
        ("an overlong last rank", last_rank.clone(), &[0xa8, 0]),
        ("a rank that is longer still", 5..6, &[0x8a, 0x80, 0]),
        ("an empty group", 0..5, &[3, 3, 1, 4, 2, 5, 0]),
        ("two groups with as many seeds", 0..8, &[3, 3, 1, 4, 1, 4, 1, 10, 5, 45]),
        ("a claim that says nothing", 8..12, &[0, 2, 0, 0]),
        ("a byte after a block", 14..14, &[0]),
        ("a claim twice", last_rank.clone(), &[0]),
        ("a rank beyond the last", last_rank.clone(), &[0x80, 0x80, 0x80, 0x80, 0x80, 0x20]),
        ("a number of more than 126 bits", last_rank, &[&[0x80; 18][..], &[1]].concat()),
    ];
    let with = |(name, range, bytes): (_, std::ops::Range<usize>, &[u8])| {
        let raw = [&RAW[..range.start], bytes, &RAW[range.end..]].concat();
        (name, small.with_blocks(vec![block(&raw, 3)]))
    };
    others.into_iter().map(with).collect()
}

/// Changes outside of blocks.
fn other_parts(sound: &Parts) -> Vec<(String, Parts)> {
    let with = |change: &dyn Fn(&mut Parts)| {
        let mut changed = sound.clone();
        change(&mut changed);
        changed
    };
    let reserved = (48..120)
        .map(|at| (format!("reserved byte {at} of the header"), with(&|parts| parts.header[at] = 1 << (at % 8))));
    // The groups of the small block, each in a block of its own.
    let split = vec![block(&[1, 3, 1, 10, 1, 1], 1), block(&[1, 4, 2, 5, 40, 2, 0, 1, 1], 2)];
    let others = [
        ("the reserved bytes of a block", with(&|parts| parts.blocks[0].numbers[2] = 1)),
        ("two small blocks", sound.with_blocks(split)),
        ("a byte after the blocks", with(&|parts| parts.rest.push(0))),
        ("a byte after the statement", with(&|parts| parts.statement.push(0))),
        ("tables to 1 seed", with(&|parts| parts.header[15] = 1)),
        ("an effort of 41", with(&|parts| parts.header[14] = 41)),
        ("rule set 4", with(&|parts| parts.header[12] = 4)),
        ("no pits", with(&|parts| parts.header[13] = 0)),
        // Two stores and six pits precede the bounds of the value. Behind these are the bounds of the first opening,
        // then its moves.
        ("lower above upper", with(&|parts| parts.statement[32..40].copy_from_slice(&[0x7f; 8]))),
        (
            "an opening without moves",
            with(&|parts| {
                let moves = usize::from(parts.statement[64]);
                parts.statement[64] = 0;
                parts.statement.drain(66..66 + moves);
            }),
        ),
        ("the move 0", with(&|parts| parts.statement[66] = 0)),
    ];
    reserved.chain(others.map(|(name, parts)| (name.to_owned(), parts))).collect()
}

fn all_others(sound: &Parts) -> Vec<(String, Parts)> {
    let named = |(name, parts): (&str, Parts)| (name.to_owned(), parts);
    let blocks = other_blocks(&small(sound));
    let mut others: Vec<_> = other_frames(sound).into_iter().chain(blocks).map(named).collect();
    others.extend(other_parts(sound));
    others
}

#[test]
fn no_other_encoding_is_read() {
    let sound = sound();
    let claims = read(&sound.bytes()).expect("it was just written").claims;
    let mut accepted = Vec::new();
    for (name, parts) in all_others(&sound) {
        match read(&parts.bytes()) {
            Err(CertificateError::Damaged { what, .. }) if !what.starts_with("length") => {}
            other => accepted.push(format!("{name}: {:?}", other.err())),
        }
    }
    assert_eq!(accepted, Vec::<String>::new());
    // The compression of a block is free: no two versions of zstd have to give the same bytes.
    let packed = compress(&sound.raw(), 1).expect("compression in memory");
    assert_ne!(packed, sound.blocks[0].packed);
    let other = read(&sound.with_packed(packed).bytes()).expect("the same claims");
    assert!(other.claims.iter().eq(claims.iter()));
}

#[test]
#[ignore = "slow"]
fn the_python_reader_reads_no_other_encoding_either() {
    if !has_python(optional::PYTHON_WITH_ZSTD) {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("a.certificate");
    let read = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("the file is written");
        read_in_python(&path, &["--claims"])
    };
    let sound = sound();
    let expected = read(&sound.bytes()).success();
    let packed = compress(&sound.raw(), 1).expect("compression in memory");
    assert_eq!(read(&sound.with_packed(packed).bytes()), expected);
    // Some of the 72 reserved bytes are enough.
    let is_one_of_many =
        |name: &str| name.starts_with("reserved byte") && !name.contains("48") && !name.contains("119");
    let mut others: Vec<_> = all_others(&sound).into_iter().map(|(name, parts)| (name, parts.bytes())).collect();
    others.retain(|(name, _)| !is_one_of_many(name));
    let mut digest = sound.bytes();
    *digest.last_mut().expect("a byte") ^= 1;
    others.push(("another digest".to_owned(), digest));
    let mut accepted = Vec::new();
    for (name, bytes) in others {
        let output = read(&bytes);
        let errors = output.stderr();
        if output.status.success() || !errors.contains("a.certificate: ") || errors.contains("Traceback") {
            accepted.push(format!("{name}: {errors}"));
        }
    }
    assert_eq!(accepted, Vec::<String>::new());
}
