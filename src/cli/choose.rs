use std::time::{Duration, Instant};

use clap::Args;
use kalah::game::Position;
use kalah::play::{Limit, PlayerName, Source, Worth};
use serde::Serialize;

use super::player_flags::{PlayerFlags, seconds};
use super::{Outcome, output};

/// Ask a player for its move in a position
///
/// The players are perfect, minimax:D, alphabeta:D, heuristic, minimax2:D, minimax3:D, greedy and random:SEED.
#[derive(Args)]
pub struct Choose {
    /// The position, such as 6x4 or 4,4,4,4,4,4/4,4,4,4,4,4; the mover is South
    position: Position,
    /// The player
    #[arg(long, value_name = "NAME", default_value = "perfect")]
    player: PlayerName,
    /// Seconds to think [default: as long as it takes]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    time: Option<Duration>,
    #[command(flatten)]
    with: PlayerFlags,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Answer {
    position: String,
    rules: &'static str,
    player: String,
    r#move: usize,
    #[serde(flatten)]
    worth: WorthOf,
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    seconds: f64,
}

/// What a move is worth, as far as it is known.
#[derive(Serialize, Default)]
pub struct WorthOf {
    /// Proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<i64>,
    /// Proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    lower: Option<i64>,
    /// Proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    upper: Option<i64>,
    /// By the player's own measure.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<i64>,
}

impl From<Worth> for WorthOf {
    fn from(worth: Worth) -> WorthOf {
        let none = WorthOf::default();
        match worth {
            Worth::Exact(value) => WorthOf { value: Some(value), ..none },
            Worth::Bounds { lower, upper } => WorthOf { lower: Some(lower), upper: Some(upper), ..none },
            Worth::Estimate(estimate) => WorthOf { estimate: Some(estimate), ..none },
            Worth::Unknown => none,
        }
    }
}

impl Choose {
    pub fn run(self) -> anyhow::Result<Outcome> {
        if self.position.is_over() {
            output::tell(format_args!("kalah: the game is over at {}: there is no move to choose", self.position));
            return Ok(Outcome::Usage);
        }
        let start = Instant::now();
        let limit = self.time.map_or_else(Limit::none, Limit::time);
        self.with.threads.start()?;
        let tables = self.with.open_tables(&self.position, self.player == PlayerName::Perfect)?;
        let setting = self.with.setting(tables.as_ref(), rayon::current_num_threads());
        let mut player = self.player.player(&setting);
        let choice = player.choose(&self.position, &limit, &mut |_| ())?;
        let seconds = start.elapsed().as_secs_f64();
        if !self.json {
            output::line(self.position)?;
            output::line(format_args!(
                "  {}  move {}, {}, {}",
                player.name(),
                choice.pit,
                choice.worth,
                choice.source
            ))?;
            return Ok(Outcome::Done);
        }
        output::json(&Answer {
            position: self.position.to_string(),
            rules: self.with.rules.name(),
            player: player.name(),
            r#move: choice.pit.number(),
            worth: choice.worth.into(),
            source: choice.source.name(),
            depth: if let Source::Depth(depth) = choice.source { Some(depth) } else { None },
            seconds,
        })?;
        Ok(Outcome::Done)
    }
}
