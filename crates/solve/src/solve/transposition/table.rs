use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};

use kalah_core::game::Bounds;
use kalah_core::memory::{HugePages, prefetch};
use parking_lot::{Mutex, MutexGuard};

use crate::solve::packed::Word;

/// Bytes of a bucket: one cache line.
const BUCKET_BYTES: u64 = 64;

/// Bits of an entry for the logarithm of the effort.
const WORK_BITS: u32 = 6;

const WORK_MASK: u64 = (1 << WORK_BITS) - 1;

/// Bits of a bucket's number at first: 256 KiB of buckets, which the cache of a core holds.
const FIRST_BITS: u32 = 12;

/// A table in use has places for at least this many times the entries that are expected.
pub(super) const ROOM: u64 = 4;

/// Proved bounds of positions, shared by all threads without locks.
///
/// An entry is one word, read and written atomically: the bounds, the effort that proved them, and part of the
/// key.
///
/// Keys are first permuted: multiplied by odd numbers and shifted, each step one-to-one on the bits of keys.
/// The upper bits then select the bucket, and the entry stores all others. So bucket and entry together give
/// the whole key, and an entry is never taken for that of another position. If two threads write at once, at
/// worst a bound is lost.
///
/// Only the first buckets are used until there are many entries, since the system clears each page before its
/// first use, and a small part stays in the cache. The number of a bucket is therefore the reverse of the upper
/// bits: one bit more splits it in two, of which the first stays in place. An entry stores all bits but the upper
/// ones that select among the fewest buckets, so a bucket that was split meanwhile gives the same key.
pub(crate) struct TranspositionTable<W> {
    /// The memory of the entries, whole buckets.
    map: HugePages,
    /// Bits of a bucket's number: now, at least, and at most.
    bits: AtomicU32,
    least_bits: u32,
    most_bits: u32,
    key_bits: u32,
    /// Locked while the number of buckets changes or must not change.
    growing: Mutex<()>,
    word: PhantomData<W>,
}

/// Location of the entry of a key, if it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct EntryLocation<W> {
    /// The number of its bucket in the largest table; lower bits give that in a smaller one.
    bucket: usize,
    /// The remainder of the key, in its place.
    tag: W,
}

#[cfg_attr(target_family = "wasm", allow(dead_code, reason = "parts are for files only"))]
impl<W: Word> TranspositionTable<W> {
    /// Entries of a bucket.
    const BUCKET: usize = BUCKET_BYTES as usize / size_of::<W>();

    /// Bits of an entry for a bound.
    const BOUND_BITS: u32 = W::SEEDS.ilog2() + 1;

    /// Bits of an entry below the remainder of its key.
    const DATA_BITS: u32 = 2 * Self::BOUND_BITS + WORK_BITS;

    /// Bits for the remainder of a key.
    const REMAINDER_BITS: u32 = W::BITS - Self::DATA_BITS;

    /// A table for keys below `keys` in at most `bytes` bytes (more only if the entries could not hold the keys
    /// otherwise).
    ///
    /// # Errors
    /// If there is not enough memory.
    pub(crate) fn new(keys: u128, bytes: u64) -> std::io::Result<TranspositionTable<W>> {
        let key_bits = (u128::BITS - keys.saturating_sub(1).leading_zeros()).max(1);
        let (wanted, least) = ((bytes / BUCKET_BYTES).max(1).ilog2(), key_bits.saturating_sub(Self::REMAINDER_BITS));
        let most_bits = wanted.clamp(least, key_bits);
        let bytes = usize::try_from(BUCKET_BYTES << most_bits).map_err(|_| std::io::ErrorKind::OutOfMemory)?;
        let map = HugePages::reserve(bytes)?;
        let least_bits = FIRST_BITS.clamp(least, most_bits);
        map.clear_to((BUCKET_BYTES as usize) << least_bits);
        let (bits, growing) = (AtomicU32::new(least_bits), Mutex::default());
        Ok(TranspositionTable { map, bits, least_bits, most_bits, key_bits, growing, word: PhantomData })
    }

