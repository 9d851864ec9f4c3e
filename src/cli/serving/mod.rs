//! Commands that serve other programs.
//!
//! | module | command |
//! |---|---|
//! | `serve` | `kalah serve` |
//! | `export_site` | `kalah export-site` |
//! | `engine` | `kalah engine` |

pub(super) mod engine;
#[cfg(feature = "serve")]
pub(super) mod export_site;
#[cfg(feature = "serve")]
pub(super) mod serve;
