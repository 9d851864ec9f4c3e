use std::fmt::Write;

/// The format of exported records. A record is the mover's row, the other row and the score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportFormat {
    /// Comma-separated values under a heading: `mover1,..,moverM,other1,..,otherM,score`.
    Csv,
    /// An array for numpy, format version 1.0: unsigned bytes, a row for each position, the columns
    /// of CSV.
    Npy,
    /// Apache Parquet: the columns of CSV as unsigned integers of 8 bits, compressed by Zstandard.
    #[cfg(feature = "parquet")]
    Parquet,
}

impl ExportFormat {
    /// Bytes before the records of `positions` positions with `pits` pits a side.
    pub(super) fn head(self, pits: usize, positions: u64) -> Vec<u8> {
        match self {
            ExportFormat::Csv => {
                let heading: Vec<String> = columns(pits).collect();
                format!("{}\n", heading.join(",")).into_bytes()
            }
            ExportFormat::Npy => npy_head(positions, 2 * pits + 1),
            // The head is written when the file begins.
            #[cfg(feature = "parquet")]
            ExportFormat::Parquet => Vec::new(),
        }
    }

    /// Appends a record: text, or a byte for each column.
    pub(super) fn push(self, out: &mut Vec<u8>, mover: &[u8], other: &[u8], score: u8) {
        if self == ExportFormat::Csv {
            for &seeds in mover.iter().chain(other) {
                push_number(out, seeds);
                out.push(b',');
            }
            push_number(out, score);
            out.push(b'\n');
        } else {
            out.extend_from_slice(mover);
            out.extend_from_slice(other);
            out.push(score);
        }
    }
}

/// Names of the columns: `mover1`, .., `other1`, .., `score`.
pub(super) fn columns(pits: usize) -> impl Iterator<Item = String> {
    let row = move |row: &'static str| (1..=pits).map(move |pit| format!("{row}{pit}"));
    row("mover").chain(row("other")).chain(["score".to_owned()])
}

/// Head of an array of bytes: magic, version, length of the description, description, padded to 64
/// bytes.
fn npy_head(rows: u64, columns: usize) -> Vec<u8> {
    const BEFORE: usize = 10;
    let mut description = String::new();
    let _ = write!(description, "{{'descr': '|u1', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let padded = (BEFORE + description.len() + 1).next_multiple_of(64) - BEFORE;
    let mut head = b"\x93NUMPY\x01\x00".to_vec();
    head.extend_from_slice(&(padded as u16).to_le_bytes());
    head.extend_from_slice(description.as_bytes());
    head.resize(BEFORE + padded - 1, b' ');
    head.push(b'\n');
    head
}

/// Appends a number of at most two digits, which all of a table are. This is a hot loop, for which formatting machinery
/// is too slow.
fn push_number(out: &mut Vec<u8>, number: u8) {
    if number >= 10 {
        out.push(b'0' + number / 10);
    }
    out.push(b'0' + number % 10);
}
