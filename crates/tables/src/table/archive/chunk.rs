//! A chunk: scores as streams of 4-bit symbols, one stream per class of contexts, in a zstd frame.

use std::io::{self, Write};
use std::path::Path;

use kalah_core::table::TableError;
use zstd::stream::raw::CParameter;
use zstd::zstd_safe::get_frame_content_size;

use super::order::PARENTS;

const CLASSES: usize = 32;

/// Symbol of a score that no other symbol can express. The score is among the escapes.
const ESCAPE: u8 = 15;

/// Symbol of a correctly predicted score.
const CENTRE: i32 = 7;

/// The smallest of the eight biases that a context can have.
const BIAS_MIN: i32 = -4;

/// Bytes of the counts: symbols of each class, and escapes.
const COUNT_BYTES: usize = 4 * (CLASSES + 1);

/// Bytes before the streams: counts and context map.
const PREFIX_BYTES: usize = COUNT_BYTES + CONTEXTS;

/// Positions that justify one more class.
const CLASS_POSITIONS: usize = 1 << 15;

/// Rounds of assigning contexts to classes.
const ROUNDS: usize = 8;

/// Maximum bytes of a chunk's content.
fn content_limit(positions: usize) -> usize {
    PREFIX_BYTES + CLASSES + positions / 2 + positions
}

/// The parents of the rows of a chunk.
pub(super) struct Shape {
    /// Parents of the other player's rows.
    pub others: Vec<[u32; PARENTS]>,
    /// Parents of the mover's rows.
    pub movers: Vec<[u32; PARENTS]>,
}

impl Shape {
    /// Number of positions.
    pub(super) fn positions(&self) -> usize {
        self.others.len() * self.movers.len()
    }
}

/// Encodes the scores of a chunk as a zstd frame.
pub(super) fn encode(shape: &Shape, scores: &mut [u8]) -> io::Result<Vec<u8>> {
    let mut residuals: Vec<(u16, i8)> = Vec::with_capacity(scores.len());
    let mut histograms = vec![[0u32; 128]; CONTEXTS];
    visit(&shape.others, &shape.movers, scores, |context, prediction, score| {
        let residual = score.wrapping_sub(prediction) as i8;
        residuals.push((context as u16, residual));
        histograms[context][(residual as u8 ^ 64) as usize & 127] += 1;
    });
    let map = ContextMap::fit(&histograms, scores.len());
    let mut symbols = vec![Vec::new(); CLASSES];
    let mut escapes = Vec::new();
    for (&(context, residual), &score) in residuals.iter().zip(&*scores) {
        let (class, bias) = map.get(usize::from(context));
        let symbol = symbol(i32::from(residual) - bias);
        symbols[class].push(symbol);
        if symbol == ESCAPE {
            escapes.push(score);
        }
    }
    let counts = symbols.iter().chain([&escapes]).flat_map(|stream| (stream.len() as u32).to_le_bytes());
    let mut streams = vec![counts.chain(map.0.iter().copied()).collect()];
    streams.extend(symbols.iter().map(|symbols| pairs(symbols)));
    streams.push(escapes);
    compress(&streams)
}

/// Packs two symbols per byte, the first in the low half.
fn pairs(symbols: &[u8]) -> Vec<u8> {
    symbols.chunks(2).map(|pair| pair[0] | pair.get(1).unwrap_or(&0) << 4).collect()
}

/// Symbol of a residual minus its bias.
fn symbol(residual: i32) -> u8 {
    let symbol = residual + CENTRE;
    if (0..i32::from(ESCAPE)).contains(&symbol) { symbol as u8 } else { ESCAPE }
}

/// Makes one zstd frame, with each stream in separate blocks, so that it has its own Huffman codes.
fn compress(streams: &[Vec<u8>]) -> io::Result<Vec<u8>> {
    let bytes = streams.iter().map(Vec::len).sum::<usize>();
    let mut encoder = zstd::Encoder::new(Vec::with_capacity(bytes / 2), 1)?;
    // Symbols look like noise to a match search: the few matches cost more than they save.
    encoder.set_parameter(CParameter::Strategy(zstd::zstd_safe::Strategy::ZSTD_fast))?;
    encoder.set_parameter(CParameter::MinMatch(7))?;
    encoder.set_parameter(CParameter::HashLog(6))?;
    encoder.include_checksum(true)?;
    encoder.include_contentsize(true)?;
    encoder.set_pledged_src_size(Some(bytes as u64))?;
    for stream in streams.iter().filter(|stream| !stream.is_empty()) {
        encoder.write_all(stream)?;
        encoder.flush()?;
    }
    encoder.finish()
}

