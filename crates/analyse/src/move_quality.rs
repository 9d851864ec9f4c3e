/// Minimum loss of a mistake, in store difference (two for each seed). A mistake keeps the outcome.
pub const MISTAKE_DIFFERENCE: i64 = 8;

/// Quality of a move or turn, by exact values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MoveQuality {
    /// It loses nothing.
    Best,
    /// It loses seeds, but fewer than a mistake, and not the outcome.
    Inaccuracy,
    /// It loses at least [`MISTAKE_DIFFERENCE`], but not the outcome.
    Mistake,
    /// It turns a win into a draw or loss, or a draw into a loss.
    Blunder,
}

impl MoveQuality {
    /// Classifies a move or turn by the `value` of the position for the mover and the value `after` the move
    /// for the same player. Both are final store differences.
    pub fn of(value: i64, after: i64) -> MoveQuality {
        match value - after {
            ..=0 => MoveQuality::Best,
            _ if after.signum() < value.signum() => MoveQuality::Blunder,
            MISTAKE_DIFFERENCE.. => MoveQuality::Mistake,
            _ => MoveQuality::Inaccuracy,
        }
    }

    /// The mark in annotated games: nothing, `?!`, `?` or `??`.
    pub fn mark(self) -> &'static str {
        match self {
            MoveQuality::Best => "",
            MoveQuality::Inaccuracy => "?!",
            MoveQuality::Mistake => "?",
            MoveQuality::Blunder => "??",
        }
    }

    /// The name in JSON documents.
    pub fn name(self) -> &'static str {
        match self {
            MoveQuality::Best => "best",
            MoveQuality::Inaccuracy => "inaccuracy",
            MoveQuality::Mistake => "mistake",
            MoveQuality::Blunder => "blunder",
        }
    }
}

/// Statistics of one player: moves or turns with a choice and exact values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QualityTally {
    /// All of them.
    pub evaluated: u32,
    /// Those that lost nothing.
    pub best: u32,
    /// Number of inaccuracies.
    pub inaccuracies: u32,
    /// Number of mistakes.
    pub mistakes: u32,
    /// Number of blunders.
    pub blunders: u32,
    /// Their total loss of final store difference.
    pub lost: i64,
}

impl QualityTally {
    /// Adds a move or turn: `value` of the position, and its value `after` the move, for the same player.
    pub fn add(&mut self, value: i64, after: i64) {
        self.evaluated += 1;
        self.lost += value - after;
        let count = match MoveQuality::of(value, after) {
            MoveQuality::Best => &mut self.best,
            MoveQuality::Inaccuracy => &mut self.inaccuracies,
            MoveQuality::Mistake => &mut self.mistakes,
            MoveQuality::Blunder => &mut self.blunders,
        };
        *count += 1;
    }

    /// Share of the best moves in percent, to one decimal; `None` if there are no moves.
    pub fn accuracy(&self) -> Option<f64> {
        (self.evaluated > 0).then(|| (1000.0 * f64::from(self.best) / f64::from(self.evaluated)).round() / 10.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_count_for_more_than_seeds() {
        for (value, after, quality) in [
            (4, 4, MoveQuality::Best),
            (-4, -4, MoveQuality::Best),
            (12, 10, MoveQuality::Inaccuracy),
            (12, 4, MoveQuality::Mistake),
            (-2, -20, MoveQuality::Mistake),
            (2, 0, MoveQuality::Blunder),
            (0, -2, MoveQuality::Blunder),
            (40, -2, MoveQuality::Blunder),
        ] {
            assert_eq!(MoveQuality::of(value, after), quality, "{value} to {after}");
        }
        let mut tally = QualityTally::default();
        [(4, 4), (4, 2), (0, -6)].into_iter().for_each(|(value, after)| tally.add(value, after));
        assert_eq!((tally.evaluated, tally.best, tally.inaccuracies, tally.blunders, tally.lost), (3, 1, 1, 1, 8));
        assert_eq!(tally.accuracy(), Some(33.3));
    }
}
