use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::MmapMut;

/// Entries of a bucket: one cache line.
const BUCKET: usize = 8;

/// Bytes of a bucket.
const BUCKET_BYTES: u64 = 64;

const BOUND_BITS: u32 = 7;
const WORK_BITS: u32 = 6;

/// Bits of an entry below the remainder of its key.
const DATA_BITS: u32 = 2 * BOUND_BITS + WORK_BITS;

/// Bits for the remainder of a key.
const REMAINDER_BITS: u32 = u64::BITS - DATA_BITS;

/// Two odd factors that spread the bits of a key; from the golden ratio and from MurmurHash3's finaliser.
const SPREAD: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xc4ce_b9fe_1a85_ec53];

/// What is proved of the score of a position: it is `lower` to `upper`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The mover collects at least this.
    pub lower: u32,
    /// The mover collects at most this.
    pub upper: u32,
}

/// Proved bounds of positions, shared by all threads without locks.
///
/// An entry is one 64-bit word, read and written whole: the bounds, the effort that proved them, and the key. Keys are
/// first permuted (multiplied by odd numbers and shifted, each step one-to-one on the bits that keys have); the upper bits
/// then choose the bucket, and the entry holds all others. So bucket and entry together tell the key exactly: an entry is
/// never taken for another position's. A thread that overwrites what another one just wrote loses a bound at worst.
pub struct TranspositionTable {
    /// The memory of the entries, whole buckets.
    map: MmapMut,
    bucket_bits: u32,
    key_bits: u32,
}

/// Where the entry of a key is, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Slot {
    bucket: usize,
    /// The remainder of the key, in its place.
    tag: u64,
}

impl TranspositionTable {
    /// A table for keys below `keys` in at most `bytes` bytes (more only where the entries could not hold the keys
    /// otherwise).
    ///
    /// # Errors
    /// When there is not as much memory.
    pub fn new(keys: u64, bytes: u64) -> std::io::Result<TranspositionTable> {
        let key_bits = u64::BITS - keys.saturating_sub(1).leading_zeros();
        let wanted = (bytes / BUCKET_BYTES).max(1).ilog2();
        TranspositionTable::with_buckets(key_bits, wanted.clamp(key_bits.saturating_sub(REMAINDER_BITS), key_bits))
    }

    fn with_buckets(key_bits: u32, bucket_bits: u32) -> std::io::Result<TranspositionTable> {
        let bytes = BUCKET_BYTES << bucket_bits;
        let bytes = usize::try_from(bytes).map_err(|_| std::io::ErrorKind::OutOfMemory)?;
        let map = MmapMut::map_anon(bytes)?;
        #[cfg(target_os = "linux")]
        // Without huge pages everything works, only slower.
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(TranspositionTable { map, bucket_bits, key_bits })
    }

    /// Bytes of the table.
    pub fn bytes(&self) -> u64 {
        self.map.len() as u64
    }

    fn entries(&self) -> &[AtomicU64] {
        // SAFETY: the map is page-aligned, initialised (zeros at first), as long as this, and lives as long as `self`;
        // AtomicU64 has the size and alignment of u64 and nothing else refers to the map.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast(), self.map.len() / 8) }
    }

    /// Bits of a key, and of the number of a bucket.
    pub(super) fn bits(&self) -> (u32, u32) {
        (self.key_bits, self.bucket_bits)
    }

    /// All entries as they stand in memory, unused ones 0.
    pub(super) fn words(&self) -> impl Iterator<Item = u64> {
        self.entries().iter().map(|entry| entry.load(Ordering::Relaxed))
    }

    /// Takes the entry `word` that stood at `index` of a table for the same keys with `bucket_bits`.
    pub(super) fn restore(&self, bucket_bits: u32, index: u64, word: u64) {
        let known = bounds(word);
        if word & WORK_MASK == 0 || known.lower > known.upper {
            return;
        }
        let low = self.key_bits - bucket_bits;
        let mixed = (index / BUCKET as u64) << low | word >> DATA_BITS;
        self.put(self.slot_of(mixed), known, 1 << ((word & WORK_MASK) - 1));
    }

