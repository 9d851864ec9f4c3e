//! Commands on a page.

/// A code block of shell commands.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub commands: Vec<Command>,
    /// True if the block also has the output of its commands.
    pub shows_output: bool,
    pub why_not_run: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Command {
    /// Number of the line on the page, from 1.
    pub line: usize,
    pub text: String,
    /// Output on the page.
    pub output: String,
}

impl Command {
    /// Returns true if the page shows that the command fails.
    pub(super) fn shows_failure(&self) -> bool {
        self.output.lines().any(|line| line.starts_with("error: ") || line.starts_with("WRONG"))
    }
}

/// Blocks of shell commands on a page: those marked `console`, with output, and `sh`, without.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut lines = (1..).zip(text.lines());
    let mut before = "";
    while let Some((_, line)) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let content: Vec<(usize, &str)> = lines.by_ref().take_while(|(_, line)| *line != "```").collect();
            let shows_output = language == "console";
            if shows_output || language == "sh" {
                let commands = if shows_output { sessions(&content) } else { script(&content) };
                found.push(Block { commands, shows_output, why_not_run: why_not_run(before) });
            }
        }
        before = line;
    }
    found
}

/// The reason in the comment in front of a block. Commands that `.ci/run` takes from the page run there.
fn why_not_run(line: &str) -> Option<String> {
    let comment = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    comment.strip_prefix("not run: ").or(comment.strip_prefix("ci: ")).map(str::to_owned)
}

/// Commands after `$ `, each with its output. A command continues after a line that ends with `\`, `|` or `&&`.
fn sessions(lines: &[(usize, &str)]) -> Vec<Command> {
    let mut commands: Vec<Command> = Vec::new();
    let mut goes_on = false;
    for &(number, line) in lines {
        let begins = line.strip_prefix("$ ");
        if let Some(text) = begins {
            commands.push(Command { line: number, text: text.to_owned(), output: String::new() });
        } else if let Some(command) = commands.last_mut() {
            let to = if goes_on { &mut command.text } else { &mut command.output };
            if !to.is_empty() {
                to.push('\n');
            }
            to.push_str(if goes_on { line.strip_prefix("> ").unwrap_or(line) } else { line });
        }
        goes_on = (begins.is_some() || goes_on) && line.ends_with(['\\', '|', '&']) && !line.ends_with(" &");
    }
    commands
}

/// All lines of a block, as one command.
fn script(lines: &[(usize, &str)]) -> Vec<Command> {
    let text = lines.iter().map(|(_, line)| *line).collect::<Vec<_>>().join("\n");
    vec![Command { line: lines.first().map_or(0, |(number, _)| *number), text, output: String::new() }]
}

/// Commands of the program in backticks within text, with their lines.
pub(super) fn inline_commands(text: &str) -> Vec<(usize, String)> {
    let mut code = false;
    let text = (1..).zip(text.lines()).filter(move |(_, line)| {
        code ^= line.trim_start().starts_with("```");
        !code
    });
    let spans = text.flat_map(|(number, line)| line.split('`').skip(1).step_by(2).map(move |span| (number, span)));
    spans.filter(|(_, span)| span.starts_with("kalah ")).map(|(number, span)| (number, span.to_owned())).collect()
}

/// Arguments of each run of the program in a shell command.
///
/// Handles quotes as far as the documentation uses them. Omits commands that only name a placeholder, like `COMMAND`.
pub(super) fn arguments(command: &str) -> Vec<Vec<String>> {
    let words = words(&command.replace("\\\n", " "));
    let runs = words.split(|word| word == "\n");
    let runs = runs.filter_map(|run| run.iter().position(|word| word == "kalah").map(|at| &run[at + 1..]));
    let is_placeholder = |word: &String| word.chars().all(|letter| letter.is_ascii_uppercase());
    runs.filter(|run| !run.is_empty() && !run.iter().take(2).any(is_placeholder)).map(<[String]>::to_vec).collect()
}

/// Words of a shell command, without redirections and comments. `"\n"` marks the end of one of several commands.
fn words(command: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let (mut quote, mut skips) = (None, false);
    for letter in command.chars() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None, '|' | '&' | ';' | '\n' | '(' | ')') => {
                skips = false;
                found.extend(["\n".to_owned(), String::new()]);
            }
            (None, '>' | '#') if found.last().is_some_and(String::is_empty) => skips = true,
            (None, _) if letter.is_whitespace() => found.push(String::new()),
            _ if skips => (),
            _ => found.last_mut().expect("one is begun").push(letter),
        }
    }
    found.retain(|word| !word.is_empty());
    found
}
