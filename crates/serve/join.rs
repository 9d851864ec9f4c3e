//! Joins the scripts of the page into one, for `build.rs`. A browser that fetches each script separately waits
//! several times longer. Indentation, and comments on lines of their own, such as those that declare types, are left
//! out; so no text in a script goes over several lines.
//!
//! Each script becomes a function that returns its exports, after the scripts that it imports. So imports and exports
//! have a fixed form, each on one line: `import { a, b } from "./file.js";`, `import * as name from "./file.js";`,
//! and `export const`, `export function`, `export async function` or `export class` before a declaration.

use std::collections::BTreeMap;

/// Joins scripts, given by name (`api` for `api.js`), so that `main` runs last.
pub(crate) fn join(scripts: &BTreeMap<String, String>, main: &str) -> String {
    let mut joined = String::new();
    add(scripts, main, &mut Vec::new(), &mut Vec::new(), &mut joined);
    joined
}

/// Adds a script after those that it imports, unless it is added already. `open` are the scripts that wait for it.
fn add(
    scripts: &BTreeMap<String, String>,
    name: &str,
    open: &mut Vec<String>,
    done: &mut Vec<String>,
    joined: &mut String,
) {
    if done.iter().any(|other| other == name) {
        return;
    }
    assert!(!open.iter().any(|other| other == name), "{name}.js imports itself, by way of {open:?}");
    open.push(name.to_owned());
    let (mut body, mut exports) = (String::new(), Vec::new());
    let text = scripts.get(name).unwrap_or_else(|| panic!("there is no {name}.js, which is imported"));
    let mut commented = false;
    for line in text.lines() {
        let trimmed = line.trim();
        // A comment before code on the same line is a cast.
        commented |= trimmed.starts_with("/**") && (trimmed.ends_with("*/") || !trimmed.contains("*/"));
        if commented {
            commented = !trimmed.ends_with("*/");
            continue;
        }
        let line = if let Some(import) = line.strip_prefix("import ") {
            let (what, from) = import.split_once(" from \"./").expect("an import in one line");
            let from = from.strip_suffix(".js\";").expect("an import of a script");
            add(scripts, from, open, done, joined);
            format!("const {} = {from}_js;", what.strip_prefix("* as ").unwrap_or(what))
        } else if let Some(declaration) = line.strip_prefix("export ") {
            let words = declaration.split(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '$');
            let name = words.skip_while(|word| !["const", "function", "class"].contains(word)).nth(1);
            exports.push(name.expect("a declaration").to_owned());
            declaration.to_owned()
        } else if trimmed.starts_with("//") {
            continue;
        } else {
            trimmed.to_owned()
        };
        body.push_str(&line);
        body.push('\n');
    }
    joined.push_str(&format!("const {name}_js = (() => {{\n{body}return {{ {} }};\n}})();\n", exports.join(", ")));
    open.pop();
    done.push(name.to_owned());
}
