use std::fmt;

use kalah_core::game::{Pit, Rules};

use crate::play::{Choice, Source, Worth};

/// A line from an engine.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    /// The engine's name.
    Name(String),
    /// The rule sets that it plays by, without those that this program does not have.
    Rules(Vec<Rules>),
    /// The end of the answer to the greeting, with the version of the protocol.
    Greeting(String),
    /// All lines before `isready` were executed.
    Ready,
    /// A report on the position so far.
    Info(Info),
    /// The move, as written.
    BestMove(String),
    /// An error.
    Error(String),
    /// Any other line; engines may print more.
    Other,
}

/// An engine's report during a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Info {
    /// The depth of the search, in moves or turns.
    pub depth: Option<u32>,
    /// The best move so far.
    pub pit: Option<Pit>,
    /// Its worth.
    pub worth: Option<Worth>,
    /// Any other text, to the end of the line.
    pub text: String,
}

impl Info {
    /// The report of a choice of one of our players.
    pub fn of(choice: &Choice) -> Info {
        let depth = if let Source::Depth(depth) = choice.source { Some(depth) } else { None };
        let worth = Some(choice.worth).filter(|worth| *worth != Worth::Unknown);
        Info { depth, pit: Some(choice.pit), worth, text: choice.source.to_string() }
    }

    /// Parses the words of this version; other words are skipped.
    fn read(line: &str) -> Info {
        let (mut info, mut lower, mut upper) = (Info::default(), None, None);
        let mut rest = line.trim_start();
        while let Some((word, after)) = rest.split_once(char::is_whitespace) {
            if word == "text" {
                info.text = after.trim().to_owned();
                break;
            }
            let after = after.trim_start();
            let (value, next) = after.split_once(char::is_whitespace).unwrap_or((after, ""));
            let number = value.parse::<i64>().ok();
            match (word, number) {
                ("depth", _) => info.depth = value.parse().ok(),
                ("move", _) => info.pit = pit(value),
                ("value", Some(value)) => info.worth = Some(Worth::Exact(value)),
                ("evaluation", Some(value)) => info.worth = Some(Worth::Evaluation(value)),
                ("lower", _) => lower = number,
                ("upper", _) => upper = number,
                ("nodes" | "time", _) => {}
                // A word without a value.
                _ => {
                    rest = after;
                    continue;
                }
            }
            rest = next.trim_start();
        }
        if let (None, Some(lower), Some(upper)) = (info.worth, lower, upper) {
            info.worth = Some(Worth::Bounds { lower, upper });
        }
        info
    }
}

impl Reply {
    /// Parses a line; an unknown line is [`Reply::Other`].
    pub fn read(line: &str) -> Reply {
        let (word, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        let rest = rest.trim();
        match word {
            "id" => match rest.split_once(char::is_whitespace) {
                Some(("name", name)) => Reply::Name(name.trim().to_owned()),
                _ => Reply::Other,
            },
            "rules" => Reply::Rules(rest.split_whitespace().filter_map(|name| name.parse().ok()).collect()),
            "kalahok" => Reply::Greeting(rest.to_owned()),
            "readyok" => Reply::Ready,
            "info" => Reply::Info(Info::read(rest)),
            "bestmove" => Reply::BestMove(rest.to_owned()),
            "error" => Reply::Error(rest.to_owned()),
            _ => Reply::Other,
        }
    }
}

/// Parses the number of a pit, digits only.
pub(super) fn pit(text: &str) -> Option<Pit> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten().and_then(Pit::from_number)
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reply::Name(name) => write!(f, "id name {name}"),
            Reply::Rules(rules) => {
                f.write_str("rules")?;
                rules.iter().try_for_each(|rules| write!(f, " {rules}"))
            }
            Reply::Greeting(version) => write!(f, "kalahok {version}"),
            Reply::Ready => f.write_str("readyok"),
            Reply::Info(info) => info.fmt(f),
            Reply::BestMove(pit) => write!(f, "bestmove {pit}"),
            Reply::Error(text) => write!(f, "error {text}"),
            Reply::Other => Ok(()),
        }
    }
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("info")?;
        self.depth.map_or(Ok(()), |depth| write!(f, " depth {depth}"))?;
        self.pit.map_or(Ok(()), |pit| write!(f, " move {pit}"))?;
        match self.worth {
            Some(Worth::Exact(value)) => write!(f, " value {value}")?,
            Some(Worth::Bounds { lower, upper }) => write!(f, " lower {lower} upper {upper}")?,
            Some(Worth::Evaluation(value)) => write!(f, " evaluation {value}")?,
            Some(Worth::Unknown) | None => {}
        }
        if self.text.is_empty() { Ok(()) } else { write!(f, " text {}", self.text) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_are_written() {
        let info = Info { depth: Some(3), pit: Pit::from_number(4), worth: None, text: "by chance, mostly".to_owned() };
        for reply in [
            Reply::Name("a name of words".to_owned()),
            Reply::Rules(Rules::ALL.to_vec()),
            Reply::Greeting("1".to_owned()),
            Reply::Ready,
            Reply::Info(Info::default()),
            Reply::Info(Info { worth: Some(Worth::Exact(-3)), ..info.clone() }),
            Reply::Info(Info { worth: Some(Worth::Evaluation(12)), text: String::new(), ..info.clone() }),
            Reply::Info(Info { worth: Some(Worth::Bounds { lower: -2, upper: 4 }), ..info }),
            Reply::BestMove("4".to_owned()),
            Reply::Error("no position".to_owned()),
        ] {
            assert_eq!(Reply::read(&reply.to_string()), reply, "{reply}");
        }
    }

    #[test]
    fn unknown_words_are_skipped() {
        let Reply::Info(info) = Reply::read("info seldepth 9 nodes 100 depth 7 time 4 score cp 12 move 2 lower x")
        else {
            panic!("no info");
        };
        assert_eq!((info.depth, info.pit, info.worth), (Some(7), Pit::from_number(2), None));
        for line in ["", "hello", "bestmoves 3", "id", "id author X"] {
            assert_eq!(Reply::read(line), Reply::Other, "{line}");
        }
        assert_eq!(["0", "+3", "-1", "3.", "", "99999999999999999999"].map(pit), [None; 6]);
    }
}
