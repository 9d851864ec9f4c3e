use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use kalah_base::printable::printable;
use kalah_core::game::{Position, Rules};

/// Maximum characters of a line quoted in an error.
const MAX_QUOTED: usize = 100;

/// A line to an engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Request {
    /// The greeting, with the version of the protocol.
    Kalah,
    /// Begin a game from a position, by a rule set.
    NewGame(Rules, Position),
    /// Answer once all lines so far are executed.
    IsReady,
    /// The position to move in; the mover is South.
    Position(Position),
    /// Find a move.
    Go(Go),
    /// Answer now.
    Stop,
    /// End.
    Quit,
}

/// Limits of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Go {
    /// The time for the move.
    pub time: Option<Duration>,
    /// The maximum depth.
    pub depth: Option<u32>,
    /// The maximum number of nodes.
    pub nodes: Option<u64>,
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::Kalah => f.write_str("kalah 1"),
            Request::NewGame(rules, position) => write!(f, "newgame {rules} {position}"),
            Request::IsReady => f.write_str("isready"),
            Request::Position(position) => write!(f, "position {position}"),
            Request::Go(Go { time, depth, nodes }) => {
                f.write_str("go")?;
                time.map_or(Ok(()), |time| write!(f, " movetime {}", time.as_millis().max(1)))?;
                depth.map_or(Ok(()), |depth| write!(f, " depth {depth}"))?;
                nodes.map_or(Ok(()), |nodes| write!(f, " nodes {nodes}"))
            }
            Request::Stop => f.write_str("stop"),
            Request::Quit => f.write_str("quit"),
        }
    }
}

impl FromStr for Request {
    /// The error, in words.
    type Err = String;

    fn from_str(line: &str) -> Result<Request, String> {
        let quoted = |text: &str| printable(text, MAX_QUOTED);
        let position = |text: &str| -> Result<Position, String> {
            text.parse::<Position>().map_err(|error| printable(&format!("{error}"), 2 * MAX_QUOTED))
        };
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or_default();
        let arguments: Vec<&str> = words.collect();
        match (name, &*arguments) {
            // The answer states that this is version 1, for clients of higher versions.
            ("kalah", _) => Ok(Request::Kalah),
            ("newgame", [rules, start]) => {
                let rules = rules.parse::<Rules>().map_err(|error| printable(&format!("{error}"), 2 * MAX_QUOTED))?;
                Ok(Request::NewGame(rules, position(start)?))
            }
            ("newgame", _) => Err("newgame takes a rule set and a position".to_owned()),
            ("isready", _) => Ok(Request::IsReady),
            ("position", [text]) => Ok(Request::Position(position(text)?)),
            ("position", _) => Err("position takes a position without spaces".to_owned()),
            ("go", limits) => go(limits).map(Request::Go),
            ("stop", _) => Ok(Request::Stop),
            ("quit", _) => Ok(Request::Quit),
            _ => Err(format!("unknown command '{}'", quoted(name))),
        }
    }
}

/// Parses the limits of a search.
fn go(limits: &[&str]) -> Result<Go, String> {
    let mut go = Go::default();
    for pair in limits.chunks(2) {
        let number = |least: u64| {
            let number = pair.get(1).and_then(|text| text.parse::<u64>().ok()).filter(|&number| number >= least);
            number.ok_or_else(|| format!("go {} takes a whole number from {least} on", printable(pair[0], MAX_QUOTED)))
        };
        match pair[0] {
            "movetime" => go.time = Some(Duration::from_millis(number(0)?)),
            "depth" => go.depth = Some(u32::try_from(number(1)?).unwrap_or(u32::MAX)),
            "nodes" => go.nodes = Some(number(1)?),
            other => {
                let other = printable(other, MAX_QUOTED);
                return Err(format!("go takes movetime MILLISECONDS, depth D and nodes N, not '{other}'"));
            }
        }
    }
    Ok(go)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_are_written() {
        let start: Position = "<3,1,2,0,1,2,3,0,0>".parse().unwrap();
        let time = Some(Duration::from_millis(1500));
        for request in [
            Request::Kalah,
            Request::NewGame(Rules::Standard, start),
            Request::IsReady,
            Request::Position(start),
            Request::Go(Go::default()),
            Request::Go(Go { time, depth: Some(7), nodes: Some(1000) }),
            Request::Stop,
            Request::Quit,
        ] {
            assert_eq!(request.to_string().parse::<Request>(), Ok(request));
        }
        assert_eq!("  go \t nodes 5 ".parse::<Request>(), Ok(Request::Go(Go { nodes: Some(5), ..Go::default() })));
    }

    #[test]
    fn what_is_wrong_with_a_line_is_reported() {
        for (line, why) in [
            ("", "unknown command ''"),
            ("g\u{1b}o", "unknown command 'g\\u{1b}o'"),
            ("go fast", "go takes movetime MILLISECONDS, depth D and nodes N, not 'fast'"),
            ("go depth", "go depth takes a whole number from 1 on"),
            ("go depth 0", "go depth takes a whole number from 1 on"),
            ("go movetime -5", "go movetime takes a whole number from 0 on"),
            ("newgame standard", "newgame takes a rule set and a position"),
            ("position", "position takes a position without spaces"),
        ] {
            assert_eq!(line.parse::<Request>(), Err(why.to_owned()), "{line}");
        }
        assert!("newgame chess 6x4".parse::<Request>().is_err());
        assert!("position 6x".parse::<Request>().is_err());
    }
}
