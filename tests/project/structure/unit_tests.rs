//! Tests in the files of a library would not run: `test = false` in its manifest saves compiling each library once more,
//! as a program of its tests.

use std::path::{Path, PathBuf};

use super::CRATES;
use super::sources::Sources;

/// Lines of a file that begin a test which cargo does not compile.
fn lost_tests(text: &str, has_doctests: bool) -> Vec<&str> {
    let mut in_example = false;
    let is_lost = |line: &&str| {
        let line = line.trim_start();
        let is_fence =
            line.strip_prefix("//").is_some_and(|rest| rest.trim_start_matches(['/', '!', ' ']).starts_with("```"));
        let begins_example = is_fence && !in_example;
        in_example ^= is_fence;
        let is_tested = begins_example && !["text", "console", "json"].iter().any(|language| line.ends_with(language));
        line == "#[test]" || line == "#[cfg(test)]" || is_tested && !has_doctests
    };
    text.lines().filter(is_lost).collect()
}

#[test]
fn no_test_is_where_cargo_compiles_none() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, root) in CRATES.iter().filter(|(name, _)| *name != "kalah_program") {
        let folder = Path::new(root).parent().and_then(Path::parent).unwrap();
        let manifest = std::fs::read_to_string(top.join(folder).join("Cargo.toml")).unwrap();
        assert!(manifest.contains("\ntest = false\n"), "{name} is compiled once more for tests that it has not");
        let has_doctests = !manifest.contains("\ndoctest = false\n");
        let sources = Sources::read(top, &[(name, root)]);
        let files: Vec<PathBuf> = sources.modules().iter().map(|module| top.join(&module.file)).collect();
        let mut examples = 0;
        for file in &files {
            let text = std::fs::read_to_string(file).unwrap();
            assert_eq!(lost_tests(&text, has_doctests), [""; 0], "{}", file.display());
            examples += lost_tests(&text, false).len();
        }
        assert_eq!(examples > 0, has_doctests, "{name}: doctest = false, exactly if it has no examples");
    }
}

#[test]
fn lost_tests_are_found() {
    let text = "/// ```text\n/// a\n/// ```\n//! ```\n//! b();\n//! ```\n#[cfg(test)]\nmod tests {\n    #[test]\n";
    assert_eq!(lost_tests(text, true), ["#[cfg(test)]", "    #[test]"]);
    assert_eq!(lost_tests(text, false), ["//! ```", "#[cfg(test)]", "    #[test]"]);
}
