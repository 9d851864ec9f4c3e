//! Commands that serve other programs.
//!
//! | module | command |
//! |---|---|
//! | `serve` | `kalah serve` |
//! | `export_site` | `kalah export-site` |
//! | `kgp` | `kalah kgp` |
//! | `engine` | `kalah engine` |

pub mod engine;
#[cfg(feature = "serve")]
pub mod export_site;
pub mod kgp;
#[cfg(feature = "serve")]
pub mod serve;
