//! A certificate has one encoding. Both readers refuse every other encoding of the same contents, even with right
//! checksums.

use kalah::certificate::{Certificate, CertificateError, ClaimSet};
use kalah::game::Rules;
use xxhash_rust::xxh3::xxh3_64;
use zstd::bulk::{Compressor, compress, decompress};
use zstd::zstd_safe::CParameter;

use crate::certificate::bytes_of;
use crate::certificates::{Scores, certificate, read, read_in_python};
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

/// Numbers of a block before compression, in their encoding.
#[derive(Clone)]
struct Raw {
    /// Encoded number of groups.
    count: Vec<u8>,
    /// For each group: the seeds in play, the encoded number of claims, and that number.
    groups: Vec<(u8, Vec<u8>, usize)>,
    /// Encoded ranks.
    ranks: Vec<Vec<u8>>,
    lower: Vec<u8>,
    slack: Vec<u8>,
    rest: Vec<u8>,
}

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
        let checksum = xxh3_64(&prefix);
        prefix.extend(checksum.to_le_bytes());
        let mut bytes = self.header.clone();
        let claims: u64 = self.blocks.iter().map(|block| u64::from(block.numbers[0])).sum();
        bytes[16..24].copy_from_slice(&claims.to_le_bytes());
        bytes[24..28].copy_from_slice(&(self.blocks.len() as u32).to_le_bytes());
        bytes[32..40].copy_from_slice(&(prefix.len() as u64).to_le_bytes());
        let length = 128 + prefix.len() + blocks.len() + self.rest.len() + 32;
        bytes[40..48].copy_from_slice(&(length as u64).to_le_bytes());
        bytes[120..].fill(0);
        let checksum = xxh3_64(&bytes);
        bytes[120..].copy_from_slice(&checksum.to_le_bytes());
        for part in [prefix, blocks, self.rest.clone()] {
            bytes.extend(part);
        }
        let digest = *blake3::hash(&bytes).as_bytes();
        bytes.extend(digest);
        bytes
    }

    /// Bytes of the only block before compression.
    fn raw(&self) -> Vec<u8> {
        let [Block { numbers, packed }] = &self.blocks[..] else { panic!("several blocks") };
        decompress(packed, numbers[1] as usize).expect("a zstd frame")
    }

    /// Returns the parts with these bytes in the only block.
    fn with_raw(&self, raw: &[u8], claims: usize) -> Parts {
        let packed = compress(raw, 19).expect("compression in memory");
        Parts { blocks: vec![Block { numbers: [claims as u32, raw.len() as u32, 0], packed }], ..self.clone() }
    }

    fn with_packed(&self, packed: Vec<u8>) -> Parts {
        let numbers = self.blocks[0].numbers;
        Parts { blocks: vec![Block { numbers, packed }], ..self.clone() }
    }
}

