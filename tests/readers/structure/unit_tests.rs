//! No test is in a file of which cargo compiles no tests. In a manifest, `test = false` or `doctest = false` saves
//! compiling a library once more for tests that it has not.

use std::path::Path;

use super::sources::Sources;
use super::{CRATES, ROOT};

/// Lines of a file that begin a test: in code, and in the examples of its documentation.
fn tests_of(text: &str) -> (Vec<&str>, Vec<&str>) {
    let is_fence = |line: &&str| {
        let comment = line.trim_start().strip_prefix("//");
        comment.is_some_and(|rest| rest.trim_start_matches(['/', '!', ' ']).starts_with("```"))
    };
    let is_tested = |line: &&str| !["text", "console", "json"].iter().any(|language| line.ends_with(language));
    let is_test = |line: &&str| line.trim_start() == "#[test]" || line.trim_start().starts_with("#[cfg(test");
    let examples = text.lines().filter(is_fence).step_by(2).filter(is_tested).collect();
    (text.lines().filter(is_test).collect(), examples)
}

#[test]
fn no_test_is_where_cargo_compiles_none() {
    let top = Path::new(ROOT);
    let mut with_tests = 0;
    for (name, root) in CRATES.iter().filter(|(name, _)| *name != "kalah_program") {
        let folder = Path::new(root).parent().and_then(Path::parent).unwrap();
        let manifest = std::fs::read_to_string(top.join(folder).join("Cargo.toml")).unwrap();
        let library = manifest.split_once("\n[lib]\n").map_or("", |(_, rest)| rest.split("\n[").next().unwrap());
        let says = |line: &str| library.lines().any(|other| other == line);
        let (mut tests, mut examples) = (0, 0);
        for module in Sources::read(top, &[(name, root)]).modules() {
            let text = std::fs::read_to_string(top.join(&module.file)).unwrap();
            let found = tests_of(&text);
            tests += found.0.len();
            examples += found.1.len();
        }
        assert_eq!(tests == 0, says("test = false"), "{name} has {tests} tests in its files");
        assert_eq!(examples == 0, says("doctest = false"), "{name} has {examples} examples in its documentation");
        with_tests += usize::from(tests > 0);
    }
    assert!(with_tests > 3, "{with_tests}");
}

#[test]
fn tests_are_found() {
    let text = "/// ```text\n/// a\n/// ```\n//! ```\n//! b();\n//! ```\n#[cfg(test)]\nmod tests {\n    #[test]\n";
    assert_eq!(tests_of(text), (vec!["#[cfg(test)]", "    #[test]"], vec!["//! ```"]));
}
