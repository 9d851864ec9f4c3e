//! Flags shared by several commands, and parsers of their values.

use std::path::Path;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use kalah::book::{BookError, Books};
use kalah::diagnostic::build_command;
use kalah::file;
use kalah::file::InFile;
use kalah::game::{Rules, StartPosition};
use kalah::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};
use kalah::system::check_process_limits;
use kalah::table::{self, TableKey, Tables};

pub(crate) use crate::cli::flags::tables_flag::Directory;
use crate::cli::{Context, failed, failure, note, output};

/// Rules and size of the board.
#[derive(Args, Clone, Copy)]
pub(crate) struct BoardFlags {
    /// Rule set
    #[arg(long, default_value_t, value_name = "RULES")]
    pub rules: Rules,
    /// Pits a side
    #[arg(long, default_value_t = 6, value_parser = pits)]
    pub pits: usize,
}

/// Notes which layers are missing, if there are unused layers above them.
pub(crate) fn note_gaps(tables: &Tables) {
    if let Err(error) = tables.require_all() {
        note!("the layers above a gap are not used: {error}");
    }
}

/// States that there are no tables of a board.
pub(crate) fn no_tables(directory: &table::Directory, rules: Rules, pits: usize) -> String {
    let build = build_command(directory.name(), TableKey { rules, pits, seeds: 14 });
    let pits = output::count(pits, "pit");
    format!(
        "there are no tables for {rules} with {pits} in {directory}; build some with `{build}`, or give their \
         directory with --tables"
    )
}

/// Leave to replace an output file.
#[derive(Args, Clone, Copy)]
pub(crate) struct Force {
    /// Replace the output file if it exists
    #[arg(long)]
    force: bool,
}

impl Force {
    /// Returns an error if the output `path` cannot be written, or exists and may not be replaced. Removes the
    /// unfinished files of killed processes.
    pub(crate) fn prepare(self, path: &Path) -> failure::Result<()> {
        file::require_new(path, self.force)
            .and_then(|()| file::remove_leftovers(path))
            .and_then(|()| file::temporary_beside(path).map(drop))
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Use of the book.
#[derive(Args, Clone, Copy)]
pub(crate) struct BookFlag {
    /// Do not use the book of proved values
    #[arg(long)]
    no_book: bool,
}

impl BookFlag {
    /// Returns the books for the tables in `directory`; none with `--no-book`.
    pub(crate) fn find(self, directory: &table::Directory, rule_sets: &[Rules]) -> Result<Books, InFile<BookError>> {
        if self.no_book { Ok(Books::none()) } else { Books::find(directory, rule_sets) }
    }
}

/// Number of threads.
#[derive(Args, Clone, Copy)]
pub(crate) struct Threads {
    /// Use this many threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// Memory of a thread: its stack, and what protects that.
const STACK: u64 = (2 << 20) + (64 << 10);

impl Threads {
    /// Starts the thread pool that all parallel work uses.
    pub(crate) fn start(self) -> failure::Result<()> {
        let count = self.number();
        check_process_limits(STACK * count as u64, 0, || {
            format!("{} {}", output::count(count, "thread"), if count == 1 { "needs" } else { "need" })
        })?;
        rayon::ThreadPoolBuilder::new()
            .num_threads(count)
            .build_global()
            .map_err(failed)
            .context("cannot start the threads")
    }

    /// Returns the number of threads asked for, or that of the machine's cores.
    pub(crate) fn number(self) -> usize {
        self.threads.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from)
    }
}

/// Flags of most commands.
#[derive(Args, Clone)]
pub(crate) struct Common {
    #[command(flatten)]
    pub board: BoardFlags,
    #[command(flatten)]
    pub tables: Directory,
    #[command(flatten)]
    pub threads: Threads,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Reads the pits of a table's board.
pub(crate) fn pits(text: &str) -> Result<usize, String> {
    number(text, 1, MAX_TABLE_PITS, "pits a side")
}

/// Reads the seeds of a layer.
pub(crate) fn seeds(text: &str) -> Result<usize, String> {
    number(text, 2, MAX_TABLE_SEEDS, "seeds")
}

fn number(text: &str, least: usize, most: usize, what: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("tables have {least} to {most} {what}"))
}

/// Returns a parser of one of `all`, by its name.
pub(crate) fn named<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let named = move |text: String| *all.iter().find(|&&one| name(one) == text).expect("it is one of these names");
    PossibleValuesParser::new(all.iter().map(move |&one| name(one))).map(named)
}

/// Whole numbers from the first to the last.
pub(crate) type Range = std::ops::RangeInclusive<u32>;

/// Reads a number or a range of them within `LEAST` to `MOST`, such as 6, 1..6 or ..6.
pub(crate) fn range<const LEAST: u32, const MOST: u32>(text: &str) -> Result<Range, String> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let least = LEAST.to_string();
    let first = if first.is_empty() { &least } else { first };
    let number = |text: &str| text.parse().ok().filter(|number| (LEAST..=MOST).contains(number));
    let range = number(first).zip(number(last)).map(|(first, last)| first..=last);
    let range = range.filter(|range| !range.is_empty());
    range.ok_or_else(|| format!("write a number or a range such as {LEAST}..6, from {LEAST} to {MOST}"))
}

