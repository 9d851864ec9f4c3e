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
        let (_, ending) = file.rsplit_once('.').unwrap_or(("", ""));
        match ending {
            "" if matches!(folder, ".ci" | "packaging") => Some(Kind::Script),
            "rs" if name.starts_with("src/") || name.contains("/src/") => Some(Kind::Product),
            "rs" | "wgsl" | "js" | "mjs" | "c" => Some(Kind::Comments),
            "py" | "pyi" | "sh" | "toml" | "yml" => Some(Kind::Script),
            "md" => Some(Kind::Page),
            _ => None,
        }
    }

    /// Lines that must be short, with their numbers from 0.
    pub(super) fn short_lines<'t>(self, text: &'t str) -> Box<dyn Iterator<Item = (usize, &'t str)> + 't> {
        match self {
            Kind::Page => Box::new(prose_of_page(text).filter(|(_, line)| !line.starts_with('|') && !is_address(line))),
            _ => Box::new(text.lines().enumerate().filter(|(_, line)| !is_address(line))),
        }
    }
}

/// Returns true if a line is hardly more than an address, which cannot be broken.
fn is_address(line: &str) -> bool {
    line.split_whitespace().any(|word| word.chars().count() > 70)
}

/// Passages of a file.
pub(super) fn passages(kind: Kind, text: &str) -> Vec<Passage> {
    match kind {
        Kind::Page => paragraphs(text),
        Kind::Script => scripts(text),
        Kind::Product | Kind::Comments => sources(text, kind == Kind::Product),
    }
}

/// Lines of a page outside code blocks, with their numbers from 0.
fn prose_of_page(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut code = false;
    text.lines().enumerate().filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    })
}

/// Paragraphs of a page without code, and without the list of words not to use.
fn paragraphs(text: &str) -> Vec<Passage> {
    let mut found: Vec<Passage> = Vec::new();
    let mut last = None;
    let mut listed = false;
    for (index, line) in prose_of_page(text) {
        if line.starts_with('#') {
            listed = line == "## Words not to use";
        }
        if listed || line.trim().is_empty() {
            continue;
        }
        let line = without_code(line);
        let begins = line.starts_with(['#', '|', '-', '*']) || index == 0 || last != Some(index - 1);
        match found.last_mut().filter(|_| !begins) {
            Some(passage) => passage.text.extend([" ", &line]),
            None => found.push(Passage { line: index + 1, text: line, is_comment: false }),
        }
        last = Some(index);
    }
    found
}

/// Returns a line without the text in backticks, and without the addresses of its links.
fn without_code(line: &str) -> String {
    let text: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
    let mut parts = text.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "]" + part.split_once(')').map_or("", |(_, after)| after))
}

/// A comment without the types in braces after its tags, as in `@param {Promise<Answer>} answer`.
fn without_types(text: &str) -> String {
    let (mut kept, mut depth) = (String::new(), 0);
    for letter in text.chars() {
        let is_type =
            depth > 0 || letter == '{' && kept.trim_end().rsplit(' ').next().is_some_and(|word| word.starts_with('@'));
        match letter {
            '{' if is_type => depth += 1,
            '}' if is_type => depth -= 1,
            _ if is_type => {}
            _ => kept.push(letter),
        }
    }
    kept
}

/// Comments and docstrings of a script.
fn scripts(text: &str) -> Vec<Passage> {
    let mut found: Vec<Passage> = Vec::new();
    let (mut last, mut quoted) = (None, false);
    for (index, line) in text.lines().enumerate() {
        let quotes = line.matches("\"\"\"").count();
        let comment = line
            .trim_start()
            .strip_prefix('#')
            .filter(|text| !text.starts_with('!'))
            .or_else(|| line.split_once("  # ").map(|(_, after)| after));
        let inside = quoted || quotes > 0;
        quoted ^= quotes % 2 == 1;
        let Some(text) = (if inside { Some(line) } else { comment }) else { continue };
        let text = text.trim_matches(|letter: char| letter == '"' || letter.is_whitespace());
        match found.last_mut().filter(|_| index > 0 && last == Some(index - 1)) {
            Some(passage) => passage.text.extend([" ", text]),
            None => found.push(Passage { line: index + 1, text: text.to_owned(), is_comment: true }),
        }
        last = Some(index);
    }
    found
}

/// Comments of a file in Rust, WGSL, JavaScript or C, with its strings if they are wanted.
fn sources(text: &str, strings: bool) -> Vec<Passage> {
    let mut reader = Reader { rest: text, line: 1, found: Vec::new(), open_comment: 0 };
    while let Some(letter) = reader.rest.chars().next() {
        if reader.rest.starts_with("//") {
            let text = reader.take(reader.rest.find('\n').unwrap_or(reader.rest.len()));
            reader.comment(text.trim_start_matches('/').trim_start_matches('!'));
        } else if reader.rest.starts_with("/*") {
            let text = reader.take(reader.rest.find("*/").map_or(reader.rest.len(), |at| at + 2));
            reader.comment(text.trim_matches(['/', '*', ' ']));
        } else if let Some(length) = raw_string(reader.rest) {
            reader.string(length, strings);
        } else if letter == '"' {
            reader.string(string(reader.rest), strings);
        } else {
            let length = if letter == '\'' { character(reader.rest) } else { letter.len_utf8() };
            if !letter.is_whitespace() {
                reader.open_comment = 0;
            }
            reader.take(length);
        }
    }
    reader.found
}

/// The rest of a file, and the passages found so far.
struct Reader<'t> {
    rest: &'t str,
    line: usize,
    found: Vec<Passage>,
    /// Line on which a further comment continues the last one; 0 if no comment is open.
    open_comment: usize,
}

impl<'t> Reader<'t> {
    fn take(&mut self, length: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(length);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn comment(&mut self, text: &str) {
        let text = without_types(&without_code(text.trim()));
        let continues = self.open_comment == self.line && !text.is_empty();
        match self.found.last_mut().filter(|_| continues) {
            Some(passage) => passage.text.extend([" ", &text]),
            None => self.found.push(Passage { line: self.line, text, is_comment: true }),
        }
        self.open_comment = self.line + 1;
    }

    fn string(&mut self, length: usize, wanted: bool) {
        let line = self.line;
        let text = self.take(length).replace("\\\n", "").replace("\\n", " ");
        self.open_comment = 0;
        if wanted {
            self.found.push(Passage { line, text: without_code(&text), is_comment: false });
        }
    }
}

/// Length of the raw string at the beginning of a text, or `None`.
fn raw_string(text: &str) -> Option<usize> {
    let hashes = text.strip_prefix('r')?.chars().take_while(|&letter| letter == '#').count();
    let inside = text[1 + hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(2 + hashes + inside.find(&end).map_or(inside.len(), |at| at + end.len()))
}

/// Length of the string at the beginning of a text.
fn string(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|&(_, letter)| {
        let ends = letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// Length of the character, or of the apostrophe of a lifetime, at the beginning of a text.
fn character(text: &str) -> usize {
    let mut letters = text.char_indices().skip(1);
    match (letters.next(), letters.next()) {
        (Some((_, '\\')), _) => text[3..].find('\'').map_or(1, |at| at + 4),
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}
