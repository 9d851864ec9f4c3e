use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use kalah::cancel::Cancel;
use kalah::game::{Line, ParseError, Pit, Place, Position};
use kalah::play::{ByCertificate, Choice, Participant, PlayError, Player, PlayerName, Setting};
use kalah::record::GameRecord;

use crate::cli::playing::choose::StrategyFile;
use crate::cli::{
    Context, GameOutput, Outcome, PlayerFlags, args, bail, examples, failure, games, line, output, usage,
};

/// Play a game in the terminal, against a player or a friend
///
/// Use this to play against the program or a friend (--north human), or to watch two players. Type the moves of your
/// turn (3 or 36), or undo, hint or quit. The players are human, or, about from weak to strong, random:SEED, greedy,
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
    /// Continue the game in a file (docs/games.md), under its rules; or play against the strategy of a certificate of
    /// effort 0, from its position (docs/proving.md)
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Take game N of the file [default: the last one]
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

impl FromStr for Seat {
    type Err = String;

    fn from_str(text: &str) -> Result<Seat, String> {
        match text {
            "human" => Ok(Seat::Human),
            ByCertificate::NAME => Ok(Seat::Certificate),
            _ => {
                let player: Result<Participant, String> = text.parse();
                player
                    .map(Seat::Player)
                    .map_err(|error| format!("{error}, human, and certificate with --from CERTIFICATE"))
            }
        }
    }
}

/// Input of a person.
const INPUT: &str = "type the moves of your turn, such as 3 or 36, or undo, hint or quit";

/// Returns the name of the player who moved first, or of the other.
fn name(first: bool) -> &'static str {
    if first { "South" } else { "North" }
}

/// Game in progress.
struct Game {
    record: GameRecord,
    /// The game before each turn that a person typed.
    typed: Vec<GameRecord>,
}

impl Game {
    /// Returns the place after the moves so far.
    fn place(&self) -> Place {
        let places = self.record.line.follow(self.record.rules, &self.record.start).expect("the moves were checked");
        *places.last().expect("there is the start")
    }

    /// Makes moves of the player to move.
    fn play(&mut self, moves: &[Pit]) -> Result<(), ParseError> {
        let GameRecord { rules, start, line, .. } = &self.record;
        let mut turns = line.turns().to_vec();
        match turns.last_mut().filter(|_| self.place().again) {
            Some(turn) => turn.extend(moves),
            None => turns.push(moves.to_vec()),
        }
        let mut line = Line::new(start.pits());
        turns.into_iter().for_each(|turn| line.push(turn));
        let played = GameRecord::new(*rules, *start, line)?;
        (self.record.line, self.record.result) = (played.line, played.result);
        Ok(())
    }

    /// Ends the game, since the player to move made a fault.
    fn forfeit(&mut self, fault: &str) {
        let (start, first) = (&self.record.start, self.place().first);
        let all = start.seeds() + start.mover_store() + start.other_store();
        self.record.result = Some(if first { [0, all] } else { [all, 0] });
        let text = format!("{} forfeits: it {fault}", name(first));
        self.record = self.record.clone().with_header("Termination", &text);
    }

    /// Prints the board as South sees it.
    fn draw(&self) -> std::io::Result<()> {
        let Place { position, first, .. } = self.place();
        output::line(output::draw(&if first { position } else { position.turned() }))
    }

    /// Prints the result and the moves.
    fn print_end(&self) -> std::io::Result<()> {
        match self.record.result {
            None => line!("the game ends here, at {}", self.place().position)?,
            Some([south, north]) if south == north => line!("a draw, {south} to {north}")?,
            Some([south, north]) => {
                line!("{} wins, {} to {}", name(south > north), south.max(north), south.min(north))?
            }
        }
        line!("line {}", self.record.line)
    }
}

