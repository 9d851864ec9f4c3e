use std::time::{Duration, Instant};

use kalah_core::cancel::Cancel;
use kalah_core::game::{Position, Rules};

use super::process::Process;
use super::reply::{self, Info, Reply};
use super::request::{Go, Request};
use super::{EngineCommand, PREFIX};
use crate::play::fault::EngineFault;
use crate::play::{Choice, PlayError, Player, Source, Worth};

/// Time within which an engine must start and answer the greeting, and again to get ready for a game.
const READY_TIME: Duration = Duration::from_secs(10);

/// Time within which an engine must answer `stop` with a move.
const STOP_TIME: Duration = Duration::from_millis(500);

/// Interval between checks of a time limit.
const CHECK_EVERY: Duration = Duration::from_millis(5);

/// A player that is an external engine. Its process is started for the first position. It is ended when the
/// player is dropped or after a fault of the engine.
pub(in crate::play) struct External {
    command: EngineCommand,
    rules: Rules,
    process: Option<Process>,
}

impl External {
    pub fn new(command: EngineCommand, rules: Rules) -> External {
        External { command, rules, process: None }
    }

    /// Starts the engine, unless it is running, and makes it ready for a game from `start`. Returns false if
    /// `cancel` came first.
    fn make_ready(&mut self, start: &Position, cancel: &Cancel) -> Result<bool, EngineFault> {
        if self.process.is_some() {
            return Ok(true);
        }
        let mut process = Process::start(&self.command)?;
        process.say(&Request::Kalah)?;
        let mut refused = false;
        let greeted = wait(&mut process, cancel, |reply| match reply {
            Reply::Rules(rules) => {
                refused = !rules.contains(&self.rules);
                Ok(None)
            }
            Reply::Greeting(version) if version == "1" => Ok(Some(())),
            Reply::Greeting(version) => Err(EngineFault::Version(version)),
            _ => Ok(None),
        })?;
        if greeted.is_none() {
            return Ok(false);
        }
        if refused {
            return Err(EngineFault::Rules(self.rules));
        }
        process.say(&Request::NewGame(self.rules, *start))?;
        process.say(&Request::IsReady)?;
        let ready = wait(&mut process, cancel, |reply| Ok((reply == Reply::Ready).then_some(())))?;
        self.process = ready.map(|()| process);
        Ok(ready.is_some())
    }

    /// Gets the engine's move.
    fn ask(
        &mut self,
        position: &Position,
        cancel: &Cancel,
        report: &mut dyn FnMut(&Choice),
    ) -> Result<Choice, EngineFault> {
        // Even past the time limit, since there is no move without an engine.
        while self.process.is_none() {
            self.make_ready(position, &Cancel::new())?;
        }
        let begin = Instant::now();
        let process = self.process.as_mut().expect("it was just started");
        process.say(&Request::Position(*position))?;
        process.say(&Request::Go(Go { time: cancel.left(), ..Go::default() }))?;
        let (mut best, mut stopped): (Option<Choice>, Option<Instant>) = (None, None);
        loop {
            match stopped {
                None if cancel.is_cancelled() => {
                    process.say(&Request::Stop)?;
                    stopped = Some(Instant::now());
                }
                Some(at) if at.elapsed() > STOP_TIME => {
                    return Err(process.fault(EngineFault::Overtime(begin.elapsed())));
                }
                _ => {}
            }
            let Some(line) = process.hear(CHECK_EVERY)? else { continue };
            match Reply::read(&line) {
                Reply::Info(info) => {
                    if let Some(choice) = chosen(&info).filter(|choice| position.moves().any(|pit| pit == choice.pit)) {
                        report(&choice);
                        best = Some(choice);
                    }
                }
                Reply::BestMove(text) => {
                    let pit = reply::pit(&text).ok_or_else(|| process.fault(EngineFault::NoPit(text)))?;
                    if let Err(illegal) = position.play(self.rules, pit) {
                        return Err(process.fault(EngineFault::Illegal(illegal)));
                    }
                    let best = best.filter(|best| best.pit == pit);
                    return Ok(best.unwrap_or(Choice { pit, worth: Worth::Unknown, source: Source::Engine }));
                }
                Reply::Error(text) => return Err(process.fault(EngineFault::Reported(text))),
                _ => {}
            }
        }
    }
}

/// The choice that an engine's report describes.
fn chosen(info: &Info) -> Option<Choice> {
    let worth = info.worth.unwrap_or(Worth::Unknown);
    info.pit.map(|pit| Choice { pit, worth, source: Source::Engine })
}

/// Waits until `answer` accepts a reply; `None` if `cancel` came first.
fn wait<T>(
    process: &mut Process,
    cancel: &Cancel,
    mut answer: impl FnMut(Reply) -> Result<Option<T>, EngineFault>,
) -> Result<Option<T>, EngineFault> {
    let begin = Instant::now();
    while !cancel.is_cancelled() {
        if begin.elapsed() > READY_TIME {
            return Err(process.fault(EngineFault::NotReady(READY_TIME)));
        }
        let Some(line) = process.hear(CHECK_EVERY)? else { continue };
        let answered = match Reply::read(&line) {
            Reply::Error(text) => Err(EngineFault::Reported(text)),
            reply => answer(reply),
        };
        if let Some(answered) = answered.map_err(|fault| process.fault(fault))? {
            return Ok(Some(answered));
        }
    }
    Ok(None)
}

impl Player for External {
    fn name(&self) -> String {
        format!("{PREFIX}{}", self.command)
    }

    fn prepare(&mut self, start: &Position, cancel: &Cancel) -> Result<(), PlayError> {
        let ready = self.make_ready(start, cancel).map(|_| ());
        ready.map_err(|fault| PlayError::Engine { player: self.name(), fault })
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
        self.ask(position, cancel, report).map_err(|fault| {
            // The process is killed and reaped here.
            self.process = None;
            PlayError::Engine { player: self.name(), fault }
        })
    }
}
