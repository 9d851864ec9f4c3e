//! One file distinguishes the rule sets. Other code asks for a property, so that a new rule set needs no change there.

use kalah::game::Rules;
use kalah_tests::files::sources;

use crate::root;

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

#[test]
fn no_rule_set_is_asked_for_by_name() {
    let crates = root().join("crates").read_dir().unwrap().map(|entry| entry.unwrap().path().join("src"));
    let mut checked = 0;
    for path in crates.chain([root().join("src")]).flat_map(|folder| sources(&folder)) {
        let text = std::fs::read_to_string(&path).unwrap();
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
    for (line, is_wrong) in [
        ("if rules == Rules::Standard {}", true),
        ("let differs = rules != Rules::default() && self.rules() != crate::game::Rules::SKalaha;", true),
        ("match rules { Rules::Standard => 1, _ => 2 }", true),
        ("let is = matches!(rules, Rules::Standard);", true),
        ("let place = self.rules as usize;", true),
        ("const PLACE: usize = Rules::Standard as usize;", true),
        ("use crate::game::Rules::{SKalaha, Standard};", true),
        ("const RULES: Rules = Rules::Standard;", false),
        ("// rules == Rules::Standard", false),
        ("#[arg(long, default_value_t = Rules::SKalaha)]", false),
        ("#[cfg(test)]\nassert!(rules == Rules::Standard);", false),
    ] {
        assert_eq!(!faults(line).is_empty(), is_wrong, "{line}");
    }
}
