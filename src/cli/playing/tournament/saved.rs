//! Games of a tournament in a file: saved as they end, and read by a later run that resumes the tournament.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use kalah::file::{self, FileContent, FileLock, resolved};
use kalah::game::{Line, ParseError};
use kalah::play::{Accuracy, Match, Tournament};
use kalah::progress::total_seconds;
use kalah::record::{GameRecord, read_game};

use crate::cli::output;

/// Header with the seconds that both players took.
const SECONDS: &str = "Seconds";

/// Finished game, for reports and files.
pub struct Finished {
    /// Number of the game, from 0.
    pub number: usize,
    /// Index of the player who moved first.
    pub first: usize,
    /// Index of the player who moved second.
    pub second: usize,
    /// Index of the start.
    pub start: usize,
    pub line: Line,
    /// Seeds of both players at the end.
    pub seeds: [u32; 2],
    /// Forfeit: true for the first player, and the fault.
    pub forfeit: Option<(bool, String)>,
    pub accuracy: [Accuracy; 2],
    /// Seconds that both players took.
    pub seconds: [f64; 2],
}

impl Finished {
    /// Returns a game that has just been played.
    pub fn new(tournament: &Tournament, played: &Match) -> Finished {
        let &Match { first, second, start, .. } = played;
        let seconds = [true, false].map(|seat| {
            let moves = played.game.moves.iter().filter(|made| made.first == seat);
            total_seconds(moves.map(|made| made.seconds))
        });
        Finished {
            number: tournament.number(first, second, start),
            first,
            second,
            start,
            line: played.game.line(),
            seeds: played.game.seeds,
            forfeit: played.game.forfeit.as_ref().map(|forfeit| (forfeit.first, forfeit.fault.to_string())),
            accuracy: played.accuracy,
            seconds,
        }
    }

    /// Returns the moves of both players.
    pub fn moves(&self) -> [usize; 2] {
        let mut moves = [0; 2];
        self.line.turns().iter().enumerate().for_each(|(turn, pits)| moves[turn % 2] += pits.len());
        moves
    }

    /// Returns the game as text, with this `event`.
    pub fn record(&self, tournament: &Tournament, event: &str) -> Result<GameRecord, ParseError> {
        let name = |player: usize| tournament.players[player].to_string();
        let start = tournament.starts[self.start];
        let record = GameRecord::new(tournament.setting.rules, start, self.line.clone())?;
        let mut record = record.with_header("South", &name(self.first)).with_header("North", &name(self.second));
        record = record.with_header("Event", event).with_header("Round", &(self.number + 1).to_string());
        record = record.with_header(SECONDS, &format!("{:.6} {:.6}", self.seconds[0], self.seconds[1]));
        if let Some((first, fault)) = &self.forfeit {
            record.result = Some(self.seeds);
            record = record.with_header("Termination", &format!("{}: it {fault}", forfeits(*first)));
        }
        Ok(record)
    }

    /// Reads a game from a record that an earlier run of the tournament saved.
    fn read(record: &GameRecord, tournament: &Tournament, event: &str) -> anyhow::Result<Finished> {
        let header = |name: &str| record.header(name).with_context(|| format!("the header {name} is missing"));
        let found = header("Event")?;
        ensure!(found == event, "it belongs to another tournament ({found}), not to this one ({event})");
        let number: Option<usize> = header("Round")?.parse().ok().and_then(|round: usize| round.checked_sub(1));
        let number =
            number.filter(|&number| number < tournament.games()).context("the tournament has no such round")?;
        let (first, second, start) = tournament.pairing(number);
        for (name, player) in [("South", first), ("North", second)] {
            let (found, wanted) = (header(name)?, tournament.players[player].to_string());
            ensure!(found == wanted, "{name} is {found}, but {wanted} in round {} of this tournament", number + 1);
        }
        let wanted = tournament.starts[start];
        ensure!(record.start == wanted, "it begins at {}, but round {} begins at {wanted}", record.start, number + 1);
        ensure!(record.rules == tournament.setting.rules, "its rules are {}", record.rules);
        let numbers: Vec<f64> = header(SECONDS)?.split(' ').filter_map(|number| number.parse().ok()).collect();
        let seconds = numbers.try_into().ok().context("its seconds are not two numbers")?;
        let forfeit = record.header("Termination").map(|termination| {
            let fault = |first| termination.strip_prefix(forfeits(first))?.strip_prefix(": it ");
            let forfeit = [true, false].into_iter().find_map(|first| Some((first, fault(first)?.to_owned())));
            forfeit.context("its header Termination does not name the side that forfeits")
        });
        Ok(Finished {
            number,
            first,
            second,
            start,
            line: record.line.clone(),
            seeds: record.result.context("it is not over")?,
            forfeit: forfeit.transpose()?,
            accuracy: tournament.accuracy(&record.start, &record.moves())?,
            seconds,
        })
    }
}

