//! The tables over HTTP: a JSON API, and a page to play and explore with them.
//!
//! `docs/api.md` documents the API for its users.
//!
//! | module | contents |
//! |---|---|
//! | [`server`](serve) | listening, and stopping cleanly |
//! | `slots` | a limited number of connections |
//! | `wire` | one connection: clients that do not read, refusals of the HTTP layer |
//! | `routes` | routing of requests, with common limits and headers |
//! | [`hosts`](Host) | hosts of this server, and protection against pages of other websites |
//! | [`cors`](SharedOrigin) | other websites that may use the API |
//! | `puzzle`, `puzzle_request`, `day` | puzzles, including the puzzle of the day |
//! | `book` | the opening explorer |
//! | `api` | the handlers of requests |
//! | `fields` | the fields of a request, and their errors |
//! | `answer` | the JSON documents |
//! | [`error`](ApiError) | errors of requests: status, code, message |
//! | `searches` | a limited number of running searches, each of which ends with its request |
//! | `searcher` | one search: values, bounds or evaluations of a position and its moves within a time |
//! | `events` | streamed answers |
//! | `game` | whole games: every position and move of a line of play |
//! | [`site`](SitePlan) | the page without a server: its tables and books |
//! | `site_page`, `site_puzzles` | its other files |
//! | [`site_folder`](SiteFolder) | the folder of a site, in which a new site is written beside the old one |
//! | [`site_files`](SiteError) | errors and progress of all of these |
//! | `texts` | games as text |
//! | `page`, `assets` | the files of the page, and sending them |

mod api;
mod assets;
mod cors;
mod events;
mod hosts;
mod page;
mod puzzles;
mod refusal;
mod routes;
mod searches;
mod server;
mod service;
mod site;
mod site_files;
mod site_folder;
mod site_page;
mod slots;
mod wire;

pub use cors::{BadOrigin, SharedOrigin};
pub use hosts::{BadHost, Host};
pub use kalah_api::ApiError;
pub use server::{Options, Stop, serve};
pub use site::{SiteOptions, SitePlan, SiteReport};
pub use site_files::SiteError;
pub use site_folder::SiteFolder;
