//! Playing the sowing game Kalah.
//!
//! The crate `kalah` re-exports these modules. [`kgp`] uses [`play`]. [`mod@record`] and [`watcher`] use no other
//! module.
//!
//! | module | contents |
//! |---|---|
//! | [`kgp`] | a client of the Kalah Game Protocol |
//! | [`play`] | players of the game, and games between them |
//! | [`mod@record`] | games as text |
//! | [`watcher`] | a thread that watches other work |

pub mod kgp;
pub mod play;
pub mod record;
pub mod watcher;
