//! Bound tables: their bounds of every position are true, and as narrow as the format guarantees.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use kalah::cancel::Cancel;
use kalah::evaluation::Network;
use kalah::game::{Bounds, Rules};
use kalah::index::LayerIndex;
use kalah::progress::Pulse;
use kalah::table::bound_format::{BoundEntry, prefix};
use kalah::table::format::BLOCK_BYTES;
use kalah::table::{BoundMaker, BoundTable, BoundTables, Cuts, Damage, Table, TableError, TableKey, Tables};
use kalah::verify::{BoundSet, Fault, Sample, check_bounds_against, check_checksums};
use kalah_tests::random::random_network;
use kalah_tests::tables::opened;

fn maker<'a>(network: &'a Network, cuts: &[i16]) -> BoundMaker<'a> {
    BoundMaker::new(network, Cuts::new(cuts).unwrap())
}

/// Makes the bound table of an exact one.
fn make(maker: &BoundMaker, exact: &Table) -> BoundTable {
    let directory = tempfile::tempdir().unwrap();
    BoundTable::open(maker.write(exact, directory.path(), &Pulse::default()).unwrap()).unwrap()
}

/// Compares every position of a bound table with the exact one. The code must be the one that the cuts define, and the
/// bounds must be the lowest and highest score with this code.
fn compare(exact: &Tables, bounds: &BoundTables, seeds: usize) {
    let table = bounds.layer(seeds).unwrap();
    let index = LayerIndex::new(exact.rows(), seeds);
    let mut counts = [0; 4];
    for rank in 0..index.positions() {
        let (mover, other) = index.unrank(rank);
        let (score, mover_seeds) =
            (u32::from(exact.score_rows(&mover, &other).unwrap()), mover.iter().sum::<u8>().into());
        let frame = table.frame_unchecked(mover_seeds);
        let (mover_rank, other_rank) = (exact.rows().rank(&mover), exact.rows().rank(&other));
        let code = frame.code(mover_rank, other_rank);
        let evaluation = table.network().evaluate(&mover, &other, seeds as u32);
        assert_eq!(code, frame.cuts().code(evaluation, score), "{mover:?} {other:?}");
        assert_eq!(table.code(mover_seeds, mover_rank, other_rank).unwrap(), code);
        let found = frame.bounds(code, evaluation);
        assert_eq!(bounds.bounds(&mover, &other).unwrap(), Some(found));
        let Bounds { lower, upper } = found;
        assert!((lower..=upper).contains(&score) && upper <= seeds as u32, "{mover:?} {other:?}");
        counts[usize::from(code)] += 1;
    }
    assert_eq!(table.header().counts(), counts);
    assert_eq!(table.header().source, exact.layer(seeds).unwrap().header().digest);
}

#[test]
fn every_interval_holds_the_exact_score() {
    for (pits, seeds) in [(1, 20), (2, 14), (4, 10), (6, 7), (7, 6), (8, 6)] {
        for rules in Rules::ALL {
            let exact = opened(rules, pits, seeds);
            let network = random_network(rules, pits, seeds as u64);
            for cuts in [&[0][..], &[-32, 0, 32], &[-100, -100, 7]] {
                let maker = maker(&network, cuts);
                let made = exact.layers().iter().map(|exact| {
                    let table = make(&maker, exact);
                    assert_eq!(table.blocks().bytes().len() as u64, maker.file_bytes(exact.key()));
                    assert!(!table.blocks().is_checked());
                    table.blocks().check().unwrap();
                    assert!(table.blocks().is_checked());
                    Arc::new(table)
                });
                let bounds = BoundTables::new(exact.directory(), made.collect()).unwrap();
                assert_eq!((bounds.seeds(), bounds.network()), (2..=seeds, &network));
                assert!(bounds.layer(1).is_none() && bounds.layer(seeds + 1).is_none());
                (2..=seeds).for_each(|seeds| compare(&exact, &bounds, seeds));
            }
        }
    }
}

