//! GPUs, which the program may be built without: `kalah gpu`, flags that choose one, what is said of its errors.
//!
//! | module | what it holds |
//! |---|---|
//! | `list` | `kalah gpu` |
//! | `flags` | flags that choose a GPU |
//! | `errors` | a GPU's errors in words, with advice |
//! | `unsupported` | all of these in a program without the feature `gpu` |

#[cfg(feature = "gpu")]
mod errors;
#[cfg(feature = "gpu")]
mod flags;
#[cfg(feature = "gpu")]
mod list;
#[cfg(not(feature = "gpu"))]
mod unsupported;

#[cfg(feature = "gpu")]
pub use errors::{advice, statement};
#[cfg(feature = "gpu")]
pub use flags::GpuFlags;
#[cfg(feature = "gpu")]
pub use kalah::gpu::{catches_panics, has_hung};
#[cfg(feature = "gpu")]
pub use list::GpuCommand;
#[cfg(not(feature = "gpu"))]
pub use unsupported::{GpuCommand, GpuFlags, advice, catches_panics, has_hung, statement};
