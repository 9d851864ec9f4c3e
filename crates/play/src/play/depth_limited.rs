use std::time::Duration;

use kalah_core::cancel::Cancel;
use kalah_core::game::{Position, Rules};
use kalah_solve::solve::{Deepening, LimitedSearch, Method, SolveError};

use super::{Choice, PlayError, Player, PlayerName, Source, Worth};

/// Searches to a number of moves, and evaluates the leaves by the difference of the stores.
///
/// With a time limit it searches to depth 1, 2, ..., to have a move when the time is over. It does the same if
/// its own depth takes too many positions.
pub(super) struct DepthLimited {
    name: PlayerName,
    search: LimitedSearch,
    budget: Budget,
    /// Position of an unfinished choice, with the choice so far and its depth.
    begun: Option<(Position, Choice, u32)>,
}

/// Maximum time of one depth of a choice in slices.
const LONGEST: Duration = Duration::from_secs(1);

impl DepthLimited {
    pub(super) fn new(name: PlayerName, rules: Rules, method: Method, depth: u32) -> DepthLimited {
        let search = LimitedSearch::new(rules, method, depth);
        DepthLimited { name, search, budget: Budget::PLAYER, begun: None }
    }

    /// Returns the choice of a search to `depth` of at most `positions` positions, or the reason why it was cut
    /// short.
    fn search_to(&self, position: &Position, depth: u32, positions: u64, cancel: &Cancel) -> Result<Choice, Deepening> {
        let mut search = self.search;
        search.depth = depth;
        let result = search.run_within(position, positions, cancel).map_err(|error| match error {
            SolveError::Stopped => Deepening::Interrupted,
            _ => Deepening::OverBudget,
        })?;
        let choice = |pit| Choice { pit, worth: Worth::Evaluation(result.value), source: Source::Depth(depth) };
        result.best.map(choice).ok_or(Deepening::Final)
    }
}

impl Player for DepthLimited {
    fn name(&self) -> String {
        self.name.to_string()
    }

    fn choose(
        &mut self,
        position: &Position,
        cancel: &Cancel,
        report: &mut dyn FnMut(&Choice),
    ) -> Result<Choice, PlayError> {
        let (depth, mut positions) = (self.search.depth, self.budget.whole);
        if cancel.left().is_none() {
            if let Ok(choice) = self.search_to(position, depth, positions, cancel) {
                return Ok(choice);
            }
            positions = self.budget.step;
        }
        // Depth 1 takes no time, so there is always a move.
        let mut choice = self.search_to(position, 1, u64::MAX, &Cancel::new()).map_err(|_| PlayError::GameOver)?;
        for depth in 2..=depth {
            report(&choice);
            match self.search_to(position, depth, positions, cancel) {
                Ok(deeper) => choice = deeper,
                Err(_) => break,
            }
        }
        Ok(choice)
    }

    /// Searches one move deeper in each call.
    fn choose_for(&mut self, _: Duration, position: &Position, cancel: &Cancel) -> Result<Option<Choice>, PlayError> {
        let (choice, depth) = match self.begun.take() {
            Some((begun, choice, depth)) if begun == *position => (choice, depth),
            _ => (self.search_to(position, 1, u64::MAX, &Cancel::new()).map_err(|_| PlayError::GameOver)?, 1),
        };
        if depth == self.search.depth {
            return Ok(Some(choice));
        }
        match self.search_to(position, depth + 1, self.budget.whole, &cancel.within(LONGEST)) {
            Ok(deeper) => self.begun = Some((*position, deeper, depth + 1)),
            Err(_) => return Ok(Some(choice)),
        }
        Ok(None)
    }
}

/// Limits of the positions that a depth-limited search may visit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// Limit of a search to the depth of a player.
    pub whole: u64,
    /// Limit of each of the searches to depth 1, 2, ... that replace it if that is not enough.
    pub step: u64,
}

impl Budget {
    /// Limits of players: some minutes for the whole search. No search of a published comparison takes as many
    /// positions.
    pub(super) const PLAYER: Budget = Budget { whole: 1 << 30, step: 1 << 24 };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_depth_that_takes_too_long_is_searched_step_by_step() {
        let position: Position = "6x4".parse().unwrap();
        for method in [Method::SeqMm, Method::SeqAb] {
            let player = DepthLimited::new(PlayerName::Minimax(9), Rules::Standard, method, 9);
            let mut short = DepthLimited { budget: Budget { whole: 5000, step: 1000 }, ..player };
            let choice = short.choose(&position, &Cancel::new(), &mut |_| ()).unwrap();
            let Source::Depth(depth) = choice.source else { panic!("{choice:?}") };
            assert!((2..9).contains(&depth), "{choice:?}");
            // A player of that depth chooses the same.
            let mut right = DepthLimited::new(PlayerName::Minimax(depth), Rules::Standard, method, depth);
            assert_eq!(choice, right.choose(&position, &Cancel::new(), &mut |_| ()).unwrap());
        }
    }
}
