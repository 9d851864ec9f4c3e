//! `kalah tournament`.
//!
//! | module | contents |
//! |---|---|
//! | `saved` | games in a file, to resume a tournament |
//! | `report` | the report |

mod report;
mod saved;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args;
use kalah::file::require_apart;
use kalah::game::{Position, Rules};
use kalah::play::{Participant, PlayError, PlayerName, Tournament as Games, random_starts};
use kalah::record::GameRecord;
use parking_lot::Mutex;

use crate::cli::flags::args;
use crate::cli::flags::games::{self, is_stream};
use crate::cli::flags::player_flags::PlayerFlags;
use crate::cli::help::examples;
use crate::cli::output;
use crate::cli::output::progress::Progress;
use crate::cli::output::report::Format;
use crate::cli::playing::tournament::report::TournamentReport;
use crate::cli::playing::tournament::saved::{Finished, GamesFile, event};
use crate::cli::process::outcome::{Outcome, usage};
use crate::cli::process::signals::cancelled_by_signal;

/// Play players against each other, and evaluate their moves
///
/// Use this to compare players or engines. Every player meets every other in both orders, and itself once. The tables
/// evaluate moves as far as they reach. The default players are the nine of Pekař et al. 2020, Table 2. Others are
/// perfect, minimax:D, alphabeta:D, greedy, random:SEED, and engine:COMMAND for another program that speaks the
/// protocol of docs/engine.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Compare three players", "kalah tournament greedy minimax:4 random:1"),
    ("Test another program against the perfect player", "kalah tournament 'engine:python3 my_engine.py' perfect \
         --time 1s"),
]))]
pub struct Tournament {
    /// Players [default: heuristic, minimax2 and minimax3 with depths 1, 2, 4 and 6]
    #[arg(value_name = "PLAYER")]
    players: Vec<Participant>,
    /// Start position
    #[arg(long, value_name = "POSITION", default_value = "6x4")]
    start: Position,
    /// Begin at the end of each game in FILE (docs/games.md)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["start", "starts", "random_moves"])]
    from: Option<PathBuf>,
    /// Save every game to FILE as soon as it is over
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Continue a stopped tournament from the games in the file of --save
    #[arg(long, requires = "save")]
    resume: bool,
    /// Play from N starts, which differ by their --random-moves
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    starts: u32,
    /// Make N random moves from the start before the players take over
    #[arg(long, value_name = "N", default_value_t = 0)]
    random_moves: u32,
    /// Time for a move, such as 2s or 500ms [default: players search to their depth, and the perfect one until its
    /// move is proved]
    #[arg(long, value_name = "TIME", value_parser = args::time::<1>)]
    time: Option<Duration>,
    #[command(flatten)]
    with: PlayerFlags,
    #[command(flatten)]
    format: Format,
}

