//! The opening explorer: the book's answer for a position and its moves, without any search.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use kalah_solve::book::Book;
use serde::Serialize;

use super::ApiError;
use super::answer::PositionAnswer;
use super::api::{Service, read_position, read_rules};
use super::fields::Fields;

/// Answer of the book, the tables and the rules.
#[derive(Serialize)]
pub(super) struct BookAnswer {
    #[serde(flatten)]
    known: PositionAnswer,
    /// True if the book has the position or one after its moves.
    in_book: bool,
    /// True if the line leads to the end of the game.
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
}

impl Service {
    async fn recall(&self, address: &Uri) -> Result<BookAnswer, ApiError> {
        let mut fields = Fields::of_query(address, &["board", "rules"])?;
        let (position, rules) = (read_position(&fields.board()?)?, read_rules(&mut fields)?);
        let books = Arc::clone(&self.books);
        let answer = self.read_for(rules, position, move |shelf| {
            let none = Book::new(rules, position.pits());
            let book = books.get(rules, position.pits()).unwrap_or(&none);
            let tables = shelf.tables(rules, position.pits());
            let recalled = book.recall(&position, tables)?;
            let (line, complete) = book.line(&position, tables)?;
            let line = recalled.score().map(|_| line);
            let complete = line.as_ref().map(|_| complete);
            let known = PositionAnswer::recalled(rules, &position, &recalled, line.as_ref());
            Ok(BookAnswer { known, in_book: recalled.from_book, complete })
        });
        answer.await
    }
}

/// `GET /api/book`
pub(super) async fn book(State(service): State<Arc<Service>>, address: Uri) -> Result<Json<BookAnswer>, ApiError> {
    service.report(service.recall(&address).await).map(Json)
}
