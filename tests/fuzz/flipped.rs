//! A flipped bit in a table never makes a command answer wrongly: it answers correctly, or reports the damaged file and
//! the place.
#![cfg(feature = "cli")]

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::LazyLock;

use kalah::analyse::graph::{Convention, Explorer, GraphError};
use kalah::build::{Backend, BuildError, Builder};
use kalah::cancel::Cancel;
use kalah::game::{Pit, Position, Row, Rules, StartPosition};
use kalah::index::{LayerIndex, TableRow};
use kalah::isa::Isa;
use kalah::play::{PlayError, PlayerName, Setting};
use kalah::progress::Pulse;
use kalah::solve::{Solution, SolveError, Solver, SolverOptions};
use kalah::table::{AllTables, ManifestEntry, Probe, ProbeError, TableError, TableKey, Tables, archive};
use kalah::verify::{Fault, check_against};
use kalah_tests::program::{self, Ran, Run};

const RULES: Rules = Rules::EmptyCapture;
const PITS: usize = 4;
/// Seeds of the largest table.
const SEEDS: usize = 10;
/// Seeds of the damaged layer, in tests that damage only one.
const DAMAGED: usize = 8;
/// A position of that layer, and one above the tables.
const INSIDE: &str = "4x1";
const ABOVE: &str = "4x2";

/// Undamaged tables, which no test changes.
static SOUND: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    kalah::build::build(directory.path(), RULES, PITS, SEEDS).unwrap();
    directory
});

fn key(seeds: usize) -> TableKey {
    TableKey { rules: RULES, pits: PITS, seeds }
}

/// Copies the undamaged tables.
fn copy() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for seeds in 2..=SEEDS {
        std::fs::copy(key(seeds).path(SOUND.path()), key(seeds).path(directory.path())).unwrap();
    }
    directory
}

fn open(directory: &Path, seeds: usize) -> Tables {
    Tables::open(directory, RULES, PITS, seeds).unwrap()
}

/// Flips bits of the table of `seeds` seeds in `directory`.
fn flip(directory: &Path, seeds: usize, bits: &[(usize, u8)]) -> PathBuf {
    let path = key(seeds).path(directory);
    let mut bytes = std::fs::read(&path).unwrap();
    bits.iter().for_each(|&(at, bit)| bytes[at] ^= 1 << bit);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn kalah(tables: &Path, args: &[&str]) -> Output {
    program::command().env("KALAH_TABLES", tables).args(args).run()
}

/// Commands that read scores, each with a text that it prints only after reading some. `{out}` is a directory to write
/// to, `{line}` a line of best play from [`ABOVE`].
const COMMANDS: &[(&str, &str)] = &[
    ("probe 4x1", "score"),
    ("probe 4x1 --json", "score"),
    ("solve 4x1", "value"),
    ("solve 4x2 --json", "value"),
    ("solve 4x2 --value-only", "value"),
    ("solve 4x2 --openings", "value"),
    ("solve 4x2 --at-least 0", "value"),
    ("review 4x2 {line}", "seeds lost"),
    ("analyse values --pits 4 --seeds-per-pit 2", "4"),
    ("analyse values --pits 4 --seeds-per-pit 1 --json", "value"),
    ("move 4x1", "move"),
    ("move 4x2 --json", "move"),
    ("play 4x1 --south perfect --north perfect", "sows"),
    ("tournament random:1 greedy --start 4x1", "greedy"),
    ("tournament random:1 greedy --start 4x1 --json", "greedy"),
    ("info --manifest", "\"seeds\":8,"),
    ("bench --pits 4 --seeds 10 --backend cpu", "layer"),
    ("analyse graph 4x1", "4x1"),
    ("analyse graph --pits 4 --seeds-per-pit 1 --json", "outcomes"),
    ("archive pack --pits 4 --seeds 8 --output {out}", "packed"),
    ("build --pits 4 --seeds 11 --backend cpu", "built"),
    ("verify --pits 4 --against cpu --seeds 10", "no fault"),
];

#[test]
fn every_command_that_reads_scores_refuses_a_table_with_a_flipped_bit() {
    let line = kalah(SOUND.path(), &["solve", ABOVE, "--json"]).exits(0);
    let solved: serde_json::Value = line.json();
    let line = solved["line"].as_str().unwrap();
    let out = tempfile::tempdir().unwrap();
    let run = |tables: &Path, command: &str| {
        let mut args = Vec::new();
        for word in command.split(' ') {
            match word {
                "{line}" => args.extend(line.split(' ')),
                "{out}" => args.push(out.path().to_str().unwrap()),
                word => args.push(word),
            }
        }
        kalah(tables, &args)
    };
    let entry = open(SOUND.path(), SEEDS).layer(DAMAGED).unwrap().header().entries[3];
    assert!(entry.section().blocks() == 1, "all reads of the frame are in one block");
    // The profile, the first group, the checksum.
    let lines = (entry.rows as usize).next_multiple_of(64);
    for (at, bit) in [(0, 0), (lines + 1, 6), (entry.checksums_at() as usize, 3)] {
        let damaged = copy();
        let path = flip(damaged.path(), DAMAGED, &[(entry.offset as usize + at, bit)]);
        for &(command, expected) in COMMANDS {
            let ran = run(damaged.path(), command);
            let (code, stdout, stderr) = ran.parts();
            assert_eq!(code, 3, "{command}, byte {at}: {stdout}{stderr}");
            assert!(!stdout.contains(expected), "{command}, byte {at}: {stdout}");
            let place = format!("(byte {})", entry.offset);
            let named = stderr.contains(path.file_name().unwrap().to_str().unwrap()) && stderr.contains(&place);
            assert!(named || command.starts_with("verify"), "{command}, byte {at}: {stderr}");
        }
        // The damaged file stays unchanged.
        assert_eq!(std::fs::read_dir(out.path()).unwrap().filter(is_archive).count(), 0);
    }
    // With undamaged tables, each command prints its text.
    let sound = copy();
    for &(command, expected) in COMMANDS {
        let ran = run(sound.path(), command).exits(0);
        assert!(ran.stdout().contains(expected), "{command}: {}{}", ran.stdout(), ran.stderr());
    }
}

fn is_archive(file: &std::io::Result<std::fs::DirEntry>) -> bool {
    file.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "archive")
}