impl Play {
    pub(crate) fn run(mut self) -> failure::Result<Outcome> {
        let (record, strategy) = self.read_from()?;
        let saved = self.save.as_deref().map(|path| GameOutput::open(path, self.from.as_deref()));
        let mut saved = saved.transpose()?;
        self.with.threads.start()?;
        let tables = self.with.open_tables(&record.start, true)?;
        let books = self.book.find(self.with.directory(), &[record.rules])?;
        let setting = self.with.setting(&tables, rayon::current_num_threads());
        let setting = Setting { book: books.get(record.rules, record.start.pits()), ..setting };
        let player = |seat: &Seat| -> failure::Result<Option<Box<dyn Player + '_>>> {
            Ok(match (seat, &strategy) {
                (Seat::Human, _) => None,
                (Seat::Player(participant), _) => Some(participant.player(&setting)),
                (Seat::Certificate, Some(strategy)) => Some(Box::new(strategy.player()?)),
                (Seat::Certificate, None) => return Err(usage("the player certificate needs --from CERTIFICATE")),
            })
        };
        let north = match strategy {
            Some(_) => Seat::Certificate,
            None => Seat::Player(PlayerName::Perfect.into()),
        };
        let mut players = [player(&self.south)?, player(self.north.as_ref().unwrap_or(&north))?];
        players.iter_mut().flatten().try_for_each(|player| player.prepare(&record.start, &Cancel::new()))?;
        let [south, north] =
            players.each_ref().map(|player| player.as_ref().map_or("human".to_owned(), |it| it.name()));
        let record = record.with_header("South", &south).with_header("North", &north);
        let (mut game, mut adviser) = (Game { record, typed: Vec::new() }, PlayerName::Perfect.player(&setting));
        output::default_rules(self.with.rules)?;
        if players.iter().any(Option::is_none) {
            output::line(INPUT)?;
        }
        loop {
            game.draw()?;
            saved.as_mut().map_or(Ok(()), |saved| saved.write(&game.record))?;
            let Place { position, first, .. } = game.place();
            let Some(player) = players[usize::from(!first)].as_mut().filter(|_| !position.is_over()) else {
                if !position.is_over() && self.listen(adviser.as_mut(), &mut game)? {
                    continue;
                }
                break;
            };
            match self.ask(player.as_mut(), &position) {
                Ok(Choice { pit, worth, source }) => {
                    if let Err(error) = game.play(&[pit]) {
                        bail!("{} made an illegal move: {error}", player.name());
                    }
                    line!("{}, {}, sows {pit} ({worth}, {source})", name(first), player.name())?;
                }
                Err(PlayError::Engine { player, fault }) => {
                    line!("{}, {player}, forfeits the game: it {fault}", name(first))?;
                    game.forfeit(&fault);
                    saved.as_mut().map_or(Ok(()), |saved| saved.write(&game.record))?;
                    break;
                }
                Err(error) => return Err(error.into()),
            }
        }
        game.print_end()?;
        Ok(Outcome::Done)
    }

    /// Reads the game or the certificate of `--from`, and takes the rules from it.
    fn read_from(&mut self) -> failure::Result<(GameRecord, Option<StrategyFile>)> {
        let rules = self.with.rules;
        let mut record = GameRecord::new(rules, self.position, Line::new(self.position.pits()))?;
        let mut strategy = None;
        match self.from.as_deref() {
            None => {}
            Some(path) if StrategyFile::is_certificate(path) => {
                let read = StrategyFile::read(path, self.with.directory())?;
                let statement = &read.certificate.head.statement;
                output::require_rules_of("the certificate", statement.rules, rules)?;
                record = GameRecord::new(statement.rules, statement.position, Line::new(statement.position.pits()))?;
                strategy = Some(read);
            }
            Some(path) => {
                record = games::read_one(path, self.game, rules)?;
                // The game goes on, however it ended.
                record.headers.retain(|(name, _)| name != "Termination");
                record.result = GameRecord::new(record.rules, record.start, record.line.clone())?.result;
            }
        }
        self.with.rules = record.rules;
        Ok((record, strategy))
    }

    fn ask(&self, player: &mut dyn Player, position: &Position) -> Result<Choice, PlayError> {
        player.choose(position, &Cancel::new().within(self.time), &mut |_| ())
    }

    /// Follows the input of the person to move until the board has changed. Returns false if the person leaves.
    fn listen(&self, adviser: &mut dyn Player, game: &mut Game) -> failure::Result<bool> {
        loop {
            let Place { position, first, .. } = game.place();
            line!("{} is to move", name(first))?;
            let mut text = String::new();
            if std::io::stdin().read_line(&mut text).context("cannot read from standard input")? == 0 {
                return Ok(false);
            }
            match text.trim() {
                "" => {}
                "quit" => return Ok(false),
                "undo" => match game.typed.pop() {
                    Some(record) => {
                        game.record = record;
                        return Ok(true);
                    }
                    None => line!("you have not moved yet")?,
                },
                "hint" => {
                    let Choice { pit, worth, source } = self.ask(adviser, &position)?;
                    line!("sow {pit}: {worth}, {source}")?;
                }
                turn => {
                    let before = game.record.clone();
                    let played = Line::parse(position.pits(), turn).and_then(|line| game.play(&line.turns().concat()));
                    match played {
                        Ok(()) => {
                            game.typed.push(before);
                            return Ok(true);
                        }
                        Err(error) => line!("{error}\n{INPUT}")?,
                    }
                }
            }
        }
    }
}