/// Units of times, in seconds. The longer of two endings comes first.
const UNITS: [(&str, f64); 4] = [("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];

/// Reads a time such as `500ms`, `90s`, `15m` or `2h`. A bare number counts units of `UNIT` seconds.
pub(crate) fn time<const UNIT: u32>(text: &str) -> Result<Duration, String> {
    let with_unit = UNITS.iter().find_map(|&(name, unit)| Some((text.strip_suffix(name)?, unit)));
    let (number, unit) = with_unit.unwrap_or((text, f64::from(UNIT)));
    let time = number.parse().ok().and_then(|number: f64| Duration::try_from_secs_f64(number * unit).ok());
    time.filter(|time| !time.is_zero() && time.as_secs() < 1_000_000_000)
        .ok_or_else(|| "write a time such as 500ms, 90s, 15m or 2h, above 0 and below a billion seconds".to_owned())
}

/// Reads the time after which a silent process counts as dead. A bare number counts seconds.
pub(crate) fn patience(text: &str) -> Result<Duration, String> {
    let time = time::<1>(text)?;
    let least = Duration::from_secs(2);
    if time >= least { Ok(time) } else { Err("write a time of at least 2s".to_owned()) }
}

/// Reads an amount of memory such as 512MiB or 4G, at least 1 MiB. A smaller one lacks its unit.
pub(crate) fn memory(text: &str) -> Result<u64, String> {
    match bytes(text)? {
        bytes if bytes < 1 << 20 => {
            Err(format!("{bytes} bytes are less than 1MiB, the minimum: give a unit, as in 4GiB"))
        }
        bytes => Ok(bytes),
    }
}

/// Reads an amount of memory such as 512MiB or 4G.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let bytes = text.parse().ok().map(|bytes: bytesize::ByteSize| bytes.as_u64());
    // The parser returns the largest number for sizes that are too large, and 0 for sizes below a byte.
    let zero = || text.bytes().all(|byte| !matches!(byte, b'1'..=b'9'));
    let exact = bytes.filter(|&bytes| !text.starts_with('+') && bytes < u64::MAX && (bytes > 0 || zero()));
    exact.ok_or_else(|| "write bytes, or a size such as 512MiB or 4GiB, below 16EiB".to_owned())
}

/// Start positions.
#[derive(Args)]
pub(crate) struct Boards {
    /// Boards, such as 4x3: 4 pits a side with 3 seeds in each
    #[arg(value_name = "BOARD", required_unless_present = "pits")]
    boards: Vec<StartPosition>,
    /// Instead of BOARD: all boards with these numbers of pits a side, such as 2..6
    #[arg(
        long,
        value_name = "A..B",
        value_parser = range::<1, 16>,
        requires = "seeds",
        conflicts_with = "boards"
    )]
    pits: Option<Range>,
    /// With --pits: the numbers of seeds in each pit, such as 1..6
    #[arg(
        long = "seeds-per-pit",
        value_name = "C..D",
        value_parser = range::<1, 63>,
        requires = "pits"
    )]
    seeds: Option<Range>,
}

impl Boards {
    /// Returns the boards in order.
    pub(crate) fn list(&self) -> Vec<StartPosition> {
        match (&self.pits, &self.seeds) {
            (Some(pits), Some(seeds)) => boards(pits, seeds),
            _ => self.boards.clone(),
        }
    }
}

/// Returns all start positions with these numbers of pits a side and of seeds in each pit.
pub(crate) fn boards(pits: &Range, seeds: &Range) -> Vec<StartPosition> {
    let row = |pits| seeds.clone().map(move |seeds| StartPosition { pits: pits as usize, seeds });
    pits.clone().flat_map(row).collect()
}
