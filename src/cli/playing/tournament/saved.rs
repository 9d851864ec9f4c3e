//! Games of a tournament: as text, and in the file from which a later run resumes.

use std::path::Path;
use std::time::Duration;

use kalah::file::{Document, StateFile};
use kalah::game::{Line, ParseError, Rules};
use kalah::play::Tournament;
use kalah::record::GameRecord;
use serde::Serialize;

use crate::cli::playing::tournament::report::Finished;
use crate::cli::{failure, output};

/// Returns a game as text.
pub(super) fn record(rules: Rules, finished: &Finished) -> Result<GameRecord, ParseError> {
    let game = &finished.game;
    let record = GameRecord::new(rules, game.position, Line::parse(game.position.pits(), &game.line)?)?;
    let record = record.with_header("South", &game.first).with_header("North", &game.second);
    let mut record = record.with_header("Round", &(finished.number + 1).to_string());
    if let Some(forfeit) = &game.forfeit {
        record.result = Some(game.seeds);
        let side = if game.seeds[0] == 0 { "South" } else { "North" };
        record = record.with_header("Termination", &format!("{side} forfeits: it {}", forfeit.fault));
    }
    Ok(record)
}

/// The file of `--state`: a record for each game.
const DOCUMENT: Document = Document { format: "kalah tournament", version: 3 };

/// Identity of a tournament.
#[derive(Serialize)]
struct Work {
    rules: &'static str,
    players: Vec<String>,
    /// Digest of all starts.
    starts: String,
    seed: u64,
    seconds_a_move: Option<f64>,
    self_play: bool,
}

/// Opens the file of `--state`, and returns the games of earlier runs.
pub(super) fn open(
    path: &Path,
    tournament: &Tournament,
    seed: u64,
    time: Option<Duration>,
) -> failure::Result<(StateFile, Vec<Finished>)> {
    let mut starts = blake3::Hasher::new();
    tournament.starts.iter().for_each(|start| _ = starts.update(format!("{start}\n").as_bytes()));
    let work = Work {
        rules: tournament.setting.rules.name(),
        players: tournament.players.iter().map(ToString::to_string).collect(),
        starts: output::hex(starts.finalize().as_bytes()),
        seed,
        seconds_a_move: time.map(|time| time.as_secs_f64()),
        self_play: tournament.self_play,
    };
    Ok(StateFile::open(path, DOCUMENT, &work)?)
}