/// Names the side that forfeits.
fn forfeits(first: bool) -> &'static str {
    if first { "South forfeits" } else { "North forfeits" }
}

/// Describes the settings of a tournament that its games do not show. Games of one tournament agree in it.
pub fn event(tournament: &Tournament, seed: u64, time: Option<Duration>) -> String {
    let (players, starts) = (tournament.players.len(), tournament.starts.len());
    let time = time.map_or(String::new(), |time| format!(", {} s a move", time.as_secs_f64()));
    format!(
        "tournament of {} from {}, seed {seed}{time}",
        output::count(players, "player"),
        output::count(starts, "start")
    )
}

/// File to which the games of a tournament are added as they end.
pub struct GamesFile<'t> {
    path: PathBuf,
    tournament: &'t Tournament<'t>,
    event: String,
    /// Open file, once it has a game of this tournament.
    file: Option<File>,
    /// Bytes of its complete games.
    bytes: u64,
    /// Error of a game that could not be saved.
    failed: Option<io::Error>,
    _lock: FileLock,
}

impl<'t> GamesFile<'t> {
    /// Opens the file at `path`, and locks it until it is dropped. If the tournament is resumed, the saved games are
    /// read. Otherwise the file must be new or empty.
    pub fn open(
        path: &Path,
        tournament: &'t Tournament<'t>,
        event: String,
        resume: bool,
    ) -> anyhow::Result<(GamesFile<'t>, Vec<Finished>)> {
        let path = resolved(path);
        let context = || format!("cannot write {}", path.display());
        file::require_writable(&path, Some(FileContent::Games)).with_context(context)?;
        let lock = FileLock::beside(&path)?;
        file::remove_leftovers(&path).with_context(context)?;
        let bytes = file::found(file::read(&path)).with_context(|| format!("cannot read {}", path.display()))?;
        let text = String::from_utf8(bytes.unwrap_or_default());
        let text = text.map_err(|_| anyhow!("{} is not UTF-8 text", path.display()))?;
        let mut games = GamesFile { path, tournament, event, file: None, bytes: 0, failed: None, _lock: lock };
        if text.is_empty() {
            return Ok((games, Vec::new()));
        }
        if !resume {
            return Err(games.refusal(&text));
        }
        let finished = games.read(&text)?;
        let file = file::open_with(&games.path, OpenOptions::new().append(true));
        let file = file.with_context(|| format!("cannot write {}", games.path.display()))?;
        file.set_len(games.bytes).with_context(|| format!("cannot write {}", games.path.display()))?;
        games.file = Some(file);
        Ok((games, finished))
    }

    /// Returns the error of a tournament that is not resumed, whose file has games.
    fn refusal(&self, text: &str) -> anyhow::Error {
        let (games, all) = (whole_games(text), self.tournament.games());
        let is_ours = |game: &&str| read_game(game).is_ok_and(|game| game.header("Event") == Some(&self.event));
        let path = self.path.display();
        if games.len() < all && games.first().is_some_and(is_ours) {
            let count = games.len();
            return anyhow!(
                "{path} has {count} of the {all} games of this tournament: continue with --resume, or choose another \
                 file"
            );
        }
        anyhow!("{path} has games, which this tournament would replace: choose another file")
    }

