use std::time::Instant;

use clap::Args;
use kalah::game::{Position, Rules};
use kalah::solve::{Evaluation, LimitedSearch, Method};
use serde::Serialize;

use crate::cli::{Outcome, args, examples, failure, line, output, progress};

/// Search a position to a limited depth, without tables
///
/// Use this to compare search methods; `kalah solve` is much faster. The methods are those of Gonai and Cendejas
/// (2022).
#[derive(Args)]
#[command(after_help = examples(&[
    ("Search to a depth of nine moves", "kalah search 6x4 --depth 9"),
    ("Compare with plain alpha-beta", "kalah search 6x4 --depth 9 --method seq-ab"),
]))]
pub(crate) struct SearchCommand {
    /// Position, such as 6x4 or 4,4,4,4,4,4/4,4,4,4,4,4
    position: Position,
    /// Search this many moves deep, including moves after which the same player moves again
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(..=1000))]
    depth: u32,
    /// Search method: minimax (mm) or alpha-beta (ab), one position after the other (seq) or parallel in the first
    /// levels (par), or Young Brothers Wait in the first levels, then alpha-beta (ybw)
    #[arg(long, value_name = "METHOD", default_value = "ybw", value_parser = args::named(&Method::ALL, Method::name))]
    method: Method,
    /// Search the first N levels in parallel, with the parallel methods
    #[arg(long, value_name = "N", default_value_t = 3)]
    par_depth: u32,
    /// Evaluation at the depth limit: the difference of the stores, or of the seeds in stores and pits
    #[arg(
        long,
        value_name = "EVALUATION",
        default_value = "stores",
        value_parser = args::named(&[Evaluation::Stores, Evaluation::Seeds], evaluation_name)
    )]
    evaluation: Evaluation,
    /// Rule set
    #[arg(long, default_value_t, value_name = "RULES")]
    rules: Rules,
    #[command(flatten)]
    threads: args::Threads,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

fn evaluation_name(evaluation: Evaluation) -> &'static str {
    if evaluation == Evaluation::Seeds { "seeds" } else { "stores" }
}

#[derive(Serialize)]
struct SearchReport {
    position: String,
    rules: &'static str,
    method: &'static str,
    depth: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    par_depth: Option<u32>,
    value: i64,
    best: Option<usize>,
    nodes: u64,
    seconds: f64,
    threads: usize,
}

impl SearchCommand {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        self.threads.start()?;
        let Self { rules, method, depth, par_depth, evaluation, .. } = self;
        let search = LimitedSearch { rules, method, depth, par_depth, evaluation };
        let start = Instant::now();
        let subject = format!("searching {} to depth {depth} by {}", self.position, method.name());
        let result = progress::watch(&subject, || search.run(&self.position));
        let report = SearchReport {
            position: self.position.to_string(),
            rules: rules.name(),
            method: method.name(),
            depth,
            par_depth: (!matches!(method, Method::SeqMm | Method::SeqAb)).then_some(par_depth),
            value: result.value,
            best: result.best.map(|pit| pit.number()),
            nodes: result.nodes,
            seconds: start.elapsed().as_secs_f64(),
            threads: rayon::current_num_threads(),
        };
        output::answer(self.json, &report, || {
            let best = report.best.map_or("none".to_owned(), |best| best.to_string());
            let (positions, seconds) = (output::many(report.nodes, "position"), report.seconds);
            line!(
                "{} {} to depth {depth}: value {}, best move {best}, {positions}, {seconds:.3} s",
                report.position,
                report.method,
                report.value,
            )
        })?;
        Ok(Outcome::Done)
    }
}
