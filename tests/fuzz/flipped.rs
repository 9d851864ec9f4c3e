//! A flipped bit in a table never makes a command answer wrongly: it answers correctly, or reports the damaged file and
//! the place.
#![cfg(feature = "cli")]

use std::path::Path;
use std::sync::{Arc, LazyLock};

use kalah::analyse::graph::{Convention, Explorer, GraphError};
use kalah::build::{Backend, BuildError, Builder};
use kalah::cancel::Cancel;
use kalah::game::{Position, Row, Rules, StartPosition};
use kalah::index::{LayerIndex, TableRow};
use kalah::isa::Isa;
use kalah::play::{PlayError, PlayerName, Setting};
use kalah::progress::Pulse;
use kalah::solve::{SolveError, Solver, SolverOptions};
use kalah::table::{ManifestEntry, Probe, ProbeError, Table, TableError, TableKey, Tables, archive};
use kalah::verify::{Fault, check_against};
use kalah_tests::files::{copied, flip};
use kalah_tests::program::{Ran, Run, with_tables};
use kalah_tests::tables::built;

use crate::setting;

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
fn sound() -> &'static Path {
    built(&[(RULES, PITS, SEEDS)])
}

fn key(seeds: usize) -> TableKey {
    TableKey { rules: RULES, pits: PITS, seeds }
}

fn open(directory: &Path, seeds: usize) -> Tables {
    Tables::open(directory, RULES, PITS, seeds).unwrap()
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
    let solved = with_tables(sound(), &format!("solve {ABOVE} --json")).run().success().json();
    let out = tempfile::tempdir().unwrap();
    let run = |tables: &Path, command: &str| {
        let command = command.replace("{line}", solved["line"].as_str().unwrap());
        with_tables(tables, &command.replace("{out}", out.path().to_str().unwrap())).run()
    };
    let entry = open(sound(), SEEDS).layer(DAMAGED).unwrap().header().entries[3];
    assert!(entry.section().blocks() == 1, "all reads of the frame are in one block");
    // The profile, the first group, the checksum.
    let lines = (entry.rows as usize).next_multiple_of(64);
    for (at, bit) in [(0, 0), (lines + 1, 6), (entry.checksums_at() as usize, 3)] {
        let damaged = copied(sound());
        let path = key(DAMAGED).path(damaged.path());
        flip(&path, entry.offset as usize + at, 1 << bit);
        for &(command, expected) in COMMANDS {
            let (code, stdout, stderr) = run(damaged.path(), command).parts();
            assert_eq!(code, 3, "{command}, byte {at}: {stdout}{stderr}");
            let is_silent = stdout.is_empty() || !command.ends_with("--json");
            assert!(is_silent && !stdout.contains(expected), "{command}, byte {at}: {stdout}");
            let place = format!("(byte {})", entry.offset);
            let named = stderr.contains(path.file_name().unwrap().to_str().unwrap()) && stderr.contains(&place);
            assert!(named || command.starts_with("verify"), "{command}, byte {at}: {stderr}");
        }
        // No archive is made of the damaged file.
        assert!(!archive::archive_path(out.path(), key(DAMAGED)).exists());
    }
    // With undamaged tables, each command prints its text.
    let whole = copied(sound());
    for &(command, expected) in COMMANDS {
        let ran = run(whole.path(), command).success();
        assert!(ran.stdout().contains(expected), "{command}: {}", ran.all());
    }
}

/// An answer of the tables, or the reason why they have no answer.
type Asked<T> = Result<T, TableError>;

/// A question about the tables in a directory, with an answer in words.
type Question = fn(&Path) -> Asked<String>;

/// The questions.
const QUESTIONS: [(&str, Question); 7] = [
    ("a choice", choice),
    ("what is solved", solved),
    ("the manifest", manifest),
    ("the game graph", outcomes),
    ("the archives", archives),
    ("the last layer", computed_again),
    ("the next layer", next),
];

/// Right answers to these questions.
static RIGHT: LazyLock<Vec<String>> = LazyLock::new(|| {
    let directory = copied(sound());
    QUESTIONS.iter().map(|(_, ask)| ask(directory.path()).unwrap()).collect()
});

fn of_probe(error: ProbeError) -> TableError {
    let ProbeError::Table(error) = error else { panic!("{error}") };
    error
}

fn of_solve(error: SolveError) -> TableError {
    let SolveError::Table(error) = error else { panic!("{error}") };
    error
}

fn solver<'t>(tables: &'t Tables, position: &Position) -> Result<Solver<'t>, SolveError> {
    Solver::new(SolverOptions::new(RULES, position).tables(Some(tables)).transpositions(1 << 20))
}

