//! The summary has every page, no page is too long, and the pictures are current. `packaging/site` checks the links.

use std::collections::HashMap;
use std::path::Path;

use kalah_tests::optional::{self, has_python};

/// Maximum words of all pages in `docs`, and of single ones: a page is read in the first hour with the program, or
/// looked things up in.
const MAX_WORDS: usize = 36_000;
const MAX_WORDS_OF_PAGES: [(usize, &[&str]); 3] = [
    (900, &["start", "building", "players", "referees", "library", "python", "wasm", "gpu"]),
    (2000, &["format", "results", "certificates", "commands"]),
    (3000, &["measurements"]),
];

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

/// Returns the words of each page in `docs`, but not in its folders.
fn words_of_pages() -> HashMap<String, usize> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let paths = docs.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let pages = paths.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let words = |path: &Path| std::fs::read_to_string(path).unwrap().split_whitespace().count();
    pages.map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), words(&path))).collect()
}

/// `.ci/run` runs that example.
#[test]
fn an_example_has_the_code_of_the_page_for_rust() {
    let read = |file| std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    let (page, example) = (read("docs/library.md"), read("examples/library.rs"));
    let example: Vec<&str> = example.lines().map(str::trim).collect();
    let blocks: Vec<&str> = page.split("```").filter_map(|block| block.strip_prefix("rust\n")).collect();
    assert!(blocks.len() > 1);
    for block in blocks {
        let lines: Vec<&str> = block.lines().map(str::trim).collect();
        assert!(example.windows(lines.len()).any(|part| part == lines), "no example has this code:\n{block}");
    }
}

#[test]
fn no_page_is_longer_than_its_readers_have_time_for() {
    let words = words_of_pages();
    let all: usize = words.values().sum();
    assert!(all <= MAX_WORDS, "the pages have {all} words, more than {MAX_WORDS}");
    for (most, pages) in MAX_WORDS_OF_PAGES {
        for page in pages {
            assert!(words[*page] <= most, "docs/{page}.md has {} words, more than {most}", words[*page]);
        }
    }
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
