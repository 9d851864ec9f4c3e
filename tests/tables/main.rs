//! Ranks, table files, archives and books: reading, writing, damage.

mod archive;
mod book;
mod consistency;
mod damage;
mod impossible_boards;
mod index;
mod no_map;
mod probe;
mod publish;
mod read_at;
mod sample;
mod table_directories;
mod verify;
