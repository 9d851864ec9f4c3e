//! The differences among rule sets are all in one file. Other code asks for a property. If it distinguished rule sets
//! by name, its behaviour for a new one would be accidental.
//!
//! This test reads the sources token by token. Outside that file a rule set may not be compared with a named one, be a
//! pattern, or be cast to a number.
//!
//! The reference oracle of `verify` deliberately shares no code with the rest, so it distinguishes rule sets by name.
//! It has no `_` arm, so that it does not compile until a new rule set is added to it.

use std::path::{Path, PathBuf};

use kalah::game::Rules;

/// File of the rules.
const HOME: &str = "game/rules.rs";

/// The reference oracle.
const ORACLE: &str = "verify/oracle.rs";

/// Words and signs of a source, each with its line; without comments, strings and characters.
fn tokens(source: &str) -> Vec<(usize, String)> {
    let text: Vec<char> = source.chars().collect();
    let at = |index: usize| text.get(index).copied().unwrap_or('\0');
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut tokens, mut index, mut line) = (Vec::new(), 0, 1);
    while index < text.len() {
        let start = index;
        match (at(index), at(index + 1)) {
            ('/', '/') => index += text[index..].iter().take_while(|&&c| c != '\n').count(),
            ('/', '*') => {
                let mut depth = 0;
                loop {
                    match (at(index), at(index + 1)) {
                        ('/', '*') => (depth, index) = (depth + 1, index + 2),
                        ('*', '/') => (depth, index) = (depth - 1, index + 2),
                        _ => index += 1,
                    }
                    if depth == 0 || index >= text.len() {
                        break;
                    }
                }
            }
            ('"', _) => {
                index += 1;
                while index < text.len() && at(index) != '"' {
                    index += if at(index) == '\\' { 2 } else { 1 };
                }
                index += 1;
            }
            ('r', '"' | '#') if text[index + 1..].iter().find(|&&c| c != '#') == Some(&'"') => {
                let hashes = text[index + 1..].iter().take_while(|&&c| c == '#').count();
                let end: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
                index += hashes + 2;
                while index < text.len() && !text[index..].starts_with(&end) {
                    index += 1;
                }
                index += end.len();
            }
            ('\'', '\\') => index += 3 + text[index + 3..].iter().take_while(|&&c| c != '\'').count(),
            ('\'', _) if at(index + 2) == '\'' => index += 3,
            (c, _) if is_word(c) => {
                let word: String = text[index..].iter().copied().take_while(|&c| is_word(c)).collect();
                index += word.chars().count();
                tokens.push((line, word));
            }
            (c, _) if c.is_whitespace() => index += 1,
            (a, b) => {
                let two = ["==", "!=", "=>", "::"].contains(&&*format!("{a}{b}"));
                index += 1 + usize::from(two);
                tokens.push((line, text[start..index].iter().collect()));
            }
        }
        line += text[start..index.min(text.len())].iter().filter(|&&c| c == '\n').count();
    }
    tokens
}

/// Tokens of a source, with the pairs of brackets.
struct Source {
    tokens: Vec<(usize, String)>,
    /// For each token the innermost bracket around it, and the end of that bracket.
    inside: Vec<Option<(usize, usize)>>,
}

impl Source {
    fn read(source: &str) -> Source {
        let tokens = tokens(source);
        let (mut open, mut begins) = (Vec::new(), vec![None; tokens.len()]);
        let mut ends = vec![0; tokens.len()];
        for (index, (_, token)) in tokens.iter().enumerate() {
            if matches!(&**token, ")" | "]" | "}")
                && let Some(begin) = open.pop()
            {
                ends[begin] = index;
            }
            begins[index] = open.last().copied();
            if matches!(&**token, "(" | "[" | "{") {
                open.push(index);
            }
        }
        let inside = begins.into_iter().map(|begin| begin.map(|begin| (begin, ends[begin]))).collect();
        Source { tokens, inside }
    }

    fn at(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", |(_, token)| token)
    }

    fn before(&self, index: usize) -> &str {
        index.checked_sub(1).map_or("", |index| self.at(index))
    }

