//! The tables over HTTP: a JSON API, and a page to play and explore with them.
//!
//! `docs/api.md` documents the API for its users.
//!
//! | module | what it holds |
//! |---|---|
//! | [`server`](serve) | listening, and stopping cleanly |
//! | `slots` | the connections: a limited number |
//! | `wire` | one connection: clients that do not read, refusals of the HTTP layer |
//! | `routes` | which request goes where; limits and headers of all of them |
//! | [`hosts`](Host) | whose requests are answered, and which come from pages of other websites |
//! | [`cors`](SharedOrigin) | which other websites may use the API |
//! | `puzzle`, `puzzle_request`, `day` | puzzles, the daily one among them |
//! | `book` | the opening explorer |
//! | `api` | what each request asks for |
//! | `fields` | the fields of a request, and what is wrong with them |
//! | `answer` | the JSON documents |
//! | [`error`](ApiError) | why a request is refused: status, code, message |
//! | `searches` | the searches under way: a limited number, each of which ends with its request |
//! | `searcher` | one search: values, bounds or evaluations of a position and its moves within a time |
//! | `events` | answers in parts, while the work goes on |
//! | `game` | whole games: every position and move of a line of play |
//! | [`site`](SitePlan) | the page without a server: its tables and books |
//! | `site_page`, `site_puzzles` | its other files |
//! | [`site_folder`](SiteFolder) | the folder that they are written into, beside the site that is there |
//! | [`site_files`](SiteError) | what all of them need: errors, progress |
//! | `texts` | games as text |
//! | `page`, `assets` | the files of the page, and how they are sent |

mod answer;
mod api;
mod assets;
mod book;
mod cors;
mod day;
mod error;
mod events;
mod fields;
mod game;
mod hosts;
mod page;
mod puzzle;
mod puzzle_request;
mod routes;
mod searcher;
mod searches;
mod server;
mod site;
mod site_files;
mod site_folder;
mod site_page;
mod site_puzzles;
mod slots;
mod texts;
mod wire;

pub use cors::{BadOrigin, SharedOrigin};
pub use error::ApiError;
pub use hosts::{BadHost, Host};
pub use server::{Options, Stop, serve};
pub use site::{SiteOptions, SitePlan, SiteReport};
pub use site_files::SiteError;
pub use site_folder::SiteFolder;
