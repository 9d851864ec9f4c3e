//! Joins the scripts of the page, and those of a static site, each into one. A browser that fetches each script
//! separately waits several times longer. Indentation, and comments on lines of their own, such as those that declare
//! types, are left out; so no text in a script goes over several lines.
//!
//! Each script becomes a function that returns its exports, after the scripts that it imports. So imports and exports
//! have a fixed form, each on one line: `import { a, b } from "./file.js";`, `import * as name from "./file.js";`,
//! and `export const`, `export function`, `export async function` or `export class` before a declaration.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=web/page");
    println!("cargo::rerun-if-changed=web/site");
    println!("cargo::rerun-if-changed=build.rs");
    let output = std::env::var_os("OUT_DIR").expect("cargo sets it");
    for (folder, main, name) in
        [("web/page", "app", "page.js"), ("web/site", "engine", "engine.js"), ("web/site", "local", "local.js")]
    {
        let mut joined = String::new();
        add(Path::new(folder), main, &mut Vec::new(), &mut joined);
        std::fs::write(Path::new(&output).join(name), joined).expect("a file in cargo's directory");
    }
}

/// Adds a script of a folder, given by name (`api` for `api.js`), after those that it imports, unless it is `done`.
fn add(folder: &Path, name: &str, done: &mut Vec<String>, joined: &mut String) {
    if done.iter().any(|other| other == name) {
        return;
    }
    done.push(name.to_owned());
    let (mut body, mut exports) = (String::new(), Vec::new());
    let text = std::fs::read_to_string(folder.join(name).with_extension("js")).expect("a script of the page");
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
            add(folder, from, done, joined);
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
}
