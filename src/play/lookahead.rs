use super::{Choice, Limit, PlayError, Player, PlayerName, Source, Worth};
use crate::game::{Position, Rules};
use crate::solve::{Evaluation, LimitedSearch, Method};

/// Looks a number of moves ahead and weighs what it sees there by the difference of the stores.
///
/// Where there is a time limit it looks 1, 2, ... moves ahead, so as to have a move when the limit is over.
pub(super) struct Lookahead {
    name: PlayerName,
    search: LimitedSearch,
}

impl Lookahead {
    pub fn new(name: PlayerName, rules: Rules, method: Method, depth: u32) -> Lookahead {
        let search = LimitedSearch { rules, method, depth, par_depth: 0, evaluation: Evaluation::Stores };
        Lookahead { name, search }
    }

    /// What a search to `depth` chooses; `None` if the limit ends it.
    fn look(&self, position: &Position, depth: u32, limit: &Limit) -> Option<Choice> {
        let search = LimitedSearch { depth, ..self.search };
        let result = search.run_unless(&|| limit.is_over(), position)?;
        result.best.map(|pit| Choice { pit, worth: Worth::Estimate(result.value), source: Source::Depth(depth) })
    }
}

impl Player for Lookahead {
    fn name(&self) -> String {
        self.name.to_string()
    }

    fn choose(
        &mut self,
        position: &Position,
        limit: &Limit,
        tell: &mut dyn FnMut(&Choice),
    ) -> Result<Choice, PlayError> {
        let depth = self.search.depth;
        // One move ahead takes no time, so there always is a move.
        let near = |player: &Self| player.look(position, 1, &Limit::none()).ok_or(PlayError::GameOver);
        if limit.left().is_none() {
            return self.look(position, depth, limit).map_or_else(|| near(self), Ok);
        }
        let mut choice = near(self)?;
        for depth in 2..=depth {
            tell(&choice);
            match self.look(position, depth, limit) {
                Some(deeper) => choice = deeper,
                None => break,
            }
        }
        Ok(choice)
    }
}
