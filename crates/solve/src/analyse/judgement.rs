/// Minimum loss of a mistake, in store difference (two for each seed). A mistake keeps the outcome.
pub const MISTAKE_DIFFERENCE: i64 = 8;

/// Quality of a move or turn, by exact values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Judgement {
    /// It loses nothing.
    Best,
    /// It loses seeds, but fewer than a mistake, and not the outcome.
    Inaccuracy,
    /// It loses at least [`MISTAKE_DIFFERENCE`], but not the outcome.
    Mistake,
    /// It turns a win into a draw or loss, or a draw into a loss.
    Blunder,
}

impl Judgement {
    /// Classifies a move or turn by the `value` of the position for the mover and the value `after` the move
    /// for the same player. Both are final store differences.
    pub fn of(value: i64, after: i64) -> Judgement {
        match value - after {
            ..=0 => Judgement::Best,
            _ if after.signum() < value.signum() => Judgement::Blunder,
            MISTAKE_DIFFERENCE.. => Judgement::Mistake,
            _ => Judgement::Inaccuracy,
        }
    }

    /// The mark in annotated games: nothing, `?!`, `?` or `??`.
    pub fn mark(self) -> &'static str {
        match self {
            Judgement::Best => "",
            Judgement::Inaccuracy => "?!",
            Judgement::Mistake => "?",
            Judgement::Blunder => "??",
        }
    }

    /// The name in JSON documents.
    pub fn name(self) -> &'static str {
        match self {
            Judgement::Best => "best",
            Judgement::Inaccuracy => "inaccuracy",
            Judgement::Mistake => "mistake",
            Judgement::Blunder => "blunder",
        }
    }
}

/// Statistics of one player: moves or turns with a choice and exact values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// All of them.
    pub judged: u32,
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

impl Tally {
    /// Adds a move or turn: `value` of the position, and its value `after` the move, for the same player.
    pub fn add(&mut self, value: i64, after: i64) {
        self.judged += 1;
        self.lost += value - after;
        let count = match Judgement::of(value, after) {
            Judgement::Best => &mut self.best,
            Judgement::Inaccuracy => &mut self.inaccuracies,
            Judgement::Mistake => &mut self.mistakes,
            Judgement::Blunder => &mut self.blunders,
        };
        *count += 1;
    }

    /// Share of the best moves in percent, to one decimal; `None` if there are no moves.
    pub fn accuracy(&self) -> Option<f64> {
        (self.judged > 0).then(|| (1000.0 * f64::from(self.best) / f64::from(self.judged)).round() / 10.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_count_for_more_than_seeds() {
        for (value, after, judgement) in [
            (4, 4, Judgement::Best),
            (-4, -4, Judgement::Best),
            (12, 10, Judgement::Inaccuracy),
            (12, 4, Judgement::Mistake),
            (-2, -20, Judgement::Mistake),
            (2, 0, Judgement::Blunder),
            (0, -2, Judgement::Blunder),
            (40, -2, Judgement::Blunder),
        ] {
            assert_eq!(Judgement::of(value, after), judgement, "{value} to {after}");
        }
        let mut tally = Tally::default();
        [(4, 4), (4, 2), (0, -6)].into_iter().for_each(|(value, after)| tally.add(value, after));
        assert_eq!((tally.judged, tally.best, tally.inaccuracies, tally.blunders, tally.lost), (3, 1, 1, 1, 8));
        assert_eq!(tally.accuracy(), Some(33.3));
    }
}
