use clap::Args;

use super::{Outcome, args};

/// Turn tables into seekable zstd archives, for storage and download
#[derive(Args)]
pub struct Pack {
    #[command(flatten)]
    tables: args::Directory,
}

/// Turn archives back into tables
#[derive(Args)]
pub struct Unpack {
    #[command(flatten)]
    tables: args::Directory,
}

impl Pack {
    pub fn run(self) -> anyhow::Result<Outcome> {
        anyhow::bail!("{}", self.tables.path.display())
    }
}

impl Unpack {
    pub fn run(self) -> anyhow::Result<Outcome> {
        anyhow::bail!("{}", self.tables.path.display())
    }
}
