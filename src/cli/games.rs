//! Files of games as text.

use std::io::{Read, Write};
use std::path::Path;

use anyhow::Context;
use kalah::file;
use kalah::record::{GameRecord, MAX_TEXT, RecordFault, read_game, read_games};

/// The text of a file, or of standard input for `-`.
fn text(path: &Path) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    // One byte more than is allowed shows that there is too much.
    let most = MAX_TEXT as u64 + 1;
    if path == Path::new("-") {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes).context("cannot read from standard input")?;
    } else {
        let told = || format!("cannot read {}", path.display());
        file::open(path).with_context(told)?.take(most).read_to_end(&mut bytes).with_context(told)?;
    }
    String::from_utf8(bytes).map_err(|_| anyhow::anyhow!("{}: it is not text in UTF-8", path.display()))
}

/// The one game of a file. Of several, `number` says which one, from 1.
pub fn read_one(path: &Path, number: Option<usize>) -> anyhow::Result<GameRecord> {
    let text = text(path)?;
    let Some(number) = number else {
        return read_game(&text).map_err(|error| {
            let several = matches!(error.fault, RecordFault::Several);
            let advice = if several { "; choose one with --game N" } else { "" };
            anyhow::anyhow!("{}, {error}{advice}", path.display())
        });
    };
    let mut games = read_games(&text).with_context(|| path.display().to_string())?;
    let count = games.len();
    let game = number.checked_sub(1).filter(|&index| index < count).map(|index| games.swap_remove(index));
    game.with_context(|| format!("{} has no game {number}: it has {count}", path.display()))
}

/// All games of a file, at least one.
pub fn read_all(path: &Path) -> anyhow::Result<Vec<GameRecord>> {
    let games = read_games(&text(path)?).with_context(|| path.display().to_string())?;
    anyhow::ensure!(!games.is_empty(), "{}: there is no game in it", path.display());
    Ok(games)
}

/// Writes games to a file, in place of what it held, or to standard output for `-`.
pub fn write(path: &Path, games: &[GameRecord]) -> anyhow::Result<()> {
    let texts: Vec<String> = games.iter().map(ToString::to_string).collect();
    let text = texts.join("\n");
    if path == Path::new("-") {
        return Ok(std::io::stdout().lock().write_all(text.as_bytes())?);
    }
    file::replace(path, |out| out.write_all(text.as_bytes()))
        .with_context(|| format!("cannot write {}", path.display()))
}
