//! `kalah tournament`.
//!
//! | module | contents |
//! |---|---|
//! | `report` | the report, and its games |
//! | `saved` | games as text, and in the file from which a later run resumes |

mod report;
mod saved;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use kalah::cancel::Cancel;
use kalah::file::StateFile;
use kalah::game::{Position, Rules};
use kalah::play::{Participant, PlayError, PlayerName, Tournament as Games, random_starts};
use kalah::record::GameRecord;
use parking_lot::Mutex;

use crate::cli::playing::tournament::report::{Finished, TournamentReport};
use crate::cli::{
    Outcome, PlayerFlags, Progress, args, bail, cancelled_by_signal, ensure, examples, failure, games, note, output,
    usage,
};

/// Play players against each other, and evaluate their moves
///
/// Use this to compare players or engines. Every player meets every other in both orders. The tables evaluate moves as
/// far as they reach. The default players are the nine of Pekař et al. 2020, Table 2. Others are random:SEED, greedy,
/// minimax:D, alphabeta:D, perfect, and engine:COMMAND for another program that speaks the protocol of docs/engine.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Compare three players", "kalah tournament greedy minimax:4 random:1"),
    ("Test another program against the perfect player", "kalah tournament 'engine:python3 my_engine.py' perfect \
         --time 1s"),
]))]
pub(crate) struct Tournament {
    /// Players [default: heuristic, minimax2 and minimax3 with depths 1, 2, 4 and 6]
    #[arg(value_name = "PLAYER")]
    players: Vec<Participant>,
    /// Start position
    #[arg(long, value_name = "POSITION", default_value = "6x4")]
    start: Position,
    /// Begin at the end of each game in FILE (docs/games.md)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["start", "starts", "random_moves"])]
    from: Option<PathBuf>,
    /// Save all games to FILE, which is new or empty
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    #[command(flatten)]
    force: args::Force,
    /// Save each game in FILE as soon as it is over, and continue from it
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Play from N starts, which differ by their --random-moves
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    starts: u32,
    /// Make N random moves from the start before the players take over
    #[arg(long, value_name = "N", default_value_t = 0)]
    random_moves: u32,
    /// Let each player play itself, too, as a single player does
    #[arg(long)]
    self_play: bool,
    /// Time for a move, such as 2s or 500ms [default: players search to their depth, and the perfect one until its
    /// move is proved]
    #[arg(long, value_name = "TIME", value_parser = args::time::<1>)]
    time: Option<Duration>,
    #[command(flatten)]
    with: PlayerFlags,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Tournament {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        if self.start.is_over() {
            return Err(usage(format_args!("the game is over at {}: choose another start", self.start)));
        }
        if self.starts > 1 && self.random_moves == 0 {
            return Err(usage("all starts would be the same: add --random-moves"));
        }
        if self.time.is_none() && self.players.iter().any(Participant::is_engine) {
            return Err(usage("a game with an engine that never answers would not end: add --time"));
        }
        let rules = self.with.rules;
        let given = self.from.as_deref().map(|path| starts_of(path, rules)).transpose()?;
        if let Some(path) = self.save.as_deref().filter(|path| !output::is_stdout(path)) {
            self.force.prepare(path)?;
        }
        self.with.threads.start()?;
        let mut players = self.players;
        if players.is_empty() {
            players = PlayerName::PEKAR.map(Participant::from).to_vec();
        }
        let starts = given.unwrap_or_else(|| {
            random_starts(rules, &self.start, self.random_moves, self.starts as usize, self.with.seed)
        });
        let largest = starts.iter().max_by_key(|start| start.seeds()).expect("there is one");
        let tables = self.with.open_tables(largest, true)?;
        // Games run in parallel, each on one thread.
        let setting = self.with.setting(&tables, 1);
        let tournament = Games::new(players, starts, setting);
        let self_play = self.self_play || tournament.self_play;
        let tournament = Games { time: self.time, self_play, ..tournament };

        let state = self.state.as_ref().map(|path| saved::open(path, &tournament, self.with.seed, self.time));
        let (state, saved) = state.transpose()?.map_or((None, Vec::new()), |(state, saved)| (Some(state), saved));
        if !saved.is_empty() {
            note!("resumed: {} of {} games are over", saved.len(), tournament.games());
        }
        let (begin, cancel) = (Instant::now(), cancelled_by_signal());
        let (games, names) = play(&tournament, saved, state, &cancel)?;
        if games.len() < tournament.games() {
            let advice = match self.state {
                Some(_) => "run the same command again to continue",
                None => "--state FILE saves games, to continue from them",
            };
            bail!("stopped after {} of {} games; {advice}", games.len(), tournament.games());
        }
        let seconds = begin.elapsed().as_secs_f64();
        if let Some(path) = &self.save {
            let records: Result<Vec<GameRecord>, _> = games.iter().map(|game| saved::record(rules, game)).collect();
            games::write(path, &records?)?;
        }
        let report = TournamentReport::new(&tournament, names, &games, self.with.seed, seconds);
        output::answer(self.json, &report, || report.print())?;
        Ok(Outcome::Done)
    }
}

/// Plays the games that are not saved yet, and saves each in `state` as it ends. Returns all games in the order of
/// their numbers, fewer if `cancel` was cancelled, and the names of the players.
fn play(
    tournament: &Games,
    saved: Vec<Finished>,
    state: Option<StateFile>,
    cancel: &Cancel,
) -> failure::Result<(Vec<Finished>, Vec<String>)> {
    let is_saved = |number: &usize| saved.iter().any(|game| game.number == *number);
    let left: Vec<usize> = (0..tournament.games()).filter(|number| !is_saved(number)).collect();
    let stage = format!("tournament of {}", output::count(tournament.players.len(), "player"));
    let (progress, done) = (Progress::of(left.len() as u64, "games").at(stage), AtomicU64::new(0));
    let names = tournament.try_engines(cancel)?;
    let finished = Mutex::new((saved, state, Ok(())));
    let played = progress.complete(&done, || {
        tournament.run(&left, cancel, &|played| {
            let game = Finished::new(tournament, &names, played);
            let (games, state, failed) = &mut *finished.lock();
            if let Some(Err(error)) = state.as_mut().map(|state| state.append(&game)) {
                (*state, *failed) = (None, Err(error));
                cancel.cancel();
            }
            games.push(game);
            done.fetch_add(1, Ordering::Relaxed);
        })
    });
    let (mut games, _, failed) = finished.into_inner();
    failed?;
    match played {
        Ok(_) | Err(PlayError::Stopped) => {}
        Err(error) => return Err(error.into()),
    }
    games.sort_by_key(|game| game.number);
    Ok((games, names))
}

/// Returns the final positions of the games in a file, as starts of a tournament under these rules.
fn starts_of(path: &Path, rules: Rules) -> failure::Result<Vec<Position>> {
    let records = games::read_all(path)?;
    let starts: Vec<Position> = records.iter().map(|record| record.end().0).collect();
    for (record, start) in records.iter().zip(&starts) {
        let (given, pits) = (record.rules, record.start.pits());
        ensure!(given == rules, "{}: the rules of a game are {given}; add --rules {given}", path.display());
        ensure!(pits == starts[0].pits(), "{}: its games have different numbers of pits", path.display());
        ensure!(!start.is_over(), "{}: a game is over, so it cannot be continued", path.display());
    }
    Ok(starts)
}
