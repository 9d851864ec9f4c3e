mod input;

use std::fmt;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use kalah::cancel::Cancel;
use kalah::game::{Line, Pit, Position, Rules};
use kalah::play::{ByCertificate, Choice, Participant, PlayError, Player, PlayerName, UnknownParticipant};
use kalah::record::GameRecord;

use crate::cli::output::draw;
use crate::cli::playing::choose::StrategyFile;
use crate::cli::playing::play::input::{Input, help};
use crate::cli::{
    Context, GameOutput, Outcome, PlayerFlags, args, bail, examples, failure, games, line, output, usage,
};

/// Play a game in the terminal, against a player or a friend
///
/// Use this to play against the program or a friend (--north human), or to watch two players. Type a pit, or ? for
/// other commands such as hint and undo. The players are human, perfect, minimax:D, alphabeta:D, heuristic,
/// minimax2:D, minimax3:D, greedy, random:SEED, and engine:COMMAND for another program that speaks the protocol of
/// docs/engine.md. D is a depth in moves. With --from CERTIFICATE, the player certificate follows a proof, and never
/// loses what it states. See docs/players.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Move first against the perfect player", "kalah play 6x4"),
    ("Play against a friend at the same terminal", "kalah play 6x4 --north human"),
    ("Play against a proof of the value", "kalah play --from kalah-6x4.certificate"),
    ("Play an easier game, under the rules that most people play", "kalah play 6x4 --north minimax:3 --rules standard"),
]))]
pub(crate) struct Play {
    /// Start position, such as 6x4 or 4,4,4,4,4,4/4,4,4,4,4,4; South moves first
    #[arg(default_value = "6x4", conflicts_with = "from")]
    position: Position,
    /// Continue the game in a file (docs/games.md), under its rules; or play against the strategy of a certificate of
    /// effort 0, from its position (docs/proving.md)
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Take game N of the file
    #[arg(long, value_name = "N", requires = "from")]
    game: Option<usize>,
    /// Save the game to FILE after every move, after the games that it has
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Player of South, who moves first
    #[arg(long, value_name = "NAME", default_value = "human")]
    south: Seat,
    /// Player of North [default: perfect; with --from CERTIFICATE: certificate]
    #[arg(long, value_name = "NAME")]
    north: Option<Seat>,
    /// Time for each move of a player, and for each hint
    #[arg(long, value_name = "TIME", value_parser = args::time::<1>, default_value = "2s")]
    time: Duration,
    #[command(flatten)]
    with: PlayerFlags,
    #[command(flatten)]
    book: args::BookFlag,
}

/// Player of a side.
#[derive(Clone)]
enum Seat {
    Human,
    /// Strategy of the certificate of `--from`.
    Certificate,
    Player(Participant),
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Seat::Human => f.write_str("human"),
            Seat::Certificate => f.write_str(ByCertificate::NAME),
            Seat::Player(player) => write!(f, "{player}"),
        }
    }
}

impl FromStr for Seat {
    type Err = String;

    fn from_str(text: &str) -> Result<Seat, String> {
        if text == "human" {
            return Ok(Seat::Human);
        }
        if text == ByCertificate::NAME {
            return Ok(Seat::Certificate);
        }
        let player = text.parse().map(Seat::Player);
        player.map_err(|error: UnknownParticipant| format!("{error}, human, and certificate with --from CERTIFICATE"))
    }
}

/// State of a game.
#[derive(Clone, Copy)]
struct GamePlace {
    /// Position as the player to move sees it.
    position: Position,
    south: bool,
}

impl GamePlace {
    /// Returns the position as South sees it.
    fn board(&self) -> Position {
        if self.south { self.position } else { self.position.turned() }
    }

    fn name(&self) -> &'static str {
        if self.south { "South" } else { "North" }
    }

    fn other_name(&self) -> &'static str {
        if self.south { "North" } else { "South" }
    }
}

