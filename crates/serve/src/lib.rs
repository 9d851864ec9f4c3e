//! The tables over HTTP: a JSON API, and a page to play and explore with them.
//!
//! `docs/api.md` documents the API for its users.

// | module | contents |
// |---|---|
// | `server` | listening, stopping cleanly |
// | `slots` | a limited number of connections |
// | `options` | its settings |
// | `wire` | one connection: clients that do not read, refusals of the HTTP layer |
// | `routes` | routing of requests, with common limits and headers |
// | `hosts` | hosts of this server, protection against pages of other websites, and those that may use the API |
// | `api` | the handlers of requests, whose contents `kalah_api` reads and answers; refusals |
// | `service` | the state of the server: answers at once, and searches on other threads |
// | `searches` | a limited number of running searches, each of which ends with its request |
// | `events` | streamed answers |
// | `site` | the page without a server: its engine, tables and books |
// | `site_page` | its other files |
// | `site_folder` | the folder of a site, in which a new site is written beside the old one; errors and progress |
// | `page` | the files of the page, and sending them; addresses for link previews |

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
mod site_folder;
mod site_page;
mod slots;
mod wire;

pub use hosts::{BadHost, BadOrigin, Host, SharedOrigin};
pub use options::Options;
pub use page::{BadAddress, SiteAddress};
pub use server::{Stop, serve};
pub use site::{SiteOptions, SitePlan, SiteReport};
pub use site_folder::{SiteError, SiteFolder};
