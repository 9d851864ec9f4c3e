use kalah_core::cancel::Cancel;
use kalah_core::game::{Pit, Played, Rules};
use kalah_solve::solve::{LimitedSearch, Method, SolveError};

use super::analyser::MAX_DEPTH;
use super::analysis::{Analysis, Assessment};

/// Evaluates the moves of a position too large for the solver by searches to depth 1, 2, ..., by the stores.
pub(crate) fn evaluate_by_stores(rules: Rules, moves: &[(Pit, Played)], cancel: &Cancel) -> Analysis {
    let mut deepest: Vec<(Assessment, u32)> = Vec::new();
    for depth in 0..MAX_DEPTH {
        let search = LimitedSearch::new(rules, Method::SeqAb, depth);
        // The first search takes no time, so there always are evaluations.
        let cancel = if depth > 0 { cancel.clone() } else { Cancel::new() };
        let later: Result<Vec<_>, SolveError> = moves
            .iter()
            .map(|(_, played)| match played.position.final_value() {
                Some(value) => Ok((Assessment::exact(played.mover_value(value)), depth + 1)),
                None => {
                    let later = search.run_within(&played.position, u64::MAX, &cancel)?;
                    Ok((Assessment { bounds: None, evaluation: Some(played.mover_value(later.value)) }, depth + 1))
                }
            })
            .collect();
        match later {
            Ok(later) => deepest = later,
            Err(_) => break,
        }
    }
    let ahead = deepest.first().map_or(0, |&(_, ahead)| ahead);
    let evaluation = deepest.iter().filter_map(|(assessment, _)| assessment.apparent()).max();
    let moves: Vec<(Pit, Played, Assessment)> =
        moves.iter().zip(deepest).map(|(&(pit, played), (assessment, _))| (pit, played, assessment)).collect();
    // All moves end the game, so the value is proved.
    let exact = moves.iter().all(|(_, _, assessment)| assessment.value().is_some());
    let assessment = match evaluation {
        Some(value) if exact => Assessment::exact(value),
        _ => Assessment { bounds: None, evaluation },
    };
    Analysis { assessment, ahead, moves, line: None, nodes: 0 }
}
