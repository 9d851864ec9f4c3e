//! A flipped bit in a table never makes a command answer wrongly: it reports the damaged file and the place.
//!
//! Every reader compares a block with its checksum before it uses a score. `tables.rs` changes any byte.
#![cfg(feature = "cli")]

use std::path::Path;

use kalah::game::Rules;
use kalah::table::{TableKey, Tables, archive};
use kalah_tests::files::{copied, flip};
use kalah_tests::program::{Ran, Run, with_tables};
use kalah_tests::tables::built;

use crate::setting;

/// The damaged layer.
const KEY: TableKey = TableKey { rules: Rules::EmptyCapture, pits: 4, seeds: 8 };

/// Undamaged tables, which no test changes.
fn sound() -> &'static Path {
    built(&[(KEY.rules, KEY.pits, 10)])
}

/// Commands that read scores, each with a text that it prints only after reading some. `{out}` is a directory to write
/// to, `{line}` a line of best play from 4x2, which is above the tables.
const COMMANDS: &[(&str, &str)] = &[
    ("probe 4x1", "score"),
    ("probe 4x1 --json", "score"),
    ("solve 4x1", "value"),
    ("probe 4x1 --json --no-map", "score"),
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
    let solved = with_tables(sound(), "solve 4x2 --json").run().success().json();
    let out = tempfile::tempdir().unwrap();
    let run = |tables: &Path, command: &str| {
        let command = command.replace("{line}", solved["line"].as_str().unwrap());
        with_tables(tables, &command.replace("{out}", out.path().to_str().unwrap())).run()
    };
    let entry = Tables::open(sound(), KEY.rules, KEY.pits, 10).unwrap().layer(KEY.seeds).unwrap().header().entries[3];
    assert!(entry.section().blocks() == 1, "all reads of the frame are in one block");
    // The profile, the first group, the checksum, and some places anywhere.
    let (lines, sum) = ((entry.rows as usize).next_multiple_of(64), entry.checksums_at() as usize);
    let seed = setting("KALAH_FUZZ_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("KALAH_FUZZ_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let more = if setting("KALAH_FUZZ_SECONDS").is_some_and(|seconds| seconds >= 20) { 40 } else { 3 };
    let anywhere = std::iter::repeat_with(|| (random.usize(..sum), random.u8(0..8))).take(more);
    for (at, bit) in [(0, 0), (lines + 1, 6), (sum, 3)].into_iter().chain(anywhere) {
        let damaged = copied(sound());
        let path = KEY.path(damaged.path());
        flip(&path, entry.offset as usize + at, 1 << bit);
        for &(command, expected) in COMMANDS {
            let (code, stdout, stderr) = run(damaged.path(), command).parts();
            assert_eq!(code, 3, "{command}, byte {at}, bit {bit}: {stdout}{stderr}");
            let is_silent = stdout.is_empty() || !command.ends_with("--json");
            assert!(is_silent && !stdout.contains(expected), "{command}, byte {at}, bit {bit}: {stdout}");
            let place = format!("(byte {})", entry.offset);
            let named = stderr.contains(path.file_name().unwrap().to_str().unwrap()) && stderr.contains(&place);
            assert!(named || command.starts_with("verify"), "{command}, byte {at}, bit {bit}: {stderr}");
        }
        // No archive is made of the damaged file.
        assert!(!archive::archive_path(out.path(), KEY).exists());
    }
    // With undamaged tables, each command prints its text.
    let whole = copied(sound());
    for &(command, expected) in COMMANDS {
        let ran = run(whole.path(), command).success();
        assert!(ran.stdout().contains(expected), "{command}: {}", ran.all());
    }
}
