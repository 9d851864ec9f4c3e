use kalah_core::cancel::Cancel;
use kalah_core::game::{Position, Rules};
use kalah_solve::solve::{LimitedSearch, Method};

use super::{Choice, PlayError, Player, PlayerName, Source, Worth};

/// Searches to a number of moves, and evaluates the leaves by the difference of the stores.
///
/// With a time limit it searches to depth 1, 2, ..., to have a move when the time is over.
pub(super) struct DepthLimited {
    name: PlayerName,
    search: LimitedSearch,
}

impl DepthLimited {
    pub(super) fn new(name: PlayerName, rules: Rules, method: Method, depth: u32) -> DepthLimited {
        DepthLimited { name, search: LimitedSearch::new(rules, method, depth) }
    }

    /// Returns the choice of a search to `depth`; `None` if it was stopped, or there is no move.
    fn search_to(&self, position: &Position, depth: u32, cancel: &Cancel) -> Option<Choice> {
        let mut search = self.search;
        search.depth = depth;
        let result = search.run_within(position, u64::MAX, cancel).ok()?;
        let worth = Worth::Evaluation(result.value);
        result.best.map(|pit| Choice { pit, worth, source: Source::Depth(depth) })
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
        let depth = self.search.depth;
        if cancel.left().is_none()
            && let Some(choice) = self.search_to(position, depth, cancel)
        {
            return Ok(choice);
        }
        // Depth 1 takes no time, so there is always a move.
        let mut choice = self.search_to(position, 1, &Cancel::new()).ok_or(PlayError::GameOver)?;
        for depth in 2..=depth {
            report(&choice);
            match self.search_to(position, depth, cancel) {
                Some(deeper) => choice = deeper,
                None => break,
            }
        }
        Ok(choice)
    }
}