/// Game in progress.
struct Game {
    rules: Rules,
    start: Position,
    place: GamePlace,
    past: Vec<(GamePlace, Pit)>,
    /// Number of moves before each turn that a person typed.
    typed: Vec<usize>,
    /// Headers and comments of the continued record.
    headers: Vec<(String, String)>,
    comments: Vec<(usize, String)>,
}

impl Game {
    fn new(rules: Rules, start: Position) -> Game {
        let place = GamePlace { position: start, south: true };
        Game { rules, start, place, past: Vec::new(), typed: Vec::new(), headers: Vec::new(), comments: Vec::new() }
    }

    /// Makes a move, and describes its effects for use after `North sows 3`. `None` if it is illegal.
    fn play(&mut self, pit: Pit) -> Option<String> {
        let GamePlace { position, south } = self.place;
        let played = position.play(self.rules, pit).ok()?;
        let sown = kalah::game::sow(self.rules, position.mover(), position.other(), pit);
        self.past.push((self.place, pit));
        self.place = GamePlace { position: played.position, south: south == played.again };
        let relays =
            (sown.relays > 0).then(|| format!("relays through {}", output::count(sown.relays as usize, "pit")));
        let captured = (sown.captured > 0).then(|| format!("captures {}", sown.captured));
        let again = played.again.then(|| "moves again".to_owned());
        let does: Vec<String> = relays.into_iter().chain(captured).chain(again).collect();
        Some(match &*does {
            [] => String::new(),
            [first @ .., last] => first.iter().map(|does| format!(", {does}")).collect::<String>() + " and " + last,
        })
    }

    /// Makes all moves of a person, or none and returns the reason.
    fn play_turn(&mut self, turn: &[Pit]) -> Result<Vec<String>, String> {
        let before = (self.place, self.past.len());
        let mut lines = Vec::new();
        let played = self.try_turn(turn, &mut lines);
        if let Err(error) = played {
            self.place = before.0;
            self.past.truncate(before.1);
            let none = if turn.len() > 1 { "; none of these moves was made" } else { "" };
            return Err(error + none);
        }
        self.typed.push(before.1);
        Ok(lines)
    }

    fn try_turn(&mut self, turn: &[Pit], lines: &mut Vec<String>) -> Result<(), String> {
        let south = self.place.south;
        for (index, &pit) in turn.iter().enumerate() {
            let GamePlace { position, .. } = self.place;
            if index > 0 && (self.place.south != south || position.is_over()) {
                let why = if position.is_over() {
                    "ends the game"
                } else if self.rules.moves_again() {
                    "does not end in the store"
                } else {
                    "ends the turn"
                };
                return Err(format!("move {pit} cannot follow: move {} {why}", turn[index - 1]));
            }
            let name = self.place.name();
            let Some(does) = self.play(pit) else {
                let legal: Vec<String> = position.moves().map(|pit| pit.to_string()).collect();
                return Err(format!("move {pit} is illegal, since the pit is empty; legal moves: {}", legal.join(" ")));
            };
            lines.push(format!("{name} sows {pit}{does}"));
        }
        Ok(())
    }

    /// Takes back a person's last turn, and all moves since. Returns false without such a turn.
    fn undo(&mut self) -> bool {
        let Some(moves) = self.typed.pop() else { return false };
        self.place = self.past[moves].0;
        self.past.truncate(moves);
        true
    }

    /// Returns a game that continues after the moves of `record`.
    fn after(record: &GameRecord) -> Game {
        let mut game = Game::new(record.rules, record.start);
        for pit in record.moves() {
            game.play(pit).expect("the moves were checked");
        }
        game.headers.clone_from(&record.headers);
        // The game goes on.
        game.headers.retain(|(name, _)| name != "Termination");
        game.comments.clone_from(&record.comments);
        game
    }

    /// Returns the moves so far, turn by turn.
    fn line(&self) -> Line {
        let mut line = Line::new(self.start.pits());
        for turn in self.past.chunk_by(|(a, _), (b, _)| a.south == b.south) {
            line.push(turn.iter().map(|&(_, pit)| pit).collect());
        }
        line
    }

