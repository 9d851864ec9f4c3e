use std::fmt;
use std::str::FromStr;

/// Maximum depth of a player, in moves or turns.
const MAX_DEPTH: u32 = 99;

/// A player by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PlayerName {
    /// `perfect`: the tables, then the solver; the best evaluation if nothing is proved in time.
    #[default]
    Perfect,
    /// `minimax:D`: minimax by store difference to D moves (Gonai and Cendejas 2022, section 3.3).
    Minimax(u32),
    /// `alphabeta:D`: alpha-beta by store difference to D moves; chooses the same moves as minimax.
    AlphaBeta(u32),
    /// `heuristic`: Algorithm 1 of Pekař et al. 2020.
    Heuristic,
    /// `minimax2:D`: Algorithm 2 of Pekař et al. 2020, with a MaxDepth of D turns.
    Minimax2(u32),
    /// `minimax3:D`: Algorithm 3 of Pekař et al. 2020, with a MaxDepth of D turns.
    Minimax3(u32),
    /// `greedy`: the move that stores most.
    Greedy,
    /// `random` or `random:SEED`: any move.
    Random(u64),
}

/// Error: a text that is not the name of a player.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown player '{0}': the players, about from weak to strong, are {known} (D is the number of moves that they \
     search, 1 to {MAX_DEPTH}, as in minimax:3)",
    known = PlayerName::KNOWN.join(", ")
)]
pub struct UnknownPlayer(String);

impl PlayerName {
    /// All names, about from weak to strong, with D for a depth and SEED for a number.
    pub const KNOWN: [&str; 8] =
        ["random:SEED", "greedy", "heuristic", "minimax:D", "alphabeta:D", "minimax3:D", "minimax2:D", "perfect"];

    /// The nine players of Table 2 in Pekař et al. 2020, in its order.
    pub const PEKAR: [PlayerName; 9] = [
        PlayerName::Heuristic,
        PlayerName::Minimax2(1),
        PlayerName::Minimax2(2),
        PlayerName::Minimax2(4),
        PlayerName::Minimax2(6),
        PlayerName::Minimax3(1),
        PlayerName::Minimax3(2),
        PlayerName::Minimax3(4),
        PlayerName::Minimax3(6),
    ];
}

impl FromStr for PlayerName {
    type Err = UnknownPlayer;

    fn from_str(text: &str) -> Result<PlayerName, UnknownPlayer> {
        let unknown = || UnknownPlayer(text.to_owned());
        let (kind, number) = text.split_once(':').unwrap_or((text, ""));
        if text.ends_with(':') || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(unknown());
        }
        let depth = number.parse().ok().filter(|depth| (1..=MAX_DEPTH).contains(depth));
        Ok(match (kind, number, depth) {
            ("perfect", "", _) => PlayerName::Perfect,
            ("minimax", _, Some(depth)) => PlayerName::Minimax(depth),
            ("alphabeta", _, Some(depth)) => PlayerName::AlphaBeta(depth),
            ("heuristic", "", _) => PlayerName::Heuristic,
            ("minimax2", _, Some(depth)) => PlayerName::Minimax2(depth),
            ("minimax3", _, Some(depth)) => PlayerName::Minimax3(depth),
            ("greedy", "", _) => PlayerName::Greedy,
            ("random", "", _) => PlayerName::Random(0),
            ("random", seed, _) => PlayerName::Random(seed.parse().map_err(|_| unknown())?),
            _ => return Err(unknown()),
        })
    }
}

impl fmt::Display for PlayerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlayerName::Perfect => f.write_str("perfect"),
            PlayerName::Minimax(depth) => write!(f, "minimax:{depth}"),
            PlayerName::AlphaBeta(depth) => write!(f, "alphabeta:{depth}"),
            PlayerName::Heuristic => f.write_str("heuristic"),
            PlayerName::Minimax2(depth) => write!(f, "minimax2:{depth}"),
            PlayerName::Minimax3(depth) => write!(f, "minimax3:{depth}"),
            PlayerName::Greedy => f.write_str("greedy"),
            PlayerName::Random(seed) => write!(f, "random:{seed}"),
        }
    }
}
