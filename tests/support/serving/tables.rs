//! Tables of a server under test.

use std::path::Path;
use std::sync::LazyLock;

use kalah_core::game::Rules;
use kalah_tables::builder::build;

/// Rule set of the tables.
pub const RULES: Rules = Rules::Standard;

/// Tables of 3x2, and to 10 seeds on 6 pits, built once.
pub fn directory() -> &'static Path {
    static TABLES: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
        let directory = tempfile::tempdir().unwrap();
        build(directory.path(), RULES, 3, 12).unwrap();
        build(directory.path(), RULES, 6, 10).unwrap();
        directory
    });
    TABLES.path()
}
