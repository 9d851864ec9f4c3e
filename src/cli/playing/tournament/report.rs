//! The report on a tournament.

use std::io;

use kalah::game::Position;
use kalah::play::{Accuracy, Forfeit, Match, Tournament};
use kalah::printable::commas;
use kalah::progress::total_seconds;
use serde::{Deserialize, Serialize};

use crate::cli::{Grid, line, output};

/// Report on a tournament.
#[derive(Serialize)]
pub(super) struct TournamentReport {
    rules: &'static str,
    seed: u64,
    /// Start positions.
    starts: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    table_seeds: Option<usize>,
    players: Vec<PlayerReport>,
    pairs: Vec<PairReport>,
    games: Vec<GameReport>,
    threads: usize,
    seconds: f64,
}

/// Results of a player; games against itself count for both sides.
#[derive(Serialize)]
struct PlayerReport {
    player: String,
    /// Command line of an engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    all: Share,
    first: Share,
    second: Share,
    /// Number of games that the player lost by a fault.
    forfeits: usize,
    moves: usize,
    seconds_a_move: f64,
    evaluated: AccuracyReport,
}

/// Results of a player in some games.
#[derive(Serialize)]
struct Share {
    games: usize,
    /// Share of wins, with draws counted half.
    won: f64,
    /// Seeds won a game.
    seeds: f64,
    /// Median of the final differences.
    median: f64,
}

#[derive(Clone, Serialize, Deserialize)]
struct AccuracyReport {
    moves: u64,
    mistakes: u64,
    lost: u64,
    /// Seeds lost by a move, on average.
    #[serde(skip_serializing_if = "Option::is_none")]
    loss: Option<f64>,
}

/// Games of two players in one order.
#[derive(Serialize)]
struct PairReport {
    first: String,
    second: String,
    /// Seeds won a game.
    seeds: [f64; 2],
    /// Indices of the players.
    #[serde(skip)]
    places: [usize; 2],
}

/// A game of the report, and of the file of `--save`.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct GameReport {
    pub first: String,
    pub second: String,
    start: usize,
    /// Start position.
    pub position: Position,
    pub seeds: [u32; 2],
    pub line: String,
    /// Forfeit, if the game was not lost by moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forfeit: Option<ForfeitReport>,
    evaluated: [AccuracyReport; 2],
    moves: usize,
    seconds: [f64; 2],
}

/// Forfeit of an external engine.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct ForfeitReport {
    /// Engine.
    player: String,
    /// Its fault.
    pub fault: String,
}

/// A finished game, as a state keeps it.
#[derive(Serialize, Deserialize)]
pub(super) struct Finished {
    /// Number of the game, from 0.
    pub number: usize,
    /// Moves of both players.
    moves: [usize; 2],
    pub game: GameReport,
}

impl From<Accuracy> for AccuracyReport {
    fn from(accuracy: Accuracy) -> AccuracyReport {
        let Accuracy { moves, mistakes, lost } = accuracy;
        AccuracyReport { moves, mistakes, lost, loss: accuracy.loss() }
    }
}

impl Finished {
    /// Returns a game between players of these names that has just been played.
    pub(super) fn new(tournament: &Tournament, names: &[String], played: &Match) -> Finished {
        let Match { number, first, second, start, ref game, accuracy, .. } = *played;
        let of = |seat: bool| game.moves.iter().filter(move |made| made.first == seat);
        let forfeit = |&Forfeit { first: by_first, ref fault, .. }: &Forfeit| ForfeitReport {
            player: names[if by_first { first } else { second }].clone(),
            fault: fault.clone(),
        };
        let report = GameReport {
            first: names[first].clone(),
            second: names[second].clone(),
            start,
            position: tournament.starts[start],
            seeds: game.seeds,
            line: game.line().to_string(),
            forfeit: game.forfeit.as_ref().map(forfeit),
            evaluated: accuracy.map(AccuracyReport::from),
            moves: game.moves.len(),
            seconds: [true, false].map(|seat| total_seconds(of(seat).map(|made| made.seconds))),
        };
        Finished { number, moves: [true, false].map(|seat| of(seat).count()), game: report }
    }
}

impl Share {
    /// Computes the results of games from the seeds of the player and of the opponent.
    fn of(games: &[[u32; 2]]) -> Share {
        let count = games.len().max(1) as f64;
        let points = |&[own, other]: &[u32; 2]| match own.cmp(&other) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Less => 0.0,
        };
        let differences = games.iter().map(|&[own, other]| f64::from(own) - f64::from(other));
        Share {
            games: games.len(),
            won: games.iter().map(points).sum::<f64>() / count,
            seeds: games.iter().map(|&[own, _]| f64::from(own)).sum::<f64>() / count,
            median: median(differences.collect()),
        }
    }
}