fn solved(directory: &Path) -> Asked<String> {
    let (tables, position) = (open(directory, SEEDS), ABOVE.parse().unwrap());
    let solved = solver(&tables, &position).and_then(|solver| solver.solve(&position, 0)).map_err(of_solve)?;
    Ok(format!("{solved:?}"))
}

fn choice(directory: &Path) -> Asked<String> {
    let tables = open(directory, SEEDS);
    let setting = Setting { tables: Some(&tables), ..Setting::new(RULES) };
    let choice = PlayerName::Perfect.player(&setting).choose(&INSIDE.parse().unwrap(), &Cancel::new(), &mut |_| ());
    match choice {
        Ok(choice) => Ok(format!("{} {}", choice.pit, choice.worth)),
        Err(PlayError::Table(error)) => Err(error),
        Err(error) => panic!("{error}"),
    }
}

fn manifest(directory: &Path) -> Asked<String> {
    let entries: Asked<Vec<_>> = open(directory, SEEDS).layers().iter().map(|table| ManifestEntry::of(table)).collect();
    Ok(format!("{:?}", entries?))
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

/// Digests of the archives of all layers.
fn archives(directory: &Path) -> Asked<String> {
    let (tables, to) = (open(directory, SEEDS), tempfile::tempdir().unwrap());
    let pack = |table: &Arc<Table>| {
        let path = archive::archive_path(to.path(), table.key());
        archive::compress(table, &path, &Pulse::default())?;
        Ok(blake3::hash(&std::fs::read(path).unwrap()).to_string())
    };
    tables.layers().iter().map(pack).collect()
}

/// Digest of the layer above, computed from those of `directory`.
fn next(directory: &Path) -> Asked<String> {
    let path = key(SEEDS + 1).path(directory);
    let built = Builder::new(directory, key(SEEDS + 1)).run(&Pulse::default(), &|_| {});
    let bytes = std::fs::read(&path).ok();
    let _ = std::fs::remove_file(path);
    match built {
        Ok(_) => Ok(blake3::hash(&bytes.expect("it was built")).to_string()),
        Err(BuildError::Table(error)) => Err(error),
        Err(error) => panic!("{error}"),
    }
}

/// Says that the last layer, computed again from those below, equals the existing one, or that it differs.
fn computed_again(directory: &Path) -> Asked<String> {
    let tables = open(directory, SEEDS);
    match check_against(&Backend::Cpu(Isa::detect()), &tables, SEEDS, &Pulse::default()) {
        Ok(_) => Ok("equal".to_owned()),
        Err(Fault::Table(error)) => Err(error),
        // The existing table may be the damaged one.
        Err(Fault::Score { .. }) => tables.layer(SEEDS).unwrap().check().map(|()| "different".to_owned()),
        Err(fault) => panic!("{fault}"),
    }
}

/// Queries tables that may be damaged, and compares the answers with the right `probes`. Returns the numbers of
/// answered and refused queries.
fn hold(directory: &Path, probes: &[Probe], what: &str) -> (u32, u32) {
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
    for ((question, ask), right) in QUESTIONS.iter().zip(&*RIGHT) {
        count(ask(directory).map(|answer| answer == *right), question);
    }
    (given, refused)
}

fn row(row: &TableRow) -> Row {
    Row::new(&row.map(u32::from)[..PITS]).unwrap()
}

#[test]
fn a_flipped_bit_anywhere_in_a_table_never_makes_a_wrong_answer() {
    let seed = setting("KALAH_FUZZ_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("KALAH_FUZZ_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let right = open(sound(), SEEDS);
    let index: Vec<LayerIndex> = (2..=SEEDS).map(|seeds| LayerIndex::new(right.rows(), seeds)).collect();
    let (mut given, mut refused, mut wrong_before) = (0, 0, 0);
    let flips = if setting("KALAH_FUZZ_SECONDS").is_some_and(|seconds| seconds >= 20) { 1000 } else { 60 };
    for number in 0..flips {
        // All layers, but mostly the large ones.
        let seeds = random.usize(2..=SEEDS).max(random.usize(2..=SEEDS));
        let table = right.layer(seeds).unwrap();
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
        let probes: Vec<Probe> = positions.iter().map(|position| right.probe(position).unwrap()).collect();
        let damaged = copied(sound());
        flip(&key(seeds).path(damaged.path()), at, 1 << bit);
        let what = format!("flip {number} (seed {seed}), {seeds} seeds, byte {at}, bit {bit}");
        let (more, fewer) = hold(damaged.path(), &probes, &what);
        (given, refused) = (given + more, refused + fewer);
        wrong_before += u32::from(misleads(damaged.path(), &right, seeds));
    }
    println!("{flips} flips: {given} answers, all right; {refused} refused; {wrong_before} flips change a score");
    // If this fails, the flips had too little effect for a test.
    assert!(refused > flips && given > flips && wrong_before > flips / 4);
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
