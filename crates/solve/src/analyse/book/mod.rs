//! Books made and checked by searches: the positions of the first turns.

// | module | contents |
// |---|---|
// | `reach` | the positions of the first turns |
// | `make` | solving them, turn by turn |
// | `check` | every entry by its neighbours, or by a search |
// | `error` | reasons why a book was not made |

mod check;
mod error;
mod make;
mod reach;

pub use check::{check_by_search, check_neighbours};
pub use error::MakeError;
pub use make::{Made, MakeOptions, Step, derive, make};
