use std::fmt;
use std::str::FromStr;

/// A rule set: what happens when the last seed of a sowing falls.
///
/// In all of them a sowing passes its own starting pit, and the game ends as soon as either row is empty; what is left
/// belongs to the owner of the row it lies in. What they differ in are their properties: whoever depends on the rules asks for
/// a property, never for a rule set by name.
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

/// What there is to know of a rule set.
struct Properties {
    name: &'static str,
    code: u8,
    moves_again: bool,
    capture: Capture,
    relays: bool,
    played_by: &'static str,
    summary: &'static str,
}

impl Rules {
    /// All rule sets, in the order of [`Rules::index`].
    pub const ALL: [Rules; 3] = [Rules::EmptyCapture, Rules::Standard, Rules::SKalaha];

    /// Whatever rule sets differ in stands here.
    #[inline(always)]
    const fn properties(self) -> Properties {
        match self {
            Rules::EmptyCapture => Properties {
                name: "empty-capture",
                code: 0,
                moves_again: true,
                capture: Capture::Always,
                relays: false,
                played_by: "Irving, Donkers and Uiterwijk 2000, Rawlings 2015",
                summary: "A last seed in an empty pit of one's own is captured together with all seeds in the pit \
                    opposite, even if there are none.",
            },
            Rules::Standard => Properties {
                name: "standard",
                code: 1,
                moves_again: true,
                capture: Capture::OppositeSeeds,
                relays: false,
                played_by: "what most people play (the Kalah Game Protocol, OpenSpiel's mancala)",
                summary: "A last seed in an empty pit of one's own is captured together with all seeds in the pit \
                    opposite; if there are none, it stays where it is.",
            },
            Rules::SKalaha => Properties {
                name: "s-kalaha",
                code: 2,
                moves_again: true,
                capture: Capture::Never,
                relays: true,
                played_by: "Kvitberg 2026; phone games call it avalanche",
                summary: "Nothing is captured. A last seed in a pit that holds seeds, on either side, picks all of them \
                    up and sows on (a relay); the turn ends in an empty pit.",
            },
        }
    }

    /// The name used in flags, JSON and file names.
    pub const fn name(self) -> &'static str {
        self.properties().name
    }

    /// The number that stands for it in files. It never changes.
    pub const fn code(self) -> u8 {
        self.properties().code
    }

    /// The rule set with this code, if there is one.
    pub fn from_code(code: u8) -> Option<Rules> {
        Rules::ALL.into_iter().find(|rules| rules.code() == code)
    }

    /// Its place in [`Rules::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Whether it is the one that is meant where nothing is said.
    pub fn is_default(self) -> bool {
        self == Rules::default()
    }

    /// Whether a last seed in the own store gives another move; else the turn ends there.
    #[inline]
    pub const fn moves_again(self) -> bool {
        self.properties().moves_again
    }

    /// When a last seed in an own empty pit is captured.
    #[inline]
    pub const fn capture(self) -> Capture {
        self.properties().capture
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
        self.properties().relays
    }

    /// Who plays by them: in a few words.
    pub const fn played_by(self) -> &'static str {
        self.properties().played_by
    }

    /// What is special about them, in a sentence or two.
    pub const fn summary(self) -> &'static str {
        self.properties().summary
    }

    /// What all rule sets have in common, in a few sentences; [`Rules::summary`] tells the exceptions.
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
#[error("unknown rules '{0}': use {names}", names = names())]
pub struct UnknownRules(String);

/// The names of all rule sets, as a choice.
fn names() -> String {
    let [first @ .., last] = &Rules::ALL.map(Rules::name);
    format!("{} or {last}", first.join(", "))
}

impl FromStr for Rules {
    type Err = UnknownRules;

    /// Reads a [`Rules::name`], in capitals or not, with hyphens or underscores.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let name = text.to_ascii_lowercase().replace('_', "-");
        Rules::ALL.into_iter().find(|rules| rules.name() == name).ok_or_else(|| UnknownRules(text.to_owned()))
    }
}
