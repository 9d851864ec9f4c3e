use std::time::{Duration, Instant};

use kalah_base::printable::printable;
use kalah_core::cancel::Cancel;
use kalah_core::game::{Pit, Position, Rules};

use super::process::Process;
use super::{EngineCommand, PREFIX};
use crate::play::player::quoted;
use crate::play::{Choice, PlayError, Player, Source, Worth};

/// Time within which an engine must start and answer the greeting, and again to get ready for a game.
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
    command: EngineCommand,
    rules: Rules,
    process: Option<Process>,
    /// Name that the engine sent.
    pub(in crate::play) sent_name: Option<String>,
}

impl External {
    pub(crate) fn new(command: EngineCommand, rules: Rules) -> External {
        External { command, rules, process: None, sent_name: None }
    }

    /// Starts the engine, unless it is running, and makes it ready for a game from `start`. Without a process
    /// afterwards, `cancel` came first.
    fn make_ready(&mut self, start: &Position, cancel: &Cancel) -> Result<(), String> {
        if self.process.is_some() {
            return Ok(());
        }
        let process = self.process.insert(Process::start(&self.command)?);
        process.say(format_args!("kalah 1"))?;
        let mut plays = true;
        let sent_name = &mut self.sent_name;
        let greeted = wait(process, cancel, |word, rest| match word {
            "id" => {
                if let Some(name) = rest.strip_prefix("name ").filter(|name| !name.trim().is_empty()) {
                    *sent_name = Some(printable(name.trim(), MAX_NAME));
                }
                Ok(false)
            }
            "rules" => {
                plays = rest.split_whitespace().any(|name| name.parse() == Ok(self.rules));
                Ok(false)
            }
            "kalahok" if rest != "1" => Err(format!("speaks version '{}' of the protocol, not 1", quoted(rest))),
            _ => Ok(word == "kalahok"),
        })?;
        if !plays {
            return Err(format!("does not play by the rules {}", self.rules));
        }
        if greeted {
            process.say(format_args!("newgame {} {start}", self.rules))?;
            process.say(format_args!("isready"))?;
            if wait(process, cancel, |word, _| Ok(word == "readyok"))? {
                return Ok(());
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
                    let pit = pit(rest).ok_or_else(no_pit)?;
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

    /// The error of a fault. The process is killed and reaped.
    fn failed(&mut self, fault: String) -> PlayError {
        let stderr = self.process.take().map(Process::kill).unwrap_or_default();
        PlayError::Engine { player: self.name(), fault, stderr }
    }
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

/// Parses the number of a pit, digits only.
fn pit(text: &str) -> Option<Pit> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten().and_then(Pit::from_number)
}

/// The choice that a report describes. Other words, and those of later versions, are skipped.
fn reported(info: &str) -> Option<Choice> {
    let (mut found, mut worth, mut lower, mut upper) = (None, None, None, None);
    let mut words = info.split_whitespace().take_while(|&word| word != "text");
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|text| text.parse().ok());
        match word {
            "value" => worth = number().map(Worth::Exact).or(worth),
            "evaluation" => worth = number().map(Worth::Evaluation).or(worth),
            "lower" => lower = number(),
            "upper" => upper = number(),
            "move" => found = words.next().and_then(pit),
            _ => {}
        }
    }
    let bounds = || Some(Worth::Bounds { lower: lower?, upper: upper? });
    let worth = worth.or_else(bounds).unwrap_or(Worth::Unknown);
    found.map(|pit| Choice { pit, worth, source: Source::Engine })
}

/// Waits until `is_last` accepts a line, divided; false if `cancel` came first.
fn wait(
    process: &mut Process,
    cancel: &Cancel,
    mut is_last: impl FnMut(&str, &str) -> Result<bool, String>,
) -> Result<bool, String> {
    let begin = Instant::now();
    while !cancel.is_cancelled() {
        if begin.elapsed() > READY_TIME {
            let seconds = READY_TIME.as_secs_f64();
            return Err(format!("was not ready within {seconds} s: does it flush its output after each line?"));
        }
        let Some(line) = process.hear(CHECK_EVERY)? else { continue };
        match divided(&line) {
            ("error", rest) => return Err(reported_error(rest)),
            (word, rest) if is_last(word, rest)? => return Ok(true),
            _ => {}
        }
    }
    Ok(false)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read_and_unknown_words_skipped() {
        for (info, worth) in [
            ("depth 3 move 2 value -3 text by chance, mostly", Worth::Exact(-3)),
            ("move 2 evaluation 12 text value 7", Worth::Evaluation(12)),
            ("lower -2 upper 4 move 2", Worth::Bounds { lower: -2, upper: 4 }),
            ("seldepth 9 nodes 100 depth 7 time 4 score cp 12 move 2 lower x", Worth::Unknown),
        ] {
            let pit = Pit::from_number(2).unwrap();
            assert_eq!(reported(info), Some(Choice { pit, worth, source: Source::Engine }), "{info}");
        }
        for info in ["", "depth 7", "text move 3"] {
            assert_eq!(reported(info), None, "{info}");
        }
        assert_eq!(["0", "+3", "-1", "3.", "", "99999999999999999999"].map(pit), [None; 6]);
    }
}