impl Tournament {
    pub fn run(self) -> anyhow::Result<Outcome> {
        if self.start.is_over() {
            return Err(usage(format_args!("the game is over at {}: choose another start", self.start)));
        }
        if self.starts > 1 && self.random_moves == 0 {
            return Err(usage("all starts would be the same: add --random-moves"));
        }
        if self.resume && self.save.as_deref().is_some_and(is_stream) {
            output::message("kalah: --resume needs the file of games: add --save FILE");
            return Ok(Outcome::Usage);
        }
        if self.time.is_none() && self.players.iter().any(Participant::is_engine) {
            return Err(usage("a game with an engine that never answers would not end: add --time"));
        }
        let rules = self.with.rules;
        let given = match &self.from {
            Some(path) => Some(starts_of(path, rules)?),
            None => None,
        };
        if let Some(path) = &self.save {
            require_apart(path, self.from.as_deref()).with_context(|| format!("cannot write {}", path.display()))?;
        }
        self.with.threads.start()?;
        let players = match self.players {
            players if players.is_empty() => PlayerName::PEKAR.map(Participant::from).to_vec(),
            players => players,
        };
        let starts = given.unwrap_or_else(|| {
            random_starts(rules, &self.start, self.random_moves, self.starts as usize, self.with.seed)
        });
        let largest = starts.iter().max_by_key(|start| start.seeds()).expect("there is one");
        let tables = self.with.open_tables(largest, true)?;
        // Games run in parallel, each on one thread.
        let setting = self.with.setting(&tables, 1);
        let tournament = Games::new(players, starts, setting).time(self.time);

        let event = event(&tournament, self.with.seed, self.time);
        let (mut file, saved) = match &self.save {
            Some(path) if !is_stream(path) => {
                let (file, saved) = GamesFile::open(path, &tournament, event.clone(), self.resume)?;
                (Some(file), saved)
            }
            _ => (None, Vec::new()),
        };
        if !saved.is_empty() {
            output::note(format_args!("resumed: {} of {} games are over", saved.len(), tournament.games()));
        }
        let begin = Instant::now();
        let (games, stopped) = play(&tournament, saved, file.as_mut())?;
        let written = match (&self.save, file) {
            (_, Some(file)) => file.finish(&games),
            (Some(path), None) => {
                let records =
                    games.iter().map(|game| game.record(&tournament, &event)).collect::<Result<Vec<_>, _>>()?;
                games::write(path, &records)
            }
            (None, None) => Ok(()),
        };
        let report = TournamentReport::new(&tournament, &games, self.with.seed, begin.elapsed().as_secs_f64());
        if let Err(error) = written {
            // A command that fails prints no answer, but games of hours must not be lost with the disk.
            output::message(serde_json::to_string(&report)?);
            return Err(error);
        }
        if !(stopped && games.is_empty()) {
            self.format.print(&report, || report.records(), || report.print())?;
        }
        if stopped {
            let advice = match self.save {
                Some(_) => "run the same command with --resume to continue",
                None => "nothing is saved; --save FILE saves the games",
            };
            output::message(format_args!("stopped after {} of {} games; {advice}", games.len(), tournament.games()));
            return Ok(Outcome::Failed);
        }
        Ok(Outcome::Done)
    }
}

/// Plays the games that are not saved yet, and writes each to `file` as it ends. Returns all games in the order of
/// their numbers, and true if it was stopped before the last one.
fn play(
    tournament: &Games,
    saved: Vec<Finished>,
    file: Option<&mut GamesFile>,
) -> anyhow::Result<(Vec<Finished>, bool)> {
    let mut is_saved = vec![false; tournament.games()];
    saved.iter().for_each(|game| is_saved[game.number] = true);
    let left: Vec<usize> = (0..tournament.games()).filter(|&number| !is_saved[number]).collect();

    let cancel = cancelled_by_signal();
    let stage = format!("tournament of {}", output::count(tournament.players.len(), "player"));
    let progress = Progress::of(left.len() as u64, "games").at(stage);
    let done = AtomicU64::new(0);
    let finished = Mutex::new((saved, file));
    let played = progress.complete(&done, || {
        tournament.try_engines(&cancel)?;
        tournament.run_some(&left, &cancel, &|played| {
            let game = Finished::new(tournament, played);
            let (games, file) = &mut *finished.lock();
            if let Some(file) = file {
                file.add(&game);
            }
            games.push(game);
            done.fetch_add(1, Ordering::Relaxed);
        })
    });
    let (mut games, _) = finished.into_inner();
    games.sort_by_key(|game| game.number);
    match played {
        Ok(_) => Ok((games, false)),
        Err(PlayError::Stopped) => Ok((games, true)),
        Err(error) => Err(error.into()),
    }
}

/// Returns the final positions of the games in a file, as starts of a tournament under these rules.
fn starts_of(path: &Path, rules: Rules) -> anyhow::Result<Vec<Position>> {
    let records = games::read_all(path)?;
    let pits = records[0].start.pits();
    let start = |(number, record): (usize, &GameRecord)| {
        let (end, _) = record.end();
        let place = format!("{}, game {number}", path.display());
        anyhow::ensure!(record.rules == rules, "{place}: its rules are {}; add --rules {}", record.rules, record.rules);
        anyhow::ensure!(
            end.pits() == pits,
            "{place}: it has {} a side, but the first game has {pits}",
            output::count(end.pits(), "pit")
        );
        anyhow::ensure!(!end.is_over(), "{place}: it is over, so it cannot be continued");
        Ok(end)
    };
    (1..).zip(&records).map(start).collect()
}
