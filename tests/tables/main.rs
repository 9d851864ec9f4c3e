//! Ranks, table files, archives and books: reading, writing, damage.

mod archive;
mod book;
mod consistency;
mod damage;
mod file_writes;
mod forged_archive;
mod impossible_boards;
mod index;
mod probe;
mod publish;
mod read_at;
mod sample;
mod small_table;
mod table_directories;
mod verify;

use kalah::index::Frame;
use kalah::isa::Isa;
use kalah::table::{PackedFrame, Table, TableImage, TableKey};

/// Makes a table with these scores, by frame and index.
fn table_of(key: TableKey, mut score: impl FnMut(Frame, u64) -> u8) -> Table {
    let mut image = TableImage::new(key);
    for frame in key.frames() {
        let scores: Vec<u8> = (0..frame.positions()).map(|index| score(frame, index)).collect();
        image.write(&PackedFrame::pack(Isa::detect(), frame, &scores));
    }
    image.finish().unwrap()
}

/// The same table with another score at one place, and with correct checksums.
fn rescored(table: &Table, place: (Frame, u64), score: impl Fn(u8) -> u8) -> Table {
    table_of(table.key(), |frame, index| {
        let (mover, other) = frame.ranks(index);
        let right = table.score(frame.mover, mover, other).unwrap();
        if (frame, index) == place { score(right) } else { right }
    })
}
