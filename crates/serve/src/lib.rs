//! The tables over HTTP: a JSON API, and a page to play and explore with them.
//!
//! `docs/api.md` documents the API for its users.

// | module | contents |
// |---|---|
// | `server` | listening, a limited number of connections, stopping cleanly |
// | `options` | its settings |
// | `routes` | routing of requests, with common limits and headers; the files of the page |
// | `hosts` | hosts of this server, and protection against pages of other websites |
// | `api` | the handlers of requests, whose contents `kalah_api` reads and answers; refusals |
// | `searches` | the state of the server: a limited number of running searches, each of which ends with its request |
// | `events` | streamed answers |
// | `site` | the page without a server: its engine, tables and books |
// | `site_page` | its other files |

mod api;
mod events;
mod hosts;
mod options;
mod routes;
mod searches;
mod server;
mod site;
mod site_page;

pub use hosts::host;
pub use options::Options;
pub use server::{Stop, serve};
pub use site::{SiteOptions, SitePlan, SiteReport};