#[test]
fn a_table_under_the_name_of_another_is_damage_to_every_command() {
    let directory = copy();
    let (seven, eight) = (key(7).path(directory.path()), key(8).path(directory.path()));
    std::fs::copy(&seven, &eight).unwrap();
    for command in [
        "probe 4x1",
        "solve 4x1",
        "move 4x1",
        "export --pits 4 --seeds 8",
        "info",
        "info --manifest",
        "analyse graph 4x1",
        "bench --pits 4 --seeds 9 --backend cpu",
        "archive pack --pits 4",
        "build --pits 4 --seeds 9 --backend cpu",
        "verify --pits 4 --checksums",
        "tournament greedy --start 4x1",
    ] {
        let ran = kalah(directory.path(), &command.split(' ').collect::<Vec<_>>()).exits(3);
        // The result of a check is its output, on stdout.
        let printed = if command.starts_with("verify") { ran.stdout() } else { ran.stderr() };
        let found = printed.contains("it holds empty-capture with 4 pits and 7 seeds, not");
        assert!(found && printed.contains("empty-capture-4-08.kalah"), "{command}: {printed}");
    }
    // The tables of the page end below the wrong file, which the listing reports.
    let all_tables = AllTables::new(directory.path().to_owned());
    assert_eq!(all_tables.tables(RULES, PITS).unwrap().max_seeds(), Some(7));
    let listing = all_tables.list().unwrap();
    assert_eq!((listing.tables.len(), listing.damaged.len()), (SEEDS - 2, 1));
    assert!(listing.damaged[0].1.to_string().contains("it holds empty-capture with 4 pits and 7 seeds"));
}

/// Right answers to all questions about the tables.
struct Right {
    choice: (Pit, String),
    solved: Solution,
    manifest: Vec<ManifestEntry>,
    outcomes: String,
    /// Archives of the layers from 2 seeds up.
    archives: Vec<Vec<u8>>,
    next: Vec<u8>,
}

static RIGHT: LazyLock<Right> = LazyLock::new(|| {
    let directory = copy();
    let directory = directory.path();
    Right {
        choice: choice(directory).unwrap(),
        solved: solved(directory).unwrap(),
        manifest: manifest(directory).unwrap(),
        outcomes: outcomes(directory).unwrap(),
        archives: (2..=SEEDS).map(|seeds| packed(directory, seeds).unwrap()).collect(),
        next: next(directory).unwrap(),
    }
});

/// An answer of the tables, or the reason why they have no answer.
type Asked<T> = Result<T, TableError>;

fn of_probe(error: ProbeError) -> TableError {
    match error {
        ProbeError::Table(error) => error,
        error => panic!("{error}"),
    }
}

fn of_solve(error: SolveError) -> TableError {
    match error {
        SolveError::Table(error) => error,
        error => panic!("{error}"),
    }
}

fn solver<'t>(tables: &'t Tables, position: &Position) -> Result<Solver<'t>, SolveError> {
    Solver::new(SolverOptions::new(RULES, position).tables(Some(tables)).transpositions(1 << 20))
}

