//! Files of games as text.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use anyhow::Context;
use kalah::file::{self, Output, is_stream, require_apart, resolved};
use kalah::record::{GameRecord, MAX_TEXT, RecordFault, read_game, read_games};

use crate::cli::output;

/// Returns the name of a file in messages. `-` is standard input.
fn name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

/// Reads the text of a file, or of standard input for `-`.
fn text(path: &Path) -> anyhow::Result<String> {
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
    String::from_utf8(bytes).map_err(|_| anyhow::anyhow!("{} is not UTF-8 text", name(path)))
}

/// Reads one game of a file: the one with this `number`, counted from 1, or the only one.
pub fn read_one(path: &Path, number: Option<usize>) -> anyhow::Result<GameRecord> {
    let text = text(path)?;
    let Some(number) = number else {
        return read_game(&text).map_err(|error| {
            let several = matches!(error.fault, RecordFault::Several);
            let advice = if several { "; choose one with --game N" } else { "" };
            anyhow::anyhow!("{}, {error}{advice}", name(path))
        });
    };
    let mut games = read_games(&text).with_context(|| name(path))?;
    let count = games.len();
    let game = number.checked_sub(1).filter(|&index| index < count).map(|index| games.swap_remove(index));
    game.with_context(|| format!("{} has no game {number}: it has only {count}", name(path)))
}

/// Reads all games of a file. A file without any is an error.
pub fn read_all(path: &Path) -> anyhow::Result<Vec<GameRecord>> {
    let games = read_games(&text(path)?).with_context(|| name(path))?;
    anyhow::ensure!(!games.is_empty(), "{} contains no game", name(path));
    Ok(games)
}

/// Replaces a file by games, or writes them to standard output for `-`.
pub fn write(path: &Path, games: &[GameRecord]) -> anyhow::Result<()> {
    let texts: Vec<String> = games.iter().map(ToString::to_string).collect();
    let text = texts.join("\n");
    if output::is_stdout(path) {
        return Ok(std::io::stdout().lock().write_all(text.as_bytes())?);
    }
    let write = || {
        let mut out = Output::begin(path, None)?;
        out.write_all(text.as_bytes())?;
        out.finish()
    };
    write().with_context(cannot_write(path))
}

/// Returns the error that [`write`] would return, before any game is played.
pub fn require_writable(path: &Path) -> anyhow::Result<()> {
    if output::is_stdout(path) || is_stream(path) {
        return Ok(());
    }
    file::require_writable(&resolved(path), None).with_context(cannot_write(path))
}

/// Returns an error if `to` is the file `from` and contains several games, since writing one would lose the others.
pub fn require_no_loss(to: &Path, from: &Path) -> anyhow::Result<()> {
    let games = if from == Path::new("-") { 1 } else { read_all(from)?.len() };
    match games {
        0 | 1 => Ok(()),
        _ => require_apart(to, [from]).with_context(|| {
            format!("{} contains {games} games, and writing one would delete the others", from.display())
        }),
    }
}

fn cannot_write(path: &Path) -> impl Fn() -> String {
    move || format!("cannot write {}", path.display())
}
