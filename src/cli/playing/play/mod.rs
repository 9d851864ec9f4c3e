mod input;

use std::fmt;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use kalah::cancel::Cancel;
use kalah::game::{Line, Pit, Place, Position};
use kalah::play::{ByCertificate, Choice, Participant, PlayError, Player, PlayerName, Setting};
use kalah::record::GameRecord;

use crate::cli::output::draw;
use crate::cli::playing::choose::StrategyFile;
use crate::cli::playing::play::input::{Input, help};
use crate::cli::{
    Context, GameOutput, Outcome, PlayerFlags, args, bail, examples, failure, games, line, note, output, usage,
};

/// Play a game in the terminal, against a player or a friend
///
/// Use this to play against the program or a friend (--north human), or to watch two players. Type a pit, or ? for
/// other commands such as hint and undo. The players are human, or, about from weak to strong, random:SEED, greedy,
/// heuristic, minimax:D, alphabeta:D, minimax3:D, minimax2:D and perfect. D is the number of moves that they search.
/// engine:COMMAND is another program that speaks the protocol of docs/engine.md. With --from CERTIFICATE, the player
/// certificate follows a proof, and never loses what it states. See docs/players.md.
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
    /// Continue the game in a file (docs/games.md), under its rules and with its players; or play against the strategy
    /// of a certificate of effort 0, from its position (docs/proving.md)
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Take game N of the file [default: the last one]
    #[arg(long, value_name = "N", requires = "from")]
    game: Option<usize>,
    /// Save the game to FILE after every move, after the games that it has
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Player of South, who moves first [default: that of the game of --from, else human]
    #[arg(long, value_name = "NAME")]
    south: Option<Seat>,
    /// Player of North [default: that of the game of --from, else perfect; with --from CERTIFICATE: certificate]
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

impl Seat {
    /// Returns the player of a side: the one given on the command line, else the one that the game names, else the
    /// default one, with a note if the game names another. No file starts an engine.
    fn chosen(given: Option<Seat>, game: &GameRecord, side: &str, default: Seat) -> Seat {
        if let Some(given) = given {
            return given;
        }
        let Some(name) = game.header(side) else { return default };
        match name.parse() {
            Ok(Seat::Human) => Seat::Human,
            Ok(Seat::Player(player)) if !player.is_engine() => Seat::Player(player),
            _ => {
                let flag = side.to_lowercase();
                note!("{side} of the game is {name}: now {default} plays; --{flag} NAME chooses another player");
                default
            }
        }
    }
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
        player.map_err(|error: String| format!("{error}, human, and certificate with --from CERTIFICATE"))
    }
}

/// Returns the name of the player who moved first, or of the other.
fn name(first: bool) -> &'static str {
    if first { "South" } else { "North" }
}

/// Returns the position at a place as South sees it.
fn board(place: &Place) -> Position {
    if place.first { place.position } else { place.position.turned() }
}

/// Game in progress.
struct Game {
    /// Rules, start, headers and comments.
    record: GameRecord,
    moves: Vec<Pit>,
    /// Number of moves before each turn that a person typed.
    typed: Vec<usize>,
}

impl Game {
    /// Returns a game that continues after the moves of `record`.
    fn after(mut record: GameRecord) -> Game {
        // The game goes on.
        record.headers.retain(|(name, _)| name != "Termination");
        Game { moves: record.moves(), record, typed: Vec::new() }
    }

    /// Returns the place after the moves so far.
    fn place(&self) -> Place {
        let places = Place::all(self.record.rules, &self.record.start, &self.moves).expect("the moves were checked");
        *places.last().expect("there is the start")
    }

    /// Returns the moves so far, turn by turn.
    fn line(&self) -> Line {
        Line::of_moves(self.record.rules, &self.record.start, &self.moves).expect("the moves were checked")
    }

