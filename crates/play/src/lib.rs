//! Playing the sowing game Kalah.
//!
//! The crate `kalah` re-exports these modules. Neither uses the other.
//!
//! | module | contents |
//! |---|---|
//! | [`play`] | players of the game, and games between them |
//! | [`mod@record`] | games as text |

pub mod play;
pub mod record;
