use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use kalah_core::cancel::{Cancel, Instant};
use kalah_core::game::{Position, Rules};
use kalah_play::play::{Choice, PlayerName, Setting};

use super::answer::{ChosenMove, MoveAnswer};
use super::error::{ApiError, Code};
use super::fields::{Fields, parse_position, position_of};
use super::searcher::{Searcher, Sources};

/// Request for the move of a player: `POST /api/move`.
#[derive(Clone, Debug)]
pub struct MoveRequest {
    /// The rule set.
    pub rules: Rules,
    /// The position, in which the game is not over.
    pub position: Position,
    /// The requested time.
    pub time: Option<Duration>,
    player: PlayerName,
    /// Makes random players differ from game to game.
    game: u64,
    start: Instant,
}

/// Returns a number that differs from call to call. In WebAssembly only the time of the call differs from run to run.
fn chance(start: Instant) -> u64 {
    let mut hasher = DefaultHasher::new();
    (start, fastrand::u64(..)).hash(&mut hasher);
    hasher.finish()
}

/// Returns a number that makes random players differ from game to game. One with a seed repeats its moves in equal
/// positions.
fn game_of(player: Option<&str>, board: &str, start: Instant) -> u64 {
    if player.is_some_and(|name| name.contains(':')) {
        xxhash_rust::xxh3::xxh3_64(board.as_bytes())
    } else {
        chance(start)
    }
}

/// Chooses a move in `time` without tables, books and solver; `None` for a player that uses these, for a text that is
/// no position or player, and at the end of the game.
pub fn choose_without_tables(rules: Rules, board: &str, player: &str, time: Duration) -> Option<ChosenMove> {
    let (position, name): (_, PlayerName) = (position_of(board)?, player.parse().ok()?);
    let mut player = name.player_without_tables(rules, game_of(Some(player), board, Instant::now()))?;
    let choice = player.choose(&position, &Cancel::new().within(time), &mut |_| ()).ok()?;
    Some(ChosenMove::new(rules, &position, name.to_string(), &choice))
}

impl MoveRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// If a field is missing, unknown or wrong, the position is too large, or the game is over.
    pub fn read(body: &[u8]) -> Result<MoveRequest, ApiError> {
        let start = Instant::now();
        let mut fields = Fields::of_body(body, &["board", "rules", "player", "time"])?;
        let board = fields.board()?;
        let (position, rules) = (parse_position(&board)?, fields.rules()?);
        let name = fields.text("player")?;
        let player = name.as_deref().map_or(Ok(PlayerName::Perfect), str::parse)?;
        let time = fields.time()?;
        if position.is_over() {
            return Err(ApiError::new(Code::GameOver, "the game is over: there is no move to choose"));
        }
        let game = game_of(name.as_deref(), &board, start);
        Ok(MoveRequest { rules, position, time, player, game, start })
    }

    /// Chooses a move without a long search; `None` if the player needs one.
    ///
    /// # Errors
    /// If a table is damaged.
    pub fn at_once(&self, sources: Sources<'_>, time: Duration) -> Result<Option<MoveAnswer>, ApiError> {
        let MoveRequest { rules, position, player, .. } = self;
        let quick = matches!(player, PlayerName::Greedy | PlayerName::Random(_) | PlayerName::Heuristic);
        let tables = sources.all_tables.tables(*rules, position.pits());
        let book = sources.books.get(*rules, position.pits());
        let recalled = book.map(|book| book.recall(position, tables)).transpose()?;
        let is_known = recalled.is_some_and(|recalled| recalled.from_book && recalled.best().next().is_some());
        let at_once =
            quick || *player == PlayerName::Perfect && (sources.all_tables.reaches(*rules, position) || is_known);
        if !at_once {
            return Ok(None);
        }
        let setting = Setting { tables, book, game: self.game, ..Setting::new(*rules) };
        let choice = player.player(&setting).choose(position, &Cancel::new().within(time), &mut |_| ())?;
        Ok(Some(self.answer(&choice)))
    }

    /// Chooses a move by a search.
    ///
    /// # Errors
    /// If a table is damaged.
    pub fn search(&self, searcher: &mut Searcher<'_>, cancel: &Cancel) -> Result<MoveAnswer, ApiError> {
        let player = searcher.player(self.player, self.rules, &self.position, self.game, cancel)?;
        Ok(self.answer(&player.choose(&self.position, cancel, &mut |_| ())?))
    }

    /// Goes on choosing a move by a search for about `slice`; `None` if it is not done then.
    ///
    /// # Errors
    /// If a table is damaged.
    pub fn search_for(
        &self,
        slice: Duration,
        searcher: &mut Searcher<'_>,
        cancel: &Cancel,
    ) -> Result<Option<MoveAnswer>, ApiError> {
        let player = searcher.player(self.player, self.rules, &self.position, self.game, cancel)?;
        Ok(player.choose_for(slice, &self.position, cancel)?.map(|choice| self.answer(&choice)))
    }

    fn answer(&self, choice: &Choice) -> MoveAnswer {
        let seconds = self.start.elapsed().as_secs_f64();
        MoveAnswer::new(self.rules, &self.position, self.player.to_string(), choice, seconds)
    }
}
