//! A board drawn as text, as it lies between the players.

use kalah::game::{Position, Row};

/// Draws `position` with South, who is its mover, below: move numbers outside, stores at the ends.
pub(crate) fn draw(position: &Position) -> String {
    let widest = position.seeds().max(position.mover_store()).max(position.other_store());
    let width = widest.max(position.pits() as u32).to_string().len().max(2);
    let cells = |numbers: Vec<u32>| {
        let cells: Vec<String> = numbers.into_iter().map(|number| format!("{number:>width$}")).collect();
        cells.join("  ")
    };
    let numbers = || (1..=position.pits() as u32).collect::<Vec<_>>();
    let seeds = |row: &Row| row.seeds().to_vec();
    // North sows from right to left as South sees it.
    let back = |mut numbers: Vec<u32>| {
        numbers.reverse();
        cells(numbers)
    };
    let (north, south) = (back(seeds(position.other())), cells(seeds(position.mover())));
    let margin = " ".repeat(width + 9);
    let (other, own) = (position.other_store(), position.mover_store());
    let gap = " ".repeat(north.len());
    [
        format!("{margin}{}   move", back(numbers())),
        format!("  North{:width$}  [{north}]", ""),
        format!("  {other:>at$}  {gap}    {own:<width$}", at = width + 5),
        format!("       {:width$}  [{south}]  South", ""),
        format!("{margin} {}   move", cells(numbers())),
    ]
    .map(|line| line.trim_end().to_owned())
    .join("\n")
}
