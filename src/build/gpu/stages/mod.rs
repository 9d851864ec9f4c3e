//! The stages: each a shader in `shaders/` and its twin here, a function of the same name that does what one workgroup
//! does, on the same words.
//!
//! A stage's parameters are declared once, in its file here; the shader's `Params` is generated from that, and so are the
//! constants that both sides use. Buffers are arrays of 32-bit words on both sides, in the order of the bindings.

mod encode;
mod forward;
mod forward_again;
mod forward_capture;
mod forward_pass;
mod forward_relay;
mod mean;
mod patch;
mod profile;
mod quiet_large;
mod quiet_small;
mod residual;
mod scan;
mod score;
mod turn;

use std::fmt::Write;

use bytemuck::Pod;

use crate::index::MAX_TABLE_PITS;
use crate::table::line;

pub use encode::Encode;
pub use forward::Forward;
pub use mean::Mean;
pub use patch::Patch;
pub use profile::Profile;
pub use quiet_large::QuietLarge;
pub use quiet_small::QuietSmall;
pub use scan::Scan;
pub use score::FrameAt;
pub use turn::Turn;

/// Threads of a workgroup.
pub const WORKGROUP: u32 = 256;
/// Bytes on a side of the tiles that [`Turn`] works in.
pub const TILE: u32 = 64;
/// Runs that a thread of [`Profile`] adds up.
pub const PROFILE_ROWS: u32 = 64;
/// Numbers that a workgroup of [`Scan`] adds up.
pub const SCAN_BLOCK: u32 = 1024;
/// Bits of a rank in an entry of moves or maps; the bits above tell more.
pub const RANK_BITS: u32 = 24;
/// Mask of the rank in an entry.
pub const RANK_MASK: u32 = (1 << RANK_BITS) - 1;
/// Mask of the pit above the rank in the entry of a capture.
pub const PIT_MASK: u32 = 7;
/// Bit of the entry of a capture: an empty pit is captured too.
pub const EVEN_EMPTY: u32 = 1 << 31;
/// In the place of where a map begins: there is none.
pub const NO_MAP: u32 = u32::MAX;
/// In the place of the rows of a frame: all its positions are over.
pub const OVER: u32 = u32::MAX;
/// In the place of the rows of a frame: it is not in this operand.
pub const ABSENT: u32 = u32::MAX - 1;

/// 32-bit words of a line.
pub const LINE_WORDS: u32 = line::LINE_BYTES as u32 / 4;
/// Positions of a line.
pub const LINE_POSITIONS: u32 = line::LINE_POSITIONS as u32;
const BASE_BIAS: u32 = line::BASE_BIAS as u32;
const PATCHED: u32 = line::PATCHED as u32;
const MOVED_CODES: u32 = line::MOVED_CODES as u32;
const PATCH_HEAD_BYTES: u32 = line::PATCH_HEAD_BYTES as u32;
const EXCEPTION_BYTES: u32 = line::EXCEPTION_BYTES as u32;
/// Words that count how many residuals have each value below 128, four counts a word.
const COUNT_WORDS: u32 = 32;
/// Places on the largest ring: two rows and a store.
const RING: u32 = 2 * MAX_TABLE_PITS as u32 + 1;

/// Every constant that shaders use, with its name there.
const CONSTANTS: [(&str, u32); 20] = [
    ("WORKGROUP", WORKGROUP),
    ("TILE", TILE),
    ("PROFILE_ROWS", PROFILE_ROWS),
    ("SCAN_BLOCK", SCAN_BLOCK),
    ("RANK_BITS", RANK_BITS),
    ("RANK_MASK", RANK_MASK),
    ("PIT_MASK", PIT_MASK),
    ("EVEN_EMPTY", EVEN_EMPTY),
    ("NO_MAP", NO_MAP),
    ("OVER", OVER),
    ("ABSENT", ABSENT),
    ("LINE_WORDS", LINE_WORDS),
    ("LINE_POSITIONS", LINE_POSITIONS),
    ("BASE_BIAS", BASE_BIAS),
    ("PATCHED", PATCHED),
    ("MOVED_CODES", MOVED_CODES),
    ("PATCH_HEAD_BYTES", PATCH_HEAD_BYTES),
    ("EXCEPTION_BYTES", EXCEPTION_BYTES),
    ("COUNT_WORDS", COUNT_WORDS),
    ("RING", RING),
];

/// The parameters of a stage: 32-bit words, in the shader as a struct of the same names.
pub trait Params: Pod {
    /// The struct in WGSL.
    const WGSL: &'static str;
}

