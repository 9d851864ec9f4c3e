//! The words of the project. Comments, pages and messages avoid those that CONTRIBUTING.md forbids, and
//! lines are short.
//!
//! The list is the table under "Words not to use" in CONTRIBUTING.md, which contributors and this test share.

mod prose;

use prose::{Kind, Passage};

use crate::{read, root};
use kalah_tests::optional;

/// Maximum columns of a line. Tables, code blocks and addresses in pages are exempt.
const MOST_COLUMNS: usize = 120;

/// Words with which no comment begins: a comment begins with the thing that it describes.
const BAD_BEGINNINGS: [&str; 5] = ["What", "Whether", "How", "Who", "Which"];

/// Files in other languages, and files that are not ours.
const EXEMPT: [&str; 3] = ["LICENSE-", "web/page/texts/de", "CHANGELOG.md"];

/// Paths of the tracked files with prose, from the root of the repository. `None` if git does not list them, as in an
/// archive of the sources.
fn files() -> Option<Vec<String>> {
    let names = optional::tracked(root())?;
    let kept = |name: &&str| Kind::of(name).is_some() && !EXEMPT.iter().any(|exempt| name.starts_with(exempt));
    // One crate links to a folder of another. Through the link the files would be read twice.
    let kept = names.split_terminator('\0').filter(kept).filter(|name| !root().join(name).is_symlink());
    Some(kept.map(str::to_owned).collect())
}

/// Forbidden words and phrases, in lower case.
fn forbidden(page: &str) -> Vec<String> {
    let (_, section) = page.split_once("## Words not to use").expect("the page has the list");
    let rows = section.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let cells = rows.take_while(|line| line.starts_with('|')).filter_map(|line| line.split('|').nth(1));
    cells.flat_map(|cell| cell.split(',')).map(|phrase| phrase.trim().to_lowercase()).collect()
}

/// Returns true if `phrase` is in `text` as whole words, which may be parts of a column's name. Both are in lower case.
fn has(text: &str, phrase: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '-';
    text.match_indices(phrase)
        .any(|(at, _)| !text[..at].ends_with(is_letter) && !text[at + phrase.len()..].starts_with(is_letter))
}

/// Faults of a passage.
fn faults_of(passage: &Passage, forbidden: &[String]) -> Vec<String> {
    let text = passage.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let lower = text.to_lowercase();
    let words = forbidden.iter().filter(|phrase| has(&lower, phrase)).map(|phrase| format!("the words `{phrase}`"));
    let first = text.split(|letter: char| !letter.is_alphabetic()).next().unwrap_or_default();
    let beginning =
        (passage.is_comment && BAD_BEGINNINGS.contains(&first)).then(|| format!("a comment that begins with {first}"));
    words.chain(beginning).collect()
}

/// Faults of a file.
fn faults(name: &str, text: &str, forbidden: &[String]) -> Vec<String> {
    let kind = Kind::of(name).expect("the file has prose");
    let of_passage = |passage: &Passage| {
        let at = |fault| format!("{name}:{}: {fault}", passage.line);
        faults_of(passage, forbidden).into_iter().map(at).collect::<Vec<_>>()
    };
    let lengths = kind.short_lines(text).map(|(number, line)| (number, line.chars().count()));
    let long = lengths.filter(|&(_, columns)| columns > MOST_COLUMNS);
    let long = long.map(|(number, columns)| format!("{name}:{number}: {columns} columns"));
    kind.passages(text).iter().flat_map(of_passage).chain(long).collect()
}

#[test]
fn comments_pages_and_messages_use_no_forbidden_word() {
    let forbidden = forbidden(&read("CONTRIBUTING.md"));
    assert!(forbidden.len() > 20, "only {} words are forbidden", forbidden.len());
    let Some(files) = files() else { return };
    assert!(files.len() > 400, "only {} files were found", files.len());
    let found: Vec<_> = files.iter().flat_map(|name| faults(name, &read(name), &forbidden)).collect();
    assert!(found.is_empty(), "{} faults:\n{}", found.len(), found.join("\n"));
}

#[test]
fn planted_faults_are_found() {
    let forbidden = ["best line", "told", "promise"].map(str::to_owned);
    let long = "word ".repeat(25);
    for (name, text, count) in [
        ("src/a.rs", "/// The best\n/// line, told by \"x\".\nfn told() -> &'static str { \"untold\" }\n", 2),
        ("src/a.rs", "fn a<'a>() { let _ = ('\"', r#\"told\"#, \"as\\\n   told\"); } // Told.\n", 3),
        ("src/a.rs", "//! Whether a file is short.\n\n/* How it is. */\n", 2),
        ("src/a.rs", "fn a() { let _ = [\"told_first\", \"untold\"]; }\n", 1),
        ("tests/a.rs", "// Told.\nfn a() { assert!(false, \"told\"); }\n", 1),
        ("shaders/a.wgsl", "// Told.\nfn told() {}\n", 1),
        ("docs/a.md", "# Told\n\nA `told` and the best\nline.\n\n```sh\ntold\n```\n", 2),
        ("docs/a.md", &format!("{long}\n| {long} |\n"), 1),
        ("src/a.rs", &format!("// {long}\n"), 1),
        ("a.py", "# told\nx = 1\n\"\"\"Told.\"\"\"\n", 2),
        (".ci/a", "#!/usr/bin/env bash\n# Told.\n\n# told\n", 2),
        ("a.c", "/* Told. */ int told;\n", 1),
        ("a.js", "/** Told. */ let told = 'x'; // told\n", 2),
        ("a.js", "/** @returns {Promise<x>} a promise */\n", 1),
    ] {
        assert_eq!(faults(name, text, &forbidden).len(), count, "{name}: {text}");
    }
}
