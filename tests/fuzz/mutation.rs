//! Changes of the bytes of files.

use proptest::prelude::*;
use proptest::sample::Index;

/// A change of bytes.
#[derive(Clone, Debug)]
pub(crate) enum Bytes {
    /// Flips one bit.
    Flip(Index, u8),
    /// Changes a byte.
    Put(Index, u8),
    /// Changes a digit.
    Digit(Index, u8),
    /// Removes everything from a place on.
    Cut(Index),
    /// Removes bytes, so that all bytes after them move.
    Remove(Index, usize),
    /// Inserts bytes, without a place at the end.
    Insert(Option<Index>, Vec<u8>),
    /// Copies bytes from one place to another.
    Splice(Index, Index, usize),
    /// Exchanges two bytes.
    Swap(Index, Index),
}

/// Strategy for any change of bytes.
pub(crate) fn bytes() -> impl Strategy<Value = Bytes> + Clone {
    let index = any::<Index>;
    let count = || prop_oneof![1..9usize, 1..200usize, 1..2000usize];
    prop_oneof![
        6 => (index(), 0..8u8).prop_map(|(at, bit)| Bytes::Flip(at, bit)),
        3 => (index(), any::<u8>()).prop_map(|(at, byte)| Bytes::Put(at, byte)),
        4 => (index(), b'0'..=b'9').prop_map(|(at, digit)| Bytes::Digit(at, digit)),
        1 => index().prop_map(Bytes::Cut),
        2 => (index(), count()).prop_map(|(at, count)| Bytes::Remove(at, count)),
        2 => (prop::option::of(index()), prop::collection::vec(any::<u8>(), 1..200))
            .prop_map(|(at, added)| Bytes::Insert(at, added)),
        2 => (index(), index(), count()).prop_map(|(from, to, count)| Bytes::Splice(from, to, count)),
        1 => (index(), index()).prop_map(|(a, b)| Bytes::Swap(a, b)),
    ]
}

/// Strategy for one or several changes.
pub(crate) fn changes() -> impl Strategy<Value = Vec<Bytes>> {
    prop_oneof![prop::collection::vec(bytes(), 1..2), prop::collection::vec(bytes(), 1..12)]
}

/// Returns the bytes after the changes.
pub(crate) fn changed(bytes: &[u8], changes: &[Bytes]) -> Vec<u8> {
    changes.iter().fold(bytes.to_vec(), |bytes, change| change.apply(&bytes))
}

impl Bytes {
    /// Returns the bytes after the change, which may be the same.
    pub(crate) fn apply(&self, bytes: &[u8]) -> Vec<u8> {
        let (len, mut changed) = (bytes.len(), bytes.to_vec());
        if bytes.is_empty() {
            return changed;
        }
        match self {
            Bytes::Flip(at, bit) => changed[at.index(len)] ^= 1 << bit,
            Bytes::Put(at, byte) => changed[at.index(len)] = *byte,
            Bytes::Digit(at, digit) => {
                let digits: Vec<usize> = (0..len).filter(|&at| bytes[at].is_ascii_digit()).collect();
                if !digits.is_empty() {
                    changed[*at.get(&digits)] = *digit;
                }
            }
            Bytes::Cut(at) => changed.truncate(at.index(len)),
            Bytes::Remove(at, count) => {
                let at = at.index(len);
                changed.drain(at..len.min(at + count));
            }
            Bytes::Insert(at, added) => {
                let at = at.map_or(len, |at| at.index(len));
                changed.splice(at..at, added.iter().copied());
            }
            Bytes::Splice(from, to, count) => {
                let (from, to) = (from.index(len), to.index(len));
                let count = *count.min(&(len - from.max(to)));
                changed.copy_within(from..from + count, to);
            }
            Bytes::Swap(a, b) => changed.swap(a.index(len), b.index(len)),
        }
        changed
    }
}