/// A number in LEB128, in its valid encoding.
fn leb(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// The number of an encoding.
fn number(leb: &[u8]) -> usize {
    leb.iter().rev().fold(0, |number, byte| number << 7 | usize::from(byte & 0x7f))
}

/// Gives a number a byte more.
fn lengthen(bytes: &mut Vec<u8>) {
    *bytes.last_mut().expect("a byte") |= 0x80;
    bytes.push(0);
}

impl Raw {
    fn of(raw: &[u8], claims: usize) -> Raw {
        let mut at = 0;
        let encoded = |at: &mut usize| {
            let length = raw[*at..].iter().position(|byte| byte & 0x80 == 0).expect("its end") + 1;
            *at += length;
            raw[*at - length..*at].to_vec()
        };
        let count = encoded(&mut at);
        let group = |_| {
            at += 1;
            let (seeds, size) = (raw[at - 1], encoded(&mut at));
            (seeds, size.clone(), number(&size))
        };
        let groups = (0..number(&count)).map(group).collect();
        let ranks = (0..claims).map(|_| encoded(&mut at)).collect();
        let (lower, slack) = raw[at..].split_at(claims);
        Raw { count, groups, ranks, lower: lower.to_vec(), slack: slack.to_vec(), rest: Vec::new() }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.count.clone();
        for (seeds, size, _) in &self.groups {
            bytes.push(*seeds);
            bytes.extend(size);
        }
        for part in self.ranks.iter().chain([&self.lower, &self.slack, &self.rest]) {
            bytes.extend(part);
        }
        bytes
    }
}

/// The certificate to change, in parts.
fn sound() -> Parts {
    let certificate = certificate(&mut Scores::of(Rules::Standard), "3x3", None, 0);
    let bytes = bytes_of(&certificate);
    let parts = Parts::of(&bytes);
    let claims = certificate.claims.len();
    assert_eq!(parts.bytes(), bytes);
    assert_eq!(Raw::of(&parts.raw(), claims).bytes(), parts.raw());
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

/// Changes of the bytes of a block before compression.
fn other_blocks(sound: &Parts) -> Vec<(&'static str, Parts)> {
    let claims = sound.blocks[0].numbers[0] as usize;
    let raw = Raw::of(&sound.raw(), claims);
    let with = |change: &dyn Fn(&mut Raw)| {
        let mut changed = raw.clone();
        change(&mut changed);
        sound.with_raw(&changed.bytes(), changed.lower.len())
    };
    let larger = |raw: &Raw| raw.groups.iter().position(|group| group.2 > 1).expect("a group of several claims");
    vec![
        ("an overlong number of groups", with(&|raw| lengthen(&mut raw.count))),
        ("an overlong number of claims", with(&|raw| lengthen(&mut raw.groups[0].1))),
        ("an overlong first rank", with(&|raw| lengthen(&mut raw.ranks[0]))),
        ("an overlong last rank", with(&|raw| lengthen(&mut raw.ranks[claims - 1]))),
        ("a rank that is longer still", with(&|raw| (0..2).for_each(|_| lengthen(&mut raw.ranks[0])))),
        (
            "an empty group",
            with(&|raw| {
                let seeds = raw.groups.last().expect("a group").0 + 1;
                raw.groups.push((seeds, vec![0], 0));
                raw.count = leb(raw.groups.len());
            }),
        ),
        (
            "two groups with as many seeds",
            with(&|raw| {
                let at = larger(raw);
                let (seeds, _, size) = raw.groups[at];
                let before: usize = raw.groups[..at].iter().map(|group| group.2).sum();
                raw.ranks[before + 1] = leb(number(&raw.ranks[before]) + number(&raw.ranks[before + 1]));
                raw.groups[at] = (seeds, leb(1), 1);
                raw.groups.insert(at + 1, (seeds, leb(size - 1), size - 1));
                raw.count = leb(raw.groups.len());
            }),
        ),
        ("a claim that says nothing", with(&|raw| (raw.lower[0], raw.slack[0]) = (0, 0))),
        ("a byte after a block", with(&|raw| raw.rest.push(0))),
        (
            "a claim twice",
            with(&|raw| {
                let at: usize = raw.groups[..larger(raw)].iter().map(|group| group.2).sum();
                raw.ranks[at + 1] = vec![0];
            }),
        ),
        ("a rank beyond the last", with(&|raw| raw.ranks[claims - 1] = leb(1 << 40))),
        ("a number of more than 126 bits", with(&|raw| raw.ranks[claims - 1] = [&[0x80; 18][..], &[1]].concat())),
    ]
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
    // The claims with the most seeds, which are the last group, move to a block of their own.
    let Certificate { head, claims } = read(&sound.bytes()).expect("it was just written");
    let most = claims.iter().map(|claim| claim.position.seeds()).max();
    let split = [false, true].map(|is_last| {
        let mut part = ClaimSet::new(3);
        for claim in claims.iter().filter(|claim| (Some(claim.position.seeds()) == most) == is_last) {
            part.add(&claim.position, claim.bounds).expect("a claim of this board");
        }
        Parts::of(&bytes_of(&Certificate { head: head.clone(), claims: part })).blocks.remove(0)
    });
    let others = [
        ("the reserved bytes of a block", with(&|parts| parts.blocks[0].numbers[2] = 1)),
        ("two small blocks", with(&|parts| parts.blocks = split.to_vec())),
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
    let mut others: Vec<_> = other_frames(sound).into_iter().chain(other_blocks(sound)).map(named).collect();
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
