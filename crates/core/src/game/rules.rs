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

/// When a last seed that falls in an own empty pit is captured, with all seeds of the opposite pit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Capture {
    /// Never: the turn ends.
    Never,
    /// Where the opposite pit holds seeds; else the turn ends.
    OppositeSeeds,
    /// Always, also where the opposite pit is empty.
    Always,
}

// What the rule sets differ in stands here and nowhere else; whoever depends on it asks for the property, not the name.
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

    /// When a last seed in an own empty pit is captured.
    #[inline]
    pub const fn capture(self) -> Capture {
        match self {
            Rules::EmptyCapture => Capture::Always,
            Rules::Standard => Capture::OppositeSeeds,
            Rules::SKalaha => Capture::Never,
        }
    }

    /// Whether a last seed in an own empty pit is captured, when the opposite pit holds so many seeds.
    #[inline]
    pub const fn captures(self, opposite: u32) -> bool {
        match self.capture() {
            Capture::Never => false,
            Capture::OppositeSeeds => opposite > 0,
            Capture::Always => true,
        }
    }

    /// Whether a last seed in a pit that holds others takes up all its seeds, on either side, and sows them on.
    #[inline]
    pub const fn relays(self) -> bool {
        match self {
            Rules::EmptyCapture | Rules::Standard => false,
            Rules::SKalaha => true,
        }
    }
    /// Who plays by them: in a few words.
    pub fn played_by(self) -> &'static str {
        match self {
            Rules::EmptyCapture => "Irving, Donkers and Uiterwijk 2000, Rawlings 2015",
            Rules::Standard => "what most people play (the Kalah Game Protocol, OpenSpiel's mancala)",
            Rules::SKalaha => "Kvitberg 2026; phone games call it avalanche",
        }
    }

    /// What is special about them, in a sentence or two.
    pub fn summary(self) -> &'static str {
        match self {
            Rules::EmptyCapture => {
                "A last seed in an empty pit of one's own is captured together with all seeds in the pit opposite, even if \
                 there are none."
            }
            Rules::Standard => {
                "A last seed in an empty pit of one's own is captured together with all seeds in the pit opposite; if there \
                 are none, it stays where it is."
            }
            Rules::SKalaha => {
                "Nothing is captured. A last seed in a pit that holds seeds, on either side, picks all of them up and sows \
                 on (a relay); the turn ends in an empty pit."
            }
        }
    }

    /// What all rule sets have in common, in a few sentences.
    pub const COMMON: &'static str = "A move takes all seeds of a pit of one's own and sows them one by one to the right, \
        through the own store, the pits of the other player and on around the board; only the other player's store is \
        passed over. If the last seed falls into the own store, the player moves again. The game ends as soon as either \
        row is empty; what is left belongs to the owner of the row it lies in.";
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

    /// Reads a [`Rules::name`], in capitals or not, with hyphens or underscores.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let name = text.to_ascii_lowercase().replace('_', "-");
        Rules::ALL.into_iter().find(|rules| rules.name() == name).ok_or_else(|| UnknownRules(text.to_owned()))
    }
}
