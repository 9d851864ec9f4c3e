//! The tables over HTTP: a JSON API, and a page to play and explore with them.
//!
//! `docs/serve.md` documents the API for its users.
//!
//! | room | idea |
//! |---|---|
//! | [`server`](serve) | listening, and stopping cleanly |
//! | `seats` | the connections: so many and no more |
//! | `wire` | one connection: clients that do not read, refusals of the HTTP layer |
//! | `routes` | which request goes where; limits and headers of all of them |
//! | [`hosts`](Host) | whose requests are answered, and which come from pages of other websites |
//! | `api` | what each request asks for |
//! | `asked` | the fields of a request, and what is wrong with them |
//! | `answer` | the JSON documents |
//! | [`error`](ApiError) | why a request is refused: status, code, message |
//! | `searches` | the searches under way: so many and no more, and each ends with its request |
//! | `mind` | one search: values, bounds or estimates of a position and its moves within a time |
//! | `page` | the files of the page |

mod answer;
mod api;
mod asked;
mod error;
mod hosts;
mod mind;
mod page;
mod routes;
mod searches;
mod seats;
mod server;
mod wire;

pub use error::ApiError;
pub use hosts::{BadHost, Host};
pub use server::{Options, Stop, serve};
