//! Tables of a server under test.

use std::path::Path;

use crate::tables::built;
use kalah_core::game::Rules;

/// Rule set of the tables.
pub const RULES: Rules = Rules::Standard;

/// Tables of 3x2, and to 10 seeds on 6 pits, built once.
pub fn directory() -> &'static Path {
    built(&[(RULES, 3, 12), (RULES, 6, 10)])
}