/// Declares the parameters of a stage for both sides.
macro_rules! params {
    ($(#[$about:meta])* pub struct $name:ident { $($(#[$field_about:meta])* $field:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
        #[repr(C)]
        pub struct $name { $($(#[$field_about])* pub $field: u32,)* }

        impl $crate::build::gpu::stages::Params for $name {
            const WGSL: &'static str =
                concat!("struct Params {\n", $("    ", stringify!($field), ": u32,\n",)* "}\n");
        }
    };
}
use params;

/// How a stage uses a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It reads only.
    Read,
    /// It may write too.
    Write,
}

/// What one workgroup of a stage does, on the CPU: its number, the words of the parameters, and the buffers.
pub type Twin = fn(workgroup: u32, params: &[u32], buffers: &mut [Vec<u32>]);

/// What a stage is made of.
struct Definition {
    name: &'static str,
    source: &'static str,
    shared: &'static [&'static str],
    params: &'static str,
    access: &'static [Access],
    twin: Twin,
}

/// A stage of the computation on a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Moves to lower layers that end the turn.
    ForwardPass,
    /// Moves to lower layers that end in the store.
    ForwardAgain,
    /// Moves to lower layers that capture.
    ForwardCapture,
    /// Sowings that reach the other row and may go on from there.
    ForwardRelay,
    /// A matrix of scores, transposed.
    Turn,
    /// Quiet moves of the side with more seeds.
    QuietLarge,
    /// Quiet moves of the side with fewer seeds.
    QuietSmall,
    /// Sums of scores for the profile.
    Profile,
    /// The profile.
    Mean,
    /// Scores packed into lines.
    Encode,
    /// Sums of what stands before.
    Scan,
    /// Patches of lines with exceptions.
    Patch,
}

const SCORE: &str = include_str!("../../../../shaders/shared/score.wgsl");
const FORWARD: &str = include_str!("../../../../shaders/shared/forward.wgsl");
const RANK: &str = include_str!("../../../../shaders/shared/rank.wgsl");
const RESIDUAL: &str = include_str!("../../../../shaders/shared/residual.wgsl");

impl Stage {
    /// All stages.
    pub const ALL: [Stage; 12] = [
        Stage::ForwardPass,
        Stage::ForwardAgain,
        Stage::ForwardCapture,
        Stage::ForwardRelay,
        Stage::Turn,
        Stage::QuietLarge,
        Stage::QuietSmall,
        Stage::Profile,
        Stage::Mean,
        Stage::Encode,
        Stage::Scan,
        Stage::Patch,
    ];

    fn definition(self) -> &'static Definition {
        use Access::{Read, Write};
        /// A stage by the name of its file.
        macro_rules! stage {
            ($name:ident, $params:ty, $shared:expr, $access:expr) => {
                &Definition {
                    name: stringify!($name),
                    source: include_str!(concat!("../../../../shaders/", stringify!($name), ".wgsl")),
                    shared: &$shared,
                    params: <$params>::WGSL,
                    access: &$access,
                    twin: $name::$name,
                }
            };
        }
        const FORWARD_ACCESS: [Access; 5] = [Read, Read, Read, Read, Write];
        const RELAY_ACCESS: [Access; 7] = [Read, Read, Read, Read, Write, Read, Read];
        const PATCH_ACCESS: [Access; 6] = [Read, Write, Read, Read, Read, Write];
        match self {
            Stage::ForwardPass => stage!(forward_pass, Forward, [SCORE, FORWARD], FORWARD_ACCESS),
            Stage::ForwardAgain => stage!(forward_again, Forward, [SCORE, FORWARD], FORWARD_ACCESS),
            Stage::ForwardCapture => stage!(forward_capture, Forward, [SCORE, FORWARD], FORWARD_ACCESS),
            Stage::ForwardRelay => stage!(forward_relay, Forward, [SCORE, FORWARD, RANK], RELAY_ACCESS),
            Stage::Turn => stage!(turn, Turn, [], [Read, Write]),
            Stage::QuietLarge => stage!(quiet_large, QuietLarge, [], [Read, Read, Read, Write]),
            Stage::QuietSmall => stage!(quiet_small, QuietSmall, [], [Read, Read, Read, Write]),
            Stage::Profile => stage!(profile, Profile, [], [Read, Write]),
            Stage::Mean => stage!(mean, Mean, [], [Read, Write]),
            Stage::Encode => stage!(encode, Encode, [RESIDUAL], [Read, Write, Write]),
            Stage::Scan => stage!(scan, Scan, [], [Write, Write]),
            Stage::Patch => stage!(patch, Patch, [RESIDUAL], PATCH_ACCESS),
        }
    }

    /// The name: that of its files, its shader's entry point and its twin.
    pub fn name(self) -> &'static str {
        self.definition().name
    }

    /// The stage with this name.
    pub fn from_name(name: &str) -> Option<Stage> {
        Stage::ALL.into_iter().find(|stage| stage.name() == name)
    }

    /// How it uses its buffers: those of the bindings 1, 2, .. of its shader.
    pub fn access(self) -> &'static [Access] {
        self.definition().access
    }

    /// Its twin on the CPU.
    pub fn twin(self) -> Twin {
        self.definition().twin
    }

    /// The whole source of its shader: constants and parameters, shared parts, and its own.
    pub fn source(self) -> String {
        let definition = self.definition();
        let mut source = String::new();
        for (name, value) in CONSTANTS {
            writeln!(source, "const {name}: u32 = {value}u;").expect("strings take everything");
        }
        source += definition.params;
        for part in definition.shared.iter().chain([&definition.source]) {
            source += "\n";
            source += part;
        }
        source
    }

    /// The entry point of its shader.
    pub fn entry_point(self) -> &'static str {
        // A word that WGSL keeps for itself.
        if self == Stage::Patch { "patch_" } else { self.name() }
    }
}

/// The threads of a workgroup, by their number among all.
fn threads(workgroup: u32) -> std::ops::Range<u32> {
    workgroup * WORKGROUP..(workgroup + 1) * WORKGROUP
}

/// The parameters as the stage knows them.
fn read<P: Params>(words: &[u32]) -> &P {
    bytemuck::from_bytes(bytemuck::cast_slice(words))
}

/// The bytes of a word.
fn unpack4x_u8(word: u32) -> [u32; 4] {
    word.to_le_bytes().map(u32::from)
}

/// A word of four bytes.
fn pack4x_u8(bytes: [u32; 4]) -> u32 {
    u32::from_le_bytes(bytes.map(|byte| byte as u8))
}

/// `count` bits of a word from bit `offset` on.
fn extract_bits(word: u32, offset: u32, count: u32) -> u32 {
    word >> offset & ((1 << count) - 1)
}
