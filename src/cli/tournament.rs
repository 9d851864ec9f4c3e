use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use kalah::game::Position;
use kalah::play::{Participant, PlayError, PlayerName, Tournament as Games, random_starts};

use super::outcome::Outcome;
use super::output;
use super::player_flags::{PlayerFlags, seconds};
use super::progress::Progress;
use super::report::Format;
use super::signals::stop_on_signal;
use super::tournament_report::Report;

/// Play players against each other, and evaluate their moves
///
/// Moves are evaluated by the tables, as far as they reach.
/// By default the nine players of Pekař et al. 2020 meet once in each order, themselves too, as in their Table 2. Other
/// players are perfect, minimax:D, alphabeta:D, greedy and random:SEED, and engine:COMMAND, another program that speaks the protocol of docs/engine.md.
#[derive(Args)]
pub struct Tournament {
    /// The players [default: heuristic, minimax2 and minimax3 with depths 1, 2, 4 and 6]
    #[arg(value_name = "PLAYER")]
    players: Vec<Participant>,
    /// The start
    #[arg(long, value_name = "POSITION", default_value = "6x4")]
    start: Position,
    /// Start positions, which differ by their --random-moves
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    starts: u32,
    /// Random moves from the start before the players take over
    #[arg(long, value_name = "N", default_value_t = 0)]
    random_moves: u32,
    /// Seconds for a move [default: players search to their own depth, the perfect one until its move is proved]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    time: Option<Duration>,
    #[command(flatten)]
    with: PlayerFlags,
    #[command(flatten)]
    format: Format,
}

impl Tournament {
    pub fn run(self) -> anyhow::Result<Outcome> {
        if self.start.is_over() {
            output::tell(format_args!("kalah: the game is over at {}: start from another position", self.start));
            return Ok(Outcome::Usage);
        }
        if self.starts > 1 && self.random_moves == 0 {
            output::tell("kalah: several starts would be the same one: give --random-moves too");
            return Ok(Outcome::Usage);
        }
        if self.time.is_none() && self.players.iter().any(Participant::is_engine) {
            output::tell("kalah: a game with an engine that never answers would not end: give --time too");
            return Ok(Outcome::Usage);
        }
        self.with.threads.start()?;
        let rules = self.with.rules;
        let players = match self.players {
            players if players.is_empty() => PlayerName::PEKAR.map(Participant::from).to_vec(),
            players => players,
        };
        let tables = self.with.open_tables(&self.start, true)?;
        let starts = random_starts(rules, &self.start, self.random_moves, self.starts as usize, self.with.seed);
        // Games run side by side, each on one thread.
        let setting = self.with.setting(&tables, 1);
        let games = Games::new(players, starts, setting).time(self.time);

        let stop = Arc::new(AtomicBool::new(false));
        stop_on_signal(&stop)?;
        let begin = Instant::now();
        let progress = Progress::of(games.games() as u64, "games");
        progress.stage(format!("tournament of {}", output::count(games.players.len(), "player")));
        let done = AtomicU64::new(0);
        let played = progress.watch(&done, || {
            games.try_engines(&stop)?;
            games.run(&stop, &|_| {
                done.fetch_add(1, Ordering::Relaxed);
            })
        });
        progress.finish();
        let matches = match played {
            Ok(matches) => matches,
            Err(PlayError::Stopped) => {
                let done = done.into_inner();
                output::tell(format_args!("stopped after {done} of {} games", games.games()));
                return Ok(Outcome::Failed);
            }
            Err(error) => return Err(error.into()),
        };
        let report = Report::new(&games, &matches, self.with.seed, begin.elapsed().as_secs_f64());
        self.format.print(&report, || report.records(), || report.print(), || report.charts())?;
        Ok(Outcome::Done)
    }
}
