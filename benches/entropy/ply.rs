//! Exact scores of layers that hold only what the moves that store seeds leave open.
//!
//! A move that stores seeds leads to a lower layer. The best of these moves bounds the score from below; most scores are equal to
//! it. So a layer can consist of corrections: score less that bound. To read it costs a probe of the lower layers for each
//! such move; if these layers are of the same kind, the probes multiply. Here every second layer or two of three are.

use std::time::Instant;

use kalah::game::{Rules, mover_score, sow};
use kalah::index::{Frame, LayerIndex, TableRow, cumulative_positions, game_row, layer_positions, table_row};
use kalah::memory::prefetch;
use kalah::rows::RowMove;
use kalah::table::{FrameScores, Tables};

/// Positions in a line of 64 bytes of corrections: a bit for each that says whether there is one, in 40 bytes, and 4 bits for each
/// correction in the other 24.
const LINE: usize = 320;
const CORRECTIONS: usize = 48;

/// A position of the tree below the one that is probed.
struct Node {
    /// The number of the position before it, and what its move did there.
    parent: usize,
    again: bool,
    stored: i32,
    seeds: i32,
    /// The best score known.
    score: i32,
    place: Place,
}

/// Where the score of a node, or what is known of it, comes from.
enum Place {
    /// A row is empty.
    Over,
    /// A table of scores: seeds in both rows, and their ranks.
    Table(usize, usize, u32, u32),
    /// The line of corrections of this number.
    Corrections(usize),
}

/// Layers of scores and layers of corrections.
pub struct Ply<'a> {
    tables: &'a Tables,
    frames: Vec<Vec<FrameScores<'a>>>,
    top: usize,
    /// Layers from one layer of scores to the next; 1 if all layers are.
    period: usize,
    /// Stands for the corrections of all layers: as large as those of the largest one, but with nothing in it.
    lines: Vec<[u8; 64]>,
    nodes: Vec<Node>,
}

