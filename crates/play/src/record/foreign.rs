//! Games of Kalah(6,4) as other programs write them: moves as letters, and the actions of OpenSpiel's mancala, as a
//! list or in a replay of Kaggle's arena.

use kalah_core::game::{Pit, Place, Rules, StartPosition};

use super::{GameRecord, RecordError};

/// The board of all these games.
const START: StartPosition = StartPosition { pits: 6, seeds: 4 };

/// Reads the game of a text in one of these forms; `None` for other texts. Games of OpenSpiel have its rules, others
/// those that are given.
///
/// # Errors
/// If a move is illegal.
pub(super) fn read(text: &str, rules: Rules) -> Result<Option<GameRecord>, RecordError> {
    let text = text.trim();
    let (rules, numbers, are_actions) = match letters(text) {
        Some(letters) => (rules, letters, false),
        None => match replay(text).or_else(|| list(text)) {
            Some(actions) => (Rules::OPEN_SPIEL, actions, true),
            None => return Ok(None),
        },
    };
    // Actions go around the board: 1 to 6, and 8 to 13 for the other player.
    let number = |number: usize| if number > START.pits + 1 { number - START.pits - 1 } else { number };
    let pit = |&found: &usize| Pit::from_number(number(found)).filter(|pit| pit.index() < START.pits);
    let Some(moves) = numbers.iter().map(pit).collect::<Option<Vec<Pit>>>() else { return Ok(None) };
    let start = START.position().expect("Kalah(6,4)");
    let illegal = |(index, error)| RecordError::at(1, format!("move {}: {error}", index + 1));
    let places = Place::all(rules, &start, &moves).map_err(illegal)?;
    if are_actions && numbers.iter().zip(&places).any(|(&number, place)| place.first != (number <= START.pits)) {
        return Ok(None);
    }
    GameRecord::of_moves(rules, start, &moves).map(Some).map_err(illegal)
}

/// Reads letters of pits: `A` to `F` for the player who begins, `a` to `f` for the other, or either for both.
fn letters(text: &str) -> Option<Vec<usize>> {
    let is_between = |letter: char| letter.is_whitespace() || letter == ',';
    let letters = text.chars().filter(|&letter| !is_between(letter)).map(|letter| match letter.to_ascii_lowercase() {
        letter @ 'a'..='f' => Some(1 + letter as usize - 'a' as usize),
        _ => None,
    });
    letters.collect::<Option<Vec<usize>>>().filter(|letters| !letters.is_empty())
}

/// Reads a list of actions, such as `[3, 6, 9, 8]`. Without brackets, `3,6` is a turn, unless a number is no pit.
fn list(text: &str) -> Option<Vec<usize>> {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let numbers = inner.unwrap_or(text).split(',').map(|number| number.trim().parse().ok());
    let numbers: Vec<usize> = numbers.collect::<Option<_>>()?;
    (inner.is_some() || numbers.len() > 1 && numbers.iter().any(|&number| number > START.pits)).then_some(numbers)
}

/// Reads the actions of a replay, which has them all in the state after the last one: `history=0:3,0:6,1:9`.
fn replay(text: &str) -> Option<Vec<usize>> {
    let (_, name) = text.strip_prefix('{')?.split_once("\"openSpielGameName\"")?;
    name.trim_start_matches([' ', ':']).strip_prefix("\"mancala")?;
    let (_, history) = text.rsplit_once("history=")?;
    let end = history.find(|letter: char| !matches!(letter, '0'..='9' | ':' | ',')).unwrap_or(history.len());
    let actions = history[..end].split(',').filter(|action| !action.is_empty());
    actions.map(|action| action.split_once(':')?.1.parse().ok()).collect()
}