fn solved(directory: &Path) -> Asked<Solution> {
    let (tables, position) = (open(directory, SEEDS), ABOVE.parse().unwrap());
    solver(&tables, &position).and_then(|solver| solver.solve(&position, 0)).map_err(of_solve)
}

fn choice(directory: &Path) -> Asked<(Pit, String)> {
    let tables = open(directory, SEEDS);
    let setting = Setting { tables: Some(&tables), ..Setting::new(RULES) };
    let choice = PlayerName::Perfect.player(&setting).choose(&INSIDE.parse().unwrap(), &Cancel::new(), &mut |_| ());
    match choice {
        Ok(choice) => Ok((choice.pit, choice.worth.to_string())),
        Err(PlayError::Table(error)) => Err(error),
        Err(error) => panic!("{error}"),
    }
}

fn manifest(directory: &Path) -> Asked<Vec<ManifestEntry>> {
    open(directory, SEEDS).layers().iter().map(|table| ManifestEntry::of(table)).collect()
}

fn outcomes(directory: &Path) -> Asked<String> {
    let tables = open(directory, 8);
    let start: StartPosition = INSIDE.parse().unwrap();
    let convention = Convention::default();
    let explorer = Explorer { rules: RULES, start, convention, memory: 1 << 30, tables: Some(&tables) };
    match explorer.run(&Cancel::new(), &mut |_| ()) {
        Ok(graph) => Ok(format!("{:?}", graph.outcomes())),
        Err(GraphError::Table(error)) => Err(error),
        Err(error) => panic!("{error}"),
    }
}

fn packed(directory: &Path, seeds: usize) -> Asked<Vec<u8>> {
    let path = directory.join("packed.archive");
    archive::compress(open(directory, SEEDS).layer(seeds).unwrap(), &path, &Pulse::default())?;
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    Ok(bytes)
}

/// Table of the layer above, computed from those of `directory`.
fn next(directory: &Path) -> Asked<Vec<u8>> {
    let builder = Builder::new(directory, key(SEEDS + 1));
    let path = key(SEEDS + 1).path(directory);
    let built = builder.run(&Pulse::default(), &|_| {});
    let bytes = std::fs::read(&path).ok();
    let _ = std::fs::remove_file(path);
    match built {
        Ok(_) => Ok(bytes.expect("it was built")),
        Err(BuildError::Table(error)) => Err(error),
        Err(error) => panic!("{error}"),
    }
}

/// Returns true if the layer, computed again from those below, equals the existing one.
fn computed_again(directory: &Path, seeds: usize) -> Asked<bool> {
    let tables = open(directory, SEEDS);
    let backend = Backend::Cpu(Isa::detect());
    match check_against(&backend, &tables, seeds, &Pulse::default()) {
        Ok(_) => Ok(true),
        Err(Fault::Table(error)) => Err(error),
        // The existing table may be the damaged one.
        Err(Fault::Score { .. }) => tables.layer(seeds).unwrap().check().map(|()| false),
        Err(fault) => panic!("{fault}"),
    }
}

/// Queries tables that may be damaged, and compares the answers with the right `probes`. Returns the numbers of
/// answered and refused queries.
fn hold(directory: &Path, probes: &[Probe], seeds: usize, what: &str) -> (u32, u32) {
    let (mut given, mut refused) = (0, 0);
    let mut count = |right: Asked<bool>, question: &str| match right {
        Ok(right) => {
            assert!(right, "{what}: {question} is answered wrongly");
            given += 1;
        }
        Err(error) => {
            assert!(error.is_damage(), "{what}: {question}: {error}");
            refused += 1;
        }
    };
    for right in probes {
        let position = &right.position;
        let tables = open(directory, SEEDS);
        count(tables.probe(position).map(|probe| probe == *right).map_err(of_probe), "a probe");
        let tables = open(directory, SEEDS);
        let moves = tables.move_scores(position).map_err(of_probe);
        count(moves.map(|moves| moves == right.moves), "what the moves are worth");
        let known = solver(&tables, position).and_then(|solver| solver.known(position)).map_err(of_solve);
        count(known.map(|known| (known.lower, known.upper) == (right.score, right.score)), "what is known");
    }
    count(choice(directory).map(|choice| choice == RIGHT.choice), "a choice");
    count(solved(directory).map(|solved| solved == RIGHT.solved), "what is solved");
    count(manifest(directory).map(|manifest| manifest == RIGHT.manifest), "the manifest");
    count(outcomes(directory).map(|outcomes| outcomes == RIGHT.outcomes), "the game graph");
    count(packed(directory, seeds).map(|archive| archive == RIGHT.archives[seeds - 2]), "the archive");
    count(computed_again(directory, SEEDS), "the last layer");
    count(next(directory).map(|next| next == RIGHT.next), "the next layer");
    (given, refused)
}

