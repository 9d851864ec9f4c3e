//! Ranks, table files, archives and books: reading, writing, damage.

mod archive;
mod book;
mod consistency;
mod damage;
mod index;
mod probe;
mod read_at;
#[path = "../reference/mod.rs"]
mod reference;
mod sample;
mod table_directories;
mod verify;