impl<'a> Ply<'a> {
    fn new(tables: &'a Tables, top: usize, period: usize) -> Ply<'a> {
        let frames = tables.layers().iter().map(|table| {
            let seeds = table.key().seeds;
            (1..seeds).map(|mover| table.frame(mover).expect("a sound frame")).collect()
        });
        let lines = layer_positions(tables.pits(), top) as usize / LINE + 1;
        Ply { tables, frames: frames.collect(), top, period, lines: vec![[1; 64]; lines], nodes: Vec::new() }
    }

    fn holds_scores(&self, seeds: usize) -> bool {
        holds_scores(self.top, self.period, seeds)
    }

    /// Adds the position of these rows and what must be probed for it; the processor fetches all of it meanwhile.
    fn expand(&mut self, mover: &TableRow, other: &TableRow, parent: usize, again: bool, before: usize) {
        let held = |row: &TableRow| row.iter().map(|&seeds| usize::from(seeds)).sum::<usize>();
        let (mine, theirs) = (held(mover), held(other));
        let seeds = mine + theirs;
        let at = self.nodes.len();
        let mut node = Node {
            parent,
            again,
            stored: (before - seeds) as i32,
            seeds: before as i32,
            score: if theirs == 0 { mine as i32 } else { 0 },
            place: Place::Over,
        };
        if mine == 0 || theirs == 0 {
            self.nodes.push(node);
            return;
        }
        let rows = self.tables.rows();
        let ranks = (rows.rank(mover), rows.rank(other));
        if self.holds_scores(seeds) {
            self.frames[seeds - 2][mine - 1].prefetch(ranks.0, ranks.1);
            node.place = Place::Table(mine, theirs, ranks.0, ranks.1);
            self.nodes.push(node);
            return;
        }
        let pits = self.tables.pits();
        let index = Frame { pits, mover: mine, other: theirs }.index(ranks.0, ranks.1) as usize;
        let line = (index / LINE + mine * 1_000_003) % self.lines.len();
        prefetch(&self.lines[line]);
        node.place = Place::Corrections(line);
        self.nodes.push(node);
        for (pit, played) in RowMove::all(self.tables.rules(), pits, mover) {
            let Some((own, their, again)) = after(self.tables.rules(), pits, mover, other, pit, played) else {
                continue;
            };
            if held(&own) + held(&their) == seeds {
                continue;
            }
            if again {
                self.expand(&own, &their, at, true, seeds);
            } else {
                self.expand(&their, &own, at, false, seeds);
            }
        }
    }

    /// The score of the position, if no correction were needed anywhere.
    fn score(&mut self, mover: &TableRow, other: &TableRow) -> i32 {
        self.nodes.clear();
        self.expand(mover, other, 0, true, self.top);
        for at in (0..self.nodes.len()).rev() {
            let node = &self.nodes[at];
            let score = match node.place {
                Place::Over => node.score,
                Place::Table(mine, theirs, mover, other) => {
                    let score = self.frames[mine + theirs - 2][mine - 1].score(mover, other);
                    i32::from(score.expect("a sound group"))
                }
                // Stands for looking up the correction.
                Place::Corrections(line) => node.score + i32::from(self.lines[line][63]) - 1,
            };
            let (parent, for_parent) = (node.parent, mover_score(node.again, node.stored, node.seeds, score));
            if at == 0 {
                return score;
            }
            let parent = &mut self.nodes[parent];
            parent.score = parent.score.max(for_parent);
        }
        unreachable!("the first node is the position itself")
    }

    /// Probes of tables and of corrections of the last position.
    fn probes(&self) -> usize {
        self.nodes.iter().filter(|node| !matches!(node.place, Place::Over)).count()
    }
}

/// The rows after a move of the mover, the mover's first, and whether it is an again-move; `None` for a quiet move.
fn after(
    rules: Rules,
    pits: usize,
    mover: &TableRow,
    other: &TableRow,
    pit: usize,
    played: RowMove,
) -> Option<(TableRow, TableRow, bool)> {
    let spill = |spilled: u8| {
        let mut their = *other;
        (0..usize::from(spilled)).for_each(|seed| their[seed % pits] += 1);
        their
    };
    match played {
        RowMove::Again { own, spilled, .. } => Some((own, spill(spilled), true)),
        RowMove::Pass { own, spilled } => Some((own, spill(spilled), false)),
        RowMove::Quiet { .. } => None,
        RowMove::Capture { uncaptured: Some(_), pit, .. } if other[pit] == 0 => None,
        RowMove::Capture { own, spilled, pit, .. } => {
            let mut their = spill(spilled);
            their[pit] = 0;
            Some((own, their, false))
        }
        RowMove::Relay { .. } => {
            let pit = kalah::game::Pit::from_index(pit).expect("a pit of a table's board");
            let sowing = sow(rules, &game_row(pits, mover), &game_row(pits, other), pit);
            let [own, their] = [sowing.mover, sowing.other].map(|row| table_row(&row).expect("a small row"));
            Some((own, their, sowing.again))
        }
    }
}

/// Whether the layer holds scores, if layers are numbered from `top` down.
fn holds_scores(top: usize, period: usize, seeds: usize) -> bool {
    (top - seeds) % period == period - 1
}

/// Bits a position of all layers to `top`, if layers of scores take 4.17 and those of corrections `bits`.
fn all_bits(pits: usize, top: usize, period: usize, bits: f64) -> f64 {
    let of_layer = |seeds| if holds_scores(top, period, seeds) { 4.17 } else { bits };
    let sum: f64 = (2..=top).map(|seeds| layer_positions(pits, seeds) as f64 * of_layer(seeds)).sum();
    sum / cumulative_positions(pits, top) as f64
}

/// Measures the corrections of the layer of `top` seeds, and probes with several periods.
pub fn measure(tables: &Tables, top: usize) {
    let pits = tables.pits();
    let layer = LayerIndex::new(tables.rows(), top);
    let mut random = fastrand::Rng::with_seed(3);
    let mut ply = Ply::new(tables, top, 1);
    let mut one = Corrections::default();
    for _ in 0..4000 {
        // A line of positions that follow each other in the layer.
        let start = random.u64(..layer.positions() - LINE as u64);
        let mut corrections = 0;
        for rank in start..start + LINE as u64 {
            let (mover, other) = layer.unrank(rank);
            let score = i32::from(tables.score(&mover, &other).expect("a sound table"));
            let (bound, quiet) = ply.one_ply(&mover, &other);
            corrections += one.add(score, bound, quiet);
        }
        one.lines.push(corrections);
    }
    one.print();

    let positions: Vec<(TableRow, TableRow)> =
        (0..300_000).map(|_| layer.unrank(random.u64(..layer.positions()))).collect();
    println!("layers of corrections between two layers of scores; probes of a position: mean, 99 of 100, most; ns;");
    println!("bits a position of all layers to 36 seeds if corrections take 1.6 bits, or 0.9");
    for period in 1..=3 {
        ply.period = period;
        let mut times: Vec<f64> = Vec::new();
        let mut sum = 0;
        for part in positions.chunks(positions.len() / 5) {
            let start = Instant::now();
            sum += part.iter().map(|(mover, other)| ply.score(mover, other)).sum::<i32>();
            times.push(start.elapsed().as_secs_f64() * 1e9 / part.len() as f64);
        }
        times.sort_by(f64::total_cmp);
        let mut probes: Vec<usize> = Vec::new();
        for (mover, other) in positions.iter().take(100_000) {
            ply.score(mover, other);
            probes.push(ply.probes());
        }
        probes.sort_unstable();
        println!(
            "{}: {:.2}, {}, {}; {:.0} (fastest fifth {:.0}); {:.2}, {:.2}   (mean {:.2})",
            period - 1,
            probes.iter().sum::<usize>() as f64 / probes.len() as f64,
            probes[probes.len() * 99 / 100],
            probes[probes.len() - 1],
            times[2],
            times[0],
            all_bits(pits, 36, period, 1.6),
            all_bits(pits, 36, period, 0.9),
            f64::from(sum) / positions.len() as f64,
        );
    }
}

impl Ply<'_> {
    /// The best score by a move that stores seeds, if there is one, and whether there is a quiet move.
    fn one_ply(&self, mover: &TableRow, other: &TableRow) -> (Option<i32>, bool) {
        let held = |row: &TableRow| row.iter().map(|&seeds| i32::from(seeds)).sum::<i32>();
        let seeds = held(mover) + held(other);
        let (mut best, mut quiet) = (None, false);
        for (pit, played) in RowMove::all(self.tables.rules(), self.tables.pits(), mover) {
            let next = after(self.tables.rules(), self.tables.pits(), mover, other, pit, played);
            let Some((own, their, again)) = next.filter(|(own, their, _)| held(own) + held(their) < seeds) else {
                quiet = true;
                continue;
            };
            let (next, last) = if again { (own, their) } else { (their, own) };
            let score = i32::from(self.tables.score(&next, &last).expect("sound tables"));
            best = best.max(Some(mover_score(again, seeds - held(&own) - held(&their), seeds, score)));
        }
        (best, quiet)
    }
}

