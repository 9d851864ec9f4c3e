use std::fmt;
use std::str::FromStr;

/// A rule set: what happens when the last seed of a sowing falls into a pit.
///
/// In all of them the last seed in the own store gives another move, a sowing passes its own starting pit, and the
/// game ends as soon as either row is empty; what is left belongs to the owner of the row it lies in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rules {
    /// Irving, Donkers, Uiterwijk 2000, section 2; Rawlings 2015: the last seed in an own empty pit is captured with
    /// all seeds of the opposite pit, even if that holds none.
    #[default]
    EmptyCapture,
    /// Most play, the Kalah Game Protocol, Pekař 2020: captures only when the opposite pit holds seeds.
    Standard,
    /// Kvitberg 2026, section 3.2: no captures; a last seed in a non-empty pit of either side picks up all seeds there
    /// and sows on (a relay).
    SKalaha,
}

impl Rules {
    /// All rule sets.
    pub const ALL: [Rules; 3] = [Rules::EmptyCapture, Rules::Standard, Rules::SKalaha];

    /// The name used in flags, JSON and file names.
    pub fn name(self) -> &'static str {
        match self {
            Rules::EmptyCapture => "empty-capture",
            Rules::Standard => "standard",
            Rules::SKalaha => "s-kalaha",
        }
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A rule set name that is none of [`Rules::ALL`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown rules '{0}': use empty-capture, standard or s-kalaha")]
pub struct UnknownRules(String);

impl FromStr for Rules {
    type Err = UnknownRules;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Rules::ALL.into_iter().find(|rules| rules.name() == text).ok_or_else(|| UnknownRules(text.to_owned()))
    }
}
