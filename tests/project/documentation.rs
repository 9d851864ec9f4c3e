//! Links between the pages of the documentation are valid, the summary has every page, and the pictures are current.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::optional::{self, has_python};

/// All pages of the repository.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let directories =
        ["", "docs", "crates/core", "crates/python", "crates/wasm/js", "tables"].map(|name| root.join(name));
    let files = directories.iter().flat_map(|directory| directory.read_dir().unwrap());
    files.map(|file| file.unwrap().path()).filter(|path| path.extension().is_some_and(|end| end == "md")).collect()
}

/// Lines of a page that are not code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    })
}

/// Targets of the links in a line: the text in parentheses after a bracket.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
}

/// Anchors of a page, made from its headings as GitHub makes them: repeated ones get a number.
fn anchors(text: &str) -> HashSet<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let anchor = |line: &str| {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let before = seen.entry(anchor.clone()).or_default();
        *before += 1;
        if *before == 1 { anchor } else { format!("{anchor}-{}", *before - 1) }
    };
    prose(text).filter(|line| line.starts_with('#')).map(anchor).collect()
}

/// Returns the fault of a link on `page`, or `None`.
fn fault(page: &Path, target: &str) -> Option<String> {
    if target.contains("://") {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() { page.to_owned() } else { page.parent().unwrap().join(file) };
    let fault = |what| Some(format!("{}: {what}: {target}", page.display()));
    if !path.exists() {
        return fault("there is no such file");
    }
    if anchor.is_empty() || anchors(&std::fs::read_to_string(&path).unwrap()).contains(anchor) {
        return None;
    }
    fault("there is no such heading")
}

#[test]
fn every_link_of_the_documentation_leads_somewhere() {
    let (mut links, mut faults) = (0, Vec::new());
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for target in prose(&text).flat_map(targets) {
            links += 1;
            faults.extend(fault(&page, target));
        }
    }
    assert_eq!(faults, Vec::<String>::new());
    assert!(links > 150, "only {links} links were found");
}

#[test]
fn a_link_to_nothing_is_found() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    assert!(fault(&page, "docs/no-such-page.md").is_some());
    assert!(fault(&page, "docs/glossary.md#no-such-heading").is_some());
    assert!(fault(&page, "docs/glossary.md").is_none());
}

#[test]
fn the_summary_has_every_page_once() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let mut named: Vec<&str> = prose(&summary).flat_map(targets).filter(|target| !target.contains('/')).collect();
    named.sort_unstable();
    let there = pages().into_iter().filter(|page| page.parent() == Some(&docs));
    let names = there.map(|page| page.file_name().unwrap().to_str().unwrap().to_owned());
    let mut expected: Vec<String> = names.filter(|name| name != "SUMMARY.md").collect();
    expected.sort_unstable();
    assert_eq!(named, expected);
}

#[test]
fn the_pictures_are_those_that_the_script_draws() {
    if !has_python(optional::PYTHON) {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures/draw.py");
    let output = std::process::Command::new("python3").arg(script).arg("--check").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