    /// Reads the complete games of a text, which must be of this tournament. One that is cut off at the end is left
    /// out.
    fn read(&mut self, text: &str) -> anyhow::Result<Vec<Finished>> {
        let mut finished: Vec<Finished> = Vec::new();
        let mut seen = vec![false; self.tournament.games()];
        let games = whole_games(text);
        for (place, game) in (1..).zip(&games) {
            let context = || format!("{}, game {place}", self.path.display());
            let record = read_game(game).with_context(context)?;
            let game = Finished::read(&record, self.tournament, &self.event).with_context(context)?;
            if !std::mem::replace(&mut seen[game.number], true) {
                finished.push(game);
            }
        }
        let bytes: usize = games.iter().map(|game| game.len()).sum();
        // The first game is written as a whole.
        ensure!(
            bytes > 0 && is_cut_off(&text[bytes..]),
            "{} has text that is not of this tournament, and is not replaced",
            self.path.display()
        );
        self.bytes = bytes as u64;
        Ok(finished)
    }

    /// Adds a finished game in one write, so that a killed program leaves complete games. If it cannot be written,
    /// the tournament goes on, and all games are written at the end.
    pub fn add(&mut self, game: &Finished) {
        if self.failed.is_some() {
            return;
        }
        if let Err(error) = self.try_add(game) {
            output::message(format_args!(
                "kalah: cannot write {}: {error}; the tournament goes on",
                self.path.display()
            ));
            // Removes a partly written game.
            if let Some(file) = &self.file {
                let _ = file.set_len(self.bytes);
            }
            self.failed = Some(error);
        }
    }

    fn try_add(&mut self, game: &Finished) -> io::Result<()> {
        let record = game.record(self.tournament, &self.event).map_err(io::Error::other)?;
        let text = format!("{record}\n");
        match &mut self.file {
            Some(file) => file.write_all(text.as_bytes())?,
            None => {
                file::replace(&self.path, None, |file| file.write_all(text.as_bytes()))?;
                self.file = Some(file::open_with(&self.path, OpenOptions::new().append(true))?);
            }
        }
        self.bytes += text.len() as u64;
        Ok(())
    }

    /// Writes all games in the order of their numbers.
    pub fn finish(self, games: &[Finished]) -> anyhow::Result<()> {
        let written = file::replace(&self.path, Some(FileContent::Games), |out| {
            for game in games {
                let record = game.record(self.tournament, &self.event).map_err(io::Error::other)?;
                writeln!(out, "{record}")?;
            }
            Ok(())
        });
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// Returns true if `rest` is the beginning of a game without comments, or empty.
fn is_cut_off(rest: &str) -> bool {
    let is_moves = |line: &str| line.bytes().all(|byte| byte.is_ascii_digit() || b" .,-*".contains(&byte));
    let is_header = |line: &str| {
        let value = line.strip_prefix('[').map(|name| name.trim_start_matches(|sign: char| sign.is_alphanumeric()));
        value.is_some_and(|value| value.is_empty() || value == " " || value.starts_with(" \""))
    };
    rest.is_empty() || (rest.starts_with('[') && rest.lines().all(|line| is_moves(line) || is_header(line)))
}

/// Splits a text of [`GamesFile`] into games, each with the empty line after it, without one that is cut off at the
/// end.
fn whole_games(text: &str) -> Vec<&str> {
    let mut games = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.match_indices("\n\n[").map(|(at, _)| at + 2).next().unwrap_or(rest.len());
        let (game, others) = rest.split_at(end);
        // The last word is the result in the header.
        let result = game.lines().find_map(|line| line.strip_prefix("[Result \"")?.strip_suffix("\"]"));
        let is_whole =
            result.is_some_and(|result| game.strip_suffix("\n\n").is_some_and(|game| game.ends_with(result)));
        if is_whole || !others.is_empty() {
            games.push(game);
        }
        rest = others;
    }
    games
}
