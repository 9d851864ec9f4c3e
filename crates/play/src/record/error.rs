use kalah_base::diagnostic::Diagnostic;
use kalah_base::printable::printable;
use kalah_core::game::{ParseError, UnknownRules};

/// Maximum characters of a text quoted in an error.
const SHOWN: usize = 60;

/// Error of a text of games.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct RecordError {
    /// Line of the text, from 1.
    pub line: usize,
    /// The fault.
    #[source]
    pub fault: RecordFault,
}

impl Diagnostic for RecordError {}

/// Fault of a text of games.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordFault {
    /// The text is too long.
    #[error("the text has {0} bytes, more than the 16 MiB that are read")]
    Long(usize),
    /// The text contains no game.
    #[error("there is no game: write headers such as [Start \"6x4\"], then moves such as 36 21 4")]
    Nothing,
    /// The text contains several games instead of one.
    #[error("a second game begins here, where one is wanted")]
    Several,
    /// A line that begins like a header is not one.
    #[error("'{}' is not a header: write [Name \"value\"]", printable(.0, SHOWN))]
    Header(String),
    /// A header occurs twice.
    #[error("the header {0} is given twice")]
    Twice(String),
    /// An unknown rule set.
    #[error("{0}")]
    Rules(#[source] UnknownRules),
    /// The start is not a position.
    #[error("{0}")]
    Start(#[source] ParseError),
    /// A move or turn is invalid or illegal.
    #[error("{0}")]
    Moves(#[source] ParseError),
    /// A comment has no end.
    #[error("the comment that begins here has no }}")]
    Comment,
    /// A variation has no end.
    #[error("the variation that begins here has no )")]
    Variation,
    /// A brace without a comment.
    #[error("a }} without a comment before it")]
    Brace,
    /// The result is invalid.
    #[error("'{}' is not a result: write the seeds of South and North, such as 26-22, or *", printable(.0, SHOWN))]
    Result(String),
    /// The result after the moves differs from that of the header.
    #[error("the result is {0} here, but another one in the header")]
    TwoResults(String),
    /// The seeds of the result are not those of the start.
    #[error("the result {south}-{north} has {} seeds; the game has {seeds}", u64::from(*south) + u64::from(*north))]
    Seeds {
        /// South's seeds.
        south: u32,
        /// North's seeds.
        north: u32,
        /// All seeds of the start.
        seeds: u32,
    },
    /// The result differs from that of the rules.
    #[error("by the rules the game ends {south}-{north}, which is not the result; say why with a header Termination")]
    Wrong {
        /// South's seeds.
        south: u32,
        /// North's seeds.
        north: u32,
    },
    /// There is a result, but the game is not over.
    #[error("the game is not over after these moves, but has a result; say why with a header Termination, or write *")]
    Open,
    /// Some text follows the result.
    #[error("'{}' follows the result: the next game begins with a header", printable(.0, SHOWN))]
    After(String),
    /// Invalid header `Pie`.
    #[error("'{}' is not what the pie rule leads to: write kept or swapped", printable(.0, SHOWN))]
    Pie(String),
}

impl RecordFault {
    /// The error of this fault in a line of the text, counted from 1.
    pub(super) fn at(self, line: usize) -> RecordError {
        RecordError { line, fault: self }
    }
}
