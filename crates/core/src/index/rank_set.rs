/// A set of ranks of rows, as bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankSet {
    /// Bit `rank % 64` of word `rank / 64`, followed by three words of 0.
    words: Vec<u64>,
    /// Number of rows; ranks are below this.
    rows: usize,
    len: usize,
}

impl RankSet {
    /// Makes the set of `ranks`. Panics when one is not below `rows`.
    pub fn new(rows: usize, ranks: impl IntoIterator<Item = u32>) -> RankSet {
        let mut words = vec![0u64; rows.div_ceil(64) + 3];
        for rank in ranks {
            assert!((rank as usize) < rows, "rank {rank} of {rows} rows");
            words[rank as usize / 64] |= 1 << (rank % 64);
        }
        let len = words.iter().map(|word| word.count_ones() as usize).sum();
        RankSet { words, rows, len }
    }

    /// Number of ranks in the set.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of rows; ranks are below this.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The ranks, ascending.
    pub fn ranks(&self) -> impl Iterator<Item = u32> {
        self.words.iter().zip((0..).step_by(64)).flat_map(|(&word, first)| {
            let next = |word: &u64| (word & word.wrapping_sub(1) != 0).then_some(word & word.wrapping_sub(1));
            std::iter::successors((word != 0).then_some(word), next).map(move |word| first + word.trailing_zeros())
        })
    }

    /// Membership of the 128 ranks from `first` on: bit `i` for rank `first + i`.
    #[inline(always)]
    pub(crate) fn window(&self, first: usize) -> u128 {
        let words: &[u64; 3] = self.words[first / 64..].first_chunk().expect("three words after the last rank");
        let shift = (first % 64) as u32;
        let low = u128::from(words[0]) | u128::from(words[1]) << 64;
        // In two steps, since shifting by 128 bits is not allowed.
        low >> shift | u128::from(words[2]) << 1 << (127 - shift)
    }
}
