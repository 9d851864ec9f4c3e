//! The report on a tournament.

use std::io;

use indicatif::HumanCount;
use kalah::game::Position;
use kalah::play::{Accuracy, Tournament};
use serde::Serialize;

use crate::cli::playing::tournament::saved::Finished;
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
    /// True if the tournament was stopped before all its games were over.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stopped: bool,
    /// Number of games of the whole tournament.
    #[serde(skip)]
    all: usize,
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

#[derive(Serialize)]
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

#[derive(Serialize)]
struct GameReport {
    first: String,
    second: String,
    start: usize,
    /// Start position.
    position: Position,
    seeds: [u32; 2],
    line: String,
    /// Forfeit, if the game was not lost by moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    forfeit: Option<ForfeitReport>,
    evaluated: [AccuracyReport; 2],
    moves: usize,
    seconds: [f64; 2],
}

/// Forfeit of an external engine.
#[derive(Serialize)]
struct ForfeitReport {
    /// Engine.
    player: String,
    /// Its fault.
    fault: String,
}

impl From<Accuracy> for AccuracyReport {
    fn from(accuracy: Accuracy) -> AccuracyReport {
        let Accuracy { moves, mistakes, lost } = accuracy;
        AccuracyReport { moves, mistakes, lost, loss: accuracy.loss() }
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

    fn won(&self) -> String {
        format!("{:.1} %", 100.0 * self.won)
    }
}

impl PlayerReport {
    fn new(tournament: &Tournament, player: usize, name: String, matches: &[Finished]) -> PlayerReport {
        let (mut as_first, mut as_second) = (Vec::new(), Vec::new());
        let (mut evaluated, mut forfeits, mut moves, mut seconds) = (Accuracy::default(), 0, 0, 0.0);
        for played in matches {
            let [first, second] = played.seeds;
            let (one, other, _) = tournament.pairing(played.number);
            for (seat, _) in [one, other].into_iter().enumerate().filter(|&(_, own)| own == player) {
                let (games, seeds) =
                    if seat == 0 { (&mut as_first, [first, second]) } else { (&mut as_second, [second, first]) };
                games.push(seeds);
                evaluated = evaluated.and(played.accuracy[seat]);
                forfeits += usize::from(played.forfeit.as_ref().is_some_and(|&(first, _)| first == (seat == 0)));
                moves += played.moves[seat];
                seconds += played.seconds[seat];
            }
        }
        PlayerReport {
            player: name,
            command: Some(&tournament.players[player]).filter(|player| player.is_engine()).map(ToString::to_string),
            all: Share::of(&[&as_first[..], &as_second[..]].concat()),
            first: Share::of(&as_first),
            second: Share::of(&as_second),
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
        matches: &[Finished],
        seed: u64,
        seconds: f64,
    ) -> TournamentReport {
        let name = |player: usize| names[player].clone();
        let players = 0..tournament.players.len();
        let places = |played: &Finished| {
            let (first, second, _) = tournament.pairing(played.number);
            [first, second]
        };
        let pairs = matches.chunk_by(|a, b| places(a) == places(b)).map(|games| {
            let mean = |seat: usize| {
                games.iter().map(|played| f64::from(played.seeds[seat])).sum::<f64>() / games.len() as f64
            };
            let (seeds, places) = ([mean(0), mean(1)], places(&games[0]));
            let [first, second] = places.map(name);
            PairReport { first, second, seeds, places }
        });
        let games = matches.iter().map(|played| {
            let (one, other, start) = tournament.pairing(played.number);
            GameReport {
                first: name(one),
                second: name(other),
                start,
                position: tournament.starts[start],
                seeds: played.seeds,
                line: played.line.clone(),
                forfeit: played
                    .forfeit
                    .clone()
                    .map(|(first, fault)| ForfeitReport { player: name(if first { one } else { other }), fault }),
                evaluated: played.accuracy.map(AccuracyReport::from),
                moves: played.moves.iter().sum(),
                seconds: played.seconds,
            }
        });
        TournamentReport {
            rules: tournament.setting.rules.name(),
            seed,
            starts: tournament.starts.iter().map(ToString::to_string).collect(),
            table_seeds: tournament.setting.tables.and_then(|tables| tables.max_seeds()),
            players: players.map(|player| PlayerReport::new(tournament, player, name(player), matches)).collect(),
            pairs: pairs.collect(),
            games: games.collect(),
            threads: rayon::current_num_threads(),
            seconds,
            stopped: matches.len() < tournament.games(),
            all: tournament.games(),
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
            // In a stopped tournament some pairs have not met.
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
            "as first",
            "as second",
            "forfeits",
            "seeds",
            "difference",
            "ms a move",
            "evaluated",
            "mistakes",
            "lost a move",
        ]);
        for PlayerReport { player, all, first, second, forfeits, seconds_a_move, evaluated, .. } in &self.players {
            grid.row([
                player.clone(),
                all.games.to_string(),
                all.won(),
                first.won(),
                second.won(),
                forfeits.to_string(),
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
        self.print_forfeits()?;
        let moves: usize = self.games.iter().map(|game| game.moves).sum();
        let evaluated: u64 = self.players.iter().map(|player| player.evaluated.moves).sum();
        let by = match self.table_seeds {
            Some(seeds) => format!("{} of them evaluated by tables to {seeds} seeds", HumanCount(evaluated)),
            None => "none of them evaluated, since there are no tables".to_owned(),
        };
        let games = match self.stopped {
            true => format!("{} of {}", self.games.len(), output::count(self.all, "game")),
            false => output::count(self.all, "game"),
        };
        let moves = output::many(moves as u64, "move");
        line!("{games} of {}, {moves}, {by}; {:.1} s", self.rules, self.seconds)
    }

    /// Prints the forfeited games of each engine, and its fault in the first of them.
    fn print_forfeits(&self) -> io::Result<()> {
        let forfeits: Vec<(&GameReport, &ForfeitReport)> =
            self.games.iter().filter_map(|game| Some((game, game.forfeit.as_ref()?))).collect();
        let mut printed: Vec<&str> = Vec::new();
        for (game, ForfeitReport { player, fault }) in &forfeits {
            if !printed.contains(&player.as_str()) {
                printed.push(player);
                let games = forfeits.iter().filter(|(_, forfeit)| forfeit.player == *player).count();
                line!("{player} forfeits {}, the first one because it {fault}", output::count(games, "game"))?;
                let GameReport { first, second, start, line, .. } = game;
                line!("    {first} against {second} from {}: {line}", self.starts[*start])?;
            }
        }
        if printed.is_empty() { Ok(()) } else { line!("") }
    }
}