    /// Makes a move, and describes its effects for use after `North sows 3`. `None` if it is illegal.
    fn play(&mut self, pit: Pit) -> Option<String> {
        let (rules, Place { position, .. }) = (self.record.rules, self.place());
        let played = position.play(rules, pit).ok()?;
        let sown = kalah::game::sow(rules, position.mover(), position.other(), pit);
        self.moves.push(pit);
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
        let (before, mut lines) = (self.moves.len(), Vec::new());
        if let Err(error) = self.try_turn(turn, &mut lines) {
            self.moves.truncate(before);
            let none = if turn.len() > 1 { "; none of these moves was made" } else { "" };
            return Err(error + none);
        }
        self.typed.push(before);
        Ok(lines)
    }

    fn try_turn(&mut self, turn: &[Pit], lines: &mut Vec<String>) -> Result<(), String> {
        let first = self.place().first;
        for (index, &pit) in turn.iter().enumerate() {
            let place = self.place();
            let position = place.position;
            if index > 0 && (place.first != first || position.is_over()) {
                let why = if position.is_over() {
                    "ends the game"
                } else if self.record.rules.moves_again() {
                    "does not end in the store"
                } else {
                    "ends the turn"
                };
                return Err(format!("move {pit} cannot follow: move {} {why}", turn[index - 1]));
            }
            let Some(does) = self.play(pit) else {
                let legal: Vec<String> = position.moves().map(|pit| pit.to_string()).collect();
                return Err(format!("move {pit} is illegal, since the pit is empty; legal moves: {}", legal.join(" ")));
            };
            lines.push(format!("{} sows {pit}{does}", name(first)));
        }
        Ok(())
    }

    /// Takes back a person's last turn, and all moves since. Returns false without such a turn.
    fn undo(&mut self) -> bool {
        let Some(moves) = self.typed.pop() else { return false };
        self.moves.truncate(moves);
        true
    }

