//! Reads Kalah endgame tables: positions and rules, ranks, the table format, probing, checksums.
//!
//! The crate `kalah` re-exports this one, builds and verifies tables, and searches positions with
//! more seeds. A *table* covers a *layer*: all positions with the same number of seeds in play. For
//! each it holds the *score*: the seeds in play that the mover collects with best play.
//!
//! ```no_run
//! use kalah_core::game::{Position, Rules};
//! use kalah_core::table::Tables;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tables = Tables::open("tables", Rules::EmptyCapture, 6, 24)?;
//! let position: Position = "<6,7,21,0,2,10,1,0,1,1,3,0,1,1,0>".parse()?;
//! let probe = tables.probe(&position)?;
//! println!("score {}, value {:+}, line of best play {}", probe.score, probe.value, probe.line);
//! # Ok(())
//! # }
//! ```
//!
//! Dependencies run one way: [`game`], [`isa`], [`mod@file`] <- [`source`] <- [`directory`] <- [`evaluation`],
//! [`index`] <- [`table`]; [`cancel`], [`header`], [`memory`] <- [`table`].
//!
//! | module | contents |
//! |---|---|
//! | [`game`] | the rules of the game and nothing else |
//! | [`index`] | ranking positions without gaps |
//! | [`evaluation`] | evaluations of positions, which prove nothing |
//! | [`table`] | table files: the format, reading, checking, probing |
//! | [`mod@file`] | opening and reading regular files |
//! | [`source`] | where the bytes of a table come from: files, memory, other machines |
//! | [`directory`] | the directory of tables, here or elsewhere |
//! | [`header`] | the kinds of binary files, and their headers |
//! | [`memory`] | huge pages and prefetching |
//! | [`isa`] | the instruction sets that hot loops are compiled for |
//! | [`cancel`] | stopping long work; the clock, also where the host provides it |
//! | [`text`] | parts of messages |

pub mod cancel;
pub mod directory;
pub mod evaluation;
pub mod file;
pub mod game;
pub mod header;
pub mod index;
pub mod isa;
#[cfg(feature = "serde")]
mod json;
pub mod memory;
pub mod source;
pub mod table;
pub mod text;
