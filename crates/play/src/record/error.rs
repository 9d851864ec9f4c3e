use kalah_core::game::{ParseError, UnknownRules};
use kalah_tables::printable::printable;

/// The most characters of a text that an error quotes.
const SHOWN: usize = 60;

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct RecordError {
    /// The line of the text, from 1.
    pub line: usize,
    /// What is wrong there.
    #[source]
    pub fault: RecordFault,
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordFault {
    /// The text is too long to be read.
    #[error("the text has {0} bytes, more than the 16 MiB that are read")]
    Long(usize),
    /// There is no game in the text.
    #[error("there is no game: write headers such as [Start \"6x4\"], then moves such as 36 21 4")]
    Nothing,
    /// There are several games where one is wanted.
    #[error("a second game begins here, where one is wanted")]
    Several,
    /// A line that begins as a header is not one.
    #[error("'{}' is not a header: write [Name \"value\"]", printable(.0, SHOWN))]
    Header(String),
    /// A header is there twice.
    #[error("the header {0} is given twice")]
    Twice(String),
    /// An unknown rule set.
    #[error("{0}")]
    Rules(#[source] UnknownRules),
    /// The start is not a position.
    #[error("{0}")]
    Start(#[source] ParseError),
    /// A move or turn is not one, or not legal.
    #[error("{0}")]
    Moves(#[source] ParseError),
    /// A comment has no end.
    #[error("the comment that begins here has no }}")]
    Comment,
    /// A brace without a comment.
    #[error("a }} without a comment before it")]
    Brace,
    /// The result is none.
    #[error("'{}' is not a result: write the seeds of South and North, such as 26-22, or *", printable(.0, SHOWN))]
    Result(String),
    /// The result after the moves is not that of the header.
    #[error("the result is {0} here, and another one in the header")]
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
    /// The result is not what the rules say.
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
    /// Something follows the result.
    #[error("'{}' follows the result: the next game begins with a header", printable(.0, SHOWN))]
    After(String),
    /// What the pie rule led to.
    #[error("'{}' is not what the pie rule leads to: write kept or swapped", printable(.0, SHOWN))]
    Pie(String),
}

impl RecordFault {
    /// The error of this fault in a line of the text, from 1.
    pub(super) fn at(self, line: usize) -> RecordError {
        RecordError { line, fault: self }
    }
}
