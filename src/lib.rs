//! Exact endgame tablebases for the sowing game Kalah: build, verify, probe.
#![warn(missing_docs)]

pub mod build;
pub mod game;
pub mod index;
pub mod isa;
pub mod table;
pub mod verify;
