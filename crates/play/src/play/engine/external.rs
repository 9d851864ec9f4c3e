use std::time::{Duration, Instant};

use kalah_base::printable::printable;
use kalah_core::cancel::Cancel;
use kalah_core::game::{Pit, Position, Rules};

use super::PREFIX;
use super::process::Process;
use crate::play::{Choice, PlayError, Player, Source, Worth};

/// Time within which an engine must start and get ready for a game.
const READY_TIME: Duration = Duration::from_secs(10);

/// Time within which an engine must answer `stop` with a move.
const STOP_TIME: Duration = Duration::from_millis(500);

/// Maximum characters of a name that an engine sends.
const MAX_NAME: usize = 40;

/// Interval between checks of a time limit.
const CHECK_EVERY: Duration = Duration::from_millis(5);

/// A player that is an external engine. Its process is started for the first position. It is ended when the
/// player is dropped or after a fault of the engine.
pub(in crate::play) struct External {
    command: String,
    rules: Rules,
    process: Option<Process>,
    /// Name that the engine sent.
    pub(in crate::play) sent_name: Option<String>,
}

impl External {
    pub(crate) fn new(command: &str, rules: Rules) -> External {
        External { command: command.to_owned(), rules, process: None, sent_name: None }
    }

    /// Starts the engine, unless it is running, and makes it ready for a game from `start`. Without a process
    /// afterwards, `cancel` came first.
    fn make_ready(&mut self, start: &Position, cancel: &Cancel) -> Result<(), String> {
        if self.process.is_some() {
            return Ok(());
        }
        let process = self.process.insert(Process::start(&self.command)?);
        process.say(format_args!("kalah 1"))?;
        let until = Instant::now() + READY_TIME;
        while !cancel.is_cancelled() {
            if Instant::now() > until {
                let seconds = READY_TIME.as_secs_f64();
                return Err(format!("was not ready within {seconds} s: does it flush its output after each line?"));
            }
            let Some(line) = process.hear(CHECK_EVERY)? else { continue };
            match divided(&line) {
                ("id", rest) => {
                    if let Some(name) = rest.strip_prefix("name ") {
                        self.sent_name = Some(printable(name.trim(), MAX_NAME));
                    }
                }
                ("rules", rest) if !rest.split_whitespace().any(|name| name.parse() == Ok(self.rules)) => {
                    return Err(format!("does not play by the rules {}", self.rules));
                }
                ("kalahok", "1") => process.say(format_args!("newgame {} {start}\nisready", self.rules))?,
                ("kalahok", other) => {
                    return Err(format!("speaks version '{}' of the protocol, not 1", quoted(other)));
                }
                ("readyok", _) => return Ok(()),
                ("error", rest) => return Err(reported_error(rest)),
                _ => {}
            }
        }
        self.process = None;
        Ok(())
    }

    /// Gets the engine's move.
    fn ask(&mut self, position: &Position, cancel: &Cancel, report: &mut dyn FnMut(&Choice)) -> Result<Choice, String> {
        // Even past the time limit, since there is no move without an engine.
        self.make_ready(position, &Cancel::new())?;
        let begin = Instant::now();
        let process = self.process.as_mut().expect("it was just started");
        process.say(format_args!("position {position}"))?;
        match cancel.left() {
            Some(time) => process.say(format_args!("go movetime {}", time.as_millis().max(1)))?,
            None => process.say(format_args!("go"))?,
        }
        let (mut best, mut stopped): (Option<Choice>, Option<Instant>) = (None, None);
        loop {
            match stopped {
                None if cancel.is_cancelled() => {
                    process.say(format_args!("stop"))?;
                    stopped = Some(Instant::now());
                }
                Some(at) if at.elapsed() > STOP_TIME => {
                    return Err(format!("exceeded its time: no move after {:.2} s", begin.elapsed().as_secs_f64()));
                }
                _ => {}
            }
            let Some(line) = process.hear(CHECK_EVERY)? else { continue };
            match divided(&line) {
                ("info", rest) => {
                    if let Some(choice) = reported(rest).filter(|choice| position.moves().any(|pit| pit == choice.pit))
                    {
                        report(&choice);
                        best = Some(choice);
                    }
                }
                ("bestmove", rest) => {
                    let no_pit = || format!("sent the move '{}', which is not a pit", quoted(rest));
                    let pit = rest.parse().ok().and_then(Pit::from_number).ok_or_else(no_pit)?;
                    let played = position.play(self.rules, pit);
                    played.map_err(|error| format!("sent an illegal move: {error}"))?;
                    let best = best.filter(|best| best.pit == pit);
                    return Ok(best.unwrap_or(Choice { pit, worth: Worth::Unknown, source: Source::Engine }));
                }
                ("error", rest) => return Err(reported_error(rest)),
                _ => {}
            }
        }
    }

    /// The error of a fault. The process is ended.
    fn failed(&mut self, fault: String) -> PlayError {
        self.process = None;
        PlayError::Engine { player: self.name(), fault }
    }
}

/// Text of an engine that is safe to print in a message.
fn quoted(text: &str) -> String {
    printable(text, 200)
}

/// The first word of a line, and the rest.
fn divided(line: &str) -> (&str, &str) {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    (word, rest.trim())
}

/// The fault of an engine that answered with an error.
fn reported_error(text: &str) -> String {
    format!("reported an error: {}", quoted(text))
}

/// The choice that a report describes. Other words, and those of later versions, are skipped.
fn reported(info: &str) -> Option<Choice> {
    let words: Vec<&str> = info.split_whitespace().take_while(|&word| word != "text").collect();
    let after = |name| words.iter().skip_while(|&&word| word != name).nth(1);
    let number = |name| after(name).and_then(|word| word.parse().ok());
    let worth = match (number("value"), number("lower"), number("upper"), number("evaluation")) {
        (Some(value), ..) => Worth::Exact(value),
        (_, Some(lower), Some(upper), _) => Worth::Bounds { lower, upper },
        (.., Some(evaluation)) => Worth::Evaluation(evaluation),
        _ => Worth::Unknown,
    };
    let pit = Pit::from_number(after("move")?.parse().ok()?)?;
    Some(Choice { pit, worth, source: Source::Engine })
}

impl Player for External {
    fn name(&self) -> String {
        format!("{PREFIX}{}", self.command)
    }

    fn prepare(&mut self, start: &Position, cancel: &Cancel) -> Result<(), PlayError> {
        self.make_ready(start, cancel).map_err(|fault| self.failed(fault))
    }

    fn choose(
        &mut self,
        position: &Position,
        cancel: &Cancel,
        report: &mut dyn FnMut(&Choice),
    ) -> Result<Choice, PlayError> {
        if position.is_over() {
            return Err(PlayError::GameOver);
        }
        self.ask(position, cancel, report).map_err(|fault| self.failed(fault))
    }
}
