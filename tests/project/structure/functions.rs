//! Counts the lines of the functions in the product's sources.
//!
//! The sources are formatted. So a function ends at the first line with its own indentation that ends with a brace or a
//! semicolon. Attributes and comments in front of a function do not count. Tests at the end of a file are left out.

use std::fs;
use std::path::Path;

/// Maximum lines of a function, including its signature and braces.
const MOST_LINES: usize = 80;

/// Names and lines of the functions in a file that are longer.
fn long_functions(text: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = text.lines().take_while(|line| *line != "#[cfg(test)]").collect();
    let mut found = Vec::new();
    for (first, line) in lines.iter().enumerate() {
        let Some(name) = function(line.trim_start()) else { continue };
        let indentation = &line[..line.len() - line.trim_start().len()];
        let ends = |line: &&str| {
            let own = line.strip_prefix(indentation).is_some_and(|rest| !rest.starts_with(' '));
            own && (line.ends_with('}') || line.ends_with(';'))
        };
        let count = lines[first..].iter().position(ends).expect("a function ends") + 1;
        if count > MOST_LINES {
            found.push((name, count));
        }
    }
    found
}

/// Name of the function that begins in a line.
fn function(line: &str) -> Option<String> {
    let (before, after) = line.split_once("fn ").filter(|(before, _)| before.is_empty() || before.ends_with(' '))?;
    let is_qualifier = |word: &str| word.starts_with("pub") || word.starts_with('"') || word.starts_with("in ");
    let words = ["const", "async", "unsafe", "extern", "default"];
    let rest = before.split_whitespace().filter(|word| !words.contains(word) && !is_qualifier(word));
    // Of `pub(in crate::build)` a word is left.
    let all = rest.clone().all(|word| word.ends_with(')') && before.starts_with("pub("));
    let name = after.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next();
    name.filter(|name| all && !name.is_empty()).map(str::to_owned)
}

/// Adds the long functions of all files in a folder.
fn look_in(folder: &Path, found: &mut Vec<String>, files: &mut usize) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            look_in(&path, found, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            *files += 1;
            let long = long_functions(&fs::read_to_string(&path).unwrap());
            found.extend(long.into_iter().map(|(name, lines)| format!("{}: {name} has {lines} lines", path.display())));
        }
    }
}

#[test]
fn no_function_has_more_than_80_lines() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path().join("src"));
    let (mut found, mut files) = (Vec::new(), 0);
    for folder in crates.chain([root.join("src")]) {
        look_in(&folder, &mut found, &mut files);
    }
    assert!(files > 300, "only {files} files were found");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_long_function_is_found() {
    for head in ["fn long() {", "pub(in crate::build) const unsafe fn long(", "    pub async fn long<T>(&self) -> T"] {
        let indentation = &head[..head.len() - head.trim_start().len()];
        let of = |lines: usize| {
            let body = format!("{indentation}    let x = {{ 1 }};\n").repeat(lines - 2);
            format!("fn short() {{}}\n/// Doc.\n#[inline]\n{head}\n{body}{indentation}}}\nfn next() {{\n}}\n")
        };
        assert!(long_functions(&of(80)).is_empty(), "{head}");
        assert_eq!(long_functions(&of(81)), [("long".to_owned(), 81)], "{head}");
        assert!(long_functions(&format!("#[cfg(test)]\n{}", of(81))).is_empty());
    }
}
