use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::format::{ALIGNMENT, BLOCK_BYTES, FrameEntry};
use super::line::{self, LINE_BYTES, LINE_POSITIONS, Line, OVERFLOW_BYTES, Overflow};
use crate::index::Frame;
use crate::isa::Isa;

/// Lines packed by one task: one block of checksummed bytes.
const CHUNK_LINES: usize = BLOCK_BYTES / LINE_BYTES;

/// The scores of a frame in their packed form.
///
/// The bytes may come from a damaged file: nothing here panics on them, and a wide line without its record is told.
#[derive(Clone, Copy)]
pub struct FrameScores<'a> {
    frame: Frame,
    lines: &'a [Line],
    overflow: &'a [Overflow],
}

/// A wide line refers to an overflow record that the frame does not have: the file is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the frame with {mover} seeds to move and {other} opposite is damaged")]
pub struct DamagedLine {
    /// The line, from 0.
    pub line: u64,
    /// Seeds in the mover's row.
    pub mover: usize,
    /// Seeds in the other row.
    pub other: usize,
}

impl<'a> FrameScores<'a> {
    /// The scores in `lines` (one for each [`LINE_POSITIONS`] positions of `frame`) and their overflow records.
    ///
    /// `None` when the lines are too few for the frame.
    pub fn new(
        frame: Frame,
        lines: &'a [Line],
        overflow: &'a [Overflow],
    ) -> Option<FrameScores<'a>> {
        let needed = frame.positions().div_ceil(LINE_POSITIONS as u64);
        (lines.len() as u64 >= needed).then_some(FrameScores {
            frame,
            lines,
            overflow,
        })
    }

    /// The frame.
    pub fn frame(&self) -> Frame {
        self.frame
    }

    /// The score of the position with this index in the frame (see [`Frame::index`]).
    ///
    /// # Errors
    /// When its line is damaged.
    ///
    /// # Panics
    /// When the frame has no such index.
    #[inline]
    pub fn score(&self, index: u64) -> Result<u8, DamagedLine> {
        let (number, place) = (
            index / LINE_POSITIONS as u64,
            (index % LINE_POSITIONS as u64) as usize,
        );
        let line = &self.lines[number as usize];
        match line::overflow_index(line) {
            None => Ok(line::score(line, place)),
            Some(_) => Ok(line::wide_score(line, self.record(number, line)?, place)),
        }
    }

    /// The scores of `count` positions from index `start` on, unpacked into `buffer`, which grows as needed.
    ///
    /// # Errors
    /// When a line is damaged.
    #[inline]
    pub fn run<'b>(
        &self,
        isa: Isa,
        start: u64,
        count: usize,
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b [u8], DamagedLine> {
        let first = (start / LINE_POSITIONS as u64) as usize;
        let skip = (start % LINE_POSITIONS as u64) as usize;
        let lines = (skip + count).div_ceil(LINE_POSITIONS);
        if buffer.len() < lines * LINE_POSITIONS + 2 {
            buffer.resize(lines * LINE_POSITIONS + 2 * LINE_BYTES, 0);
        }
        self.decode(isa, first, lines, buffer)?;
        Ok(&buffer[skip..skip + count])
    }

    /// Unpacks whole lines; `out` has room for two bytes more than their scores.
    fn decode(
        &self,
        isa: Isa,
        first: usize,
        count: usize,
        out: &mut [u8],
    ) -> Result<(), DamagedLine> {
        let lines = &self.lines[first..first + count];
        if line::decode_lines(isa, lines, out) {
            for (index, line) in lines
                .iter()
                .enumerate()
                .filter(|(_, line)| line::overflow_index(line).is_some())
            {
                let record = self.record((first + index) as u64, line)?;
                line::decode_wide(line, record, &mut out[index * LINE_POSITIONS..]);
            }
        }
        Ok(())
    }

    #[inline]
    fn record(&self, number: u64, line: &Line) -> Result<&'a Overflow, DamagedLine> {
        let index = line::overflow_index(line).unwrap_or_default();
        let damaged = DamagedLine {
            line: number,
            mover: self.frame.mover,
            other: self.frame.other,
        };
        self.overflow.get(index as usize).ok_or(damaged)
    }
}

/// A frame packed for writing: data (lines, then overflow records), then the checksums of its blocks.
///
/// The bytes depend on the scores alone.
pub struct PackedFrame {
    /// The frame.
    pub frame: Frame,
    lines: u64,
    wide_lines: u64,
    exceptions: u64,
    section: Vec<u8>,
}

impl PackedFrame {
    /// Packs the scores of `frame`, one byte each in the order of their indices, on all threads of the current pool.
    ///
    /// # Panics
    /// When there is not one score for each position, or one is above [`line::MAX_SCORE`].
    pub fn pack(isa: Isa, frame: Frame, scores: &[u8]) -> PackedFrame {
        assert_eq!(
            scores.len() as u64,
            frame.positions(),
            "one score for each position of {frame:?}"
        );
        let lines = scores.len().div_ceil(LINE_POSITIONS);
        let mut section = Vec::with_capacity(lines * LINE_BYTES + lines * LINE_BYTES / 64);
        section.resize(lines * LINE_BYTES, 0);
        let packed: Vec<(Vec<Overflow>, u64)> = section
            .as_chunks_mut::<LINE_BYTES>()
            .0
            .par_chunks_mut(CHUNK_LINES)
            .zip(scores.par_chunks(CHUNK_LINES * LINE_POSITIONS))
            .map(|(lines, scores)| line::encode_lines(isa, scores, lines))
            .collect();
        // Each task numbered its wide lines from 0.
        let mut wide_lines = 0;
        for (chunk, (records, _)) in section
            .as_chunks_mut()
            .0
            .chunks_mut(CHUNK_LINES)
            .zip(&packed)
        {
            if !records.is_empty() && wide_lines > 0 {
                for line in chunk {
                    if let Some(index) = line::overflow_index(line) {
                        line::set_overflow_index(line, index + wide_lines as u32);
                    }
                }
            }
            wide_lines += records.len();
        }
        for (records, _) in &packed {
            section.extend_from_slice(records.as_flattened());
        }
        let exceptions = packed.iter().map(|(_, exceptions)| exceptions).sum();
        section.resize(section.len().next_multiple_of(ALIGNMENT as usize), 0);
        let checksums: Vec<u64> = section.par_chunks(BLOCK_BYTES).map(xxh3_64).collect();
        section.extend(checksums.iter().flat_map(|checksum| checksum.to_le_bytes()));
        section.resize(section.len().next_multiple_of(ALIGNMENT as usize), 0);
        PackedFrame {
            frame,
            lines: lines as u64,
            wide_lines: wide_lines as u64,
            exceptions,
            section,
        }
    }

    /// The packed scores.
    pub fn scores(&self) -> FrameScores<'_> {
        let (lines, rest) = self.section.split_at(self.lines as usize * LINE_BYTES);
        let overflow = &rest.as_chunks::<OVERFLOW_BYTES>().0[..self.wide_lines as usize];
        FrameScores {
            frame: self.frame,
            lines: lines.as_chunks().0,
            overflow,
        }
    }

    /// The bytes as they stand in a file.
    pub fn section(&self) -> &[u8] {
        &self.section
    }

    /// The directory entry of the frame when it stands at `offset`.
    pub fn entry(&self, offset: u64) -> FrameEntry {
        FrameEntry {
            offset,
            lines: self.lines,
            wide_lines: self.wide_lines,
            exceptions: self.exceptions,
            digest: *blake3::hash(&self.section).as_bytes(),
        }
    }
}
