use std::fmt;
use std::str::FromStr;

/// A rule set: what happens when the last seed of a sowing falls.
///
/// In all of them a sowing does not skip the pit it started from, and the game ends as soon as either row is empty; the
/// remaining seeds belong to the owner of their row. Code that depends on the rules asks for a property, never for a
/// rule set by name.
///
/// More rule sets may come. The enum is exhaustive all the same: whoever writes the rules down once more, as reference oracles do,
/// shall be reminded of a new one by the compiler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rules {
    /// Irving, Donkers, Uiterwijk 2000, section 2; Rawlings 2015: a last seed in an empty pit of the mover is captured
    /// with all seeds of the opposite pit, even if there are none.
    #[default]
    EmptyCapture,
    /// What most people play, the Kalah Game Protocol, Pekař 2020: captures only if the opposite pit holds seeds.
    Standard,
    /// Kvitberg 2026, section 3.2: no captures; a last seed in a non-empty pit of either side picks up all seeds there
    /// and sows on (a relay).
    SKalaha,
    /// As [`Rules::EmptyCapture`], but a last seed in the mover's store ends the turn: every turn is one move.
    SingleMove,
}

/// When a last seed in an empty pit of the mover is captured together with all seeds of the opposite pit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Capture {
    /// Never: the turn ends.
    Never,
    /// If the opposite pit holds seeds; otherwise the turn ends.
    OppositeSeeds,
    /// Always, even if the opposite pit is empty.
    Always,
}

/// The properties of a rule set.
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
    pub const ALL: [Rules; 4] = [Rules::EmptyCapture, Rules::Standard, Rules::SKalaha, Rules::SingleMove];

    /// Everything in which rule sets differ.
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
            Rules::SingleMove => Properties {
                name: "single-move",
                code: 3,
                moves_again: false,
                capture: Capture::Always,
                relays: false,
                played_by: "empty-capture without moving again",
                summary: "A last seed in one's own store ends the turn, so that every turn is one move. A last seed in an \
                    empty pit of one's own is captured together with all seeds in the pit opposite, even if there are none.",
            },
        }
    }

    /// The name used in flags, JSON and file names.
    pub const fn name(self) -> &'static str {
        self.properties().name
    }

    /// The number of the rule set in files. It never changes.
    pub const fn code(self) -> u8 {
        self.properties().code
    }

    /// The rule set with this code, if there is one.
    pub fn from_code(code: u8) -> Option<Rules> {
        Rules::ALL.into_iter().find(|rules| rules.code() == code)
    }

    /// The index in [`Rules::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Whether this is the default rule set.
    pub fn is_default(self) -> bool {
        self == Rules::default()
    }

    /// Whether the mover moves again after a last seed in their store; otherwise the turn ends.
    #[inline]
    pub const fn moves_again(self) -> bool {
        self.properties().moves_again
    }

    /// When a last seed in an empty pit of the mover is captured.
    #[inline]
    pub const fn capture(self) -> Capture {
        self.properties().capture
    }

    /// Whether a last seed in an empty pit of the mover is captured when the opposite pit holds `opposite` seeds.
    #[inline]
    pub const fn captures(self, opposite: u32) -> bool {
        match self.capture() {
            Capture::Never => false,
            Capture::OppositeSeeds => opposite > 0,
            Capture::Always => true,
        }
    }

    /// Whether a last seed in a non-empty pit, on either side, picks up all seeds there and sows on.
    #[inline]
    pub const fn relays(self) -> bool {
        self.properties().relays
    }

    /// Who plays by these rules, in a few words.
    pub const fn played_by(self) -> &'static str {
        self.properties().played_by
    }

    /// What is special about these rules, in a sentence or two.
    pub const fn summary(self) -> &'static str {
        self.properties().summary
    }

    /// What all rule sets have in common, in a few sentences; [`Rules::summary`] says where they differ.
    pub const COMMON: &'static str = "A move takes all seeds of a pit of one's own and sows them one by one to the right, \
        through the own store, the pits of the other player and on around the board; only the other player's store is \
        passed over. If the last seed falls into the own store, the player moves again, unless the rule set says \
        otherwise. The game ends as soon as either row is empty; what is left belongs to the owner of the row it lies in.";
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is not that of a rule set in [`Rules::ALL`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown rules '{0}': use {names}", names = names())]
pub struct UnknownRules(String);

/// The names of all rule sets: "a, b or c".
fn names() -> String {
    let [first @ .., last] = &Rules::ALL.map(Rules::name);
    format!("{} or {last}", first.join(", "))
}

impl FromStr for Rules {
    type Err = UnknownRules;

    /// Parses a [`Rules::name`]; case does not matter, and hyphens may be underscores.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let name = text.to_ascii_lowercase().replace('_', "-");
        Rules::ALL.into_iter().find(|rules| rules.name() == name).ok_or_else(|| UnknownRules(text.to_owned()))
    }
}
