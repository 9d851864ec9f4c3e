//! Puzzles: positions from games in which exactly one move keeps the win or the draw.

use std::collections::HashSet;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use kalah_base::random::{choice, generator};
use kalah_core::game::{Line, Pit, Position, Rules};
use kalah_core::table::{Probe, ProbeError, TableError, Tables};
use kalah_solve::solve::{LimitedSearch, Method};

/// Maximum depth, in moves, of the searches that measure difficulty.
const MAX_PUZZLE_DEPTH: u32 = 9;

/// Search depth, in moves, for the moves of the games; every other move is random.
const GAME_DEPTH: u32 = 3;

/// Minimum number of moves to choose from.
const FEWEST_MOVES: usize = 3;

/// Difficulty of a puzzle, by its [depth](Puzzle::depth).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Level {
    /// A search of up to 2 moves finds it.
    Easy,
    /// A search of up to 5 moves finds it.
    #[default]
    Medium,
    /// Only a deeper search finds it, or none.
    Hard,
}

impl Level {
    /// All of them.
    pub(crate) const ALL: [Level; 3] = [Level::Easy, Level::Medium, Level::Hard];

    /// The name in JSON documents and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Level::Easy => "easy",
            Level::Medium => "medium",
            Level::Hard => "hard",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Level, String> {
        let found = Level::ALL.into_iter().find(|level| level.name() == text);
        found.ok_or_else(|| "the levels are easy, medium and hard".to_owned())
    }
}

/// A position with one move that keeps the outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Puzzle {
    /// The rule set.
    pub rules: Rules,
    /// The position; the mover is South.
    pub position: Position,
    /// The only move that keeps the win or the draw.
    pub pit: Pit,
    /// The value of the position for the mover: above 0 if the mover wins, 0 for a draw.
    pub value: i64,
    /// The value of the second-best move.
    pub second: i64,
    /// A line of best play to the end of the game.
    pub line: Line,
    /// The least depth, in moves, from which on all depth-limited searches up to 9 moves choose
    /// the move; 10 if the deepest does not.
    pub depth: u32,
}

impl Puzzle {
    /// Difference between the best and the second-best move.
    pub fn gap(&self) -> i64 {
        self.value - self.second
    }

    /// The difficulty.
    pub fn level(&self) -> Level {
        match self.depth {
            0..=2 => Level::Easy,
            3..=5 => Level::Medium,
            _ => Level::Hard,
        }
    }

    /// Returns true if a search of one move chooses another move: a wrong move looks natural.
    pub fn is_tempting(&self) -> bool {
        LimitedSearch::new(self.rules, Method::SeqAb, 1).run(&self.position).best != Some(self.pit)
    }

    /// The puzzle of a position in the tables; `None` if the position is not a puzzle or is above the tables.
    ///
    /// # Errors
    /// If a table is damaged.
    pub(crate) fn of(tables: &Tables, position: &Position) -> Result<Option<Puzzle>, TableError> {
        if position.is_over() || position.moves().count() < FEWEST_MOVES {
            return Ok(None);
        }
        let found = ProbeError::unless_above(tables.move_scores(position))?;
        let Some(mut moves) = found else { return Ok(None) };
        moves.sort_by_key(|&(_, score)| std::cmp::Reverse(score));
        let (value, second) = (position.value(moves[0].1), position.value(moves[1].1));
        let is_one = value > 0 && second <= 0 || value == 0 && second < 0;
        if !is_one {
            return Ok(None);
        }
        let (rules, pit) = (tables.rules(), moves[0].0);
        let Some(Probe { line, .. }) = ProbeError::unless_above(tables.probe(position))? else { return Ok(None) };
        let finds = |depth: u32| LimitedSearch::new(rules, Method::SeqAb, depth).run(position).best == Some(pit);
        let depth = (1..=MAX_PUZZLE_DEPTH).rev().take_while(|&depth| finds(depth)).last();
        let depth = depth.unwrap_or(MAX_PUZZLE_DEPTH + 1);
        Ok(Some(Puzzle { rules, position: *position, pit, value, second, line, depth }))
    }
}

/// Finds puzzles in games played with some random moves and shallow searches otherwise. The same seed gives the
/// same games.
#[derive(Debug)]
pub struct PuzzleMiner<'t> {
    tables: &'t Tables,
    start: Position,
    random: fastrand::Rng,
    /// Seeds in play of a puzzle.
    seeds: RangeInclusive<u32>,
    seen: HashSet<Position>,
}

impl<'t> PuzzleMiner<'t> {
    /// A miner of games from `start`.
    ///
    /// # Errors
    /// If the tables have another number of pits.
    pub fn new(tables: &'t Tables, start: Position, seed: u64) -> Result<PuzzleMiner<'t>, ProbeError> {
        if tables.pits() != start.pits() {
            let (pits, tables) = (start.pits(), tables.pits());
            return Err(ProbeError::OtherPits { position: Box::new(start), pits, tables });
        }
        let most = tables.max_seeds().map_or(0, |seeds| seeds as u32);
        Ok(PuzzleMiner { tables, start, random: generator(seed), seeds: 0..=most, seen: HashSet::new() })
    }

    /// Restricts puzzles to these numbers of seeds in play. Below the size of the tables, the puzzles found do not
    /// depend on the tables.
    #[must_use]
    pub fn within(mut self, seeds: RangeInclusive<u32>) -> PuzzleMiner<'t> {
        self.seeds = *seeds.start()..=*self.seeds.end().min(seeds.end());
        self
    }

    /// Plays a game and returns its new puzzles.
    ///
    /// # Errors
    /// If a table is damaged.
    pub fn game(&mut self) -> Result<Vec<Puzzle>, TableError> {
        let rules = self.tables.rules();
        let search = LimitedSearch::new(rules, Method::SeqAb, GAME_DEPTH);
        let (mut position, mut puzzles) = (self.start, Vec::new());
        while !position.is_over() {
            if self.seeds.contains(&position.seeds())
                && self.seen.insert(position)
                && let Some(puzzle) = Puzzle::of(self.tables, &position)?
            {
                puzzles.push(puzzle);
            }
            let random = self.random.bool();
            let pit = if random {
                choice(&mut self.random, &position.moves().collect::<Vec<Pit>>())
            } else {
                search.run(&position).best
            };
            let Some(played) = pit.and_then(|pit| position.play(rules, pit).ok()) else { break };
            position = played.position;
        }
        Ok(puzzles)
    }
}
