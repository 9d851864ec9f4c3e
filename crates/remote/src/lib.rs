//! Tables on another machine: a directory of table files at an address such as `https://example.org/tables`.
//!
//! [`RemoteTables::open`] finds the layers. A cache has a file for each, which holds only the header at first.
//! [`kalah_core::table::Table`] reads the blocks that it needs, compares each with its checksum, and keeps it in that
//! file. So everything that opens a directory of tables works with [`RemoteTables::directory`].
//!
//! The crate `kalah` re-exports it as `remote`.

// | module | contents |
// |---|---|
// | `address` | addresses of directories |
// | `error` | why a server's answer cannot be used |
// | `store` | files elsewhere, read by any means; their parts, several at a time |
// | `client` | files over HTTP: requests, in threads of their own, repeated where that helps |
// | `sign` | signatures of requests to S3 |
// | `cache` | the directory on disk that keeps blocks |
// | `tables` | the directory at an address, which tables are opened in |
// | `download` | whole layers |

mod address;
mod cache;
mod client;
mod download;
mod error;
mod sign;
mod store;
mod tables;

pub use address::Address;
pub use cache::Cache;
pub use download::Download;
pub use error::RemoteError;
pub use store::{FetchedBytes, Store};
pub use tables::{RemoteOptions, RemoteTables};
