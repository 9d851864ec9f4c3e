//! The tables over HTTP: a JSON API, and a page to play and explore with them.
//!
//! `docs/api.md` documents the API for its users.

// | module | contents |
// |---|---|
// | `server` | listening, a limited number of connections, stopping cleanly |
// | `options` | its settings |
// | `routes` | routing of requests, with common limits and headers |
// | `hosts` | hosts of this server, and protection against pages of other websites |
// | `api` | the handlers of requests, whose contents `kalah_api` reads and answers; refusals |
// | `service` | the state of the server, and answers at once |
// | `searches` | a limited number of running searches, each of which ends with its request |
// | `events` | streamed answers |
// | `site` | the page without a server: its engine, tables and books |
// | `site_page` | its other files |
// | `page` | the files of the page, and sending them |

mod api;
mod events;
mod hosts;
mod options;
mod page;
mod routes;
mod searches;
mod server;
mod service;
mod site;
mod site_page;

pub use hosts::host;
pub use options::Options;
pub use server::{Stop, serve};
pub use site::{SiteError, SiteOptions, SitePlan, SiteReport};
