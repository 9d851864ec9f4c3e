use std::collections::HashMap;
use std::io::{BufRead, IsTerminal};

use anyhow::Context;
use clap::Args;
use kalah::game::{Position, Rules};
use kalah::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};
use kalah::table::{self, ProbeError, TableError, Tables};
use serde::Serialize;

use super::{Outcome, advice, args, output};

/// Look positions up: score, value, moves, a line of best play
///
/// A position is <m,S,N,s1..sm,n1..nm>, or s1,..,sm/n1,..,nm without stores, or PITSxSEEDS; the mover is South.
/// A score is what the mover still collects of the seeds in play, a value the final store difference for the mover.
#[derive(Args)]
pub struct Probe {
    /// Positions [default: one a line from standard input]
    positions: Vec<String>,
    /// Rule set: empty-capture, standard or s-kalaha
    #[arg(long, default_value_t, value_name = "RULES")]
    rules: Rules,
    /// Pits a side that the positions must have [default: as the position says]
    #[arg(long, value_parser = args::pits)]
    pits: Option<usize>,
    #[command(flatten)]
    tables: args::Directory,
    /// Print one JSON object a position
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct MoveScore {
    r#move: usize,
    score: u32,
}

#[derive(Serialize)]
struct Answer {
    position: String,
    seeds: u32,
    score: u32,
    value: i64,
    moves: Vec<MoveScore>,
    best: Vec<usize>,
    line: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    finished: bool,
}

#[derive(Serialize)]
struct Refusal {
    position: String,
    error: String,
}

impl Probe {
    pub fn run(self) -> anyhow::Result<Outcome> {
        let mut prober = Prober { probe: &self, tables: HashMap::new(), outcome: Outcome::Done };
        if self.positions.is_empty() {
            if std::io::stdin().is_terminal() {
                output::note("positions, one a line; end with Ctrl-D:");
            }
            for line in std::io::stdin().lock().lines() {
                let line = line.context("cannot read positions from standard input")?;
                if !line.trim().is_empty() {
                    prober.answer(&line)?;
                }
            }
        } else {
            self.positions.iter().try_for_each(|position| prober.answer(position))?;
        }
        Ok(prober.outcome)
    }
}

struct Prober<'a> {
    probe: &'a Probe,
    /// By pits a side.
    tables: HashMap<usize, Tables>,
    outcome: Outcome,
}

impl Prober<'_> {
    /// Answers one position, or says why not and goes on.
    fn answer(&mut self, text: &str) -> anyhow::Result<()> {
        let position: Position = match text.parse() {
            Ok(position) => position,
            Err(error) => {
                self.outcome = Outcome::Usage;
                return self.refuse(text, &error);
            }
        };
        if let Some(pits) = self.probe.pits.filter(|&pits| pits != position.pits()) {
            self.outcome = Outcome::Usage;
            return self.refuse(text, &format_args!("{position} has {} pits a side, not {pits}", position.pits()));
        }
        match self.look_up(&position) {
            Ok(probe) if self.probe.json => Ok(self.json(&probe)?),
            Ok(probe) => Ok(self.text(&probe)?),
            Err(ProbeError::Table(error @ TableError::Damaged { .. })) => Err(error.into()),
            Err(error) => {
                if let Outcome::Done = self.outcome {
                    self.outcome = Outcome::Failed;
                }
                self.refuse(text, &advice::told(&error))
            }
        }
    }

    fn look_up(&mut self, position: &Position) -> Result<table::Probe, ProbeError> {
        // Boards that no table has are answered too: the game may be over.
        let pits = position.pits().min(MAX_TABLE_PITS);
        let tables = match self.tables.entry(pits) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(entry) => {
                let Probe { rules, tables, .. } = self.probe;
                entry.insert(Tables::open(&tables.path, *rules, pits, MAX_TABLE_SEEDS)?)
            }
        };
        tables.probe(position)
    }

    fn refuse(&self, position: &str, error: &dyn std::fmt::Display) -> anyhow::Result<()> {
        output::tell(format_args!("kalah: {error}"));
        if self.probe.json {
            output::json(&Refusal { position: position.trim().to_owned(), error: error.to_string() })?;
        }
        Ok(())
    }

    fn json(&self, probe: &table::Probe) -> std::io::Result<()> {
        output::json(&Answer {
            position: probe.position.to_string(),
            seeds: probe.position.seeds(),
            score: probe.score,
            value: probe.value,
            moves: probe.moves.iter().map(|&(pit, score)| MoveScore { r#move: pit.number(), score }).collect(),
            best: probe.best().map(|pit| pit.number()).collect(),
            line: probe.line.to_string(),
            finished: probe.position.is_over(),
        })
    }

    fn text(&self, probe: &table::Probe) -> std::io::Result<()> {
        let (position, score, seeds) = (probe.position, probe.score, probe.position.seeds());
        output::line(position)?;
        let over = if position.is_over() { "the game is over: " } else { "" };
        output::line(format_args!("  {over}score {score} of the {seeds} seeds in play, value {:+}", probe.value))?;
        if position.is_over() {
            return Ok(());
        }
        let moves: Vec<String> = probe.moves.iter().map(|(pit, score)| format!("{pit}: {score}")).collect();
        output::line(format_args!("  moves  {}", moves.join("  ")))?;
        let best: Vec<String> = probe.best().map(|pit| pit.to_string()).collect();
        output::line(format_args!("  best   {}", best.join(" ")))?;
        output::line(format_args!("  line   {}", probe.line))
    }
}
