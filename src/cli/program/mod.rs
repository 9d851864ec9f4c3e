//! Commands about this program.
//!
//! | module | command |
//! |---|---|
//! | `rules` | `kalah rules` |
//! | `completions` | `kalah completions` |
//! | `man` | `kalah man` |
//! | `version` | `kalah --version` |

pub mod completions;
pub mod man;
pub mod rules;
pub mod version;
