//! Charts of reports, and the flag `--plot` that has them drawn.
//!
//! | module | what it holds |
//! |---|---|
//! | `data` | what a chart shows |
//! | `flag` | `--plot`, which is refused without the feature `plot` |
//! | `svg` | the drawing |

#[cfg_attr(not(feature = "plot"), expect(dead_code, reason = "described, and not drawn"))]
mod data;
mod flag;
#[cfg(feature = "plot")]
mod svg;

pub use data::{Chart, Series, Shape};
pub use flag::Plot;
