//! The stages. Each is a shader in `shaders/` and its twin here: a function of the same name that
//! does the work of one workgroup, on the same words.
//!
//! A stage's parameters are declared once, in its file here. The shader's `Params` and the
//! constants are generated from Rust. Buffers are arrays of 32-bit words on both sides, in the
//! order of the bindings.

// | module | contents |
// |---|---|
// | `stage` | all stages, and the kernel of each |
// | `constants` | numbers that shaders and twins share |
// | `forward`, `quiet`, `residual`, `score` | parts that several stages share |
// | `sowings`(sowings()) | a table that one of them reads |
// | all others | one stage each |

mod constants;
mod encode;
mod forward;
mod forward_again;
mod forward_capture;
mod forward_pass;
mod forward_relay;
mod mean;
mod patch;
mod profile;
mod quiet;
mod quiet_large;
mod quiet_small;
mod residual;
mod scan;
mod score;
mod sowings;
mod stage;
mod transpose;

pub use constants::{
    ABSENT, AGAIN_GROUPS, AGAIN_WORDS, EVEN_EMPTY, GROUP_POSITIONS, GROUP_WORDS, NO_MAP, NO_MOVE, OVER, PROFILE_ROWS,
    RANK_BITS, SCAN_BLOCK, TILE,
};
pub use forward::Forward;
pub use mean::Mean;
pub use patch::Patch;
pub use profile::Profile;
pub use quiet::Quiet;
pub use residual::Encode;
pub use scan::Scan;
pub use score::{FrameAt, rows_of_whole_groups};
pub use sowings::sowings;
pub use stage::Stage;
pub use transpose::Transpose;
