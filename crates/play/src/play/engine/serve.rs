use std::fmt::{Display, Write as _};
use std::io::{self, BufRead, Write};
use std::sync::mpsc::{TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use kalah_base::printable::printable;
use kalah_core::cancel::Cancel;
use kalah_core::game::{Position, Rules};
use kalah_core::table::AllTables;
use kalah_solve::book::Books;

use crate::play::{Choice, Player, PlayerName, Setting, Source, Worth};

/// Maximum characters of an error.
const MAX_ERROR: usize = 1000;

/// Maximum lines that wait to be executed.
const MAX_WAITING: usize = 10_000;

/// Plays as an engine: executes the lines of `input` and answers on `output` until `quit` or the end of the
/// input. The tables and books replace those of `setting`.
///
/// A thread of its own reads the input, so that `stop`, `quit` and the end of the input take effect at once. `stop`
/// ends every search requested before it, also one that has not begun. The thread ends with the input, or with the
/// first command after this function has returned.
///
/// # Errors
/// If `output` cannot be written, a thread cannot be started, or too many lines wait to be executed. Any other failure
/// is answered with `error`.
pub fn serve_engine(
    input: impl BufRead + Send + 'static,
    mut output: impl Write,
    name: PlayerName,
    setting: Setting<'_>,
    all_tables: &AllTables,
    books: &Books,
) -> io::Result<()> {
    let ((sender, lines), closing) = (sync_channel(MAX_WAITING), Cancel::new());
    let ended = closing.clone();
    let reader = thread::Builder::new().spawn(move || {
        let (mut search, mut is_full) = (ended.child(), false);
        for line in input.split(b'\n').map_while(Result::ok) {
            let text = String::from_utf8_lossy(&line).trim().to_owned();
            let sent = match text.split_whitespace().next() {
                None => Ok(()),
                Some("quit") => break,
                Some("stop") => {
                    search.cancel();
                    search = ended.child();
                    Ok(())
                }
                // To wait for the session would keep `stop` from being read.
                Some(_) => sender.try_send(Line { text, at: Instant::now(), search: search.clone() }),
            };
            if let Err(error) = sent {
                is_full = matches!(error, TrySendError::Full(_));
                break;
            }
        }
        ended.cancel();
        is_full
    })?;
    let mut session =
        Session { name, setting, all_tables, books, rules: Some(setting.rules), position: None, player: None };
    while let Ok(line) = lines.recv() {
        let mut report = |choice: &Choice| {
            // The answer fails in the same way.
            let _ = output.write_all(info(choice).as_bytes()).and_then(|()| output.flush());
        };
        let answer = session.answer(&line, &closing, &mut report);
        let answer = answer.unwrap_or_else(|why| format!("error {}\n", printable(&why, MAX_ERROR)));
        output.write_all(answer.as_bytes())?;
        output.flush()?;
    }
    match reader.join() {
        Ok(false) => Ok(()),
        Ok(true) => Err(io::Error::other(format!("more than {MAX_WAITING} lines wait to be executed"))),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// A line that was read.
struct Line {
    text: String,
    /// The time when it was read.
    at: Instant,
    /// Ends its search, with all others between two lines `stop`.
    search: Cancel,
}

/// The line that reports a move.
fn info(choice: &Choice) -> String {
    let depth = if let Source::Depth(depth) = choice.source { format!("depth {depth} ") } else { String::new() };
    let worth = match choice.worth {
        Worth::Exact(value) => format!(" value {value}"),
        Worth::Bounds { lower, upper } => format!(" lower {lower} upper {upper}"),
        Worth::Evaluation(value) => format!(" evaluation {value}"),
        Worth::Unknown => String::new(),
    };
    format!("info {depth}move {}{worth} text {}\n", choice.pit, choice.source)
}

/// State of a session.
struct Session<'s> {
    name: PlayerName,
    setting: Setting<'s>,
    all_tables: &'s AllTables,
    books: &'s Books,
    /// The rules of the game; `None` if it was refused.
    rules: Option<Rules>,
    /// The position to move in; `None` if the last one was refused.
    position: Option<Position>,
    /// The player, and the pits of the board that it was made for.
    player: Option<(usize, Box<dyn Player + 's>)>,
}

impl Session<'_> {
    /// Executes a line; returns the lines of the answer, or an error in words. What a failed line should have set is
    /// then missing: no move answers an earlier position.
    fn answer(&mut self, line: &Line, closing: &Cancel, report: &mut dyn FnMut(&Choice)) -> Result<String, String> {
        let mut answer = String::new();
        let words: Vec<&str> = line.text.split_whitespace().collect();
        match words[..] {
            // The answer states that this is version 1, for clients of higher versions.
            ["kalah", ..] => {
                let rules = Rules::ALL.map(Rules::name).join(" ");
                let version = env!("CARGO_PKG_VERSION");
                let _ = write!(answer, "id name kalah {version} {}\nrules {rules}\nkalahok 1\n", self.name);
            }
            ["isready", ..] => answer.push_str("readyok\n"),
            ["newgame", ref given @ ..] => {
                (self.rules, self.position, self.player) = (None, None, None);
                let [rules, start] = given else { return Err("newgame takes a rule set and a position".to_owned()) };
                let (rules, start) = (rules.parse().map_err(in_words)?, start.parse().map_err(in_words)?);
                self.setting.game = self.setting.game.wrapping_add(1);
                self.player(rules, &start).prepare(&start, closing).map_err(in_words)?;
                (self.rules, self.position) = (Some(rules), Some(start));
            }
            ["position", ref given @ ..] => {
                self.position = None;
                let [position] = given else { return Err("position takes a position without spaces".to_owned()) };
                self.rules.ok_or("the last game was refused: send newgame")?;
                self.position = Some(position.parse().map_err(in_words)?);
            }
            ["go", ref limits @ ..] => {
                let (rules, position) = self.rules.zip(self.position).ok_or("there is no position: send one")?;
                if position.is_over() {
                    return Err("the game is over".to_owned());
                }
                let cancel = match limits.iter().position(|&word| word == "movetime") {
                    Some(at) => {
                        let time = limits.get(at + 1).and_then(|time| time.parse().ok());
                        let time = Duration::from_millis(time.ok_or("movetime takes a number of milliseconds")?);
                        line.search.within(time.saturating_sub(line.at.elapsed()))
                    }
                    None => line.search.clone(),
                };
                let choice = self.player(rules, &position).choose(&position, &cancel, report).map_err(in_words)?;
                let _ = writeln!(answer, "{}bestmove {}", info(&choice), choice.pit);
            }
            [word, ..] => return Err(format!("unknown command '{word}'")),
            [] => {}
        }
        Ok(answer)
    }

    /// A player by these rules, for boards with the pits of `position`.
    fn player(&mut self, rules: Rules, position: &Position) -> &mut dyn Player {
        let (pits, all_tables) = (position.pits(), self.all_tables);
        // The memory of another one is freed before more is allocated.
        self.player.take_if(|(of, _)| *of != pits);
        let setting = Setting {
            rules,
            tables: all_tables.tables(rules, pits),
            bounds: all_tables.bounds(rules, pits),
            book: self.books.get(rules, pits),
            ..self.setting
        };
        &mut *self.player.get_or_insert_with(|| (pits, self.name.player(&setting))).1
    }
}

fn in_words(error: impl Display) -> String {
    error.to_string()
}
