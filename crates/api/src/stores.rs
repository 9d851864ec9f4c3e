use std::time::Duration;

use kalah_core::cancel::Cancel;
use kalah_core::game::{Pit, Played, Rules};
use kalah_solve::solve::{LimitedSearch, Method, SolveError};

use super::analyser::{MAX_DEPTH, pause};
use super::analysis::{Analysis, Assessment};
use super::answer::PositionAnswer;
use super::fields::parse_position;

/// Maximum time of one move's search, which is a slice: deeper searches take several times longer.
const LONGEST: Duration = Duration::from_secs(1);

/// Evaluates a position within `time` without tables, books and solver; `None` for a text that is no position, and at
/// the end of the game.
pub fn evaluate_without_tables(rules: Rules, board: &str, time: Duration) -> Option<PositionAnswer> {
    let position = parse_position(board).ok().filter(|position| !position.is_over())?;
    let moves = position.moves().filter_map(|pit| Some((pit, position.play(rules, pit).ok()?)));
    let moves: Vec<(Pit, Played)> = moves.collect();
    let analysis = pollster::block_on(evaluate_by_stores(rules, &moves, &Cancel::new().within(time)));
    Some(PositionAnswer::searched(rules, &position, &analysis))
}

/// Evaluates the moves of a position too large for the solver by searches to depth 1, 2, ..., by the stores.
pub(crate) async fn evaluate_by_stores(rules: Rules, moves: &[(Pit, Played)], cancel: &Cancel) -> Analysis {
    let mut deepest: Vec<(Assessment, u32)> = Vec::new();
    for depth in 0..MAX_DEPTH {
        // The first search takes no time, so there always are evaluations.
        let cancel = if depth > 0 { cancel.clone() } else { Cancel::new() };
        match to_depth(rules, moves, depth, &cancel).await {
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

/// Evaluates the moves by searches of `depth` moves after them, in slices.
async fn to_depth(
    rules: Rules,
    moves: &[(Pit, Played)],
    depth: u32,
    cancel: &Cancel,
) -> Result<Vec<(Assessment, u32)>, SolveError> {
    let search = LimitedSearch::new(rules, Method::SeqAb, depth);
    let mut later = Vec::new();
    for (_, played) in moves {
        let assessment = match played.position.final_value() {
            Some(value) => Assessment::exact(played.mover_value(value)),
            None => {
                let found = search.run_within(&played.position, u64::MAX, &cancel.within(LONGEST))?;
                Assessment { bounds: None, evaluation: Some(played.mover_value(found.value)) }
            }
        };
        later.push((assessment, depth + 1));
        pause().await;
    }
    Ok(later)
}