fn row(row: &TableRow) -> Row {
    Row::new(&row.map(u32::from)[..PITS]).unwrap()
}

/// Number of bits to flip: a thousand if random tests get more time.
fn flips() -> usize {
    let seconds = std::env::var("KALAH_FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse::<u64>().ok());
    if seconds.is_some_and(|seconds| seconds >= 20) { 1000 } else { 60 }
}

#[test]
fn a_flipped_bit_anywhere_in_a_table_never_makes_a_wrong_answer() {
    let seed =
        std::env::var("KALAH_FUZZ_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| fastrand::u64(..));
    println!("KALAH_FUZZ_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let sound = open(SOUND.path(), SEEDS);
    let index: Vec<LayerIndex> = (2..=SEEDS).map(|seeds| LayerIndex::new(sound.rows(), seeds)).collect();
    let (mut given, mut refused, mut wrong_before) = (0, 0, 0);
    let flips = flips();
    for number in 0..flips {
        // All layers, but mostly the large ones.
        let seeds = random.usize(2..=SEEDS).max(random.usize(2..=SEEDS));
        let table = sound.layer(seeds).unwrap();
        let body = table.header().entries[0].offset as usize..table.bytes().len();
        let (at, bit) = (random.usize(body), random.u8(0..8));
        let positions: Vec<Position> = (0..4)
            .map(|number| {
                // Half of the positions are of the layer itself.
                let layer = &index[if number % 2 == 0 { seeds - 2 } else { random.usize(seeds - 2..=SEEDS - 2) }];
                let (mover, other) = layer.unrank(random.u64(..layer.positions()));
                Position::new(row(&mover), row(&other), random.u32(0..9), random.u32(0..9)).unwrap()
            })
            .collect();
        let right: Vec<Probe> = positions.iter().map(|position| sound.probe(position).unwrap()).collect();
        let damaged = copy();
        flip(damaged.path(), seeds, &[(at, bit)]);
        let what = format!("flip {number} (seed {seed}), {seeds} seeds, byte {at}, bit {bit}");
        let (more, fewer) = hold(damaged.path(), &right, seeds, &what);
        (given, refused) = (given + more, refused + fewer);
        wrong_before += u32::from(misleads(damaged.path(), &sound, seeds));
        if number % 10 == 0 {
            programs(damaged.path(), &right, &what);
        }
    }
    println!("{flips} flips: {given} answers, all right; {refused} refused; {wrong_before} flips change a score");
    // If this fails, the flips had too little effect for a test.
    assert!(refused > flips as u32 && given > flips as u32 && wrong_before > flips as u32 / 4);
}

/// Returns true if, without comparing checksums, a score of the layer differs from the undamaged table.
fn misleads(directory: &Path, sound: &Tables, seeds: usize) -> bool {
    let (damaged, sound) = (open(directory, SEEDS), sound.layer(seeds).unwrap());
    key(seeds).frames().any(|frame| {
        let (damaged, sound) =
            (damaged.layer(seeds).unwrap().frame_unchecked(frame.mover), sound.frame(frame.mover).unwrap());
        (0..frame.positions()).any(|index| {
            let (mover, other) = frame.ranks(index);
            damaged.score(mover, other) != sound.score(mover, other)
        })
    })
}

/// Does the same with the program, one process per question.
fn programs(directory: &Path, probes: &[Probe], what: &str) {
    for right in probes {
        let position = &right.position;
        for (command, field) in [("probe", "value"), ("move", "value"), ("solve", "value")] {
            if right.moves.is_empty() && command == "move" {
                continue;
            }
            let ran = kalah(directory, &[command, &position.to_string(), "--json"]);
            match ran.code() {
                0 => {
                    let answer: serde_json::Value = ran.json();
                    assert_eq!(answer[field], right.value, "{what}: {command} {position}: {}", ran.stdout());
                }
                3 => {
                    assert!(
                        ran.stdout().is_empty() && ran.stderr().contains("(byte "),
                        "{what}: {command}: {}",
                        ran.stderr()
                    )
                }
                code => panic!("{what}: {command} {position} ends with {code}: {}", ran.stderr()),
            }
        }
    }
    let ran = kalah(directory, &["solve", ABOVE, "--json"]);
    match ran.code() {
        0 => {
            let answer: serde_json::Value = ran.json();
            assert_eq!(answer["value"], RIGHT.solved.value, "{what}: {}", ran.stdout());
            assert_eq!(answer["line"], RIGHT.solved.line.to_string(), "{what}: {}", ran.stdout());
        }
        code => assert!(code == 3 && ran.stdout().is_empty(), "{what}: {code} {}{}", ran.stdout(), ran.stderr()),
    }
}
