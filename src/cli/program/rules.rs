use clap::Args;
use kalah::game::{Pit, Position, Rules};
use serde::Serialize;

use crate::cli::help::examples;
use crate::cli::output;
use crate::cli::output::board_view;
use crate::cli::process::outcome::Outcome;

/// Explain the rule sets, with examples
///
/// Use this to find the --rules name of the rules that you play.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Explain all rule sets", "kalah rules"),
    ("Explain one rule set", "kalah rules standard"),
]))]
pub struct Explain {
    /// Rule set to explain [default: all]
    #[arg(value_name = "NAME")]
    rules: Option<Rules>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Position in which the rule sets differ, and moves that show it.
const POSITION: &str = "1,0,1,0,3,1/2,0,0,0,4,0";
const MOVES: [(usize, &str); 4] = [
    (1, "the last seed falls into South's empty pit 2, opposite four seeds"),
    (3, "the last seed falls into South's empty pit 4, opposite an empty pit"),
    (5, "the last seed falls into North's pit 1, which has two seeds"),
    (6, "the last seed falls into South's store"),
];

#[derive(Serialize)]
struct Example {
    position: String,
    r#move: usize,
    what: &'static str,
    /// Position after the move, as the mover sees it, whoever is to move.
    after: String,
    again: bool,
}

#[derive(Serialize)]
struct RuleSet {
    name: &'static str,
    default: bool,
    played_by: &'static str,
    summary: &'static str,
    examples: Vec<Example>,
}

#[derive(Serialize)]
struct RulesReport {
    common: &'static str,
    rules: Vec<RuleSet>,
}

impl Explain {
    pub fn run(self) -> anyhow::Result<Outcome> {
        let start: Position = POSITION.parse()?;
        let explained = self.rules.map_or(Rules::ALL.to_vec(), |rules| vec![rules]);
        let rule_sets = explained.into_iter().map(|rules| RuleSet {
            name: rules.name(),
            default: rules.is_default(),
            played_by: rules.played_by(),
            summary: rules.summary(),
            examples: MOVES.iter().filter_map(|&(number, what)| example(rules, &start, number, what)).collect(),
        });
        let report = RulesReport { common: Rules::COMMON, rules: rule_sets.collect() };
        output::answer(self.json, &report, || report.text(&start))?;
        Ok(Outcome::Done)
    }
}

/// Plays a move under a rule set.
fn example(rules: Rules, start: &Position, number: usize, what: &'static str) -> Option<Example> {
    let played = start.play(rules, Pit::from_number(number)?).ok()?;
    let after = if played.again { played.position } else { played.position.turned() }.to_string();
    Some(Example { position: start.to_string(), r#move: number, what, after, again: played.again })
}

impl RulesReport {
    fn text(&self, start: &Position) -> std::io::Result<()> {
        output::line(output::wrapped(self.common, 0))?;
        let alone = self.rules.len() == 1;
        if !alone {
            output::line("\nRule sets differ in the effect of the last seed of a sowing:")?;
        }
        for rules in &self.rules {
            let default = if rules.default { ", the default" } else { "" };
            output::line(format_args!("\n{}{default}: {}", rules.name, rules.played_by))?;
            output::line(output::wrapped(rules.summary, 2))?;
        }
        let by = if alone { "" } else { " under each rule set" };
        output::line(format_args!("\nMoves of South{by}:\n\n{}", board_view::draw(start)))?;
        for (index, (number, what)) in MOVES.iter().enumerate() {
            output::line(format_args!("\nMove {number}: {what}"))?;
            for rules in &self.rules {
                let Some(example) = rules.examples.get(index) else { continue };
                let again = if example.again { ", moves again" } else { "" };
                output::line(format_args!("  {:<14} {}{again}", rules.name, example.after))?;
            }
        }
        output::line("\nPositions are <pits, South's store, North's store, South's pits, North's pits>.")
    }
}
