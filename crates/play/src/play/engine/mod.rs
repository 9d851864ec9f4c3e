//! Players in other programs: a line protocol over pipes, similar to UCI, described in `docs/engine.md`.

// | module | contents |
// |---|---|
// | `process` | processes of engines, none of which outlives the program |
// | `external` | a player that is an engine |
// | `serve` | the engine's side: our players for other programs |

mod external;
mod process;
mod serve;

pub(super) use external::External;
pub use process::kill_engines;
pub(super) use process::words;
pub use serve::serve_engine;

/// Prefix of the name of an external engine; its command line follows.
pub(super) const PREFIX: &str = "engine:";