#[test]
fn the_bytes_do_not_depend_on_threads_and_a_stopped_maker_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let exact = opened(Rules::Standard, 6, 11);
    let exact = exact.layer(11).unwrap();
    let network = random_network(Rules::Standard, 6, 3);
    let maker = maker(&network, &[-16, 0, 40]);
    let pulse = Pulse::default();
    pulse.cancel.cancel();
    let stopped = maker.write(exact, directory.path(), &pulse);
    assert!(matches!(stopped, Err(TableError::Stopped(_))), "{stopped:?}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    let bytes = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| make(&maker, exact).blocks().bytes().to_vec())
    });
    assert!(bytes[0] == bytes[1]);
    // The file and the copies in memory have the same bytes.
    let path = maker.write(exact, directory.path(), &Pulse::default()).unwrap();
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    assert!(std::fs::read(&path).unwrap() == bytes[0]);
    let table = BoundTable::open(&path).unwrap();
    for (section, mover) in table.blocks().sections().iter().zip(1..) {
        let copy = table.blocks().copied_section(mover, &Cancel::new()).unwrap();
        assert!(*copy == bytes[0][section.offset as usize..][..section.data as usize]);
    }
    assert!(table.blocks().is_checked());
}

#[test]
fn tables_are_opened_around_the_exact_layers() {
    let directory = tempfile::tempdir().unwrap();
    let exact = opened(Rules::EmptyCapture, 2, 10);
    let networks = [0, 1].map(|seed| random_network(Rules::EmptyCapture, 2, seed));
    let open = |exact, most| {
        let opened = BoundTables::open_around(directory.path(), Rules::EmptyCapture, 2, exact, most);
        opened.map(|bounds| bounds.map(|bounds| bounds.seeds()))
    };
    assert_eq!(open(0, 48).unwrap(), None);
    for (seeds, network) in [(3, 1), (4, 0), (5, 0), (6, 0), (7, 0), (8, 1), (10, 0)] {
        let maker = maker(&networks[network], &[0]);
        maker.write(exact.layer(seeds).unwrap(), directory.path(), &Pulse::default()).unwrap();
    }
    // Upward to the first layer that is missing or has another network; downward to the first with another network.
    for (exact, most, seeds) in [
        (5, 48, Some(4..=7)),
        (5, 6, Some(4..=6)),
        (3, 48, Some(4..=7)),
        (2, 48, Some(3..=3)),
        (7, 48, Some(8..=8)),
        (9, 48, Some(10..=10)),
        (9, 9, None),
        (6, 6, Some(4..=6)),
        (0, 48, None),
    ] {
        assert_eq!(open(exact, most).unwrap(), seeds, "{exact} {most}");
    }
    // There are no bounds of other layers.
    let third = BoundTables::open_around(directory.path(), Rules::EmptyCapture, 2, 2, 48).unwrap().unwrap();
    let (mover, other) = LayerIndex::new(exact.rows(), 4).unrank(0);
    assert_eq!(third.bounds(&mover, &other).unwrap(), None);
    // Damage matters only above the exact layers.
    let path = |seeds| exact.key(seeds).bounds_path(directory.path());
    std::fs::write(path(5), "damaged").unwrap();
    assert_eq!(open(5, 48).unwrap(), Some(6..=7));
    assert_eq!(open(7, 7).unwrap(), Some(6..=7));
    assert!(matches!(open(4, 48), Err(TableError::Damaged { .. })));
    // A file with the name of another layer.
    std::fs::copy(path(6), path(7)).unwrap();
    let found = BoundTable::find(directory.path(), exact.key(7));
    assert!(matches!(found, Err(TableError::Damaged { damage: Damage::Other { .. }, .. })));
}

const KEY: TableKey = TableKey { rules: Rules::Standard, pits: 2, seeds: 8 };

/// A small bound table.
fn small(cuts: &[i16]) -> BoundTable {
    let network = random_network(KEY.rules, KEY.pits, 9);
    make(&maker(&network, cuts), opened(KEY.rules, KEY.pits, KEY.seeds).layer(KEY.seeds).unwrap())
}

/// Bytes of a small bound table.
static SMALL: LazyLock<Vec<u8>> = LazyLock::new(|| small(&[-20, 0, 20]).blocks().bytes().to_vec());

fn open(bytes: Vec<u8>) -> Result<BoundTable, TableError> {
    BoundTable::from_bytes(Path::new("damaged"), bytes)
}

