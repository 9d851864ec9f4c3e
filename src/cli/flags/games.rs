//! Files of games as text.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use kalah::file::{self, FileLock, resolved};
use kalah::game::{Line, Position, Rules};
use kalah::printable::printable;
use kalah::record::{GameRecord, MAX_TEXT, read_game, read_games};

use crate::cli::{Context, bail, ensure, failed, failure, note, output, usage};

/// Returns the name of a file in messages. `-` is standard input.
pub(crate) fn name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

/// Reads the text of a file, or of standard input for `-`.
fn text(path: &Path) -> failure::Result<String> {
    let mut bytes = Vec::new();
    // One byte above the limit shows that the text is too long.
    let most = MAX_TEXT as u64 + 1;
    if path == Path::new("-") {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes).context("cannot read from standard input")?;
    } else {
        let context = || format!("cannot read {}", path.display());
        // Pipes are read as those of positions are: `kalah review <(COMMAND)`.
        let file = if is_stream(path) { File::open(path) } else { file::open(path) };
        file.with_context(context)?.take(most).read_to_end(&mut bytes).with_context(context)?;
    }
    String::from_utf8(bytes).map_err(|_| failed(format_args!("{} is not UTF-8 text", name(path))))
}

/// A game to examine.
#[derive(Args)]
pub(crate) struct GivenGame {
    /// File with a game (docs/games.md), the text of a game, or - for standard input; or a position, followed by
    /// TURNS
    #[arg(value_name = "GAME")]
    text: String,
    /// Turns from the position, with the moves of one turn written together (36 2 14)
    turns: Vec<String>,
    /// Take game N of the file [default: the last one]
    #[arg(long = "game", value_name = "N")]
    number: Option<usize>,
}

impl GivenGame {
    /// Reads the game. It has `rules` if a position was given.
    pub(crate) fn read(&self, rules: Rules) -> failure::Result<GameRecord> {
        let path = Path::new(&self.text);
        if path.is_file() || is_stream(path) {
            if !self.turns.is_empty() {
                return Err(usage("TURNS can follow only a position: a game has its own turns"));
            }
            return read_one(path, self.number, rules);
        }
        // The turns of a game without quotes are words of their own.
        let text = [std::slice::from_ref(&self.text), &self.turns[..]].concat().join(" ");
        let begins_with_turn = self.text.bytes().all(|letter| letter.is_ascii_digit());
        // Some put quotes around the position and its turns.
        let (first, turns) = match self.text.trim().split_once(char::is_whitespace) {
            Some((first, turns)) if first.parse::<Position>().is_ok() => (first, turns.to_owned()),
            _ => (&*self.text, self.turns.join(" ")),
        };
        match first.parse::<Position>() {
            Ok(start) => {
                let line = Line::parse(start.pits(), &turns).map_err(usage)?;
                GameRecord::new(rules, start, line).map_err(usage)
            }
            Err(error) if !self.turns.is_empty() && !begins_with_turn => Err(usage(error)),
            Err(_) => match read_game(&text, rules) {
                Ok(game) => output::require_rules_of("the game", game.rules, rules).map(|()| game),
                Err(error) => {
                    let text = printable(&text, 40);
                    Err(usage(format_args!("'{text}' is neither a file nor a game, and is not a position: {error}")))
                }
            },
        }
    }
}

/// Reads one game of a file: the one with this `number`, counted from 1, or the last one. It has `rules` if it names
/// none. If the command line names them, other ones in the file are an error.
pub(crate) fn read_one(path: &Path, number: Option<usize>, rules: Rules) -> failure::Result<GameRecord> {
    let (text, name) = (text(path)?, name(path));
    let mut games = read_games(&text, rules).map_err(|error| failed(format_args!("{name}, {error}")))?;
    let count = games.len();
    if number.is_none() && count > 1 {
        note!("{name} contains {count} games: this is the last one; --game N takes another");
    }
    let number = number.unwrap_or(count);
    if !(1..=count).contains(&number) {
        bail!("{name} has no game {number}: it has {}", output::count(count, "game"));
    }
    let game = games.swap_remove(number - 1);
    output::require_rules_of(format_args!("the game in {name}"), game.rules, rules)?;
    Ok(game)
}

/// Reads all games of a file. A file without any is an error.
pub(crate) fn read_all(path: &Path) -> failure::Result<Vec<GameRecord>> {
    let games = read_games(&text(path)?, Rules::default()).with_context(|| name(path))?;
    ensure!(!games.is_empty(), "{} contains no game", name(path));
    Ok(games)
}

/// Writes games to a file, or to standard output for `-`.
pub(crate) fn write(path: &Path, games: &[GameRecord]) -> failure::Result<()> {
    put(path, &output::joined(games, "\n"))
}

/// Returns true if an argument names standard input, a pipe or a device, which cannot be read again.
pub(crate) fn is_stream(path: &Path) -> bool {
    output::is_stdout(path) || file::is_stream(path)
}

/// Output of one game: a file that keeps all its other games, or a stream.
pub(crate) struct GameOutput {
    path: PathBuf,
    /// Games before it, with the empty line after them.
    before: String,
    _lock: Option<FileLock>,
}

impl GameOutput {
    /// Prepares to add a game to the games in the file `path`, and locks the file. If it is `continued`, which
    /// has only that game, the game is replaced by its continuation.
    pub(crate) fn open(path: &Path, continued: Option<&Path>) -> failure::Result<GameOutput> {
        if output::is_stdout(path) {
            return Ok(GameOutput { path: path.to_owned(), before: String::new(), _lock: None });
        }
        let path = resolved(path);
        let lock = FileLock::beside(&path)?;
        file::remove_leftovers(&path).with_context(|| cannot_write(&path))?;
        let text = if path.exists() { text(&path)? } else { String::new() };
        let games = read_games(&text, Rules::default()).with_context(|| path.display().to_string())?;
        let is_continued = continued.is_some_and(|from| file::is_same(&path, from));
        if is_continued && games.len() > 1 {
            bail!("{} contains {} games: save the continuation to another file", path.display(), games.len());
        }
        let before = if is_continued || games.is_empty() { String::new() } else { format!("{}\n\n", text.trim_end()) };
        Ok(GameOutput { path, before, _lock: Some(lock) })
    }

    /// Writes the game, in place of what was written of it before.
    pub(crate) fn write(&self, game: &GameRecord) -> failure::Result<()> {
        put(&self.path, &format!("{}{game}", self.before))
    }
}

/// Writes a text to a file, or to standard output for `-`.
fn put(path: &Path, text: &str) -> failure::Result<()> {
    if output::is_stdout(path) {
        return Ok(std::io::stdout().lock().write_all(text.as_bytes())?);
    }
    file::replace(&resolved(path), |out| out.write_all(text.as_bytes())).with_context(|| cannot_write(path))
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}
