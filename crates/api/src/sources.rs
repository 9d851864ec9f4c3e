use kalah_core::game::{Position, Rules};
use kalah_core::table::{AllTables, Probe};
use kalah_solve::book::{Book, Books};

use super::ApiError;
use super::answer::{ExplorerAnswer, PositionAnswer};

/// The tables and books from which answers come.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'t> {
    /// The tables.
    pub all_tables: &'t AllTables,
    /// The books.
    pub books: &'t Books,
}

impl Sources<'_> {
    /// Answers about a position without a search: from the rules, the tables or the book. `None` if none of them has
    /// its value.
    ///
    /// # Errors
    /// If a table is damaged.
    pub fn at_once(self, rules: Rules, position: &Position) -> Result<Option<PositionAnswer>, ApiError> {
        if let Some(probe) = Probe::of_finished(position) {
            return Ok(Some(PositionAnswer::probed(rules, &probe)));
        }
        if let Some(probe) = self.all_tables.probe(rules, position)? {
            return Ok(Some(PositionAnswer::probed(rules, &probe)));
        }
        let Some(book) = self.books.get(rules, position.pits()) else { return Ok(None) };
        let tables = self.all_tables.tables(rules, position.pits());
        let recalled = book.recall(position, tables)?;
        if !(recalled.from_book && recalled.is_exact()) {
            return Ok(None);
        }
        Ok(Some(PositionAnswer::recalled(book, position, tables, &recalled)?))
    }

    /// Answers the opening explorer: bounds of the book for a position and its moves, without a search.
    ///
    /// # Errors
    /// If a table is damaged.
    pub fn recall(self, rules: Rules, position: &Position) -> Result<ExplorerAnswer, ApiError> {
        let none = Book::new(rules, position.pits());
        let book = self.books.get(rules, position.pits()).unwrap_or(&none);
        let tables = self.all_tables.tables(rules, position.pits());
        let recalled = book.recall(position, tables)?;
        let known = PositionAnswer::recalled(book, position, tables, &recalled)?;
        Ok(ExplorerAnswer { known, in_book: recalled.from_book })
    }
}
