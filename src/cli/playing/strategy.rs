//! Certificates as players: `--from CERTIFICATE` of `kalah play` and `kalah move`.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Context;
use kalah::certificate::{Certificate, Head, MAGIC, Strategy};
use kalah::file;
use kalah::play::ByCertificate;
use kalah::table::{Directories, Opening, Tables};

/// Certificate, and the tables that it rests on.
pub struct StrategyFile {
    path: PathBuf,
    certificate: Certificate,
    tables: Option<Tables>,
}

impl StrategyFile {
    /// Returns true if a file begins as certificates do. Files that cannot be read are left to other readers.
    pub fn is_certificate(path: &Path) -> bool {
        let mut start = [0; MAGIC.len()];
        let is_stream = path == Path::new("-") || file::is_stream(path);
        !is_stream && file::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok()) && start == MAGIC
    }

    /// Reads a certificate, and opens its tables in `directories`.
    pub fn read(path: &Path, directories: &Directories) -> anyhow::Result<StrategyFile> {
        let certificate = Certificate::read(path)?;
        let (seeds, statement) = (certificate.head.table_seeds(), &certificate.head.statement);
        let tables = match seeds {
            0 => None,
            _ => {
                let (rules, pits) = (statement.rules, statement.position.pits());
                Some(Tables::open(directories, rules, pits, Opening::to(seeds).if_there())?)
            }
        };
        Ok(StrategyFile { path: path.to_owned(), certificate, tables })
    }

    /// Returns its statement, effort and tables.
    pub fn head(&self) -> &Head {
        &self.certificate.head
    }

    /// Returns its player.
    pub fn player(&self) -> anyhow::Result<ByCertificate<'_>> {
        let strategy = Strategy::new(&self.certificate, self.tables.as_ref());
        Ok(ByCertificate::new(strategy.with_context(|| self.path.display().to_string())?))
    }
}