    /// Takes more buckets into use if there are many entries. Others may use the table meanwhile; at worst, bounds
    /// that they write are lost.
    pub(crate) fn make_room(&self, entries: u64) {
        let Some(_growing) = self.growing.try_lock() else { return };
        while self.bits() < self.most_bits && self.used().len() as u64 / ROOM < entries {
            let (bits, size) = (self.bits(), self.used().len());
            // The bit of a key that is the next one of a bucket's number.
            let next = W::from(1u8) << (Self::DATA_BITS + self.key_bits - 1 - bits);
            self.map.clear_to((BUCKET_BYTES as usize) << (bits + 1));
            let (first, second) = self.buckets(bits + 1).split_at(size);
            for (first, second) in first.iter().zip(second) {
                let word = W::load(first);
                if word & next != W::default() {
                    word.store(second);
                    W::default().store(first);
                }
            }
            self.bits.store(bits + 1, Ordering::Relaxed);
        }
    }

    /// Keeps the number of buckets as it is.
    pub(crate) fn keep_size(&self) -> MutexGuard<'_, ()> {
        self.growing.lock()
    }

    /// Bits of a bucket's number now.
    #[inline]
    fn bits(&self) -> u32 {
        self.bits.load(Ordering::Relaxed)
    }

    /// The entries in use.
    fn used(&self) -> &[W::Shared] {
        self.buckets(self.bits())
    }

    /// The entries of the first buckets, whose numbers have `bits` bits. They must be usable.
    #[inline]
    fn buckets(&self, bits: u32) -> &[W::Shared] {
        // SAFETY: the map is page-aligned and lives as long as `self`; this part is initialised (zeros at first) before
        // it is used; a shared word has the size of a word, no larger alignment than a page, and nothing else refers to
        // the map.
        unsafe { std::slice::from_raw_parts(self.map.as_mut_ptr().cast(), Self::BUCKET << bits) }
    }

    /// Number of entries of a table for keys of `key_bits` bits, with `bucket_bits` bits for a bucket's number;
    /// `None` if there is no such table.
    pub(crate) fn entries_of(key_bits: u32, bucket_bits: u32) -> Option<u64> {
        let remainder = key_bits.checked_sub(bucket_bits).filter(|&bits| bits <= Self::REMAINDER_BITS);
        remainder.and_then(|_| 1u64.checked_shl(bucket_bits)?.checked_mul(Self::BUCKET as u64))
    }

    /// Number of entries that fit.
    pub(crate) fn capacity(&self) -> u64 {
        (self.map.bytes() / size_of::<W>()) as u64
    }

    /// Bits of a key, and of the number of a bucket now.
    pub(crate) fn sizes(&self) -> (u32, u32) {
        (self.key_bits, self.bits())
    }

    /// All entries, by the upper `bits` bits of their keys; unused ones are 0. Each has only the other bits of its
    /// key. The table must have as many bits now.
    pub(crate) fn words(&self, bits: u32) -> impl Iterator<Item = W> {
        let low = self.key_bits - bits;
        (0..1u64 << bits).flat_map(move |number| {
            let first = number.reverse_bits().rotate_left(bits) as usize * Self::BUCKET;
            self.used()[first..][..Self::BUCKET].iter().map(move |entry| {
                let word = W::load(entry);
                let (rest, upper) = (word >> Self::DATA_BITS, number & ((1 << (bits - self.least_bits)) - 1));
                // An entry that was written while its bucket was split is lost.
                if rest >> low != W::from(upper) {
                    return W::default();
                }
                word ^ W::from(upper) << low << Self::DATA_BITS
            })
        })
    }

    /// Restores the entry `word` from `index` of a saved table for the same keys, with `bucket_bits` and at
    /// most `seeds` seeds in play. Returns false, without restoring it, if such a table cannot contain it.
    pub(crate) fn restore(&self, bucket_bits: u32, index: u64, word: W, seeds: usize) -> bool {
        let (proved, work) = (Self::bounds(word), word.low() & WORK_MASK);
        let low = self.key_bits - bucket_bits;
        let rest = word >> Self::DATA_BITS;
        if work == 0
            || proved.lower > proved.upper
            || proved.upper as usize > seeds
            || rest & (W::MAX << low) != W::default()
        {
            return false;
        }
        let location = self.location_of(W::from(index / Self::BUCKET as u64) << low | rest);
        let known = self.get(location).unwrap_or(proved);
        let agrees = known.lower.max(proved.lower) <= known.upper.min(proved.upper);
        if agrees {
            self.put(location, proved, 1 << (work - 1));
        }
        agrees
    }

    /// Removes all entries.
    pub(crate) fn clear(&mut self) {
        self.map.fill(0);
    }

    /// Removes all entries one by one, while others may use the table. Entries that they write meanwhile may
    /// stay.
    pub(crate) fn forget(&self) {
        self.used().iter().for_each(|entry| W::default().store(entry));
    }

    /// Location of the entry of `key`.
    #[inline]
    pub(crate) fn locate(&self, key: W) -> EntryLocation<W> {
        let mask = W::MAX >> (W::BITS - self.key_bits);
        let mut mixed = key.wrapping_mul(W::SPREAD[0]) & mask;
        mixed ^= mixed >> (self.key_bits / 2 + 1);
        self.location_of(mixed.wrapping_mul(W::SPREAD[1]) & mask)
    }

    /// The location of a permuted key.
    #[inline]
    fn location_of(&self, mixed: W) -> EntryLocation<W> {
        let upper = (mixed >> (self.key_bits - self.most_bits)).low();
        EntryLocation {
            bucket: upper.reverse_bits().rotate_left(self.most_bits) as usize,
            tag: (mixed & !(W::MAX << (self.key_bits - self.least_bits))) << Self::DATA_BITS,
        }
    }

    /// The index of the first entry of the bucket, whose number has `bits` bits.
    #[inline]
    fn first(location: EntryLocation<W>, bits: u32) -> usize {
        (location.bucket & ((1 << bits) - 1)) * Self::BUCKET
    }

    /// Prefetches the bucket.
    #[inline]
    pub(crate) fn prefetch(&self, location: EntryLocation<W>) {
        prefetch(self.map.as_mut_ptr().wrapping_add(Self::first(location, self.bits()) * size_of::<W>()));
    }

    #[inline]
    fn bucket(&self, location: EntryLocation<W>) -> &[W::Shared] {
        let bits = self.bits();
        &self.buckets(bits)[Self::first(location, bits)..][..Self::BUCKET]
    }

    /// Returns true if `word` is the entry of `location`.
    ///
    /// An entry in use has a non-zero effort, so it differs from an unused one for any tag.
    #[inline]
    fn is_of(word: W, location: EntryLocation<W>) -> bool {
        word >> Self::DATA_BITS << Self::DATA_BITS == location.tag && word.low() & WORK_MASK != 0
    }

    #[inline]
    fn bounds(word: W) -> Bounds {
        let bound = |shift: u32| (word.low() >> shift & ((1 << Self::BOUND_BITS) - 1)) as u32;
        Bounds { lower: bound(WORK_BITS), upper: bound(WORK_BITS + Self::BOUND_BITS) }
    }

    #[inline]
    fn word_of(location: EntryLocation<W>, bounds: Bounds, work: u64) -> W {
        let Bounds { lower, upper } = bounds;
        let bounds = u64::from(upper) << Self::BOUND_BITS | u64::from(lower);
        location.tag | W::from(bounds << WORK_BITS | work)
    }

    /// The proved bounds of the position at `location`.
    #[inline]
    pub(crate) fn get(&self, location: EntryLocation<W>) -> Option<Bounds> {
        self.bucket(location).iter().map(W::load).find(|&word| Self::is_of(word, location)).map(Self::bounds)
    }

    /// A lower bound of the nodes that proving the bounds of a position took, if they are stored: a power of
    /// two.
    pub(crate) fn work(&self, location: EntryLocation<W>) -> Option<u64> {
        let word = self.bucket(location).iter().map(W::load).find(|&word| Self::is_of(word, location))?;
        Some(1 << ((word.low() & WORK_MASK) - 1))
    }

    /// Adds proved bounds of the position at `location`, for which `nodes` nodes were searched.
    ///
    /// Tighter existing bounds stay. In a full bucket, the entry with the least effort is replaced.
    #[inline]
    pub(crate) fn put(&self, location: EntryLocation<W>, proved: Bounds, nodes: u64) {
        debug_assert!(proved.lower <= proved.upper, "{proved:?}");
        let bucket = self.bucket(location);
        let work = u64::from((nodes | 1).ilog2() + 1);
        let (mut victim, mut least) = (&bucket[0], u64::MAX);
        for entry in bucket {
            let word = W::load(entry);
            let effort = word.low() & WORK_MASK;
            if Self::is_of(word, location) {
                let known = Self::bounds(word);
                let both = Bounds { lower: known.lower.max(proved.lower), upper: known.upper.min(proved.upper) };
                Self::word_of(location, both, work.max(effort)).store(entry);
                return;
            }
            if effort < least {
                (victim, least) = (entry, effort);
            }
        }
        Self::word_of(location, proved, work).store(victim);
    }

    /// Share of entries in use, 0 to 1, estimated from a sample.
    pub(crate) fn fill(&self) -> f64 {
        let entries = self.used();
        let sample = &entries[..entries.len().min(1 << 14)];
        let filled = sample.iter().filter(|entry| W::load(entry) != W::default()).count();
        let used = entries.len() as f64 / self.capacity() as f64;
        used * filled as f64 / sample.len() as f64
    }
}

