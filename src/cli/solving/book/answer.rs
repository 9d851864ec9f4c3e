//! Printing the book's answer for a position.

use kalah::answer::{BookAnswer, BookMove, Known};

use crate::cli::output::{self, value as signed};

/// Returns the value or its bounds: `value +2`, `value -4 to +2`.
fn known_text(known: &Known) -> String {
    match (known.value, known.at_least, known.at_most) {
        (Some(value), ..) => format!("value {}", signed(value)),
        (None, Some(least), Some(most)) => format!("value {} to {}", signed(least), signed(most)),
        (None, Some(least), None) => format!("value at least {}", signed(least)),
        (None, None, Some(most)) => format!("value at most {}", signed(most)),
        (None, None, None) => "value unknown".to_owned(),
    }
}

/// Prints the answer, on several lines or as one JSON object.
pub fn print(answer: &BookAnswer, json: bool) -> std::io::Result<()> {
    if json {
        return output::json(answer);
    }
    output::line(&answer.position)?;
    let score = answer.known.score.map_or(String::new(), |score| format!("score {score} of the "));
    output::line(format_args!(
        "  {score}{} in play, {}, from the book",
        output::count(answer.seeds as usize, "seed"),
        known_text(&answer.known)
    ))?;
    let moves = answer.moves.iter().map(|&BookMove { r#move, ref known, .. }| {
        let known = known_text(known);
        format!("{move}: {}", known.strip_prefix("value ").unwrap_or(&known))
    });
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