#[test]
fn every_flipped_bit_is_found() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut opened = 0;
    for at in 0..SMALL.len() {
        let mut bytes = SMALL.clone();
        bytes[at] ^= 1 << random.u8(..8);
        if let Ok(table) = open(bytes) {
            opened += 1;
            assert!(matches!(check_checksums(table.blocks()), Err(Fault::Table(_))), "byte {at}");
        }
    }
    // Opening checks the directory and all bytes in front of it.
    assert!(opened > 0 && opened < SMALL.len() / 2, "{opened} of {}", SMALL.len());
    for length in (0..SMALL.len()).step_by(7) {
        assert!(open(SMALL[..length].to_vec()).is_err_and(|error| error.is_damage()), "{length} bytes");
    }
    assert!(open([&SMALL[..], &[0]].concat()).is_err());
}

/// Writes the digest, as docs/format.md defines it, and the checksums of what is before the `first` frame.
fn seal(bytes: &mut [u8], first: usize) {
    let fields = [&bytes[..16], &bytes[64..96], &bytes[128..first]].concat();
    bytes[32..64].copy_from_slice(blake3::hash(&fields).as_bytes());
    let checksum = xxhash_rust::xxh3::xxh3_64(&bytes[128..first]);
    bytes[112..120].copy_from_slice(&checksum.to_le_bytes());
    bytes[120..128].fill(0);
    let checksum = xxhash_rust::xxh3::xxh3_64(&bytes[..128]);
    bytes[120..128].copy_from_slice(&checksum.to_le_bytes());
}

/// A header and a directory with any contents, with right checksums and digests: the result is an error or a readable
/// table, never a panic.
#[test]
fn any_header_is_refused_or_can_be_read() {
    let mut random = fastrand::Rng::with_seed(6);
    let first = open(SMALL.clone()).unwrap().blocks().sections()[0].offset as usize;
    let (mut opened, tries) = (0, 20_000);
    for _ in 0..tries {
        let mut bytes = SMALL.clone();
        for _ in 0..random.usize(1..3) {
            let at = if random.bool() { random.usize(12..120) } else { random.usize(128..128 + 72 * (KEY.seeds - 1)) };
            let value = [random.u64(..), random.u64(..256), u64::MAX >> random.u32(..64)][random.usize(..3)];
            let most = random.usize(1..=8).min(first - at);
            bytes[at..at + most].copy_from_slice(&value.to_le_bytes()[..most]);
        }
        seal(&mut bytes, first);
        let Ok(table) = open(bytes) else { continue };
        opened += 1;
        let _ = check_checksums(table.blocks());
        for mover in 1..KEY.seeds {
            let frame = table.frame_unchecked(mover);
            for index in 0..frame.frame().positions() {
                let (mover_rank, other_rank) = frame.frame().ranks(index);
                let Bounds { lower, upper } = frame.bounds(frame.code(mover_rank, other_rank), random.i32(..));
                assert!(lower.max(upper) <= KEY.seeds as u32);
            }
        }
    }
    // Other cuts, other counts, another digest of the exact table.
    assert!(opened > tries / 100 && opened < tries, "{opened}");
}

/// A cut or a count that the codes do not need is 0, and the frames follow each other: a table has one encoding.
#[test]
fn entries_have_one_encoding() {
    let one_bit = small(&[0]);
    // Bytes of an entry: offset, four cuts of two bytes, three counts.
    let unused = [(SMALL.as_slice(), vec![14]), (one_bit.blocks().bytes(), vec![10, 12, 14, 24, 32])];
    for (sound, unused) in unused {
        let first = open(sound.to_vec()).unwrap().blocks().sections()[0].offset as usize;
        for mover in 1..KEY.seeds {
            for &at in unused.iter().chain(&[0]) {
                let mut bytes = sound.to_vec();
                let byte = &mut bytes[128 + 72 * (mover - 1) + at];
                *byte = byte.wrapping_add(1);
                seal(&mut bytes, first);
                let opened = open(bytes);
                let Err(TableError::Damaged { damage, .. }) = opened else { panic!("byte {at} of entry {mover}") };
                assert!(matches!(damage, Damage::Part { part: "directory", .. }), "{at}, {mover}: {damage:?}");
            }
        }
    }
}

