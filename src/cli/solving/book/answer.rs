//! Printing the book's answer for a position.

use kalah::answer::{BookAnswer, BookMove, Known};

use crate::cli::output;
use crate::cli::output::proved::Proved;

/// Returns the value or its bounds.
fn known_text(&Known { value, at_least, at_most, .. }: &Known) -> String {
    Proved { value, at_least, at_most }.words("unknown")
}

/// Prints the answer, on several lines or as one JSON object.
pub(crate) fn print(answer: &BookAnswer, json: bool) -> std::io::Result<()> {
    if json {
        return output::json(answer);
    }
    output::line(&answer.position)?;
    let score = answer.known.score.map_or(String::new(), |score| format!("score {score} of the "));
    output::line(format_args!(
        "  {score}{} in play, value {}, from the book",
        output::count(answer.seeds as usize, "seed"),
        known_text(&answer.known)
    ))?;
    let moves = answer.moves.iter().map(|BookMove { r#move, known, .. }| format!("{move}: {}", known_text(known)));
    output::line(format_args!("  values of the moves  {}", output::joined(moves, ", ")))?;
    if !answer.best.is_empty() {
        output::line(format_args!("  best   {}", output::joined(&answer.best, " ")))?;
    }
    if !answer.line.is_empty() {
        let open = if answer.line_open { " ... (the book ends here)" } else { "" };
        output::line(format_args!("  line   {}{open}", answer.line))?;
    }
    Ok(())
}
