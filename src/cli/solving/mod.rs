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

pub(super) mod book;
pub(super) mod check;
pub(super) mod line;
pub(super) mod probe;
pub(super) mod prove;
pub(super) mod review;
pub(super) mod search;
pub(super) mod solve;