#[test]
fn a_frame_in_the_place_of_its_mirror_image_is_found() {
    let exact = opened(Rules::EmptyCapture, 6, 13);
    let network = random_network(Rules::EmptyCapture, 6, 9);
    let table = make(&maker(&network, &[-20, 0, 20]), exact.layer(13).unwrap());
    let [one, two] = [6, 7].map(|mover| table.blocks().sections()[mover - 1]);
    assert!(one.blocks() > 1 && one.data == two.data);
    let mut bytes = table.blocks().bytes().to_vec();
    bytes.copy_within(one.offset as usize..one.end() as usize, two.offset as usize);
    let table = open(bytes).unwrap();
    table.blocks().check_block(6, 0).unwrap();
    let damage = Damage::Part { part: "block of scores", offset: two.offset };
    assert!(matches!(table.blocks().check_block(7, 0), Err(TableError::Damaged { damage: own, .. }) if own == damage));
    assert!(table.code(6, 0, 0).is_ok() && table.code(7, 0, 0).is_err());
}

/// Returns the bound table with the code of one position changed, and valid checksums and digests.
fn with_code(table: &BoundTable, mover: usize, ranks: (u32, u32), code: u8) -> BoundTable {
    let mut bytes = table.blocks().bytes().to_vec();
    let (frame, at) = (table.frame_unchecked(mover), table.code_at(mover, ranks.0, ranks.1) as usize);
    let shift = 2 * frame.frame().index(ranks.0, ranks.1) % 8;
    let old = frame.code(ranks.0, ranks.1);
    bytes[at] ^= (old ^ code) << shift;
    let section = table.blocks().sections()[mover - 1];
    let frame = &mut bytes[section.offset as usize..section.end() as usize];
    let (data, checksums) = frame.split_at_mut(section.data as usize);
    for (block, checksum) in data.chunks(BLOCK_BYTES).zip(checksums.as_chunks_mut::<8>().0) {
        *checksum = (xxhash_rust::xxh3::xxh3_64(block) ^ mover as u64).to_le_bytes();
    }
    let mut entries: Vec<BoundEntry> = table.header().entries.clone();
    entries[mover - 1].digest = *blake3::hash(frame).as_bytes();
    entries[mover - 1].counts[usize::from(old)] -= 1;
    entries[mover - 1].counts[usize::from(code)] += 1;
    let first = prefix(table.key(), table.header().source, table.network(), &entries);
    bytes[..first.len()].copy_from_slice(&first);
    open(bytes).unwrap()
}

#[test]
fn wrong_counts_in_the_directory_are_found() {
    let exact = opened(KEY.rules, KEY.pits, KEY.seeds);
    let exact = exact.layer(KEY.seeds).unwrap();
    let table = open(SMALL.clone()).unwrap();
    check_bounds_against(exact, &table, &Pulse::default()).unwrap();
    let mut entries = table.header().entries.clone();
    let more = entries[4].counts.iter().position(|&count| count > 0).unwrap();
    entries[4].counts[more] -= 1;
    entries[4].counts[(more + 1) % 4] += 1;
    let first = prefix(KEY, table.header().source, table.network(), &entries);
    let wrong = open([&first, &SMALL[first.len()..]].concat()).unwrap();
    check_checksums(wrong.blocks()).unwrap();
    // The fifth entry, as docs/format.md and docs/bounds.md place it.
    let found = check_bounds_against(exact, &wrong, &Pulse::default());
    let Err(Fault::Table(TableError::Damaged { damage, .. })) = found else { panic!("{found:?}") };
    assert_eq!(damage, Damage::Part { part: "directory", offset: 128 + 72 * 4 });
}