/// Counts of corrections.
#[derive(Default)]
struct Corrections {
    positions: usize,
    without_bound: usize,
    corrected: usize,
    /// Corrections over 15.
    large: usize,
    lines: Vec<usize>,
}

impl Corrections {
    /// Counts a position, and returns how many corrections it takes: one or none. A position without a move that stores seeds
    /// has the bound 0.
    fn add(&mut self, score: i32, bound: Option<i32>, quiet: bool) -> usize {
        let correction = score - bound.unwrap_or(0);
        assert!(correction >= 0, "a move gives more than the score");
        assert!(quiet || correction == 0, "the best of all moves is not the score");
        self.positions += 1;
        self.without_bound += usize::from(bound.is_none());
        self.corrected += usize::from(correction > 0);
        self.large += usize::from(correction > 15);
        usize::from(correction > 0)
    }

    fn print(&self) {
        let share = |count: usize, all: usize| 100.0 * count as f64 / all as f64;
        let of = self.positions;
        let full = self.lines.iter().filter(|&&count| count > CORRECTIONS).count();
        println!(
            "corrections of {of} positions in lines of {LINE}: {:.2} % ({:.3} % over 15); {:.2} % without a move that \
             stores seeds; a bit for each position and 4 for each correction: {:.3}; {:.2} % of lines have more than \
             {CORRECTIONS}",
            share(self.corrected, of),
            share(self.large, of),
            share(self.without_bound, of),
            1.0 + 4.0 * self.corrected as f64 / of as f64,
            share(full, self.lines.len())
        );
    }
}
