use std::fmt;
use std::str::FromStr;

use kalah_core::game::StartPosition;

/// Convention for counting a game graph: which positions differ, and where games end.
///
/// In both conventions, a position is both rows, both stores, and the side to move. A position is final if a
/// row is empty; the remaining seeds stay in their row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Convention {
    /// Irving, Donkers, Uiterwijk 2000, Tables 3 to 6. A game also ends as soon as one store holds more than
    /// half of all seeds. Final positions differ by the side to move; after a last seed in the store that is
    /// still the mover.
    #[default]
    Irving,
    /// Kvitberg 2026, section 4.1. A game ends only on an empty row. Final positions do not differ by the side
    /// to move.
    Plain,
}

impl Convention {
    /// Both conventions.
    pub const ALL: [Convention; 2] = [Convention::Irving, Convention::Plain];

    /// The name used in flags and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Convention::Irving => "irving",
            Convention::Plain => "plain",
        }
    }

    /// Returns true if a game of `total` seeds has ended with these stores, whatever the rows.
    pub(super) fn is_decided(self, total: usize, stores: (usize, usize)) -> bool {
        self == Convention::Irving && 2 * stores.0.max(stores.1) > total
    }
}

impl fmt::Display for Convention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Error: a name that is not one of [`Convention::ALL`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown convention '{0}': use irving or plain")]
pub struct UnknownConvention(String);

impl FromStr for Convention {
    type Err = UnknownConvention;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Convention::ALL.into_iter().find(|convention| convention.name() == text);
        found.ok_or_else(|| UnknownConvention(text.to_owned()))
    }
}

/// Number of ways to distribute the seeds of a start over the pits and stores of its board, times two for the
/// side to move: 2 C(2mn + 2m + 1, 2m + 1). The state-space complexity of Irving, Donkers, Uiterwijk 2000,
/// Table 2.
pub fn state_space(start: StartPosition) -> u128 {
    let places = 2 * start.pits as u128 + 1;
    let seeds = 2 * start.pits as u128 * u128::from(start.seeds);
    2 * (1..=places).fold(1u128, |product, i| product * (seeds + i) / i)
}
