use super::constants::CONSTANTS;
use super::forward::Forward;
use super::packing::{Encode, Mean, Profile, Scan};
use super::quiet::Quiet;
use super::transpose::Transpose;
use super::{forward, packing, quiet, relay, transpose};
use crate::device::Access::{self, Read, Write};
use crate::device::{Kernel, Params, Workgroup, bindings, read};

const SCORE: &str = include_str!("../../../shaders/shared/score.wgsl");
const LANES: &str = include_str!("../../../shaders/shared/lanes.wgsl");
const FORWARD: &str = include_str!("../../../shaders/shared/forward.wgsl");
const RANK: &str = include_str!("../../../shaders/shared/rank.wgsl");
const RESIDUAL: &str = include_str!("../../../shaders/shared/residual.wgsl");

const FORWARD_ACCESS: [Access; 5] = [Read, Read, Read, Read, Write];
const RELAY_ACCESS: [Access; 7] = [Read, Read, Read, Read, Write, Read, Read];
const PATCH_ACCESS: [Access; 7] = [Read, Read, Write, Read, Read, Read, Write];

/// Declares the stages, in their order. Each has its twin, whose name is that of its shader, the entry point of its
/// shader, parameters, shared parts of shaders, and access to its buffers.
macro_rules! stages {
    ($(
        $(#[$about:meta])*
        $stage:ident: $module:ident::$name:ident $entry_point:literal $params:ty, $shared:expr, $access:expr;
    )*) => {
        /// A stage of the computation of tables on a GPU.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Stage { $($(#[$about])* $stage,)* }

        impl Stage {
            /// All stages.
            pub const ALL: &'static [Stage] = &[$(Stage::$stage),*];

            /// Returns its kernel.
            pub fn kernel(self) -> &'static Kernel {
                match self {
                    $(Stage::$stage => {
                        static KERNEL: Kernel = Kernel {
                            name: stringify!($name),
                            entry_point: $entry_point,
                            constants: CONSTANTS,
                            params: <$params>::WGSL,
                            shared: &$shared,
                            own: include_str!(concat!("../../../shaders/", stringify!($name), ".wgsl")),
                            access: &$access,
                            twin: |workgroup, params, buffers, tracer| {
                                let group = Workgroup::new(workgroup, tracer);
                                $module::$name(&group, read::<$params>(params), bindings(buffers, tracer));
                            },
                        };
                        &KERNEL
                    })*
                }
            }
        }
    };
}

// In WGSL `transpose` is a built-in function and `patch` a reserved word.
stages! {
    /// Moves to lower layers that end the turn.
    ForwardPass: forward::forward_pass "forward_pass" Forward, [SCORE, FORWARD], FORWARD_ACCESS;
    /// Moves to lower layers that end in the store.
    ForwardAgain: forward::forward_again "forward_again" Forward, [SCORE, FORWARD], FORWARD_ACCESS;
    /// Moves to lower layers that capture.
    ForwardCapture: forward::forward_capture "forward_capture" Forward, [SCORE, FORWARD], FORWARD_ACCESS;
    /// Sowings that end in the other row and may go on from there.
    ForwardRelay: relay::forward_relay "forward_relay" Forward, [SCORE, FORWARD, RANK], RELAY_ACCESS;
    /// A matrix of scores, transposed.
    Transpose: transpose::transpose "transpose_" Transpose, [], [Read, Write];
    /// Quiet moves of the side with more seeds.
    QuietLarge: quiet::quiet_large "quiet_large" Quiet, [LANES], [Read, Read, Read, Write];
    /// Quiet moves of the side with fewer seeds.
    QuietSmall: quiet::quiet_small "quiet_small" Quiet, [LANES], [Read, Read, Read, Write];
    /// Sums of scores for the profile.
    Profile: packing::profile "profile" Profile, [], [Read, Write];
    /// The profile.
    Mean: packing::mean "mean" Mean, [], [Read, Write];
    /// Scores packed into groups.
    Encode: packing::encode "encode" Encode, [RESIDUAL, LANES], [Read, Read, Write, Write];
    /// Prefix sums.
    Scan: packing::scan "scan" Scan, [], [Write, Write];
    /// Patches of groups with exceptions.
    Patch: packing::patch "patch_" Encode, [RESIDUAL], PATCH_ACCESS;
}

impl Stage {
    /// The name: that of its files and its twin.
    pub fn name(self) -> &'static str {
        self.kernel().name
    }
}
