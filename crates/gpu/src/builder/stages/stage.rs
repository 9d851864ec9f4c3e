use super::constants::CONSTANTS;
use super::forward::Forward;
use super::mean::Mean;
use super::patch::Patch;
use super::profile::Profile;
use super::quiet_large::QuietLarge;
use super::quiet_small::QuietSmall;
use super::residual::Encode;
use super::scan::Scan;
use super::transpose::Transpose;
use super::{
    encode, forward_again, forward_capture, forward_pass, forward_relay, mean, patch, profile, quiet_large,
    quiet_small, scan, transpose,
};
use crate::device::{Access, Kernel, NoTrace, Params, Workgroup, bindings, read};

/// A stage of the computation of tables on a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Moves to lower layers that end the turn.
    ForwardPass,
    /// Moves to lower layers that end in the store.
    ForwardAgain,
    /// Moves to lower layers that capture.
    ForwardCapture,
    /// Sowings that end in the other row and may go on from there.
    ForwardRelay,
    /// A matrix of scores, transposed.
    Transpose,
    /// Quiet moves of the side with more seeds.
    QuietLarge,
    /// Quiet moves of the side with fewer seeds.
    QuietSmall,
    /// Sums of scores for the profile.
    Profile,
    /// The profile.
    Mean,
    /// Scores packed into groups.
    Encode,
    /// Prefix sums.
    Scan,
    /// Patches of groups with exceptions.
    Patch,
}

const SCORE: &str = include_str!("../../../shaders/shared/score.wgsl");
const LANES: &str = include_str!("../../../shaders/shared/lanes.wgsl");
const FORWARD: &str = include_str!("../../../shaders/shared/forward.wgsl");
const RANK: &str = include_str!("../../../shaders/shared/rank.wgsl");
const RESIDUAL: &str = include_str!("../../../shaders/shared/residual.wgsl");

impl Stage {
    /// All stages.
    pub const ALL: [Stage; 12] = [
        Stage::ForwardPass,
        Stage::ForwardAgain,
        Stage::ForwardCapture,
        Stage::ForwardRelay,
        Stage::Transpose,
        Stage::QuietLarge,
        Stage::QuietSmall,
        Stage::Profile,
        Stage::Mean,
        Stage::Encode,
        Stage::Scan,
        Stage::Patch,
    ];

    /// Returns its kernel.
    pub fn kernel(self) -> &'static Kernel {
        use Access::{Read, Write};
        /// A stage by the name of its file.
        macro_rules! stage {
            ($name:ident, $params:ty, $shared:expr, $access:expr) => {
                stage!($name, stringify!($name), $params, $shared, $access)
            };
            ($name:ident, $entry_point:expr, $params:ty, $shared:expr, $access:expr) => {{
                const SHARED: &[&str] = &$shared;
                const OWN: &str = include_str!(concat!("../../../shaders/", stringify!($name), ".wgsl"));
                static KERNEL: Kernel = Kernel {
                    name: stringify!($name),
                    entry_point: $entry_point,
                    constants: CONSTANTS,
                    params: <$params>::WGSL,
                    shared: SHARED,
                    own: OWN,
                    access: &$access,
                    twin: |workgroup, params, buffers| {
                        let group = Workgroup::new(workgroup, &NoTrace);
                        $name::$name(&group, read::<$params>(params), bindings(buffers, &NoTrace));
                    },
                    traced_twin: |workgroup, params, buffers, tracer| {
                        let group = Workgroup::new(workgroup, &tracer);
                        $name::$name(&group, read::<$params>(params), bindings(buffers, &tracer));
                    },
                };
                &KERNEL
            }};
        }
        const FORWARD_ACCESS: [Access; 5] = [Read, Read, Read, Read, Write];
        const RELAY_ACCESS: [Access; 7] = [Read, Read, Read, Read, Write, Read, Read];
        const PATCH_ACCESS: [Access; 6] = [Read, Write, Read, Read, Read, Write];
        match self {
            // In WGSL `transpose` is a built-in function and `patch` a reserved word.
            Stage::ForwardPass => stage!(forward_pass, Forward, [SCORE, FORWARD], FORWARD_ACCESS),
            Stage::ForwardAgain => stage!(forward_again, Forward, [SCORE, FORWARD], FORWARD_ACCESS),
            Stage::ForwardCapture => stage!(forward_capture, Forward, [SCORE, FORWARD], FORWARD_ACCESS),
            Stage::ForwardRelay => stage!(forward_relay, Forward, [SCORE, FORWARD, RANK], RELAY_ACCESS),
            Stage::Transpose => stage!(transpose, "transpose_", Transpose, [], [Read, Write]),
            Stage::QuietLarge => stage!(quiet_large, QuietLarge, [LANES], [Read, Read, Read, Write]),
            Stage::QuietSmall => stage!(quiet_small, QuietSmall, [LANES], [Read, Read, Read, Write]),
            Stage::Profile => stage!(profile, Profile, [], [Read, Write]),
            Stage::Mean => stage!(mean, Mean, [], [Read, Write]),
            Stage::Encode => stage!(encode, Encode, [RESIDUAL, LANES], [Read, Write, Write]),
            Stage::Scan => stage!(scan, Scan, [], [Write, Write]),
            Stage::Patch => stage!(patch, "patch_", Patch, [RESIDUAL], PATCH_ACCESS),
        }
    }

    /// The name: that of its files and its twin.
    pub fn name(self) -> &'static str {
        self.kernel().name
    }

    /// The stage with this name.
    pub fn from_name(name: &str) -> Option<Stage> {
        Stage::ALL.into_iter().find(|stage| stage.name() == name)
    }
}
