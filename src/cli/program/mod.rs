//! Commands about this program.
//!
//! | module | what it holds |
//! |---|---|
//! | `rules` | `kalah rules` |
//! | `completions` | `kalah completions` |
//! | `man` | `kalah man` |
//! | `version` | `kalah --version` |

pub mod completions;
pub mod man;
pub mod rules;
pub mod version;
