//! Players in other programs: a line protocol over pipes, similar to UCI, described in `docs/engine.md`.

// | module | contents |
// |---|---|
// | `command` | the command line of an engine, read and written |
// | `request` | the lines to an engine, read and written |
// | `reply` | the lines from an engine, read and written |
// | `queue` | lines that wait while our engine thinks |
// | `running` | the running engines, so that none outlives the program |
// | `process` | an engine's process and its pipes |
// | `external` | a player that is an engine |
// | `session` | the engine's side: our players for other programs |

mod command;
mod external;
mod process;
mod queue;
mod reply;
mod request;
mod running;
mod session;

pub use command::{BadEngineCommand, EngineCommand};
pub(super) use external::External;
pub use running::kill_engines;
pub use session::{EngineSetting, serve_engine};

/// Prefix of the name of an external engine; its command line follows.
pub(super) const PREFIX: &str = "engine:";

/// Maximum bytes of a line of the protocol, in either direction, without its line end.
pub const MAX_LINE: usize = 4096;