impl PlayerReport {
    fn new(tournament: &Tournament, player: usize, name: String, games: &[Finished]) -> PlayerReport {
        let mut seeds = [Vec::new(), Vec::new()];
        let (mut evaluated, mut forfeits, mut moves, mut seconds) = (Accuracy::default(), 0, 0, 0.0);
        for Finished { number, moves: made, game } in games {
            let (first, second, _) = tournament.pairing(*number);
            for seat in [first, second].iter().enumerate().filter(|&(_, &own)| own == player).map(|(seat, _)| seat) {
                seeds[seat].push([game.seeds[seat], game.seeds[1 - seat]]);
                let AccuracyReport { moves: of, mistakes, lost, .. } = game.evaluated[seat];
                evaluated = evaluated.and(Accuracy { moves: of, mistakes, lost });
                // In a forfeited game the other player gets all seeds.
                forfeits += usize::from(game.forfeit.is_some() && game.seeds[seat] == 0);
                moves += made[seat];
                seconds += game.seconds[seat];
            }
        }
        PlayerReport {
            player: name,
            command: Some(&tournament.players[player]).filter(|player| player.is_engine()).map(ToString::to_string),
            all: Share::of(&seeds.concat()),
            first: Share::of(&seeds[0]),
            second: Share::of(&seeds[1]),
            forfeits,
            moves,
            seconds_a_move: seconds / moves.max(1) as f64,
            evaluated: evaluated.into(),
        }
    }
}

/// Returns the middle value, or the mean of the two middle values; 0 without values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        1 => values[middle],
        _ => middle.checked_sub(1).map_or(0.0, |below| (values[below] + values[middle]) / 2.0),
    }
}

/// Formats a difference with its sign; 0 has none.
fn decimal(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { format!("{value:+}") }
}

impl TournamentReport {
    /// Returns the report on the finished games of a tournament, in the order of their numbers.
    pub(super) fn new(
        tournament: &Tournament,
        names: Vec<String>,
        games: &[Finished],
        seed: u64,
        seconds: f64,
    ) -> TournamentReport {
        let places = |played: &Finished| {
            let (first, second, _) = tournament.pairing(played.number);
            [first, second]
        };
        let pairs = games.chunk_by(|a, b| places(a) == places(b)).map(|games| {
            let mean = |seat| games.iter().map(|it| f64::from(it.game.seeds[seat])).sum::<f64>() / games.len() as f64;
            let places = places(&games[0]);
            let [first, second] = places.map(|player| names[player].clone());
            PairReport { first, second, seeds: [mean(0), mean(1)], places }
        });
        let pairs = pairs.collect();
        let players = names.into_iter().enumerate();
        TournamentReport {
            rules: tournament.setting.rules.name(),
            seed,
            starts: tournament.starts.iter().map(ToString::to_string).collect(),
            table_seeds: tournament.setting.tables.and_then(|tables| tables.max_seeds()),
            players: players.map(|(player, name)| PlayerReport::new(tournament, player, name, games)).collect(),
            pairs,
            games: games.iter().map(|finished| finished.game.clone()).collect(),
            threads: rayon::current_num_threads(),
            seconds,
        }
    }

    /// Prints the seeds won by each pair, then the players.
    pub(super) fn print(&self) -> io::Result<()> {
        line!("seeds won by the first player (row) against the second player (column):")?;
        let heading = self.players.iter().map(|player| player.player.clone());
        let mut grid = Grid::new(["first".to_owned()].into_iter().chain(heading));
        // A single game has a whole number of seeds.
        let digits = usize::from(self.starts.len() > 1);
        for row in self.pairs.chunk_by(|a, b| a.places[0] == b.places[0]) {
            // Not all players play themselves.
            let mut cells = vec!["-".to_owned(); self.players.len()];
            for pair in row {
                cells[pair.places[1]] = format!("{:.digits$}:{:.digits$}", pair.seeds[0], pair.seeds[1]);
            }
            grid.row([row[0].first.clone()].into_iter().chain(cells));
        }
        grid.print()?;
        line!("")?;
        let mut grid = Grid::new([
            "player",
            "games",
            "won",
            "seeds",
            "difference",
            "ms a move",
            "evaluated",
            "mistakes",
            "lost a move",
        ]);
        for PlayerReport { player, all, seconds_a_move, evaluated, .. } in &self.players {
            grid.row([
                player.clone(),
                all.games.to_string(),
                format!("{:.1} %", 100.0 * all.won),
                format!("{:.1}", all.seeds),
                decimal(all.median),
                format!("{:.3}", 1000.0 * seconds_a_move),
                evaluated.moves.to_string(),
                if evaluated.moves == 0 { "-".to_owned() } else { evaluated.mistakes.to_string() },
                evaluated.loss.map_or(String::new(), |loss| format!("{loss:.3}")),
            ]);
        }
        grid.print()?;
        line!("")?;
        for GameReport { first, second, line, forfeit, .. } in &self.games {
            if let Some(ForfeitReport { player, fault }) = forfeit {
                line!("{first} against {second}, {line}: {player} forfeits, since it {fault}")?;
            }
        }
        let moves: usize = self.games.iter().map(|game| game.moves).sum();
        let evaluated: u64 = self.players.iter().map(|player| player.evaluated.moves).sum();
        let (games, moves) = (output::count(self.games.len(), "game"), output::many(moves as u64, "move"));
        let by_tables = |seeds| format!(", {} of them evaluated by tables to {seeds} seeds", commas(evaluated));
        let evaluated = self.table_seeds.map_or(String::new(), by_tables);
        line!("{games} of {}, {moves}{evaluated}; {:.1} s", self.rules, self.seconds)
    }
}