/// Decodes the zstd frame of a chunk into its scores; `None` if it is damaged.
///
/// No score is above `max_score`.
pub(super) fn decode(shape: &Shape, frame: &[u8], max_score: u8, scores: &mut [u8]) -> Option<()> {
    let content_bytes = usize::try_from(get_frame_content_size(frame).ok()??).ok()?;
    if content_bytes > content_limit(shape.positions()) {
        return None;
    }
    let content = zstd::bulk::decompress(frame, content_bytes).ok()?;
    if content.len() != content_bytes {
        return None;
    }
    let (counts, rest) = content.split_at_checked(COUNT_BYTES)?;
    let (map, mut rest) = rest.split_at_checked(CONTEXTS)?;
    let map = ContextMap(map.try_into().ok()?);
    // For each class, where its next symbol is and where its last one ends.
    let mut streams = [Stream::default(); CLASSES];
    let mut counts = counts.as_chunks::<4>().0.iter().map(|&count| u32::from_le_bytes(count));
    for (stream, count) in streams.iter_mut().zip(counts.by_ref()) {
        let (bytes, behind) = rest.split_at_checked(count.div_ceil(2) as usize)?;
        *stream = Stream { bytes, next: 0, count };
        rest = behind;
    }
    if counts.next() != Some(rest.len() as u32) {
        return None;
    }
    let mut escapes = rest.iter();
    let mut sound = true;
    visit(&shape.others, &shape.movers, scores, |context, prediction, score| {
        let (class, bias) = map.get(context);
        match streams[class].next() {
            Some(ESCAPE) => match escapes.next() {
                Some(&escape) => *score = escape,
                None => sound = false,
            },
            Some(symbol) => *score = (i32::from(prediction) + bias + i32::from(symbol) - CENTRE) as u8,
            None => sound = false,
        }
        sound &= *score <= max_score;
    });
    let used = streams.iter().all(|stream| stream.next == stream.count) && escapes.next().is_none();
    (sound && used).then_some(())
}

/// Symbols of a class not yet decoded.
#[derive(Clone, Copy, Default)]
struct Stream<'a> {
    bytes: &'a [u8],
    next: u32,
    count: u32,
}

impl Stream<'_> {
    #[inline]
    fn next(&mut self) -> Option<u8> {
        if self.next == self.count {
            return None;
        }
        let byte = self.bytes.get(self.next as usize / 2)?;
        let symbol = byte >> (4 * (self.next % 2)) & 15;
        self.next += 1;
        Some(symbol)
    }
}

/// The class of each context (low 5 bits), and its bias minus [`BIAS_MIN`] (high 3 bits).
struct ContextMap([u8; CONTEXTS]);

impl ContextMap {
    #[inline]
    fn get(&self, context: usize) -> (usize, i32) {
        let entry = self.0[context];
        (usize::from(entry % CLASSES as u8), i32::from(entry / CLASSES as u8) + BIAS_MIN)
    }

    /// Fits a map to contexts with these residuals; contexts with similar residuals share a class.
    ///
    /// The bias of a context is its mean residual. The classes come from k-means. The distance of a
    /// context from a class is the number of bits of the context's symbols in a code made for the
    /// class. All arithmetic is in integers, so that the bytes are the same on every machine.
    fn fit(histograms: &[[u32; 128]], positions: usize) -> ContextMap {
        let mut map = ContextMap([0; CONTEXTS]);
        let mut contexts = Vec::new();
        for (context, histogram) in histograms.iter().enumerate() {
            let count = histogram.iter().sum::<u32>();
            if count == 0 {
                continue;
            }
            let with_residuals = || histogram.iter().zip(-64..).filter(|&(&count, _)| count > 0);
            let sum: i64 = with_residuals().map(|(&count, residual)| i64::from(count) * residual).sum();
            let mean = (2 * sum + i64::from(count)).div_euclid(2 * i64::from(count)) as i32;
            let bias = mean.clamp(BIAS_MIN, BIAS_MIN + 7);
            let mut symbols = [0; 16];
            for (&count, residual) in with_residuals() {
                symbols[usize::from(symbol(residual as i32 - bias))] += count;
            }
            contexts.push(Context { context, count, symbols, bias, class: 0 });
        }
        let classes = (positions / CLASS_POSITIONS).clamp(1, CLASSES);
        // Initially, classes of equal weight, in the order of bits per symbol.
        contexts.sort_by_cached_key(|context| context.bits(&code(&context.symbols)) / u64::from(context.count));
        let mut before = 0;
        for context in &mut contexts {
            context.class = before * classes / positions;
            before += context.count as usize;
        }
        for _ in 0..ROUNDS {
            let mut sums = vec![[0u32; 16]; classes];
            for context in &contexts {
                for (sum, count) in sums[context.class].iter_mut().zip(&context.symbols) {
                    *sum += count;
                }
            }
            let codes: Vec<_> = sums.iter().map(code).collect();
            for context in &mut contexts {
                let nearest = (0..classes).min_by_key(|&class| context.bits(&codes[class]));
                context.class = nearest.expect("there is a class");
            }
        }
        for context in &contexts {
            map.0[context.context] = ((context.bias - BIAS_MIN) as u8) << 5 | context.class as u8;
        }
        map
    }
}

/// A context that occurs in a chunk.
struct Context {
    context: usize,
    count: u32,
    symbols: [u32; 16],
    bias: i32,
    class: usize,
}