    /// Where the entry of `key` is.
    #[inline]
    pub fn slot(&self, key: u64) -> Slot {
        let mask = u64::MAX.checked_shr(u64::BITS - self.key_bits).unwrap_or(0);
        let mut mixed = key.wrapping_mul(SPREAD[0]) & mask;
        mixed ^= mixed >> (self.key_bits / 2 + 1);
        self.slot_of(mixed.wrapping_mul(SPREAD[1]) & mask)
    }

    /// The slot of a permuted key.
    #[inline]
    fn slot_of(&self, mixed: u64) -> Slot {
        let low = self.key_bits - self.bucket_bits;
        Slot { bucket: (mixed >> low) as usize * BUCKET, tag: (mixed & !(u64::MAX << low)) << DATA_BITS }
    }

    /// Has the processor fetch the bucket.
    #[inline]
    pub fn prefetch(&self, slot: Slot) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: prefetching has no effect but on speed.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(self.map.as_ptr().wrapping_add(slot.bucket * 8).cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = slot;
    }

    #[inline]
    fn bucket(&self, slot: Slot) -> &[AtomicU64; BUCKET] {
        let bucket = &self.entries()[slot.bucket..][..BUCKET];
        bucket.try_into().expect("the slice has this length")
    }

    /// What is proved of the position at `slot`.
    #[inline]
    pub fn get(&self, slot: Slot) -> Option<Bounds> {
        let bucket = self.bucket(slot);
        // An entry in use has its effort set, so it differs from an unused one whatever its tag.
        let find = |entry: &AtomicU64| {
            let word = entry.load(Ordering::Relaxed);
            (word >> DATA_BITS << DATA_BITS == slot.tag && word & WORK_MASK != 0).then(|| bounds(word))
        };
        bucket.iter().find_map(find)
    }

    /// Adds what is proved of the position at `slot`, with `nodes` searched for it.
    ///
    /// Bounds that are there already are kept where they are tighter. A full bucket gives up the entry that was proved
    /// with the least effort.
    #[inline]
    pub fn put(&self, slot: Slot, proved: Bounds, nodes: u64) {
        debug_assert!(proved.lower <= proved.upper, "{proved:?}");
        let bucket = self.bucket(slot);
        let work = u64::from((nodes | 1).ilog2() + 1);
        let (mut victim, mut least) = (&bucket[0], u64::MAX);
        for entry in bucket {
            let word = entry.load(Ordering::Relaxed);
            let effort = word & WORK_MASK;
            if effort != 0 && word >> DATA_BITS << DATA_BITS == slot.tag {
                let known = bounds(word);
                let both = Bounds { lower: known.lower.max(proved.lower), upper: known.upper.min(proved.upper) };
                entry.store(word_of(slot.tag, both, work.max(effort)), Ordering::Relaxed);
                return;
            }
            if effort < least {
                (victim, least) = (entry, effort);
            }
        }
        victim.store(word_of(slot.tag, proved, work), Ordering::Relaxed);
    }

    /// The share of a sample of the entries that is in use, 0 to 1.
    pub fn fill(&self) -> f64 {
        let entries = self.entries();
        let sample = &entries[..entries.len().min(1 << 14)];
        let used = sample.iter().filter(|entry| entry.load(Ordering::Relaxed) != 0).count();
        used as f64 / sample.len() as f64
    }
}

const WORK_MASK: u64 = (1 << WORK_BITS) - 1;
const BOUND_MASK: u64 = (1 << BOUND_BITS) - 1;

#[inline]
fn bounds(word: u64) -> Bounds {
    let bound = |shift: u32| (word >> shift & BOUND_MASK) as u32;
    Bounds { lower: bound(WORK_BITS), upper: bound(WORK_BITS + BOUND_BITS) }
}

#[inline]
fn word_of(tag: u64, bounds: Bounds, work: u64) -> u64 {
    tag | u64::from(bounds.upper) << (WORK_BITS + BOUND_BITS) | u64::from(bounds.lower) << WORK_BITS | work
}

impl Slot {
    /// A hash of the slot and a score to test, never 0.
    #[inline]
    pub(super) fn mark(self, score: u32) -> u64 {
        let mixed = (self.bucket as u64 ^ self.tag.rotate_left(20)).wrapping_add(u64::from(score) << 57);
        mixed.wrapping_mul(SPREAD[0]).rotate_left(29) | 1 << 63
    }
}
