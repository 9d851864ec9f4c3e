//! How many bits symbols take in a code that was fitted to other symbols of the same kind.

/// Symbols are -64 to 63.
const SYMBOLS: usize = 128;

/// Counts symbols in contexts, in two halves of a sample.
pub struct Counter {
    counts: [Vec<u32>; 2],
    /// Positions that take no bits, since they are known without their symbol.
    free: u64,
}

impl Counter {
    pub fn new(contexts: usize) -> Counter {
        Counter { counts: [vec![0; contexts * SYMBOLS], vec![0; contexts * SYMBOLS]], free: 0 }
    }

    /// Counts `symbol` in `context`, in half 0 or 1 of the sample.
    pub fn add(&mut self, half: usize, context: usize, symbol: i32) {
        let place = (symbol + SYMBOLS as i32 / 2).clamp(0, SYMBOLS as i32 - 1) as usize;
        self.counts[half][context * SYMBOLS + place] += 1;
    }

    /// Counts a position that needs no symbol.
    pub fn add_free(&mut self) {
        self.free += 1;
    }

    /// Bits a symbol of an ideal code for either half whose frequencies are those of the other half; in each context
    /// the frequencies of all contexts together have the weight of one symbol. So contexts that are too fine do not
    /// look better than they are.
    pub fn bits(&self) -> f64 {
        let (mut bits, mut symbols) = (0.0, self.free);
        for (known, coded) in [(0, 1), (1, 0)].map(|(a, b)| (&self.counts[a], &self.counts[b])) {
            let mut all = [0.01; SYMBOLS];
            known.iter().enumerate().for_each(|(at, &count)| all[at % SYMBOLS] += f64::from(count));
            let sum: f64 = all.iter().sum();
            all.iter_mut().for_each(|count| *count /= sum);
            for (known, coded) in known.chunks(SYMBOLS).zip(coded.chunks(SYMBOLS)) {
                let sum: f64 = known.iter().map(|&count| f64::from(count)).sum();
                for ((&known, &coded), all) in known.iter().zip(coded).zip(all).filter(|((_, coded), _)| **coded > 0) {
                    bits -= f64::from(coded) * ((f64::from(known) + all) / (sum + 1.0)).log2();
                    symbols += u64::from(coded);
                }
            }
        }
        bits / symbols.max(1) as f64
    }
}
