use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use kalah_core::cancel::{Cancel, Instant};
use kalah_core::game::{Position, Rules};
use kalah_play::play::{Choice, Player, PlayerName, Setting};
use serde::Deserialize;

use super::analyser::pause;
use super::answer::{ChosenMove, MoveAnswer};
use super::error::ApiError;
use super::fields::{of_body, parsed, position, position_of, seconds};
use super::searcher::{Searcher, Sources};

/// Request for the move of a player: `POST /api/move`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MoveRequest {
    /// The rule set.
    #[serde(default, deserialize_with = "parsed")]
    pub rules: Rules,
    /// The position, in which the game is not over.
    #[serde(rename = "board", deserialize_with = "position")]
    pub position: Position,
    /// The requested time.
    #[serde(default, deserialize_with = "seconds")]
    pub time: Option<Duration>,
    #[serde(default, deserialize_with = "parsed")]
    player: PlayerName,
    #[serde(skip, default = "Instant::now")]
    start: Instant,
}

/// Returns a number that makes random players differ from game to game. One with a seed repeats its moves in equal
/// positions. In WebAssembly only `start` differs from run to run.
fn game_of(player: PlayerName, position: &Position, start: Instant) -> u64 {
    if matches!(player, PlayerName::Random(1..)) {
        return xxhash_rust::xxh3::xxh3_64(position.to_string().as_bytes());
    }
    let mut hasher = DefaultHasher::new();
    (start, fastrand::u64(..)).hash(&mut hasher);
    hasher.finish()
}

/// Chooses a move in `time` without tables, books and solver; `None` for a player that uses these, for a text that is
/// no position or player, and at the end of the game.
pub fn choose_without_tables(rules: Rules, board: &str, player: &str, time: Duration) -> Option<ChosenMove> {
    let (position, name): (_, PlayerName) = (position_of(board)?, player.parse().ok()?);
    let mut player = name.player_without_tables(rules, game_of(name, &position, Instant::now()))?;
    let choice = player.choose(&position, &Cancel::new().within(time), &mut |_| ()).ok()?;
    Some(ChosenMove::new(rules, &position, name.to_string(), &choice))
}

impl MoveRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// If a field is missing, unknown or wrong, the position is too large, or the game is over.
    pub fn read(body: &[u8]) -> Result<MoveRequest, ApiError> {
        let request: MoveRequest = of_body(body)?;
        if request.position.is_over() {
            return Err(ApiError::request("the game is over: there is no move to choose"));
        }
        Ok(request)
    }

    /// Chooses a move without a long search; `None` if the player needs one.
    ///
    /// # Errors
    /// If a table is damaged.
    pub fn at_once(&self, sources: Sources<'_>, time: Duration) -> Result<Option<MoveAnswer>, ApiError> {
        let MoveRequest { rules, position, player, .. } = *self;
        let at_once = match player {
            PlayerName::Greedy | PlayerName::Random(_) | PlayerName::Heuristic => true,
            PlayerName::Perfect => sources.at_once(rules, &position)?.is_some(),
            _ => false,
        };
        if !at_once {
            return Ok(None);
        }
        let (tables, book) =
            (sources.all_tables.tables(rules, position.pits()), sources.books.get(rules, position.pits()));
        let game = game_of(player, &position, self.start);
        let setting = Setting { tables, book, game, ..Setting::new(rules) };
        let choice = player.player(&setting).choose(&position, &Cancel::new().within(time), &mut |_| ())?;
        Ok(Some(self.answer(&choice)))
    }

    /// Returns the player, which searches.
    ///
    /// # Errors
    /// If a table is damaged.
    pub fn player<'t>(&self, searcher: &mut Searcher<'t>, cancel: &Cancel) -> Result<Box<dyn Player + 't>, ApiError> {
        searcher.player(self.player, self.rules, &self.position, cancel)
    }

    /// Chooses a move by a search of the player in slices, between which the thread can do other work.
    ///
    /// # Errors
    /// If a table is damaged.
    pub async fn search(
        &self,
        slice: Duration,
        mut player: Box<dyn Player + '_>,
        cancel: &Cancel,
    ) -> Result<MoveAnswer, ApiError> {
        loop {
            if let Some(choice) = player.choose_for(slice, &self.position, cancel)? {
                return Ok(self.answer(&choice));
            }
            pause().await;
        }
    }

    fn answer(&self, choice: &Choice) -> MoveAnswer {
        let seconds = self.start.elapsed().as_secs_f64();
        MoveAnswer::new(self.rules, &self.position, self.player.to_string(), choice, seconds)
    }
}
