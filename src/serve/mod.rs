//! The tables over HTTP: a JSON API, and a page to play and explore with them.
//!
//! `docs/serve.md` documents the API for its users.
//!
//! | room | idea |
//! |---|---|
//! | [`server`](serve) | listening, and stopping cleanly |
//! | `routes` | which request goes where; limits and headers of all of them |
//! | `api` | what each request asks for |
//! | `answer` | the JSON documents |
//! | [`error`](ApiError) | why a request is refused: status, code, message |
//! | `searches` | the searches under way: so many and no more, and each ends with its request |
//! | `mind` | one search: values, bounds or estimates of a position and its moves within a time |
//! | `page` | the files of the page |

mod answer;
mod api;
mod error;
mod mind;
mod page;
mod routes;
mod searches;
mod server;

pub use error::ApiError;
pub use server::{Options, Stop, serve};
