//! The book: proved bounds of positions near the start, which searches need not find again.
//!
//! The program comes with books for some boards. `kalah book` shows, checks and extends them; docs/book.md
//! describes the files.
//!
//! ```
//! use kalah_solve::book::Book;
//! use kalah_core::game::{Bounds, Position, Rules};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut book = Book::new(Rules::Standard, 2);
//! let position: Position = "1,1/0,1".parse()?;
//! book.add(&position, Bounds { lower: 2, upper: 2 })?;
//! assert_eq!(book.get(&position), Some(Bounds { lower: 2, upper: 2 }));
//! assert_eq!(Book::from_bytes(&book.to_bytes())?, book);
//! # Ok(())
//! # }
//! ```

// | module | contents |
// |---|---|
// | `book` | bounds of positions, looked up and added; errors |
// | `files` | the bytes of a book, the books shipped with the program, and files beside tables |
// | `recall` | bounds of a position and its moves from a book, the rules and tables |

// The module is named after its type.
#[allow(clippy::module_inception)]
mod book;
mod files;
mod recall;

pub use book::{Book, BookError};
pub use files::Books;
pub use recall::Recalled;
