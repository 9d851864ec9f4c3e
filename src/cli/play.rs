use std::io::{self, BufRead, IsTerminal, Write};
use std::str::FromStr;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use kalah::game::{Line, Pit, Position};
use kalah::play::{Choice, Limit, Player, PlayerName, UnknownPlayer};

use super::board_view::draw;
use super::player_flags::{PlayerFlags, seconds};
use super::{Outcome, output};

/// Play a game in the terminal, against a player or a friend
///
/// The players are human, perfect, minimax:D, alphabeta:D, heuristic, minimax2:D, minimax3:D, greedy and random:SEED.
#[derive(Args)]
pub struct Play {
    /// The start, such as 6x4 or 4,4,4,4,4,4/4,4,4,4,4,4; South moves first
    #[arg(default_value = "6x4")]
    position: Position,
    /// Who plays South and moves first
    #[arg(long, value_name = "NAME", default_value = "human")]
    south: Seat,
    /// Who plays North
    #[arg(long, value_name = "NAME", default_value = "perfect")]
    north: Seat,
    /// Seconds a player and a hint may think
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "2")]
    time: Duration,
    #[command(flatten)]
    with: PlayerFlags,
}

/// Who plays a side.
#[derive(Clone, Copy)]
enum Seat {
    Human,
    Player(PlayerName),
}

impl FromStr for Seat {
    type Err = String;

    fn from_str(text: &str) -> Result<Seat, String> {
        if text == "human" {
            return Ok(Seat::Human);
        }
        let player = text.parse().map(Seat::Player);
        player.map_err(|error: UnknownPlayer| format!("{error}; or human"))
    }
}

/// What can be typed.
const HELP: &str =
    "a number sows that pit; hint (h): what the perfect player would do; back (b): takes your last move back;
board: draws it again; line: the moves so far; help (?): this; quit (q)";

/// A place of a game.
#[derive(Clone, Copy)]
struct Place {
    /// Seen by the player to move.
    position: Position,
    south: bool,
}

impl Place {
    /// As South sees it.
    fn board(&self) -> Position {
        if self.south { self.position } else { self.position.turned() }
    }

    fn name(&self) -> &'static str {
        if self.south { "South" } else { "North" }
    }
}

/// What a person wants.
enum Wish {
    Move(Pit),
    Back,
    Leave,
}

impl Play {
    pub fn run(self) -> anyhow::Result<Outcome> {
        self.with.threads.start()?;
        let tables = self.with.open_tables(&self.position, true)?;
        let setting = self.with.setting(tables.as_ref(), rayon::current_num_threads());
        let player = |seat| match seat {
            Seat::Human => None,
            Seat::Player(name) => Some(name.player(&setting)),
        };
        let mut players = [player(self.south), player(self.north)];
        players.iter_mut().flatten().try_for_each(|player| player.prepare(&self.position, &Limit::none()))?;
        let mut adviser = PlayerName::Perfect.player(&setting);
        let mut place = Place { position: self.position, south: true };
        let mut past: Vec<(Place, Pit)> = Vec::new();
        if players.iter().any(Option::is_none) {
            output::line(HELP)?;
        }
        output::line(draw(&place.board()))?;
        while !place.position.is_over() {
            let pit = match &mut players[usize::from(!place.south)] {
                Some(player) => self.ask(player.as_mut(), &place)?,
                None => match self.listen(adviser.as_mut(), &place, &past)? {
                    Wish::Move(pit) => pit,
                    Wish::Back => {
                        let own = past.iter().rposition(|(before, _)| before.south == place.south);
                        match own {
                            Some(own) => {
                                place = past[own].0;
                                past.truncate(own);
                                output::line(draw(&place.board()))?;
                            }
                            None => output::line("you have not moved yet")?,
                        }
                        continue;
                    }
                    Wish::Leave => {
                        output::line(format_args!("the game ends here, at {}", place.position))?;
                        return Ok(Outcome::Done);
                    }
                },
            };
            match place.position.play(self.with.rules, pit) {
                Ok(played) => {
                    past.push((place, pit));
                    place = Place { position: played.position, south: place.south == played.again };
                    output::line(draw(&place.board()))?;
                }
                Err(error) => output::line(error)?,
            }
        }
        self.tell_end(&place, &past)
    }

    /// The move of a player, told.
    fn ask(&self, player: &mut dyn Player, place: &Place) -> anyhow::Result<Pit> {
        let choice = player.choose(&place.position, &Limit::time(self.time), &mut |_| ())?;
        let Choice { pit, worth, source } = choice;
        output::line(format_args!("{}, {}, sows {pit} ({worth}, {source})", place.name(), player.name()))?;
        Ok(pit)
    }

    /// What the person to move wants.
    fn listen(&self, adviser: &mut dyn Player, place: &Place, past: &[(Place, Pit)]) -> anyhow::Result<Wish> {
        loop {
            print_prompt(place.name())?;
            let mut text = String::new();
            let read = io::stdin().lock().read_line(&mut text).context("cannot read from standard input")?;
            if !io::stdin().is_terminal() {
                output::line(text.trim())?;
            }
            match text.trim() {
                _ if read == 0 => return Ok(Wish::Leave),
                "" => {}
                "quit" | "q" => return Ok(Wish::Leave),
                "back" | "b" => return Ok(Wish::Back),
                "help" | "?" => output::line(HELP)?,
                "board" => output::line(draw(&place.board()))?,
                "line" => output::line(line(&self.position, past))?,
                "hint" | "h" => {
                    let Choice { pit, worth, source } =
                        adviser.choose(&place.position, &Limit::time(self.time), &mut |_| ())?;
                    output::line(format_args!("sow {pit}: {worth}, {source}"))?;
                }
                number => match number.parse().ok().and_then(Pit::from_number) {
                    Some(pit) => return Ok(Wish::Move(pit)),
                    None => output::line(format_args!("'{number}' is neither a pit nor a word I know; {HELP}"))?,
                },
            }
        }
    }

    fn tell_end(&self, place: &Place, past: &[(Place, Pit)]) -> anyhow::Result<Outcome> {
        let end = place.board();
        let (south, north) = (end.mover_store() + end.mover().total(), end.other_store() + end.other().total());
        let how = match south.cmp(&north) {
            std::cmp::Ordering::Greater => "South wins",
            std::cmp::Ordering::Less => "North wins",
            std::cmp::Ordering::Equal => "a draw",
        };
        output::line(format_args!("{how}, {south} to {north}"))?;
        output::line(format_args!("line {}", line(&self.position, past)))?;
        Ok(Outcome::Done)
    }
}

/// The moves so far, turn by turn.
fn line(start: &Position, past: &[(Place, Pit)]) -> Line {
    let mut line = Line::new(start.pits());
    for turn in past.chunk_by(|(a, _), (b, _)| a.south == b.south) {
        line.push(turn.iter().map(|&(_, pit)| pit).collect());
    }
    line
}

fn print_prompt(name: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    write!(out, "{name}> ")?;
    out.flush()
}
