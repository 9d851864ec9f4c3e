//! Numbers that shaders and their twins share.

use kalah_core::table::group;

use crate::device::WORKGROUP;

/// Bytes on a side of a tile of the stage `transpose`.
pub const TILE: u32 = 64;
/// Runs that a thread of the stage `profile` adds up.
pub const PROFILE_ROWS: u32 = 64;
/// Groups of a workgroup of the stage `forward_again`, and words of each: one for each thread.
pub const AGAIN_GROUPS: u32 = 32;
/// See [`AGAIN_GROUPS`].
pub const AGAIN_WORDS: u32 = WORKGROUP / AGAIN_GROUPS;
/// Numbers that a workgroup of the stage `scan` adds up.
pub const SCAN_BLOCK: u32 = 1024;
/// Threads of the stage `encode` that try bases for a group with exceptions.
pub(super) const BASE_THREADS: u32 = 4;
/// Bits of a rank in an entry of moves or maps. The bits above have other uses.
pub const RANK_BITS: u32 = 24;
/// Mask of the rank in an entry.
pub(super) const RANK_MASK: u32 = (1 << RANK_BITS) - 1;
/// Mask of the pit above the rank in the entry of a capture.
pub(super) const PIT_MASK: u32 = 7;
/// In place of the pit that must be empty, above the rank in an entry of quiet moves of the small
/// side: no move. A power of two, above all pits.
pub const NO_MOVE: u32 = 128;
/// Bit of the entry of a capture: an empty pit is captured, too.
pub const EVEN_EMPTY: u32 = 1 << 31;
/// The first place of the other row on the ring of relays. The first places are the mover's pits.
pub(super) const OTHER_ROW: u32 = 8;
/// The place of the store on the ring of relays.
pub(super) const STORE: u32 = 16;
/// In place of the start of a map: no map.
pub const NO_MAP: u32 = u32::MAX;
/// In place of the number of rows of a frame: all its positions are finished games.
pub const OVER: u32 = u32::MAX;
/// In place of the number of rows of a frame: it is not in this operand.
pub const ABSENT: u32 = u32::MAX - 1;

/// 32-bit words of a group.
pub const GROUP_WORDS: u32 = group::GROUP_BYTES as u32 / 4;
/// Positions of a group.
pub const GROUP_POSITIONS: u32 = group::GROUP_POSITIONS as u32;
pub(super) const BASE_BIAS: u32 = group::BASE_BIAS as u32;
pub(super) const PATCHED: u32 = group::PATCHED as u32;
pub(super) const MOVED_CODES: u32 = group::MOVED_CODES as u32;
pub(super) const PATCH_HEAD_BYTES: u32 = group::PATCH_HEAD_BYTES as u32;
pub(super) const EXCEPTION_BYTES: u32 = group::EXCEPTION_BYTES as u32;

/// All constants of the shaders, with their names.
pub(super) const CONSTANTS: &[(&str, u32)] = &[
    ("WORKGROUP", WORKGROUP),
    ("TILE", TILE),
    ("PROFILE_ROWS", PROFILE_ROWS),
    ("AGAIN_GROUPS", AGAIN_GROUPS),
    ("AGAIN_WORDS", AGAIN_WORDS),
    ("SCAN_BLOCK", SCAN_BLOCK),
    ("BASE_THREADS", BASE_THREADS),
    ("RANK_BITS", RANK_BITS),
    ("RANK_MASK", RANK_MASK),
    ("PIT_MASK", PIT_MASK),
    ("NO_MOVE", NO_MOVE),
    ("EVEN_EMPTY", EVEN_EMPTY),
    ("OTHER_ROW", OTHER_ROW),
    ("STORE", STORE),
    ("NO_MAP", NO_MAP),
    ("OVER", OVER),
    ("ABSENT", ABSENT),
    ("GROUP_WORDS", GROUP_WORDS),
    ("GROUP_POSITIONS", GROUP_POSITIONS),
    ("BASE_BIAS", BASE_BIAS),
    ("PATCHED", PATCHED),
    ("MOVED_CODES", MOVED_CODES),
    ("PATCH_HEAD_BYTES", PATCH_HEAD_BYTES),
    ("EXCEPTION_BYTES", EXCEPTION_BYTES),
];
