//! The stages. Each is a shader in `shaders/` and its twin here: a function of the same name that
//! does the work of one workgroup, on the same words.
//!
//! A stage's parameters are declared once, beside its twin. The shader's `Params` and the
//! constants are generated from Rust. Buffers are arrays of 32-bit words on both sides, in the
//! order of the bindings.

// | module | contents |
// |---|---|
// | `stage` | all stages, and the kernel of each |
// | `constants` | numbers that shaders and twins share |
// | `score` | reading a score of a lower frame |
// | `forward`, `relay` | moves to lower layers |
// | `quiet` | quiet moves |
// | `transpose` | transposing scores |
// | `packing` | packing scores: `profile`, `mean`, `encode`, `scan`, `patch` |

mod constants;
mod forward;
mod packing;
mod quiet;
mod relay;
mod score;
mod stage;
mod transpose;

pub use constants::{
    ABSENT, AGAIN_GROUPS, AGAIN_WORDS, EVEN_EMPTY, GROUP_POSITIONS, GROUP_WORDS, NO_MAP, NO_MOVE, OVER, PROFILE_ROWS,
    RANK_BITS, SCAN_BLOCK, TILE,
};
pub use forward::Forward;
pub use packing::{Encode, Mean, Profile, Scan};
pub use quiet::Quiet;
pub use relay::sowings;
pub use score::{FrameAt, rows_of_whole_groups};
pub use stage::Stage;
pub use transpose::Transpose;
