//! Exact endgame tablebases for the sowing game Kalah: build, verify, probe.
//!
//! A *table* holds a score for every position of a *layer*, which is all positions with the same number of seeds in
//! play. The *score* is the number of those seeds that the mover collects with best play. Tables exist for several
//! [rule sets](game::Rules) and boards of 1 to 8 pits a side. Each layer is built from those below it:
//!
//! ```
//! use kalah::build::build;
//! use kalah::game::{Position, Rules};
//! use kalah::table::Tables;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let directory = tempfile::tempdir()?;
//! let (rules, pits, seeds) = (Rules::EmptyCapture, 6, 12);
//! build(directory.path(), rules, pits, seeds)?;
//!
//! let tables = Tables::open(directory.path(), rules, pits, seeds)?;
//! let start: Position = "6x1".parse()?;
//! let probe = tables.probe(&start)?;
//! assert_eq!((probe.score, probe.value), (7, 2));
//! assert_eq!(probe.line.to_string(), "65 65 4 4 3");
//! // After five turns the other player would be to move, and has lost by 2.
//! assert_eq!(probe.line.replay(rules, &start)?.final_value(), Some(-2));
//! # Ok(())
//! # }
//! ```
//!
//! The crate [`kalah_core`] has everything needed to read tables; most of its modules are re-exported here.
//!
//! Dependencies run one way: [`game`], [`mod@file`] <- [`index`], [`evaluation`] <- [`table`] <- [`rows`], [`gpu`] <-
//! [`build`] <- [`verify`]; [`table`] <- [`mod@export`]; [`table`] <- [`solve`] <- [`train`], [`analyse`],
//! [`certificate`] <- [`prove`]; [`certificate`] <- [`play`], [`mod@record`] <- [`serve`] <- the command line.
//!
//! The features `cli` (the command `kalah`), `gpu` (building on a GPU) and `serve` (the HTTP server) are on by
//! default; `parquet` (scores as Parquet) and `remote` (tables at an address) are off. Without any
//! feature, the library builds on the CPU, verifies, solves, plays and analyses.
//!
//! | module | contents |
//! |---|---|
//! | [`mod@file`] | opening, replacing, sealing and locking files |
//! | [`game`] | the rules of the game and nothing else |
//! | [`index`] | ranking positions without gaps |
//! | [`table`] | tables on disk: the codec, the format, reading, writing, probing, archives |
//! | [`evaluation`] | evaluations of positions, which prove nothing |
//! | [`rows`] | effects of moves on rows, in terms of ranks |
//! | [`gpu`] | computing on a GPU, whatever the computation |
//! | [`build`] | computing tables |
//! | [`verify`] | checking that tables are correct |
//! | [`mod@export`] | scores for other programs: CSV, numpy arrays, Parquet |
//! | [`certificate`] | proved bounds that anyone can check |
//! | [`book`] | proved bounds of positions near the start |
//! | [`solve`] | solving positions above the tables |
//! | [`prove`] | resumable proofs by any number of processes, and the claims of their certificates |
//! | [`train`] | training evaluation networks |
//! | [`analyse`] | analysing whole boards, as the papers do |
//! | [`answer`] | answers as JSON documents |
//! | [`play`] | players, and games between them |
//! | [`mod@record`] | games as text |
//! | [`remote`] | tables on another machine |
//! | [`serve`] | the tables over HTTP, and a page to play and explore on |
//! | [`memory`] | huge pages and prefetching |
//! | [`isa`] | the instruction sets that hot loops are compiled for |
//! | [`cancel`] | stopping long work |
//! | [`diagnostic`] | outcome and advice of errors |
//! | [`text`] | parts of messages |
//! | [`progress`] | progress of a long computation, and stopping it |
//! | [`system`] | available memory and free disk space |
//! | [`random`] | random numbers from seeds that users choose |
//! | [`printable`] | making untrusted text safe to print |
pub use kalah_analyse as analyse;
pub use kalah_api::answer;
pub use kalah_base::{diagnostic, printable, progress, random, system};
pub use kalah_core::{cancel, evaluation, game, header, index, isa, memory, text};
pub use kalah_export as export;
#[cfg(feature = "gpu")]
pub use kalah_gpu::device as gpu;
pub use kalah_play::{play, record};
pub use kalah_proof::prove;
#[cfg(feature = "remote")]
pub use kalah_remote as remote;
#[cfg(feature = "serve")]
pub use kalah_serve as serve;
pub use kalah_solve::solve;
pub use kalah_tables::{rows, verify};
pub use kalah_train as train;

/// Opening, replacing, sealing and locking files.
pub mod file {
    pub use kalah_base::file::*;
    pub use kalah_core::file::{InFile, found, open, open_with, read, read_exact_at, read_to_string};
}

/// Tables on disk: the format, reading, probing, writing, archives.
pub mod table {
    pub use kalah_core::directory::{Directory, Elsewhere};
    pub use kalah_core::source::{LocalFile, Memory, Source, SourceError, map_files};
    pub use kalah_core::table::*;
    pub use kalah_tables::table::*;
}

/// Proved bounds that anyone can check.
pub mod certificate {
    pub use kalah_proof::certificate::*;
    pub use kalah_solve::bounds::{Bound, Claim, ClaimError, ClaimKeys, ClaimSet};
}

/// Proved bounds of positions near the start, and making and checking them.
pub mod book {
    pub use kalah_proof::book::*;
    pub use kalah_solve::book::*;
}

/// Computing tables, layer by layer.
pub mod build {
    #[cfg(feature = "gpu")]
    pub use kalah_gpu::builder as gpu;
    pub use kalah_tables::builder::*;
}
