//! Games of a tournament: as text, and in the file from which a later run resumes.

use std::path::Path;
use std::time::Duration;

use kalah::file::{Document, FileContent, FileLock, StateError, StateFile, require_writable, resolved};
use kalah::game::{Line, ParseError};
use kalah::play::{Accuracy, Match, Tournament};
use kalah::progress::total_seconds;
use kalah::record::GameRecord;
use serde::{Deserialize, Serialize};

use crate::cli::{Context, ensure, failure, output};

/// Header with the seconds that both players took.
const SECONDS: &str = "Seconds";

/// Finished game, for reports and files. A file leaves out what its line shows.
#[derive(Serialize, Deserialize)]
pub(super) struct Finished {
    /// Number of the game, from 0.
    pub number: usize,
    pub line: String,
    /// Seeds of both players at the end.
    pub seeds: [u32; 2],
    /// Fault by which an engine lost the game, and true if the first player did.
    pub forfeit: Option<(bool, String)>,
    /// Seconds that both players took.
    pub seconds: [f64; 2],
    /// Moves of both players.
    #[serde(skip)]
    pub moves: [usize; 2],
    #[serde(skip)]
    pub accuracy: [Accuracy; 2],
}

impl Finished {
    /// Returns a game that has just been played.
    pub(super) fn new(played: &Match) -> Finished {
        let of = |seat: bool| played.game.moves.iter().filter(move |made| made.first == seat);
        Finished {
            number: played.number,
            line: played.game.line().to_string(),
            seeds: played.game.seeds,
            forfeit: played.game.forfeit.as_ref().map(|forfeit| (forfeit.first, forfeit.fault.clone())),
            seconds: [true, false].map(|seat| total_seconds(of(seat).map(|made| made.seconds))),
            moves: [true, false].map(|seat| of(seat).count()),
            accuracy: played.accuracy,
        }
    }

    /// Returns the game as text, with the `names` of the players and this `event`.
    pub(super) fn record(
        &self,
        tournament: &Tournament,
        names: &[String],
        event: &str,
    ) -> Result<GameRecord, ParseError> {
        let (first, second, start) = tournament.pairing(self.number);
        let start = tournament.starts[start];
        let record = GameRecord::new(tournament.setting.rules, start, Line::parse(start.pits(), &self.line)?)?;
        let mut record = record.with_header("South", &names[first]).with_header("North", &names[second]);
        record = record.with_header("Event", event).with_header("Round", &(self.number + 1).to_string());
        record = record.with_header(SECONDS, &format!("{:.6} {:.6}", self.seconds[0], self.seconds[1]));
        if let Some((first, fault)) = &self.forfeit {
            record.result = Some(self.seeds);
            record = record.with_header("Termination", &format!("{}: it {fault}", forfeits(*first)));
        }
        Ok(record)
    }

    /// Checks a game that an earlier run of the tournament saved, and adds what its line shows.
    fn completed(mut self, tournament: &Tournament) -> failure::Result<Finished> {
        ensure!(self.number < tournament.games(), "the tournament has no game {}", self.number);
        let start = tournament.starts[tournament.pairing(self.number).2];
        let line = Line::parse(start.pits(), &self.line)?;
        line.turns().iter().enumerate().for_each(|(turn, pits)| self.moves[turn % 2] += pits.len());
        let record = GameRecord::new(tournament.setting.rules, start, line)?;
        ensure!(record.result == Some(self.seeds) || self.forfeit.is_some(), "its result is wrong");
        self.accuracy = tournament.accuracy(&start, &record.moves())?;
        Ok(self)
    }
}

/// Names the side that forfeits.
fn forfeits(first: bool) -> &'static str {
    if first { "South forfeits" } else { "North forfeits" }
}

/// Describes the settings of a tournament that its games do not show. Games of one tournament agree in it.
pub(super) fn event(tournament: &Tournament, seed: u64, time: Option<Duration>) -> String {
    let (players, starts) = (tournament.players.len(), tournament.starts.len());
    let time = time.map_or(String::new(), |time| format!(", {} s a move", time.as_secs_f64()));
    format!(
        "tournament of {} from {}, seed {seed}{time}",
        output::count(players, "player"),
        output::count(starts, "start")
    )
}

/// The file of `--state`: a record for each game.
const DOCUMENT: Document = Document { format: "kalah tournament", version: 2 };

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
    let (file, saved) = StateFile::open(path, DOCUMENT, &work)?;
    let read = |(index, game): (usize, Finished)| {
        game.completed(tournament).map_err(|error| StateError::damaged_record(file.path(), index, error))
    };
    let games = saved.into_iter().enumerate().map(read).collect::<Result<_, _>>()?;
    Ok((file, games))
}

/// Locks the file `path` for the games of a tournament. It must be new or empty, and may be standard output.
pub(super) fn reserve(path: &Path) -> failure::Result<Option<FileLock>> {
    if output::is_stdout(path) {
        return Ok(None);
    }
    let path = resolved(path);
    require_writable(&path, Some(FileContent::Games)).with_context(|| format!("cannot write {}", path.display()))?;
    let lock = FileLock::beside(&path)?;
    let is_empty = path.metadata().map_or(true, |metadata| metadata.len() == 0);
    ensure!(is_empty, "{} has games, which this tournament would replace: choose another file", path.display());
    Ok(Some(lock))
}
