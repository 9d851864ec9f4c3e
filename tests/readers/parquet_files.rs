//! Exported Parquet files, read by the crate that Apache makes. `analyse/export.rs` has the other formats.

use bytes::Bytes;
use kalah::build::build;
use kalah::export::{Export, ExportFormat, export};
use kalah::game::Rules;
use kalah::progress::Pulse;
use kalah::table::{Table, TableKey};
use parquet::basic::LogicalType;
use parquet::column::reader::ColumnReader;
use parquet::file::reader::{FileReader, SerializedFileReader};

/// Maximum records of a row group.
const ROW_GROUP: usize = 1 << 20;

/// Bytes of an export, written with this many threads.
fn exported(export_of: &Export, threads: usize) -> Vec<u8> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let mut bytes = Vec::new();
    pool.install(|| export(export_of, &mut bytes, &Pulse::default())).unwrap();
    bytes
}

/// The records of each row group. The columns are those of CSV.
fn row_groups(bytes: Vec<u8>) -> Vec<Vec<u8>> {
    let file = SerializedFileReader::new(Bytes::from(bytes)).unwrap();
    let columns = file.metadata().file_metadata().schema_descr().columns().to_vec();
    let row = |row: &'static str| (1..=columns.len() / 2).map(move |pit| format!("{row}{pit}"));
    let names: Vec<String> = row("mover").chain(row("other")).chain(["score".to_owned()]).collect();
    assert_eq!(columns.iter().map(|column| column.name()).collect::<Vec<_>>(), names);
    let unsigned_byte = LogicalType::integer(8, false);
    assert!(columns.iter().all(|column| column.logical_type_ref() == Some(&unsigned_byte)));
    let group = |index| {
        let group = file.get_row_group(index).unwrap();
        let positions = group.metadata().num_rows() as usize;
        let mut records = vec![0; positions * columns.len()];
        for column in 0..columns.len() {
            let ColumnReader::Int32ColumnReader(mut reader) = group.get_column_reader(column).unwrap() else {
                panic!("another type")
            };
            let mut values = Vec::new();
            reader.read_records(positions, None, None, &mut values).unwrap();
            assert_eq!(values.len(), positions);
            for (record, value) in records.chunks_exact_mut(columns.len()).zip(values) {
                record[column] = u8::try_from(value).unwrap();
            }
        }
        records
    };
    (0..file.num_row_groups()).map(group).collect()
}

/// The last layer has more positions than a row group.
#[test]
fn a_file_has_the_records_of_an_array_in_row_groups_whatever_the_threads() {
    let directory = tempfile::tempdir().unwrap();
    for (pits, seeds) in [(1, 9), (3, 12), (6, 6), (6, 12)] {
        build(directory.path(), Rules::Standard, pits, seeds).unwrap();
        let table = Table::open_key(directory.path(), TableKey { rules: Rules::Standard, pits, seeds }).unwrap();
        let all = table.header().positions;
        for sample in [None, Some(1), Some(100), Some(all - 1)] {
            let with = |format| Export { table: &table, format, sample: sample.map(|count| (count, 7)) };
            let array = exported(&with(ExportFormat::Npy), 1);
            let positions = sample.map_or(all, |count| count.min(all)) as usize;
            let records = &array[array.len() - positions * (2 * pits + 1)..];
            let file = exported(&with(ExportFormat::Parquet), 1);
            assert!(file == exported(&with(ExportFormat::Parquet), 3), "{pits} {seeds} {sample:?}");
            let groups = row_groups(file);
            assert!(groups.concat() == records, "{pits} {seeds} {sample:?}");
            let lengths: Vec<usize> = groups.iter().map(|group| group.len() / (2 * pits + 1)).collect();
            let (last, full) = lengths.split_last().unwrap();
            assert!(full.iter().all(|&length| length == ROW_GROUP) && (1..=ROW_GROUP).contains(last), "{lengths:?}");
        }
    }
}
