//! Commands that look up and solve positions.
//!
//! | module | command |
//! |---|---|
//! | `probe` | `kalah probe` |
//! | `solve` | `kalah solve` |
//! | `prove` | `kalah prove` |
//! | `line` | `kalah line` |
//! | `review` | `kalah review` |
//! | `search` | `kalah search` |
//! | `check` | `kalah check` |
//! | `book` | `kalah book`: `show`, `make`, `check`, `merge`, `import` |

pub mod book;
pub mod check;
pub mod line;
pub mod probe;
pub mod prove;
pub mod review;
pub mod search;
pub mod solve;
