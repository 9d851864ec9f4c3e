//! Entries of a few bytes in memory, found by their keys, for hundreds of millions of them.

use xxhash_rust::xxh3::xxh3_64;

/// Number of shards. Growth needs the memory of one shard twice.
const SHARDS: usize = 64;

/// Slots of a shard with its first entry.
const FIRST_SLOTS: usize = 8;

/// Entries of equally many bytes, each with its key in front. The last byte of an entry is not 0.
///
/// Entries lie in the slots themselves, and a full shard grows by a quarter. So two thirds of the memory or more are
/// entries.
#[derive(Clone, Debug)]
pub(super) struct Store {
    key_bytes: usize,
    entry_bytes: usize,
    shards: Vec<Shard>,
    entries: usize,
}

/// Slots with open addressing: an entry is in the first free slot from its own on. A free slot has zeros.
#[derive(Clone, Debug, Default)]
struct Shard {
    bytes: Vec<u8>,
    used: usize,
}

impl Store {
    /// An empty store.
    pub(crate) fn new(key_bytes: usize, entry_bytes: usize) -> Store {
        Store { key_bytes, entry_bytes, shards: vec![Shard::default(); SHARDS], entries: 0 }
    }

    /// Number of entries.
    pub(crate) fn len(&self) -> usize {
        self.entries
    }

    /// The bytes of the entry with this key that follow the key.
    #[inline]
    pub(crate) fn get(&self, key: &[u8]) -> Option<&[u8]> {
        let hash = xxh3_64(key);
        let shard = &self.shards[shard_of(hash)];
        let slot = self.slot(shard, key, hash)?;
        let entry = &shard.bytes[slot..][..self.entry_bytes];
        is_used(entry).then(|| &entry[self.key_bytes..])
    }

    /// The bytes of the entry with this key that follow the key. Without one, an entry with the bytes `new` is added.
    pub(crate) fn get_or_add(&mut self, key: &[u8], new: &[u8]) -> &mut [u8] {
        debug_assert!(key.len() + new.len() == self.entry_bytes && is_used(new));
        let hash = xxh3_64(key);
        let number = shard_of(hash);
        let mut slot = self.slot(&self.shards[number], key, hash);
        if slot.is_none_or(|slot| !is_used(&self.shards[number].bytes[slot..][..self.entry_bytes])) {
            if self.is_full(&self.shards[number]) {
                self.grow(number);
                slot = None;
            }
            let slot_of_new = slot.or_else(|| self.slot(&self.shards[number], key, hash)).expect("a shard with slots");
            let shard = &mut self.shards[number];
            let entry = &mut shard.bytes[slot_of_new..][..self.entry_bytes];
            entry[..self.key_bytes].copy_from_slice(key);
            entry[self.key_bytes..].copy_from_slice(new);
            shard.used += 1;
            self.entries += 1;
            slot = Some(slot_of_new);
        }
        let slot = slot.expect("the entry was found or added");
        &mut self.shards[number].bytes[slot..][self.key_bytes..self.entry_bytes]
    }

    /// The entries in parts that have about equally many, in no order.
    pub(crate) fn parts(&self) -> Vec<impl Iterator<Item = &[u8]>> {
        let slots = self.shards.iter().map(|shard| shard.bytes.chunks_exact(self.entry_bytes));
        slots.map(|slots| slots.filter(|entry| is_used(entry))).collect()
    }

    /// All entries, in no order, to be changed after their keys.
    pub(crate) fn entries_mut(&mut self) -> impl Iterator<Item = &mut [u8]> {
        let bytes = self.entry_bytes;
        let slots = self.shards.iter_mut().flat_map(move |shard| shard.bytes.chunks_exact_mut(bytes));
        slots.filter(|entry| is_used(entry))
    }

    /// First byte of the slot with this key, or of the free slot where it belongs; `None` if there are no slots.
    #[inline]
    fn slot(&self, shard: &Shard, key: &[u8], hash: u64) -> Option<usize> {
        let slots = shard.bytes.len() / self.entry_bytes;
        if slots == 0 {
            return None;
        }
        // The lower half of the hash as a fraction of the slots.
        let mut slot = (((hash & 0xffff_ffff) * slots as u64) >> 32) as usize;
        loop {
            let entry = &shard.bytes[slot * self.entry_bytes..][..self.entry_bytes];
            if !is_used(entry) || entry[..self.key_bytes] == *key {
                return Some(slot * self.entry_bytes);
            }
            slot = if slot + 1 == slots { 0 } else { slot + 1 };
        }
    }

    /// Returns true if four fifths of the slots of a shard are used.
    fn is_full(&self, shard: &Shard) -> bool {
        5 * shard.used >= 4 * (shard.bytes.len() / self.entry_bytes)
    }

    fn grow(&mut self, number: usize) {
        let old = std::mem::take(&mut self.shards[number].bytes);
        let slots = old.len() / self.entry_bytes;
        let slots = (slots + slots / 4).max(FIRST_SLOTS);
        let mut shard = Shard { bytes: vec![0; slots * self.entry_bytes], used: self.shards[number].used };
        for entry in old.chunks_exact(self.entry_bytes).filter(|entry| is_used(entry)) {
            let key = &entry[..self.key_bytes];
            let slot = self.slot(&shard, key, xxh3_64(key)).expect("a shard with slots");
            shard.bytes[slot..][..self.entry_bytes].copy_from_slice(entry);
        }
        self.shards[number] = shard;
    }
}

/// Returns the shard of a key: the upper bits of its hash, on which the slot does not depend.
fn shard_of(hash: u64) -> usize {
    (hash >> (u64::BITS - SHARDS.ilog2())) as usize
}

fn is_used(entry: &[u8]) -> bool {
    entry.last() != Some(&0)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn it_holds_the_entries_of_a_map() {
        let mut random = fastrand::Rng::with_seed(41);
        let (mut store, mut map) = (Store::new(3, 5), HashMap::new());
        for _ in 0..20_000 {
            let key = [random.u8(..30), random.u8(..30), random.u8(..30)];
            let new = [random.u8(..), random.u8(1..)];
            let found = store.get_or_add(&key, &new);
            assert_eq!(found, *map.entry(key).or_insert(new));
            found[0] = new[0];
            map.get_mut(&key).unwrap()[0] = new[0];
        }
        assert_eq!(store.len(), map.len());
        for key in (0..27_000u32).map(|n| [n % 30, n / 30 % 30, n / 900].map(|pit| pit as u8)) {
            assert_eq!(store.get(&key), map.get(&key).map(|rest| &rest[..]));
        }
        let all: HashMap<_, _> = store.parts().into_iter().flatten().map(|entry| entry.split_at(3)).collect();
        assert!(all.len() == map.len() && all.iter().all(|(key, rest)| map.get(*key).is_some_and(|it| it == rest)));
        assert_eq!(store.entries_mut().count(), map.len());
        let slots: usize = store.shards.iter().map(|shard| shard.bytes.len() / 5).sum();
        assert!(slots < 2 * map.len(), "{slots} slots for {} entries", map.len());
    }
}
