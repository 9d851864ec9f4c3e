//! Charts of reports, and the flag `--plot` that has them drawn.
//!
//! | module | what it holds |
//! |---|---|
//! | `data` | what a chart shows |
//! | `flag` | `--plot`; without the feature `plot` a flag less |
//! | `svg` | the drawing |

#[cfg_attr(not(feature = "plot"), allow(dead_code, reason = "described, and not drawn"))]
mod data;
#[cfg(feature = "plot")]
mod flag;
#[cfg(not(feature = "plot"))]
#[path = "no_flag.rs"]
mod flag;
#[cfg(feature = "plot")]
mod svg;

pub use data::{Chart, Series, Shape};
pub use flag::Plot;
