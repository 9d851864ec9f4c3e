//! The summary has every page, no page is too long, and the pictures are current. `packaging/site` checks the links.

use std::path::Path;
use std::process::Command;

use kalah_tests::optional::{self, has_python};
use kalah_tests::program::{Ran, Run};

use crate::{read, root};

/// Maximum words of all pages in `docs`, and of single ones: a page is read in the first hour with the program, or
/// looked things up in.
const MAX_WORDS: usize = 36_000;
const MAX_WORDS_OF_PAGES: [(usize, &str); 3] = [
    (900, "start building players referees library python wasm gpu"),
    (2000, "format results certificates commands"),
    (3000, "measurements"),
];

/// Pages in a folder and the folders below it, with their paths from `docs`.
fn pages(folder: &Path) -> Vec<String> {
    let paths = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.strip_prefix(root().join("docs")).unwrap().to_str().unwrap().to_owned();
    let pages = paths.flat_map(|path| if path.is_dir() { pages(&path) } else { vec![name(&path)] });
    pages.filter(|name| name.ends_with(".md")).collect()
}

/// The summary is the only list of pages, and lists itself for the site.
#[test]
fn the_summary_has_every_page_once() {
    let summary = read("docs/SUMMARY.md");
    let targets = summary.split("](").skip(1).map(|rest| rest.split_once(')').unwrap().0);
    let mut named: Vec<&str> = targets.filter(|target| !target.starts_with("../")).collect();
    named.sort_unstable();
    let mut expected = pages(&root().join("docs"));
    expected.sort_unstable();
    assert_eq!(named, expected);
}

/// `.ci/run` runs that example.
#[test]
fn an_example_has_the_code_of_the_page_for_rust() {
    let lines = |text: &str| text.lines().map(|line| format!("\n{}", line.trim())).collect::<String>() + "\n";
    let (page, example) = (read("docs/library.md"), lines(&read("examples/library.rs")));
    let blocks: Vec<&str> = page.split("```").filter_map(|block| block.strip_prefix("rust\n")).collect();
    assert!(blocks.len() > 1);
    for block in blocks {
        assert!(example.contains(&lines(block)), "no example has this code:\n{block}");
    }
}

#[test]
fn no_page_is_longer_than_its_readers_have_time_for() {
    let words = |name: &str| read(&format!("docs/{name}")).split_whitespace().count();
    let names = pages(&root().join("docs"));
    let all: usize = names.iter().filter(|name| !name.contains('/')).map(|name| words(name)).sum();
    assert!(all <= MAX_WORDS, "the pages have {all} words, more than {MAX_WORDS}");
    for (most, pages) in MAX_WORDS_OF_PAGES {
        for page in pages.split(' ') {
            let words = words(&format!("{page}.md"));
            assert!(words <= most, "docs/{page}.md has {words} words, more than {most}");
        }
    }
}

#[test]
fn the_pictures_are_those_that_the_script_draws() {
    if has_python(optional::PYTHON) {
        Command::new("python3").arg(root().join("docs/pictures/draw.py")).arg("--check").run().success();
    }
}
