//! Pictures of positions and probes for notebooks: SVG and HTML without scripts, styles or fonts of their own.

use std::fmt::Write;

use kalah::game::{Position, Row};

/// Width and height of a pit with its margin.
const PIT: usize = 48;

/// Width of a store with its margin.
const STORE: usize = 56;

/// Height of the numbers of the mover's pits.
const NUMBERS: usize = 16;

/// The board as SVG. The mover is South: the lower row from left to right, and the right store.
pub fn board(position: &Position) -> String {
    let pits = position.pits();
    let (width, height) = (pits * PIT + 2 * STORE, 2 * PIT + 8);
    let title = position.to_string().replace('<', "&lt;").replace('>', "&gt;");
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width}\" height=\"{}\" \
         font-family=\"sans-serif\" text-anchor=\"middle\"><title>{title}</title>\
         <rect width=\"{width}\" height=\"{height}\" rx=\"16\" fill=\"#deb887\"/>",
        height + NUMBERS
    );
    let mut hole = |x: usize, y: usize, (width, height): (usize, usize), seeds: u32| {
        let (text_x, text_y) = (x + width / 2, y + height / 2 + 6);
        let (radius, colour) = (width / 2, if seeds == 0 { "#b08d5b" } else { "#000" });
        let _ = write!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\" fill=\"#f5e6cc\"/>\
             <text x=\"{text_x}\" y=\"{text_y}\" font-size=\"18\" fill=\"{colour}\">{seeds}</text>"
        );
    };
    let inside = (PIT - 8, PIT - 8);
    let x = |column: usize| STORE + column * PIT + 4;
    let seeds = |row: &Row| row.seeds().to_vec();
    hole(8, 8, (STORE - 16, height - 16), position.other_store());
    hole(width - STORE + 8, 8, (STORE - 16, height - 16), position.mover_store());
    for (index, &count) in seeds(position.other()).iter().rev().enumerate() {
        hole(x(index), 8, inside, count);
    }
    for (index, &count) in seeds(position.mover()).iter().enumerate() {
        hole(x(index), PIT + 8, inside, count);
    }
    for index in 0..pits {
        let (x, y) = (x(index) + inside.0 / 2, height + NUMBERS - 4);
        let _ = write!(svg, "<text x=\"{x}\" y=\"{y}\" font-size=\"11\" fill=\"#888\">{}</text>", index + 1);
    }
    svg + "</svg>"
}

/// The board, the moves with their scores and values, and a line of best play, as HTML.
pub fn probe(position: &Position, value: i64, moves: &[(usize, u32)], best: &[usize], line: &str) -> String {
    let mut html = format!("<div>{}<p>value <b>{value:+}</b></p>", board(position));
    if !moves.is_empty() {
        html += "<table><tr><th>move</th><th>score</th><th>value</th></tr>";
        for &(number, score) in moves {
            let (open, close) = if best.contains(&number) { ("<b>", "</b>") } else { ("", "") };
            let cell = |text: String| format!("<td>{open}{text}{close}</td>");
            let value = position.value(score);
            let cells = [cell(number.to_string()), cell(score.to_string()), cell(format!("{value:+}"))].concat();
            html += &format!("<tr>{cells}</tr>");
        }
        html += "</table>";
        html += &format!("<p>line of best play: <code>{line}</code></p>");
    }
    html + "</div>"
}
