//! Numbers that shaders and their twins share.

use kalah_core::table::group;

use crate::device::WORKGROUP;

/// Declares the constants, and lists them with their names for the shaders.
macro_rules! constants {
    ($($(#[$about:meta])* $seen:vis $name:ident = $value:expr;)*) => {
        $($(#[$about])* $seen const $name: u32 = $value;)*
        /// All constants of the shaders, with their names.
        pub(super) const CONSTANTS: &[(&str, u32)] = &[("WORKGROUP", WORKGROUP), $((stringify!($name), $name)),*];
    };
}

constants! {
    /// Bytes on a side of a tile of the stage `transpose`.
    pub TILE = 64;
    /// Runs that a thread of the stage `profile` adds up.
    pub PROFILE_ROWS = 64;
    /// Groups of a workgroup of the stage `forward_again`, and words of each: one for each thread.
    pub AGAIN_GROUPS = 32;
    /// See [`AGAIN_GROUPS`].
    pub AGAIN_WORDS = WORKGROUP / AGAIN_GROUPS;
    /// Numbers that a workgroup of the stage `scan` adds up.
    pub SCAN_BLOCK = 1024;
    /// Threads of the stage `encode` that try bases for a group with exceptions.
    pub(super) BASE_THREADS = 4;
    /// Bits of a rank in an entry of moves or maps. The bits above have other uses.
    pub RANK_BITS = 24;
    /// Mask of the rank in an entry.
    pub(super) RANK_MASK = (1 << RANK_BITS) - 1;
    /// Mask of the pit above the rank in the entry of a capture.
    pub(super) PIT_MASK = 7;
    /// In place of the pit that must be empty, above the rank in an entry of quiet moves of the small
    /// side: no move. A power of two, above all pits.
    pub NO_MOVE = 128;
    /// Bit of the entry of a capture: an empty pit is captured, too.
    pub EVEN_EMPTY = 1 << 31;
    /// The first place of the other row on the ring of relays. The first places are the mover's pits.
    pub(super) OTHER_ROW = 8;
    /// The place of the store on the ring of relays.
    pub(super) STORE = 16;
    /// In place of the start of a map: no map.
    pub NO_MAP = u32::MAX;
    /// In place of the number of rows of a frame: all its positions are finished games.
    pub OVER = u32::MAX;
    /// In place of the number of rows of a frame: it is not in this operand.
    pub ABSENT = u32::MAX - 1;
    /// 32-bit words of a group.
    pub GROUP_WORDS = group::GROUP_BYTES as u32 / 4;
    /// Positions of a group.
    pub GROUP_POSITIONS = group::GROUP_POSITIONS as u32;
    pub(super) BASE_BIAS = group::BASE_BIAS as u32;
    pub(super) PATCHED = group::PATCHED as u32;
    pub(super) MOVED_CODES = group::MOVED_CODES as u32;
    pub(super) PATCH_HEAD_BYTES = group::PATCH_HEAD_BYTES as u32;
    pub(super) EXCEPTION_BYTES = group::EXCEPTION_BYTES as u32;
}
