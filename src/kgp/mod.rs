//! A client of the Kalah Game Protocol (version 1, <https://github.com/KWARC/kalah-game>): plays on a server of engines.
//!
//! | room | idea |
//! |---|---|
//! | [`command`](Command) | a line of the protocol, read and written |
//! | `duties` | the positions that the server waits for, each until its time is up or the server says stop |
//! | [`event`](Event) | what a person is told of a session, fit for a terminal and no flood |
//! | [`session`](play) | one connection from the greeting to the goodbye |

mod command;
mod duties;
mod event;
mod session;

pub use command::{Argument, BadCommand, Command, MAX_LINE};
pub use event::Event;
pub use session::{End, Introduction, KgpError, Thinking, play};
