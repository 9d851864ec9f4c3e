//! `kalah prove --from`: a certificate whose claims the search uses.

use std::path::{Path, PathBuf};

use anyhow::bail;
use kalah::book::{Book, BookFileError};
use kalah::certificate::{Certificate, ClaimSet};
use kalah::prove::Request;

use crate::cli::output;

/// Certificate to begin with.
pub struct Source {
    path: PathBuf,
    /// Its statement.
    pub request: Request,
    claims: ClaimSet,
}

impl Source {
    /// Reads a certificate, and checks it against its checksums and its digest.
    pub fn read(path: &Path) -> anyhow::Result<Source> {
        let certificate = Certificate::read(path)?;
        let request = Request::of(&certificate.head.statement);
        Ok(Source { path: path.to_owned(), request, claims: certificate.claims })
    }

    /// Returns its claims as a book for the search.
    pub fn book(self, request: &Request) -> anyhow::Result<Book> {
        let Request { rules, position, .. } = self.request;
        let board = |request: &Request| (request.rules, request.position.pits());
        if board(&self.request) != board(request) {
            bail!(
                "{} is about {rules} with {}, not {} with {}",
                self.path.display(),
                output::count(position.pits(), "pit"),
                request.rules,
                request.position.pits()
            );
        }
        let mut book = Book::new(rules, position.pits());
        let added = book.add_all(self.claims.iter().map(|claim| (claim.position, claim.bounds)));
        added.map_err(|error| BookFileError { path: self.path.into(), error })?;
        Ok(book)
    }
}
