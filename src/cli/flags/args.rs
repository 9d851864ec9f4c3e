//! Flags shared by several commands, and parsers of their values.

use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use indicatif::HumanBytes;
use kalah::book::Books;
use kalah::game::{Rules, StartPosition};
use kalah::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};
use kalah::system::{AvailableMemory, MemoryLimit, check_process_limits};
use kalah::table::{self, Layer, Tables};

pub(crate) use crate::cli::flags::tables_flag::Directory;
use crate::cli::{Context, failed, failure, note, output, with_advice};

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
pub(crate) fn note_gaps<T: Layer>(tables: &Tables<T>) {
    if let Err(error) = tables.require_all() {
        note!("the layers above a gap are not used: {error}");
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
    pub(crate) fn find(self, directory: &table::Directory, rule_sets: &[Rules]) -> Books {
        if self.no_book { Books::none() } else { Books::find(directory, rule_sets) }
    }

    /// Returns the books of all rule sets and boards, and notes each file that cannot be used.
    pub(crate) fn find_all(self, directory: &table::Directory) -> Books {
        let books = self.find(directory, &Rules::ALL);
        for error in books.unusable() {
            note!("{}; going on without a book for that board", with_advice(error));
        }
        books
    }
}

/// Number of threads.
#[derive(Args, Clone, Copy)]
pub(crate) struct Threads {
    /// Use this many threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

/// Maximum threads per core. More do not help, and the system may refuse to start them.
const THREADS_A_CORE: usize = 8;

/// Maximum searches at a time per core. They share its time, and each has a thread.
#[cfg(feature = "serve")]
const SEARCHES_A_CORE: usize = 64;

/// Memory of a thread: its stack, and what protects that.
const STACK: u64 = (2 << 20) + (64 << 10);

impl Threads {
    /// Starts the thread pool that all parallel work uses.
    pub(crate) fn start(self) -> failure::Result<()> {
        let threads = self.threads.map_or(0, threads_that_fit);
        let count = if threads > 0 { threads } else { cores() };
        check_process_limits(STACK * count as u64, 0, || {
            format!("{} {}", output::count(count, "thread"), if count == 1 { "needs" } else { "need" })
        })?;
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()
            .map_err(failed)
            .context("cannot start the threads")
    }

    /// Returns the number of threads asked for, without a limit by this machine's cores.
    pub(crate) fn number(self) -> usize {
        self.threads.map_or_else(cores, usize::from)
    }
}

/// Returns the number of cores of this machine.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns `asked`, or fewer with a note if this machine cannot use that many threads.
pub(crate) fn threads_that_fit(asked: u16) -> usize {
    that_fit(asked, ["thread", "threads"], THREADS_A_CORE)
}

/// Returns `asked`, or fewer with a note if this machine cannot run that many searches at a time.
#[cfg(feature = "serve")]
pub(crate) fn searches_that_fit(asked: u16) -> usize {
    that_fit(asked, ["search", "searches"], SEARCHES_A_CORE)
}

fn that_fit(asked: u16, [one, many]: [&str; 2], most_a_core: usize) -> usize {
    let (asked, cores) = (usize::from(asked), cores());
    let used = asked.min(cores * most_a_core);
    if used < asked {
        let (what, machine) = (if used == 1 { one } else { many }, output::count(cores, "core"));
        note!("using {used} {what}, not {asked}: more do not help with {machine}");
    }
    used
}

/// Notes that work which may take `bytes` of memory does not get them, so that the system may end the program.
pub(crate) fn note_memory(bytes: u64, what: &str) {
    let is_scarce = |available: &AvailableMemory| bytes > available.bytes && available.limit != MemoryLimit::Machine;
    if let Some(available) = AvailableMemory::now().filter(is_scarce) {
        note!(
            "{what} may take {} of memory, but {available}; the system may end this program: {}, or allow less with \
             --transpositions",
            HumanBytes(bytes),
            available.help(),
        );
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
    let seconds = number.parse().ok().map(|number: f64| number * unit);
    let seconds = seconds.filter(|&seconds| seconds > 0.0 && seconds < 1e9);
    // Less than half a nanosecond rounds to zero.
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).filter(|time| !time.is_zero());
    time.ok_or_else(|| "write a time such as 500ms, 90s, 15m or 2h, above 0 and below a billion seconds".to_owned())
}

/// Reads the time after which a silent process counts as dead. A bare number counts seconds.
pub(crate) fn patience(text: &str) -> Result<Duration, String> {
    let time = time::<1>(text)?;
    let least = Duration::from_secs(2);
    if time >= least { Ok(time) } else { Err("write a time of at least 2s".to_owned()) }
}

/// Minimum amount of memory that a flag accepts. A smaller one lacks its unit.
const LEAST_MEMORY: u64 = 1 << 20;

/// Reads an amount of memory such as 512MiB or 4G, at least 1 MiB.
pub(crate) fn memory(text: &str) -> Result<u64, String> {
    let bytes = bytes(text)?;
    if bytes >= LEAST_MEMORY {
        return Ok(bytes);
    }
    let number = text.parse::<u64>().ok().filter(|&number| number > 0);
    let hint = number.map_or(String::new(), |number| format!("; did you mean {number}GiB?"));
    Err(format!("{bytes} bytes are less than 1MiB, the minimum{hint}"))
}

/// Reads an amount of memory such as 512MiB or 4G.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let bytes: Option<u64> = text.parse().ok().map(|bytes: bytesize::ByteSize| bytes.as_u64());
    // The parser returns the largest number for sizes that are too large, and 0 for sizes below a byte.
    let zero = || text.bytes().all(|byte| !matches!(byte, b'1'..=b'9'));
    let signed = text.starts_with('+');
    let exact = bytes.filter(|&bytes| !signed && bytes < u64::MAX && (bytes > 0 || zero()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, seconds) in
            [("90s", 90.0), ("15m", 900.0), ("2h", 7200.0), ("0.5h", 1800.0), ("3", 180.0), ("500ms", 0.5)]
        {
            assert_eq!(time::<60>(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        assert_eq!(time::<1>("3"), Ok(Duration::from_secs(3)));
        for text in ["", "s", "ms", "0", "0h", "-1", "1d", "1e9s", "1e-10", "NaN", "inf", "1 h", "hé"] {
            assert!(time::<1>(text).is_err(), "{text}");
        }
        assert_eq!(patience("2000ms"), Ok(Duration::from_secs(2)));
        assert!(patience("1").is_err());
    }

    #[test]
    fn an_amount_of_memory_without_its_unit_is_refused() {
        assert_eq!(memory("1MiB"), Ok(1 << 20));
        assert_eq!(memory("4294967296"), Ok(4 << 30));
        for text in ["4", "100", "1048575", "4KiB", "0"] {
            let error = memory(text).unwrap_err();
            assert!(error.contains("less than 1MiB"), "{text}: {error}");
        }
        assert!(memory("4").unwrap_err().ends_with("did you mean 4GiB?"));
    }
}
