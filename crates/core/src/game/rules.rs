use std::fmt;
use std::str::FromStr;

/// A rule set: the effect of the last seed of a sowing.
///
/// In all rule sets a sowing includes the pit it started from. The game ends when either row is empty, and the
/// remaining seeds belong to the owner of their row. Code asks for a property of the rules and never compares names.
/// The enum is exhaustive, so that the compiler points to code that writes the rules down again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rules {
    /// A last seed in an empty pit of the mover is captured with all seeds of the opposite pit, even of an empty one.
    /// Irving, Donkers, Uiterwijk 2000, section 2; Rawlings 2015.
    #[default]
    EmptyCapture,
    /// As [`Rules::EmptyCapture`], but captures only if the opposite pit holds seeds. The most widely played rules;
    /// Kalah Game Protocol; Pekař 2020.
    Standard,
    /// No captures. A last seed in a non-empty pit of either side picks up all seeds there and sows on (a relay).
    /// Kvitberg 2026, section 3.2.
    SKalaha,
    /// As [`Rules::EmptyCapture`], but a last seed in the mover's store ends the turn: every turn is one move.
    SingleMove,
}

/// Condition for capturing a last seed in an empty pit of the mover with the seeds of the opposite pit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Capture {
    /// Never: the turn ends.
    Never,
    /// If the opposite pit holds seeds; otherwise the turn ends.
    OppositeSeeds,
    /// Always, even if the opposite pit is empty.
    Always,
}

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

    /// The rule set of OpenSpiel's mancala.
    pub const OPEN_SPIEL: Rules = Rules::Standard;

    /// All differences between rule sets.
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
                summary: "If the last seed falls into one of your own empty pits, you capture it with all seeds in \
                    the opposite pit, even if that pit is empty.",
            },
            Rules::Standard => Properties {
                name: "standard",
                code: 1,
                moves_again: true,
                capture: Capture::OppositeSeeds,
                relays: false,
                played_by: "what most people play (the Kalah Game Protocol, OpenSpiel's mancala)",
                summary: "If the last seed falls into one of your own empty pits, you capture it with all seeds in \
                    the opposite pit. If the opposite pit is empty, nothing is captured.",
            },
            Rules::SKalaha => Properties {
                name: "s-kalaha",
                code: 2,
                moves_again: true,
                capture: Capture::Never,
                relays: true,
                played_by: "Kvitberg 2026; phone games call it avalanche",
                summary: "There are no captures. If the last seed falls into a pit that holds seeds, on either side, \
                    you pick all of them up and sow on (a relay). The turn ends in an empty pit.",
            },
            Rules::SingleMove => Properties {
                name: "single-move",
                code: 3,
                moves_again: false,
                capture: Capture::Always,
                relays: false,
                played_by: "empty-capture without moving again",
                summary: "A last seed in your store ends the turn, so every turn is one move. If the last seed falls \
                    into one of your own empty pits, you capture it with all seeds in the opposite pit, even if that \
                    pit is empty.",
            },
        }
    }

    /// The name used in flags, JSON and file names.
    pub const fn name(self) -> &'static str {
        self.properties().name
    }

    /// Number of the rule set in files. It never changes.
    pub const fn code(self) -> u8 {
        self.properties().code
    }

    /// The rule set with this code, if there is one.
    pub fn from_code(code: u8) -> Option<Rules> {
        Rules::ALL.into_iter().find(|rules| rules.code() == code)
    }

    /// Index in [`Rules::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns true for the default rule set.
    pub fn is_default(self) -> bool {
        self == Rules::default()
    }

    /// Returns true if a last seed in the mover's store gives another move. Otherwise it ends the turn.
    #[inline]
    pub const fn moves_again(self) -> bool {
        self.properties().moves_again
    }

    /// Condition for capturing a last seed in an empty pit of the mover.
    #[inline]
    pub const fn capture(self) -> Capture {
        self.properties().capture
    }

    /// Returns true if a last seed in an empty pit of the mover is captured opposite a pit with `opposite` seeds.
    #[inline]
    pub const fn captures(self, opposite: u32) -> bool {
        match self.capture() {
            Capture::Never => false,
            Capture::OppositeSeeds => opposite > 0,
            Capture::Always => true,
        }
    }

    /// Returns true if a last seed in a non-empty pit, on either side, picks up all seeds there and sows on.
    #[inline]
    pub const fn relays(self) -> bool {
        self.properties().relays
    }

    /// Players and publications that use these rules, in a few words.
    pub const fn played_by(self) -> &'static str {
        self.properties().played_by
    }

    /// The special rules of this set, in a sentence or two.
    pub const fn summary(self) -> &'static str {
        self.properties().summary
    }

    /// The rules common to all sets, in a few sentences. [`Rules::summary`] has the differences.
    pub const COMMON: &'static str = "A move takes all seeds from one of your pits and sows them one by one to the \
        right: through your store, the other player's pits, and on around the board. Only the other player's store \
        is skipped. If the last seed falls into your store, you move again, unless the rule set says otherwise. The \
        game ends as soon as either row is empty. The remaining seeds belong to the owner of their row.";
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name of no rule set in [`Rules::ALL`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown rules '{0}': use {names}", names = names())]
pub struct UnknownRules(String);

/// Names of all rule sets: "a, b or c".
fn names() -> String {
    let [first @ .., last] = &Rules::ALL.map(Rules::name);
    format!("{} or {last}", first.join(", "))
}

impl FromStr for Rules {
    type Err = UnknownRules;

    /// Parses a [`Rules::name`]. Case does not matter, and underscores may replace hyphens.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let name = text.to_ascii_lowercase().replace('_', "-");
        Rules::ALL.into_iter().find(|rules| rules.name() == name).ok_or_else(|| UnknownRules(text.to_owned()))
    }
}
