//! Players in other programs: a line protocol over pipes, similar to UCI, described in `docs/engine.md`.

// | module | contents |
// |---|---|
// | `process` | command lines of engines, and their processes, none of which outlives the program |
// | `external` | a player that is an engine |
// | `serve` | the engine's side: our players for other programs |

mod external;
mod process;
mod serve;

pub(super) use external::External;
pub use process::{EngineCommand, kill_engines};
pub use serve::{EngineSetting, serve_engine};

/// Prefix of the name of an external engine; its command line follows.
pub(super) const PREFIX: &str = "engine:";

/// Maximum bytes of a line of the protocol, in either direction, without its line end.
pub const MAX_LINE: usize = 4096;
