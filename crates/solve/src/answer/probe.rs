use kalah_tables::table::Probe;
use serde::Serialize;

/// A move with the mover's score after it, its own gain included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MoveScore {
    /// Number of the pit, from 1.
    pub r#move: usize,
    /// Seeds in play that the mover collects.
    pub score: u32,
}

/// The tables' answer for a position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ProbeAnswer {
    /// The position.
    pub position: String,
    /// Seeds in play.
    pub seeds: u32,
    /// Seeds in play that the mover collects with best play.
    pub score: u32,
    /// The final store difference for the mover.
    pub value: i64,
    /// Every legal move.
    pub moves: Vec<MoveScore>,
    /// Numbers of the moves that reach the score.
    pub best: Vec<usize>,
    /// A line of best play; `None` if it was not looked up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// True if the game is over.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub finished: bool,
}

impl From<&Probe> for ProbeAnswer {
    fn from(probe: &Probe) -> ProbeAnswer {
        ProbeAnswer {
            position: probe.position.to_string(),
            seeds: probe.position.seeds(),
            score: probe.score,
            value: probe.value,
            moves: probe.moves.iter().map(|&(pit, score)| MoveScore { r#move: pit.number(), score }).collect(),
            best: probe.best().map(|pit| pit.number()).collect(),
            line: Some(probe.line.to_string()),
            finished: probe.position.is_over(),
        }
    }
}
