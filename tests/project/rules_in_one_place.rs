//! One file distinguishes the rule sets. Other code asks for a property, so that a new rule set needs no change there.

use std::path::{Path, PathBuf};

use kalah::game::Rules;

/// File of the rules.
const HOME: &str = "game/rules.rs";

/// The reference oracle of `verify`, which shares no code with the rest. It has no `_` arm, so that it does not compile
/// until a new rule set is added to it.
const ORACLE: &str = "verify/oracle.rs";

/// Returns the lines of product code that name a rule set, or number them. A constant and the default of a flag may be
/// one.
fn faults(text: &str) -> Vec<&str> {
    let names = Rules::ALL.map(|rules| format!("Rules::{rules:?}"));
    let product = text.lines().take_while(|line| !(line.starts_with("#[cfg(") && line.contains("test")));
    let code = product.filter(|line| !line.trim_start().starts_with("//"));
    code.filter(|line| {
        let is_value = |name: &String| line.ends_with(&format!(" = {name};")) || line.contains("default_value_t");
        let is_named = names.iter().any(|name| line.contains(name) && !is_value(name));
        let others = ["Rules::*", "Rules::{", "rules as ", "rules() as ", "== Rules::default()", "!= Rules::default()"];
        is_named || others.iter().any(|other| line.contains(other))
    })
    .collect()
}

/// All Rust files in `directory`.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let files = paths.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

#[test]
fn no_rule_set_is_asked_for_by_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = root.join("crates").read_dir().unwrap().map(|entry| entry.unwrap().path().join("src"));
    let files: Vec<PathBuf> = crates.chain([root.join("src")]).flat_map(|folder| sources(&folder)).collect();
    let mut checked = 0;
    for path in &files {
        let text = std::fs::read_to_string(path).unwrap();
        if path.ends_with(HOME) {
            assert!(!faults(&text).is_empty(), "{}: this test finds nothing", path.display());
        } else if path.ends_with(ORACLE) {
            assert!(!text.contains("_ =>") && !text.contains("_ if "), "{}: it has a `_` arm", path.display());
        } else {
            assert_eq!(faults(&text), [""; 0], "{}: ask for a property of the rules instead", path.display());
            continue;
        }
        checked += 1;
    }
    assert_eq!(checked, 2, "the file of the rules or of the oracle has another name: update this test");
}

#[test]
fn what_would_be_wrong_is_found() {
    for wrong in [
        "if rules == Rules::Standard {}",
        "let differs = rules != Rules::default() && self.rules() != crate::game::Rules::SKalaha;",
        "match rules { Rules::Standard => 1, _ => 2 }",
        "let is = matches!(rules, Rules::Standard);",
        "let place = self.rules as usize;",
        "const PLACE: usize = Rules::Standard as usize;",
        "use crate::game::Rules::{SKalaha, Standard};",
    ] {
        assert_eq!(faults(wrong), [wrong]);
    }
    for right in [
        "const RULES: Rules = Rules::Standard;",
        "// rules == Rules::Standard",
        "#[arg(long, default_value_t = Rules::SKalaha)]",
        "#[cfg(test)]\nassert!(rules == Rules::Standard);",
    ] {
        assert_eq!(faults(right), [""; 0]);
    }
}
