//! Charts of reports, and the flag `--plot`.
//!
//! | module | contents |
//! |---|---|
//! | `data` | series and axes of a chart |
//! | `flag` | `--plot`, which is an error without the feature `plot` |
//! | `svg` | the drawing |

#[cfg_attr(not(feature = "plot"), expect(dead_code, reason = "described, and not drawn"))]
mod data;
mod flag;
#[cfg(feature = "plot")]
mod svg;

pub use data::{Chart, Series, Shape};
pub use flag::Plot;
