//! Playing the sowing game Kalah.
//!
//! The crate `kalah` re-exports these modules. None uses another one.
//!
//! | module | contents |
//! |---|---|
//! | [`play`] | players of the game, and games between them |
//! | [`mod@record`] | games as text |
//! | [`watcher`] | a thread that watches other work |

pub mod play;
pub mod record;
pub mod watcher;