impl Context {
    /// Bits, in 1/256, of its symbols in a code.
    fn bits(&self, code: &[u32; 16]) -> u64 {
        self.symbols.iter().zip(code).map(|(&count, &bits)| u64::from(count) * u64::from(bits)).sum()
    }
}

/// Bits, in 1/256, of each symbol in a code for symbols with these counts.
fn code(counts: &[u32; 16]) -> [u32; 16] {
    // A symbol that does not occur counts as a quarter, so that it gets a code, too.
    let total = counts.iter().map(|&count| 4 * u64::from(count) + 1).sum();
    counts.map(|count| log2(total) - log2(4 * u64::from(count) + 1))
}

/// Logarithm to base 2 of `value` (1 to 2^40) in 1/256, rounded down.
fn log2(value: u64) -> u32 {
    let whole = value.ilog2();
    // The mantissa, from 1 to below 2, in 31 bits. Each squaring gives one bit of its logarithm.
    let mut mantissa = if whole > 31 { value >> (whole - 31) } else { value << (31 - whole) };
    let mut log = whole;
    for _ in 0..8 {
        mantissa = (mantissa * mantissa) >> 31;
        let bit = mantissa >> 32;
        log = (log << 1) | bit as u32;
        mantissa >>= bit;
    }
    log
}

/// Allocates a byte for each position. The error names the file at `path`.
pub(super) fn zeroed(path: &Path, positions: u64) -> Result<Vec<u8>, TableError> {
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(positions as usize)
        .map_err(|_| TableError::io(path)(std::io::ErrorKind::OutOfMemory.into()))?;
    bytes.resize(positions as usize, 0);
    Ok(bytes)
}

/// Number of contexts: four differences, each clamped to one of 7 values.
pub(super) const CONTEXTS: usize = 7 * 7 * 7 * 7;

/// Visits the scores of a chunk in order, each with its context and its prediction.
///
/// `others` and `movers` hold the parents of the rows. `scores` holds, for each other row, a score
/// for each mover's row. Before a visit only the scores before it are read, so a decoder can set
/// the score in its visit.
#[inline]
pub(super) fn visit(
    others: &[[u32; PARENTS]],
    movers: &[[u32; PARENTS]],
    scores: &mut [u8],
    mut visit: impl FnMut(usize, u8, &mut u8),
) {
    let width = movers.len();
    for (row, above) in others.iter().enumerate() {
        let (done, run) = scores.split_at_mut(row * width);
        let run = &mut run[..width];
        if row == 0 {
            visit(context_of_corner(), 0, &mut run[0]);
            for place in 1..width {
                let left = movers[place].map(|parent| run[parent as usize]);
                let (context, prediction) = predict(left, left, left);
                visit(context, prediction, &mut run[place]);
            }
            continue;
        }
        let above = above.map(|parent| &done[parent as usize * width..][..width]);
        let up = above.map(|run| run[0]);
        let (context, prediction) = predict(up, up, up);
        visit(context, prediction, &mut run[0]);
        for place in 1..width {
            let parents = movers[place];
            let left = parents.map(|parent| run[parent as usize]);
            let up = above.map(|run| run[place]);
            let corner = std::array::from_fn(|k| above[k][parents[k] as usize]);
            let (context, prediction) = predict(left, up, corner);
            visit(context, prediction, &mut run[place]);
        }
    }
}

/// Context and prediction of a score from those at the parents of its mover's row (left), its other
/// row (up), and both (corner).
///
/// Each of the three parents gives a guess: the median of left, up and left + up - corner. That is
/// the plane through the three unless it lies outside them (the predictor MED of LOCO-I,
/// Weinberger, Seroussi, Sapiro 2000, section 3.1). The prediction is the median of the guesses.
/// The differences among guesses and neighbours are the context.
#[inline]
fn predict(left: [u8; PARENTS], up: [u8; PARENTS], corner: [u8; PARENTS]) -> (usize, u8) {
    let guess: [i32; PARENTS] = std::array::from_fn(|k| {
        let (left, up, corner) = (i32::from(left[k]), i32::from(up[k]), i32::from(corner[k]));
        (left + up - corner).clamp(left.min(up), left.max(up))
    });
    let differences = [
        i32::from(left[0]) - i32::from(corner[0]),
        i32::from(up[0]) - i32::from(corner[0]),
        guess[1] - guess[0],
        guess[2] - guess[0],
    ];
    let context = differences.iter().fold(0, |context, difference| context * 7 + (difference.clamp(&-3, &3) + 3));
    let (low, high) = (guess[0].min(guess[1]), guess[0].max(guess[1]));
    (context as usize, guess[2].clamp(low, high) as u8)
}

/// The context without differences.
fn context_of_corner() -> usize {
    CONTEXTS / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_right() {
        for value in (1..5000).chain((5000..1 << 40).step_by(1 << 33)) {
            let right = (value as f64).log2() * 256.0;
            assert!((f64::from(log2(value)) - right).abs() < 1.01, "{value}: {} {right}", log2(value));
        }
    }
}
