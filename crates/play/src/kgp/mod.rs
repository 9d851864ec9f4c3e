//! A client of the Kalah Game Protocol (version 1, <https://github.com/KWARC/kalah-game>): plays on a server.

// | module | contents |
// |---|---|
// | `command` | a line of the protocol, read and written |
// | `requests` | positions that the server wants moves for, each until its time is up or the server sends stop
// |
// | `event` | events of a session, safe for a terminal and reported at a limited rate |
// | `sender` | lines to the server, from any thread |
// | `thinking` | choosing moves, on several threads |
// | `error` | errors that end a session |
// | `session` | one connection from the greeting to the goodbye |

mod command;
mod error;
mod event;
mod requests;
mod sender;
mod session;
mod thinking;

pub use command::{Argument, BadCommand, Command, MAX_LINE};
pub use error::KgpError;
pub use event::KgpEvent;
pub use session::{End, Introduction, play};
pub use thinking::{RULES, Thinking};