    /// Violations: the line, and the offending tokens.
    fn faults(&self, is_oracle: bool) -> Vec<(usize, &'static str)> {
        let names = Rules::ALL.map(|rules| format!("{rules:?}"));
        let mut faults = Vec::new();
        for index in 0..self.tokens.len() {
            let mut add = |what| faults.push((self.tokens[index].0, what));
            let path = self.at(index) == "Rules" && self.at(index + 1) == "::";
            if !path {
                let call = if self.at(index + 1) == "(" { 2 } else { 0 };
                if self.at(index) == "rules" && self.at(index + 1 + call) == "as" {
                    add("a cast");
                }
                continue;
            }
            let name = self.at(index + 2);
            if matches!(name, "*" | "{") {
                add("names without their type");
            }
            if !names.iter().any(|other| other == name) && name != "default" {
                continue;
            }
            // The path to the type belongs to it.
            let mut first = index;
            while self.before(first) == "::" {
                first -= 2;
            }
            while matches!(self.before(first), "&" | "*") {
                first -= 1;
            }
            let next = index + 3 + if self.at(index + 3) == "(" { 2 } else { 0 };
            let is_comparison = |token: &str| matches!(token, "==" | "!=");
            if is_comparison(self.before(first)) || is_comparison(self.at(next)) {
                add("a comparison");
            }
            if self.at(next) == "as" {
                add("a cast");
            }
            // A pattern may be inside other patterns.
            let (mut begin, mut end) = (first, next);
            loop {
                if matches!(self.at(end), "=>" | "|" | "if") || matches!(self.before(begin), "let" | "|") {
                    if is_oracle {
                        let wildcard = self.inside[begin].is_some_and(|(open, close)| {
                            (open..close).any(|at| {
                                self.at(at) == "_"
                                    && matches!(self.at(at + 1), "=>" | "if")
                                    && self.inside[at] == self.inside[begin]
                            })
                        });
                        if wildcard {
                            add("a `_` arm");
                        }
                    } else {
                        add("a pattern");
                    }
                    break;
                }
                match self.inside[begin] {
                    Some((open, _)) if self.before(open) == "!" && self.at(open.max(2) - 2) == "matches" => {
                        add("a pattern");
                        break;
                    }
                    Some((open, close)) if matches!(self.at(open), "(" | "[") => {
                        // The name of a variant or struct around the pattern.
                        let name = usize::from(self.before(open).starts_with(char::is_uppercase));
                        (begin, end) = (open - name, close + 1);
                    }
                    _ => break,
                }
            }
        }
        faults
    }
}

/// All Rust files in `directory`.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let Ok(listed) = std::fs::read_dir(directory) else { return Vec::new() };
    let paths = listed.map(|entry| entry.unwrap().path());
    let files = paths.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

#[test]
fn no_rule_set_is_asked_for_by_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = [sources(&root.join("src")), sources(&root.join("crates"))].concat();
    let only = |end: &str| files.iter().filter(|path| path.ends_with(end)).count() == 1;
    assert!(only(HOME) && only(ORACLE), "the file of the rules or of the oracle has another name: update this test");
    let mut found = Vec::new();
    for path in files.iter().filter(|path| !path.ends_with(HOME)) {
        let source = Source::read(&std::fs::read_to_string(path).unwrap());
        let faults = source.faults(path.ends_with(ORACLE));
        found.extend(faults.into_iter().map(|(line, what)| format!("{}:{line}: {what}", path.display())));
    }
    assert!(found.is_empty(), "rule sets are distinguished by name; ask for a property instead:\n{}", found.join("\n"));
}

#[test]
fn what_would_be_wrong_is_found() {
    let faults = |text: &str, is_oracle| -> Vec<&str> {
        Source::read(text).faults(is_oracle).into_iter().map(|(_, what)| what).collect()
    };
    for (text, what) in [
        ("if rules == Rules::Standard {}", "a comparison"),
        ("let other = self.rules() != crate::game::Rules::SKalaha;", "a comparison"),
        ("assert!(Rules::EmptyCapture == rules);", "a comparison"),
        ("let differs = &rules != &Rules::default();", "a comparison"),
        ("let equal = Rules::default() == rules;", "a comparison"),
        ("match rules { Rules::Standard => 1, _ => 2 }", "a pattern"),
        ("match rules { Rules::Standard | x if y => 1 }", "a pattern"),
        ("match (rules, pits) { (Rules::SKalaha, 6) => 1, (_, _) => 2 }", "a pattern"),
        ("match rules { Some(kalah::game::Rules::SKalaha) => 1, other => 2 }", "a pattern"),
        ("if let Rules::Standard = rules {}", "a pattern"),
        ("if let Some((Rules::Standard, _)) = found {}", "a pattern"),
        ("matches!(rules, Rules::Standard)", "a pattern"),
        ("let place = self.rules as usize;", "a cast"),
        ("let place = solver.rules() as u8;", "a cast"),
        ("const PLACE: usize = Rules::Standard as usize;", "a cast"),
        ("use crate::game::Rules::*;", "names without their type"),
        ("use crate::game::Rules::{SKalaha, Standard};", "names without their type"),
    ] {
        assert_eq!(faults(text, false), [what], "{text}");
    }
    assert_eq!(faults("match rules { Rules::Standard => 1, _ => 2 }", true), ["a `_` arm"]);
    for text in [
        "const RULES: Rules = Rules::Standard; // rules == Rules::Standard",
        "let solver = new(Rules::SKalaha, 6); let same = solver.rules() == rules && \"== Rules::Standard\" != text;",
        "match seeds { 1 => play(Rules::Standard), _ => play(Rules::default()) }",
        "for rules in [Rules::Standard, Rules::SKalaha] { /* rules == /* */ Rules::Standard */ } let c = '\"';",
        "if rules.relays() && Rules::ALL.len() == 3 && Rules::COMMON == text {}",
        "fn lifetime<'a>(text: &'a str) -> &'a str { r#\" == Rules::Standard \"# }",
    ] {
        assert!(faults(text, false).is_empty(), "{text}: {:?}", faults(text, false));
    }
    assert!(
        faults("match rules { Rules::Standard => a, Rules::SKalaha if b => match c { 1 => d, _ => e } }", true)
            .is_empty()
    );
    // The file of the rules contains the patterns that are forbidden elsewhere.
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = [sources(&root.join("src")), sources(&root.join("crates"))].concat();
    let home = files.iter().find(|path| path.ends_with(HOME)).unwrap();
    assert!(!Source::read(&std::fs::read_to_string(home).unwrap()).faults(false).is_empty());
}
