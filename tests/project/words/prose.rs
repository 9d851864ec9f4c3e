//! Finds the prose in a file: comments, strings of the product, text of pages.

/// Kinds of files with prose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Rust: comments and strings.
    Product,
    /// Rust, WGSL, JavaScript or C of which only the comments are prose.
    Comments,
    /// Python, shell, TOML, YAML: comments after `#`, and docstrings.
    Script,
    /// Markdown.
    Page,
}

/// Prose without a break: a paragraph, a string, or comments on consecutive lines.
#[derive(Debug)]
pub(super) struct Passage {
    /// First line, from 1.
    pub line: usize,
    pub text: String,
    pub is_comment: bool,
}

impl Kind {
    /// Returns the kind of a file, or `None` if no prose of it is checked.
    pub(super) fn of(name: &str) -> Option<Kind> {
        let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
        match file.rsplit_once('.').map_or("", |(_, ending)| ending) {
            "" if matches!(folder, ".ci" | "packaging") => Some(Kind::Script),
            "rs" if name.starts_with("src/") || name.contains("/src/") => Some(Kind::Product),
            "rs" | "wgsl" | "js" | "mjs" | "c" => Some(Kind::Comments),
            "py" | "pyi" | "sh" | "toml" | "yml" => Some(Kind::Script),
            "md" => Some(Kind::Page),
            _ => None,
        }
    }

    /// Passages of a file.
    pub(super) fn passages(self, text: &str) -> Vec<Passage> {
        match self {
            Kind::Page => joined(paragraphs(text), false),
            Kind::Script => joined(scripts(text), true),
            Kind::Product | Kind::Comments => sources(text, self == Kind::Product),
        }
    }

    /// Lines that must be short, with their numbers from 1.
    pub(super) fn short_lines(self, text: &str) -> impl Iterator<Item = (usize, &str)> {
        let exempt = move |line: &str| self == Kind::Page && line.starts_with('|');
        // A line that is hardly more than an address cannot be broken.
        let is_address = |line: &str| line.split_whitespace().any(|word| word.chars().count() > 70);
        let lines = (1..).zip(text.lines()).zip(in_code(text, self == Kind::Page));
        lines.filter(move |((_, line), code)| !code && !exempt(line) && !is_address(line)).map(|(line, _)| line)
    }
}

/// For each line, true if it is part of a block of code in a page.
fn in_code(text: &str, is_page: bool) -> impl Iterator<Item = bool> {
    let mut code = false;
    text.lines().map(move |line| {
        let fence = is_page && line.trim_start().starts_with("```");
        code ^= fence;
        code || fence
    })
}

/// Joins the texts of consecutive lines.
fn joined(lines: impl Iterator<Item = Option<String>>, is_comment: bool) -> Vec<Passage> {
    let (mut found, mut is_open): (Vec<Passage>, bool) = (Vec::new(), false);
    for (line, text) in (1..).zip(lines) {
        match (text, found.last_mut().filter(|_| is_open)) {
            (None, _) => {
                is_open = false;
                continue;
            }
            (Some(text), Some(passage)) => passage.text.extend([" ", &text]),
            (Some(text), None) => found.push(Passage { line, text, is_comment }),
        }
        is_open = true;
    }
    found
}

/// Lines of a page without code, and without the list of words not to use.
fn paragraphs(text: &str) -> impl Iterator<Item = Option<String>> {
    let mut listed = false;
    text.lines().zip(in_code(text, true)).map(move |(line, code)| {
        if line.starts_with('#') && !code {
            listed = line == "## Words not to use";
        }
        (!listed && !code && !line.trim().is_empty()).then(|| without_code(line))
    })
}

/// Comments and docstrings of a script.
fn scripts(text: &str) -> impl Iterator<Item = Option<String>> {
    let mut quoted = false;
    text.lines().map(move |line| {
        let quotes = line.matches("\"\"\"").count();
        let inside = quoted || quotes > 0;
        quoted ^= quotes % 2 == 1;
        let comment = line.trim_start().strip_prefix('#').filter(|text| !text.starts_with('!'));
        let comment = comment.or_else(|| line.split_once("  # ").map(|(_, after)| after));
        let text = if inside { Some(line) } else { comment };
        text.map(|text| text.trim_matches(|letter: char| letter == '"' || letter.is_whitespace()).to_owned())
    })
}

/// Returns a line without the text in backticks, and without the addresses of its links.
fn without_code(line: &str) -> String {
    let text: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
    let mut parts = text.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "]" + part.split_once(')').map_or("", |(_, after)| after))
}

/// Parts of a source.
enum Part {
    Comment,
    String,
    Other,
}

/// The part at the beginning of a source in Rust, WGSL, JavaScript or C, and its length.
fn part(text: &str) -> (Part, usize) {
    let until = |from: usize, end: &str| text[from..].find(end).map_or(text.len(), |at| from + at + end.len());
    let hashes = text.bytes().skip(1).take_while(|&byte| byte == b'#').count();
    let is_escaped = |&(at, _): &(usize, &str)| {
        let before = &text[..at];
        (before.len() - before.trim_end_matches('\\').len()) % 2 == 1
    };
    match text.as_bytes() {
        [b'/', b'/', ..] => (Part::Comment, text.find('\n').unwrap_or(text.len())),
        [b'/', b'*', ..] => (Part::Comment, until(2, "*/")),
        [b'r', ..] if text[1 + hashes..].starts_with('"') => {
            (Part::String, until(2 + hashes, &format!("\"{}", "#".repeat(hashes))))
        }
        [b'"', ..] => {
            let end = text.match_indices('"').skip(1).find(|quote| !is_escaped(quote));
            (Part::String, end.map_or(text.len(), |(at, _)| at + 1))
        }
        // A character; an apostrophe of a lifetime has no other behind it.
        [b'\'', b'\\', ..] => (Part::Other, until(3, "'")),
        [b'\'', ..] if text.chars().nth(2) == Some('\'') => (Part::Other, until(1, "'")),
        _ => (Part::Other, text.chars().next().map_or(0, char::len_utf8)),
    }
}

/// Comments of a source, with its strings if they are wanted.
fn sources(text: &str, strings: bool) -> Vec<Passage> {
    let (mut rest, mut line, mut found) = (text, 1, Vec::<Passage>::new());
    // Line on which a further comment continues the last one; 0 if no comment is open.
    let mut open = 0;
    while !rest.is_empty() {
        let (part, length) = part(rest);
        let (taken, after) = rest.split_at(length);
        rest = after;
        let first = line;
        line += taken.matches('\n').count();
        match part {
            Part::Comment => {
                let line_comment = taken.strip_prefix("//").map(|text| text.trim_start_matches(['/', '!']));
                let text = line_comment.unwrap_or_else(|| taken.trim_matches(['/', '*', ' ']));
                // `Promise` is also a type of JavaScript.
                let text = without_code(text.trim()).replace("Promise<", "<");
                match found.last_mut().filter(|_| open == line && !text.is_empty()) {
                    Some(passage) => passage.text.extend([" ", &text]),
                    None => found.push(Passage { line, text, is_comment: true }),
                }
                open = line + 1;
            }
            Part::String => {
                open = 0;
                let text = without_code(&taken.replace("\\\n", "").replace("\\n", " "));
                found.extend(strings.then_some(Passage { line: first, text, is_comment: false }));
            }
            Part::Other if taken.trim().is_empty() => {}
            Part::Other => open = 0,
        }
    }
    found
}
