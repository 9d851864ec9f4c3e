//! Commands that serve other programs.
//!
//! | module | command |
//! |---|---|
//! | `serve` | `kalah serve` |
//! | `export_site` | `kalah export-site` |
//! | `engine` | `kalah engine` |

pub mod engine;
#[cfg(feature = "serve")]
pub mod export_site;
#[cfg(feature = "serve")]
pub mod serve;
