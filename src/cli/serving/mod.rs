//! Commands that serve other programs.
//!
//! | module | command |
//! |---|---|
//! | `serve` | `kalah serve` |
//! | `export_site` | `kalah export-site` |
//! | `kgp` | `kalah kgp` |
//! | `engine` | `kalah engine` |

mod engine;
#[cfg(feature = "serve")]
mod export_site;
mod kgp;
#[cfg(feature = "serve")]
mod serve;

use clap::Subcommand;

use crate::cli::process::outcome::Outcome;

/// The commands, in the order of help.
#[derive(Subcommand)]
pub enum Serving {
    #[cfg(feature = "serve")]
    Serve(serve::Serve),
    #[cfg(feature = "serve")]
    ExportSite(export_site::ExportSite),
    Kgp(kgp::Kgp),
    Engine(engine::Engine),
}

impl Serving {
    /// Runs the command.
    pub fn run(self) -> anyhow::Result<Outcome> {
        match self {
            #[cfg(feature = "serve")]
            Serving::Serve(serve) => serve.run(),
            #[cfg(feature = "serve")]
            Serving::ExportSite(export_site) => export_site.run(),
            Serving::Kgp(kgp) => kgp.run(),
            Serving::Engine(engine) => engine.run(),
        }
    }
}