    fn print_end(&self) -> io::Result<()> {
        let end = self.place.board();
        let (south, north) = (end.mover().total(), end.other().total());
        let over = |empty: &str, full: &str, left: u32| {
            let left = output::count(left as usize, "seed");
            format!("{empty}'s row is empty: the game is over, and {full} keeps the {left} left in its row")
        };
        output::line(match (south, north) {
            (0, 0) => "both rows are empty: the game is over".to_owned(),
            (0, left) => over("South", "North", left),
            (left, _) => over("North", "South", left),
        })?;
        let (south, north) = (end.mover_store() + south, end.other_store() + north);
        let how = match south.cmp(&north) {
            std::cmp::Ordering::Greater => "South wins",
            std::cmp::Ordering::Less => "North wins",
            std::cmp::Ordering::Equal => "a draw",
        };
        line!("{how}, {} to {}", south.max(north), south.min(north))?;
        line!("line {}", self.line())
    }
}

impl Play {
    pub(crate) fn run(mut self) -> failure::Result<Outcome> {
        let (record, strategy) = self.read_from()?;
        let saved = self.save.as_deref().map(|path| GameOutput::open(path, self.from.as_deref()));
        let mut saved = saved.transpose()?;
        let north = self.north.clone().unwrap_or(match strategy {
            Some(_) => Seat::Certificate,
            None => Seat::Player(PlayerName::Perfect.into()),
        });
        self.north = Some(north.clone());
        self.with.threads.start()?;
        let tables = self.with.open_tables(&self.position, true)?;
        let books = self.book.find(self.with.directories(), &[self.with.rules]);
        let setting = self.with.setting(&tables, rayon::current_num_threads());
        let setting = setting.book(books.require(self.with.rules, self.position.pits())?);
        let player = |seat: &Seat| -> failure::Result<Option<Box<dyn Player + '_>>> {
            Ok(match (seat, &strategy) {
                (Seat::Human, _) => None,
                (Seat::Player(participant), _) => Some(participant.player(&setting)),
                (Seat::Certificate, Some(strategy)) => Some(Box::new(strategy.player()?)),
                (Seat::Certificate, None) => return Err(usage("the player certificate needs --from CERTIFICATE")),
            })
        };
        let mut players = [player(&self.south)?, player(&north)?];
        players.iter_mut().flatten().try_for_each(|player| player.prepare(&self.position, &Cancel::new()))?;
        let mut adviser = PlayerName::Perfect.player(&setting);
        let mut game = record.as_ref().map_or_else(|| Game::new(self.with.rules, self.position), Game::after);
        if players.iter().any(Option::is_none) {
            output::line(help(self.with.rules))?;
        }
        output::default_rules(self.with.rules, self.from.is_some())?;
        output::line(draw(&game.place.board()))?;
        self.save(&mut saved, &game, None)?;
        while !game.place.position.is_over() {
            let before = game.place;
            match &mut players[usize::from(!before.south)] {
                Some(player) => {
                    let Choice { pit, worth, source } = match self.ask(player.as_mut(), &before) {
                        Ok(choice) => choice,
                        Err(PlayError::Engine { player, fault, stderr }) => {
                            let (name, other) = (before.name(), before.other_name());
                            line!("{name}, {player}, forfeits the game: it {fault}{stderr}")?;
                            line!("{other} wins\nline {}", game.line())?;
                            self.save(&mut saved, &game, Some(format!("{name} forfeits: it {fault}")))?;
                            return Ok(Outcome::Done);
                        }
                        Err(error) => return Err(error.into()),
                    };
                    let Some(does) = game.play(pit) else {
                        bail!("{} chose move {pit}, which is illegal in {}", player.name(), before.position);
                    };
                    line!("{}, {}, sows {pit}{does} ({worth}, {source})", before.name(), player.name())?;
                }
                None => {
                    if !self.listen(adviser.as_mut(), &mut game)? {
                        line!("the game ends here, at {}", game.place.position)?;
                        return Ok(Outcome::Done);
                    }
                }
            }
            self.save(&mut saved, &game, None)?;
            output::line(draw(&game.place.board()))?;
        }
        game.print_end()?;
        Ok(Outcome::Done)
    }

    /// Reads the game or the certificate of `--from`, and takes rules and position from it.
    fn read_from(&mut self) -> failure::Result<(Option<GameRecord>, Option<StrategyFile>)> {
        let strategy = match &self.from {
            Some(path) if StrategyFile::is_certificate(path) => {
                if self.game.is_some() {
                    return Err(usage("a certificate contains no games: leave out --game"));
                }
                Some(StrategyFile::read(path, self.with.directories())?)
            }
            _ => None,
        };
        let game = self.from.as_ref().filter(|_| strategy.is_none());
        let record = game.map(|path| games::read_one(path, self.game, self.with.rules)).transpose()?;
        if let Some(record) = &record {
            (self.with.rules, self.position) = (record.rules, record.start);
        }
        if let Some(strategy) = &strategy {
            let statement = &strategy.head().statement;
            (self.with.rules, self.position) = (statement.rules, statement.position);
        }
        Ok((record, strategy))
    }

    /// Writes the game to its file, if it has one. `forfeit` is the reason why the player to move has forfeited it.
    fn save(&self, to: &mut Option<GameOutput>, game: &Game, forfeit: Option<String>) -> failure::Result<()> {
        let Some(to) = to else { return Ok(()) };
        let mut record = GameRecord::new(game.rules, game.start, game.line())?;
        record.headers.clone_from(&game.headers);
        let north = self.north.as_ref().map(Seat::to_string).unwrap_or_default();
        let mut record = record.with_header("South", &self.south.to_string()).with_header("North", &north);
        for (turns, text) in &game.comments {
            record = record.with_comment(*turns, text);
        }
        if let Some(forfeit) = forfeit {
            let all = game.start.seeds() + game.start.mover_store() + game.start.other_store();
            record.result = Some(if game.place.south { [0, all] } else { [all, 0] });
            record = record.with_header("Termination", &forfeit);
        }
        to.write(&record)
    }

    fn ask(&self, player: &mut dyn Player, place: &GamePlace) -> Result<Choice, PlayError> {
        player.choose(&place.position, &Cancel::new().within(self.time), &mut |_| ())
    }

    /// Follows the commands of the person to move until the board has changed. Returns false if the person leaves.
    fn listen(&self, adviser: &mut dyn Player, game: &mut Game) -> failure::Result<bool> {
        loop {
            let Some(text) = read(game.place.name())? else { return Ok(false) };
            match Input::read(&text, game.start.pits()) {
                Ok(Input::Nothing) => {}
                Ok(Input::Leave) => return Ok(false),
                Ok(Input::Turn(turn)) => match game.play_turn(&turn) {
                    Ok(lines) => {
                        lines.iter().try_for_each(output::line)?;
                        return Ok(true);
                    }
                    Err(error) => output::line(error)?,
                },
                Ok(Input::Undo) => {
                    if game.undo() {
                        return Ok(true);
                    }
                    line!("you have not moved yet")?;
                }
                Ok(Input::Help) => output::line(help(self.with.rules))?,
                Ok(Input::Board) => output::line(draw(&game.place.board()))?,
                Ok(Input::Line) => output::line(game.line())?,
                Ok(Input::Hint) => {
                    let Choice { pit, worth, source } = self.ask(adviser, &game.place)?;
                    line!("sow {pit}: {worth}, {source}")?;
                }
                Err(error) => output::line(error)?,
            }
        }
    }
}

/// Reads a line from the person of this name; `None` at the end of the input.
fn read(name: &str) -> failure::Result<Option<String>> {
    let mut out = io::stdout().lock();
    write!(out, "{name}> ")?;
    out.flush()?;
    let mut bytes = Vec::new();
    let read = io::stdin().lock().read_until(b'\n', &mut bytes).context("cannot read from standard input")?;
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    // Piped input is echoed, for the reader of the output. At the end of the input a terminal needs a new line.
    if !io::stdin().is_terminal() || read == 0 {
        output::line(&text)?;
    }
    Ok((read > 0).then_some(text))
}
