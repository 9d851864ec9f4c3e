//! The summary has every page, and the pictures are current. `packaging/site` checks the links.

use std::path::Path;

use kalah_tests::optional::{self, has_python};

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

/// Pages in a folder and the folders below it, with their paths from `docs`.
fn pages(docs: &Path, folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                pages(docs, &path)
            } else {
                vec![path.strip_prefix(docs).unwrap().to_str().unwrap().to_owned()]
            }
        })
        .filter(|name| name.ends_with(".md"))
        .collect()
}

/// The summary is the only list of pages, and lists itself for the site.
#[test]
fn the_summary_has_every_page_once() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let mut named: Vec<&str> = prose(&summary).flat_map(targets).filter(|target| !target.starts_with("../")).collect();
    named.sort_unstable();
    let mut expected = pages(&docs, &docs);
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