impl<W: Word> EntryLocation<W> {
    /// A hash of the location and a tested score, never 0.
    #[inline]
    pub(crate) fn mark(self, score: u32) -> u64 {
        let mixed = (self.bucket as u64 ^ self.tag.folded().rotate_left(20)).wrapping_add(u64::from(score) << 57);
        mixed.wrapping_mul(u64::SPREAD[0]).rotate_left(29) | 1 << 63
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn assert_entries_are_those_of_their_keys<W: Word>() {
        let mut random = fastrand::Rng::with_seed(3);
        // The last is the largest key that entries can hold in a table of few buckets.
        for bits in [4, 12, 20, 40, TranspositionTable::<W>::REMAINDER_BITS + 3] {
            let table = TranspositionTable::<W>::new(1 << bits, 1 << 10).unwrap();
            let bound = |key: u128, part: u128| (key / part % (W::SEEDS as u128 / 2)) as u32;
            let proved = |key: u128| Bounds { lower: bound(key, 7), upper: W::SEEDS as u32 - bound(key, 11) };
            // Keys that differ in few bits, and random ones.
            let near = |random: &mut fastrand::Rng| 1 << random.u32(..bits) | 1u128 << random.u32(..bits);
            let any = |random: &mut fastrand::Rng| random.u128(..1 << bits);
            let (mut found, mut locations) = (0, HashMap::new());
            for round in 0..20_000 {
                let key = if round % 2 == 0 { near(&mut random) } else { any(&mut random) };
                let location = table.locate(W::truncate(key));
                assert_eq!(*locations.entry((location.bucket, location.tag)).or_insert(key), key, "{bits} bits");
                if let Some(known) = table.get(location) {
                    assert_eq!(known, proved(key), "{bits} bits");
                    found += 1;
                }
                table.put(location, proved(key), random.u64(..1 << 20));
                assert_eq!(table.get(location), Some(proved(key)));
            }
            assert!(found > 0, "{bits} bits");
        }
    }

    fn assert_a_table_that_grows_keeps_its_entries<W: Word>() {
        let new = || TranspositionTable::<W>::new(1 << 40, 64 << 14).unwrap();
        let entries =
            |table: &TranspositionTable<W>| table.words(table.bits()).filter(|&word| word != W::default()).count();
        let (table, mut random, mut kept, mut sizes) = (new(), fastrand::Rng::with_seed(5), HashMap::new(), Vec::new());
        for number in 0..table.capacity() / ROOM {
            let (key, proved) = (W::from(random.u64(..1 << 40)), Bounds { lower: random.u32(..50), upper: 60 });
            table.put(table.locate(key), proved, 1);
            kept.insert(key, proved);
            table.make_room(number);
            let bits = table.bits();
            if sizes.last() != Some(&bits) {
                sizes.push(bits);
                // A saved table of this size has all entries.
                let other = new();
                other.make_room(u64::MAX);
                for (index, word) in table.words(bits).enumerate().filter(|&(_, word)| word != W::default()) {
                    assert!(other.restore(bits, index as u64, word, W::SEEDS));
                }
                let used = table.used().iter().filter(|entry| W::load(entry) != W::default()).count();
                assert_eq!(entries(&other), used);
            }
        }
        assert_eq!((sizes[0], sizes[sizes.len() - 1]), (FIRST_BITS, 14));
        let found = kept.iter().filter_map(|(&key, &proved)| Some((table.get(table.locate(key))?, proved)));
        assert!(found.clone().all(|(found, proved)| found == proved));
        // Few buckets were full.
        assert!(100 * found.count() > 98 * kept.len());
        table.forget();
        assert_eq!((entries(&table), table.fill()), (0, 0.0));
    }

    #[test]
    fn entries_are_those_of_their_keys() {
        assert_entries_are_those_of_their_keys::<u64>();
        assert_entries_are_those_of_their_keys::<u128>();
    }

    #[test]
    fn a_table_that_grows_keeps_its_entries() {
        assert_a_table_that_grows_keeps_its_entries::<u64>();
        assert_a_table_that_grows_keeps_its_entries::<u128>();
    }
}
