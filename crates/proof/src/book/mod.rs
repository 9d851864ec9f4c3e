//! Books made and checked by searches: the positions of the first turns.

// | module | contents |
// |---|---|
// | `reach` | the positions of the first turns |
// | `make` | solving them, turn by turn |
// | `check` | every entry by its neighbours, or by a search |

mod check;
mod make;
mod reach;

pub use check::{check_by_search, check_neighbours};
pub use make::{Made, MakeOptions, Step, derive, make};
