/// What a mistake loses at least of the final store difference, where it keeps the outcome: two for each seed.
pub const MISTAKE_DIFFERENCE: i64 = 8;

/// How good a move or turn is, by exact values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Judgement {
    /// It loses nothing.
    Best,
    /// It loses seeds, but fewer than a mistake, and not the outcome.
    Inaccuracy,
    /// It loses at least [`MISTAKE_DIFFERENCE`], but not the outcome.
    Mistake,
    /// It makes a draw or a loss of a win, or a loss of a draw.
    Blunder,
}

impl Judgement {
    /// Judges a move or turn that the mover makes in a position of this `value`, and that is worth `after` to the same player:
    /// both are final store differences.
    pub fn of(value: i64, after: i64) -> Judgement {
        match value - after {
            ..=0 => Judgement::Best,
            _ if after.signum() < value.signum() => Judgement::Blunder,
            MISTAKE_DIFFERENCE.. => Judgement::Mistake,
            _ => Judgement::Inaccuracy,
        }
    }

    /// The mark of annotated games: nothing, `?!`, `?` or `??`.
    pub fn mark(self) -> &'static str {
        match self {
            Judgement::Best => "",
            Judgement::Inaccuracy => "?!",
            Judgement::Mistake => "?",
            Judgement::Blunder => "??",
        }
    }

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Judgement::Best => "best",
            Judgement::Inaccuracy => "inaccuracy",
            Judgement::Mistake => "mistake",
            Judgement::Blunder => "blunder",
        }
    }
}

/// How a player played: moves or turns in which there was a choice and both values are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// All of them.
    pub judged: u32,
    /// Those that lost nothing.
    pub best: u32,
    /// Those that are an inaccuracy.
    pub inaccuracies: u32,
    /// Those that are a mistake.
    pub mistakes: u32,
    /// Those that are a blunder.
    pub blunders: u32,
    /// What they lost together of the final store difference.
    pub lost: i64,
}

impl Tally {
    /// Adds a move or turn in a position of this `value` that is worth `after` to the same player.
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

    /// The share of the best ones in percent, to one place; `None` if none is judged.
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
