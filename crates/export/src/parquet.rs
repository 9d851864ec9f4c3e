use std::io::{self, Write};
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::Int32Type;
use parquet::errors::Result;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, Type};
use rayon::prelude::*;

use super::format::columns;

/// Records in a row group, the part of a file that readers load at once.
const GROUP: usize = 1 << 20;

/// A Parquet file being written. Records are written to it one after the other, a byte for each
/// column.
///
/// The columns are compressed on the threads of the current pool. The number of threads does not
/// change a byte.
pub(super) struct ParquetFile<'o> {
    out: &'o mut dyn Write,
    /// Holds at most one row group in memory.
    writer: SerializedFileWriter<Vec<u8>>,
    properties: WriterPropertiesPtr,
    columns: usize,
    /// Records of the unfinished row group.
    records: Vec<u8>,
}

impl<'o> ParquetFile<'o> {
    /// Begins a file of records with `pits` pits a side, written to `out`.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub(crate) fn begin(pits: usize, out: &'o mut dyn Write) -> io::Result<ParquetFile<'o>> {
        let unsigned_byte = LogicalType::integer(8, false);
        let fields: Result<Vec<_>> = columns(pits)
            .map(|name| {
                let column = Type::primitive_type_builder(&name, Physical::INT32)
                    .with_repetition(Repetition::REQUIRED)
                    .with_logical_type(Some(unsigned_byte.clone()));
                Ok(Arc::new(column.build()?))
            })
            .collect();
        let schema = Type::group_type_builder("schema").with_fields(fields?).build()?;
        let compression = Compression::ZSTD(ZstdLevel::default());
        let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
        let writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), properties.clone())?;
        Ok(ParquetFile { out, writer, properties, columns: 2 * pits + 1, records: Vec::new() })
    }

    /// Writes the remaining records and the footer.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        if !self.records.is_empty() {
            self.write_group()?;
        }
        self.out.write_all(&self.writer.into_inner()?)
    }

    fn write_group(&mut self) -> io::Result<()> {
        let descriptors = self.writer.schema_descr().columns().to_vec();
        let chunks: Result<Vec<_>> = descriptors
            .into_par_iter()
            .enumerate()
            .map(|(index, descriptor)| {
                let values = self.records[index..].iter().step_by(self.columns).map(|&value| value.into());
                chunk(descriptor, self.properties.clone(), &values.collect::<Vec<i32>>())
            })
            .collect();
        let mut group = self.writer.next_row_group()?;
        for (bytes, closed) in chunks? {
            group.append_column(&bytes, closed)?;
        }
        group.close()?;
        self.records.clear();
        // The writer has counted the bytes and no longer needs them.
        self.writer.flush()?;
        self.out.write_all(&std::mem::take(self.writer.inner_mut()))
    }
}

impl Write for ParquetFile<'_> {
    fn write(&mut self, records: &[u8]) -> io::Result<usize> {
        let full = GROUP * self.columns;
        let taken = records.len().min(full - self.records.len());
        self.records.extend_from_slice(&records[..taken]);
        if self.records.len() == full {
            self.write_group()?;
        }
        Ok(taken)
    }

    /// Does nothing: records wait until their row group is full.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Compresses the values of a column in a row group, and describes them for the footer.
fn chunk(
    descriptor: ColumnDescPtr,
    properties: WriterPropertiesPtr,
    values: &[i32],
) -> Result<(Bytes, parquet::column::writer::ColumnCloseResult)> {
    let mut sink = TrackedWrite::new(Vec::new());
    let pages = Box::new(SerializedPageWriter::new(&mut sink));
    let mut writer = ColumnWriterImpl::<Int32Type>::new(descriptor, properties, pages);
    writer.write_batch(values, None, None)?;
    let closed = writer.close()?;
    Ok((sink.into_inner()?.into(), closed))
}
