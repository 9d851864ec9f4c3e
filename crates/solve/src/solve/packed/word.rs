use std::fmt::Debug;
use std::hash::Hash;
use std::ops::{Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitXor, BitXorAssign, DerefMut, Not, Shl, Shr};
use std::sync::atomic::{AtomicU64, Ordering};

use arrayvec::ArrayVec;
use portable_atomic::AtomicU128;

/// Maximum seeds in play of a position that can be solved.
pub(crate) const MAX_BOARD_SEEDS: usize = <u128 as Word>::SEEDS;

/// An unsigned integer that holds a row, one byte per pit, or the key of a position, or an entry of a
/// transposition table.
///
/// `u64` serves boards of up to 8 pits a side, and `u128` all others, somewhat more slowly; there are no other
/// words. With both, a search visits the same positions in the same order.
pub trait Word:
    sealed::Sealed
    + Copy
    + Debug
    + Default
    + Eq
    + Hash
    + Ord
    + Send
    + Sync
    + From<u8>
    + From<u64>
    + Add<Output = Self>
    + AddAssign
    + BitAnd<Output = Self>
    + BitAndAssign
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + BitXorAssign
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
    + 'static
{
    /// Bits of the word.
    const BITS: u32;

    /// Maximum pits a side.
    const PITS: usize = Self::BITS as usize / 8;

    /// Maximum seeds in play.
    const SEEDS: usize;

    /// Two odd factors that spread the bits of a key.
    const SPREAD: [Self; 2];

    /// A 1 in each byte.
    const ONES: Self;

    /// Every bit set.
    const MAX: Self;

    /// A word that threads share, read and written atomically.
    type Shared: Sync;

    /// A list on the stack with space for one item per move. It is as short as possible, since length costs
    /// time.
    type Moves<T>: MoveList<T>;

    /// Reads a shared word.
    fn load(shared: &Self::Shared) -> Self;

    /// Writes a shared word.
    fn store(self, shared: &Self::Shared);

    /// The lower bits of `wide`.
    fn truncate(wide: u128) -> Self;

    /// The lower 64 bits.
    fn low(self) -> u64;

    /// 64 bits that depend on all bits.
    fn folded(self) -> u64;

    /// The bytes, the lowest first.
    fn bytes(self) -> impl DoubleEndedIterator<Item = u8>;

    /// The bytes, the lowest first, and zeros.
    fn array(self) -> [u8; 16];

    /// Addition modulo 2^[`Word::BITS`].
    fn wrapping_add(self, other: Self) -> Self;

    /// Multiplication modulo 2^[`Word::BITS`].
    fn wrapping_mul(self, other: Self) -> Self;

    /// Packs bytes, lowest first, such as the seeds of a row.
    fn pack(bytes: impl DoubleEndedIterator<Item = u8>) -> Self {
        bytes.rev().fold(Self::default(), |packed, byte| packed << 8 | Self::from(byte))
    }

    /// The seeds of the pit with index `pit`.
    #[inline]
    fn seeds_in(self, pit: usize) -> u8 {
        (self >> (8 * pit as u32)).low() as u8
    }

    /// The row without the seeds of one pit.
    #[inline]
    fn without(self, pit: usize) -> Self {
        self & !(Self::from(0xffu8) << (8 * pit as u32))
    }

    /// Sums of a row from its first pit on: byte `i` of the result is the sum of bytes 0 to `i`.
    ///
    /// No byte overflows into the next: a row has at most [`Word::SEEDS`] seeds.
    #[inline]
    fn sums(self) -> Self {
        self.wrapping_mul(Self::ONES)
    }

    /// The last byte; for the [`Word::sums`] of a row, the number of its seeds.
    #[inline]
    fn last(self) -> u32 {
        (self >> (Self::BITS - 8)).low() as u32
    }

    /// The seeds of a row.
    #[inline]
    fn total(self) -> u32 {
        self.sums().last()
    }

    /// Packs pairs of pits: for even `i`, byte `i` has the seeds of pit `i` in the lower four bits and those of
    /// the next pit in the upper four, each at most 15.
    #[inline]
    fn nibbles(self) -> Self {
        let (high, low) = (Self::ONES << 7, !(Self::ONES << 7));
        let fifteen = Self::ONES | Self::ONES << 1 | Self::ONES << 2 | Self::ONES << 3;
        // The highest bit of each byte above 15; no byte overflows into the next.
        let above = (((self & low) + (low & !fifteen)) | self) & high;
        let row = (self | above >> 4 | above >> 5 | above >> 6 | above >> 7) & fifteen;
        row | row >> 4
    }

    /// The pits of a row that hold seeds.
    #[inline]
    fn filled(self) -> u32 {
        let (high, low) = (Self::ONES << 7, !(Self::ONES << 7));
        // No byte overflows into the next.
        let above_one = if Self::SEEDS < 0x80 { self + low } else { ((self & low) + low) | self };
        ((above_one & high) >> 7).total()
    }
}

/// A list of moves.
pub trait MoveList<T>: Default + DerefMut<Target = [T]> {
    /// Removes all items.
    fn clear(&mut self);

    /// Appends an item.
    fn push(&mut self, item: T);
}

impl<T, const N: usize> MoveList<T> for ArrayVec<T, N> {
    #[inline]
    fn clear(&mut self) {
        ArrayVec::clear(self);
    }

    #[inline]
    fn push(&mut self, item: T) {
        ArrayVec::push(self, item);
    }
}

macro_rules! word {
    ($word:ty, $shared:ty, seeds: $seeds:expr, spread: $spread:expr) => {
        impl Word for $word {
            const BITS: u32 = <$word>::BITS;
            const SEEDS: usize = $seeds;
            const SPREAD: [$word; 2] = $spread;
            const ONES: $word = <$word>::MAX / 0xff;
            const MAX: $word = <$word>::MAX;

            type Shared = $shared;
            type Moves<T> = ArrayVec<T, { <$word>::BITS as usize / 8 }>;

            #[inline]
            fn load(shared: &$shared) -> $word {
                shared.load(Ordering::Relaxed)
            }

            #[inline]
            fn store(self, shared: &$shared) {
                shared.store(self, Ordering::Relaxed);
            }

            #[inline]
            fn truncate(wide: u128) -> $word {
                wide as $word
            }

            #[inline]
            fn low(self) -> u64 {
                self as u64
            }

            #[inline]
            fn folded(self) -> u64 {
                let wide = self as u128;
                (wide >> 64) as u64 ^ wide as u64
            }

            #[inline]
            fn bytes(self) -> impl DoubleEndedIterator<Item = u8> {
                self.to_le_bytes().into_iter()
            }

            #[inline]
            fn array(self) -> [u8; 16] {
                (self as u128).to_le_bytes()
            }

            #[inline]
            fn wrapping_add(self, other: $word) -> $word {
                <$word>::wrapping_add(self, other)
            }

            #[inline]
            fn wrapping_mul(self, other: $word) -> $word {
                <$word>::wrapping_mul(self, other)
            }
        }

        impl sealed::Sealed for $word {}
    };
}

// Factors from the golden ratio and from MurmurHash3's finaliser.
word!(u64, AtomicU64, seeds: 127, spread: [0x9e37_79b9_7f4a_7c15, 0xc4ce_b9fe_1a85_ec53]);
// Factors from the golden ratio and from PCG's generators (O'Neill 2014).
word!(u128, AtomicU128, seeds: 255, spread: [
    0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835,
    0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645,
]);

mod sealed {
    pub trait Sealed {}
}