    fn print_end(&self) -> io::Result<()> {
        let end = board(&self.place());
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
        let north = match strategy {
            Some(_) => Seat::Certificate,
            None => Seat::Player(PlayerName::Perfect.into()),
        };
        let south = Seat::chosen(self.south.take(), &record, "South", Seat::Human);
        let north = Seat::chosen(self.north.take(), &record, "North", north);
        self.with.threads.start()?;
        let tables = self.with.open_tables(&self.position, true)?;
        let books = self.book.find(self.with.directory(), &[self.with.rules]);
        let setting = self.with.setting(&tables, rayon::current_num_threads());
        let setting = Setting { book: books.require(self.with.rules, self.position.pits())?, ..setting };
        let player = |seat: &Seat| -> failure::Result<Option<Box<dyn Player + '_>>> {
            Ok(match (seat, &strategy) {
                (Seat::Human, _) => None,
                (Seat::Player(participant), _) => Some(participant.player(&setting)),
                (Seat::Certificate, Some(strategy)) => Some(Box::new(strategy.player()?)),
                (Seat::Certificate, None) => return Err(usage("the player certificate needs --from CERTIFICATE")),
            })
        };
        let mut players = [player(&south)?, player(&north)?];
        players.iter_mut().flatten().try_for_each(|player| player.prepare(&self.position, &Cancel::new()))?;
        let mut adviser = PlayerName::Perfect.player(&setting);
        let record = record.with_header("South", &south.to_string()).with_header("North", &north.to_string());
        let mut game = Game::after(record);
        if players.iter().any(Option::is_none) {
            output::line(help(self.with.rules))?;
        }
        output::default_rules(self.with.rules, self.from.is_some())?;
        output::line(draw(&board(&game.place())))?;
        self.save(&mut saved, &game, None)?;
        while !game.place().position.is_over() {
            let before = game.place();
            match &mut players[usize::from(!before.first)] {
                Some(player) => {
                    let Choice { pit, worth, source } = match self.ask(player.as_mut(), &before) {
                        Ok(choice) => choice,
                        Err(PlayError::Engine { player, fault }) => {
                            let (name, other) = (name(before.first), name(!before.first));
                            line!("{name}, {player}, forfeits the game: it {fault}")?;
                            line!("{other} wins\nline {}", game.line())?;
                            self.save(&mut saved, &game, Some(format!("{name} forfeits: it {fault}")))?;
                            return Ok(Outcome::Done);
                        }
                        Err(error) => return Err(error.into()),
                    };
                    let Some(does) = game.play(pit) else {
                        bail!("{} chose move {pit}, which is illegal in {}", player.name(), before.position);
                    };
                    line!("{}, {}, sows {pit}{does} ({worth}, {source})", name(before.first), player.name())?;
                }
                None => {
                    if !self.listen(adviser.as_mut(), &mut game)? {
                        line!("the game ends here, at {}", before.position)?;
                        return Ok(Outcome::Done);
                    }
                }
            }
            self.save(&mut saved, &game, None)?;
            output::line(draw(&board(&game.place())))?;
        }
        game.print_end()?;
        if let Some(path) = self.save.as_ref().filter(|path| !output::is_stdout(path)) {
            line!("saved in {0}; kalah review {0} finds the turns that lost seeds", path.display())?;
        }
        Ok(Outcome::Done)
    }

    /// Reads the game or the certificate of `--from`, and takes rules and position from it.
    fn read_from(&mut self) -> failure::Result<(GameRecord, Option<StrategyFile>)> {
        let certificate = self.from.as_deref().filter(|path| StrategyFile::is_certificate(path));
        if certificate.is_some() && self.game.is_some() {
            return Err(usage("a certificate contains no games: leave out --game"));
        }
        let strategy = certificate.map(|path| StrategyFile::read(path, self.with.directory())).transpose()?;
        if let Some(strategy) = &strategy {
            let statement = &strategy.head().statement;
            output::require_rules_of("the certificate", statement.rules, self.with.rules)?;
            (self.with.rules, self.position) = (statement.rules, statement.position);
        }
        let record = match self.from.as_ref().filter(|_| strategy.is_none()) {
            Some(path) => games::read_one(path, self.game, self.with.rules)?,
            None => GameRecord::new(self.with.rules, self.position, Line::new(self.position.pits()))?,
        };
        (self.with.rules, self.position) = (record.rules, record.start);
        Ok((record, strategy))
    }

    /// Writes the game to its file, if it has one. `forfeit` is the reason why the player to move has forfeited it.
    fn save(&self, to: &mut Option<GameOutput>, game: &Game, forfeit: Option<String>) -> failure::Result<()> {
        let Some(to) = to else { return Ok(()) };
        let Game { record: GameRecord { rules, start, headers, comments, .. }, .. } = game;
        let mut record = GameRecord::new(*rules, *start, game.line())?;
        (record.headers, record.comments) = (headers.clone(), comments.clone());
        if let Some(forfeit) = forfeit {
            let all = start.seeds() + start.mover_store() + start.other_store();
            record.result = Some(if game.place().first { [0, all] } else { [all, 0] });
            record = record.with_header("Termination", &forfeit);
        }
        to.write(&record)
    }

    fn ask(&self, player: &mut dyn Player, place: &Place) -> Result<Choice, PlayError> {
        player.choose(&place.position, &Cancel::new().within(self.time), &mut |_| ())
    }

    /// Follows the commands of the person to move until the board has changed. Returns false if the person leaves.
    fn listen(&self, adviser: &mut dyn Player, game: &mut Game) -> failure::Result<bool> {
        loop {
            let Some(text) = read(name(game.place().first))? else { return Ok(false) };
            match Input::read(&text, game.record.start.pits()) {
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
                Ok(Input::Board) => output::line(draw(&board(&game.place())))?,
                Ok(Input::Line) => output::line(game.line())?,
                Ok(Input::Hint) => {
                    let Choice { pit, worth, source } = self.ask(adviser, &game.place())?;
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