#[test]
fn wrong_bounds_are_found_against_exact_tables_and_against_children() {
    for rules in Rules::ALL {
        let exact = opened(rules, 3, 9);
        let mut random = fastrand::Rng::with_seed(21);
        let network = random_network(rules, 3, 21);
        let maker = maker(&network, &[-24, 0, 24]);
        let make = |seeds| Arc::new(make(&maker, exact.layer(seeds).unwrap()));
        let mut bounds: Vec<_> = (5..=9).map(make).collect();
        // Exact layers to 4 and to 6, with bound tables above.
        let [below, six] = [4, 6].map(|most| {
            let mut some = Tables::empty(exact.directory(), rules, 3, 9).unwrap();
            exact.layers()[..most - 1].iter().for_each(|table| some.push(Arc::clone(table)).unwrap());
            some
        });
        let all = |seeds| Sample::new(exact.key(seeds), u64::MAX, 0);
        for table in &bounds {
            let seeds = table.key().seeds;
            let positions = table.header().positions;
            assert_eq!(check_bounds_against(exact.layer(seeds).unwrap(), table, &Pulse::default()).unwrap(), positions);
            let set = BoundSet::new(&below, &bounds);
            assert!(set.reaches(9));
            assert_eq!(set.check(&all(seeds), &Pulse::default()).unwrap(), positions);
        }
        let index = LayerIndex::new(exact.rows(), 7);
        let (mut found, mut by_scores, tries) = (0, 0, 40);
        for _ in 0..tries {
            let (mover, other) = index.unrank(random.u64(..index.positions()));
            let seeds = usize::from(mover.iter().sum::<u8>());
            let ranks = (exact.rows().rank(&mover), exact.rows().rank(&other));
            let right = make(7);
            let code = (right.frame_unchecked(seeds).code(ranks.0, ranks.1) + 1) % 4;
            let wrong = Arc::new(with_code(&right, seeds, ranks, code));
            check_checksums(wrong.blocks()).unwrap();
            let offset = wrong.code_at(seeds, ranks.0, ranks.1);
            match check_bounds_against(exact.layer(7).unwrap(), &wrong, &Pulse::default()) {
                Err(Fault::Bounds { key, offset: at, .. }) => assert_eq!((key.seeds, at), (7, offset)),
                other => panic!("{other:?}"),
            }
            bounds[2] = wrong;
            // Children have only bounds, so they do not contradict every wrong code.
            match BoundSet::new(&below, &bounds).check(&all(7), &Pulse::default()) {
                Err(Fault::Bounds { key, .. }) => found += usize::from(key.seeds == 7),
                Err(other) => panic!("{other}"),
                Ok(_) => {}
            }
            by_scores += usize::from(BoundSet::new(&six, &bounds).check(&all(7), &Pulse::default()).is_err());
        }
        assert!(found > tries / 4, "{rules}: {found} of {tries}");
        // Exact scores below find at least as many: most wrong codes exclude the exact score.
        assert!(by_scores > found && by_scores > tries * 3 / 4, "{rules}: {by_scores}, {found} of {tries}");
    }
}

#[test]
fn the_bounds_of_a_code_are_the_scores_that_have_it() {
    let few = [-70, -33, -16, -1, 0, 1, 15, 16, 40];
    let mut all: Vec<Cuts> = few.iter().filter_map(|&cut| Cuts::new(&[cut])).collect();
    for (at, &one) in few.iter().enumerate() {
        for &two in &few[at..] {
            all.extend(few.iter().filter_map(|&three| Cuts::new(&[one, two, three])));
        }
    }
    assert!(all.len() > 100);
    let extreme = [i32::MIN, i32::MIN + 7, i32::MAX - 7, i32::MAX];
    for cuts in all {
        for evaluation in (-40..280).chain(extreme) {
            for seeds in [2, 13] {
                for score in 0..=seeds {
                    let code = cuts.code(evaluation, score);
                    let is_reached = |&&cut: &&i16| 16 * i64::from(score) >= i64::from(evaluation) + i64::from(cut);
                    assert_eq!(usize::from(code), cuts.sixteenths().iter().filter(is_reached).count(), "{cuts:?}");
                    let Bounds { lower, upper } = cuts.bounds(code, evaluation, seeds);
                    let same = (0..=seeds).filter(|&other| cuts.code(evaluation, other) == code);
                    assert_eq!(same.collect::<Vec<_>>(), (lower..=upper).collect::<Vec<_>>(), "{cuts:?}");
                }
            }
        }
    }
}

#[test]
fn cuts_are_one_or_three_and_ascend() {
    assert_eq!((Cuts::new(&[0]), Cuts::new(&[-64, 0, 64])), (Some(Cuts::ONE_BIT), Some(Cuts::TWO_BITS)));
    assert_eq!([0, 1, 2, 3].map(Cuts::with_bits), [None, Some(Cuts::ONE_BIT), Some(Cuts::TWO_BITS), None]);
    assert!(Cuts::new(&[-5, -5, 5]).is_some_and(|cuts| cuts.bits() == 2));
    assert!([&[][..], &[1, 2], &[2, 1, 3], &[1, 2, 3, 4]].iter().all(|cuts| Cuts::new(cuts).is_none()));
}
