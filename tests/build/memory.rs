//! Memory of searches and builds: they stay within the memory that they report.
#![cfg(all(feature = "cli", target_os = "linux"))]

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use kalah::build::build;
use kalah::evaluation::{LANES, Network, Weights};
use kalah::game::{Position, Rules};
use kalah::index::Frame;
use kalah::progress::Pulse;
use kalah::solve::{SearchMemory, SolverOptions};
use kalah::table::{BoundMaker, Cuts, Table, TableKey, Tables, archive};

use kalah_tests::files::files;
use kalah_tests::optional;
use kalah_tests::program::{self, Ran, Run, with_tables};
use kalah_tests::tables::{built, opened};
use serde_json::Value;

const MIB: u64 = 1 << 20;

/// Seeds of the largest table. All tables together have 44 MB.
const REACH: usize = 18;

/// Processor time for which a search is watched: longer than it takes to start copying tables.
const WATCHED: Duration = Duration::from_millis(3500);

/// Time after which a search is watched no longer. A minute after its start, it moves tables that it had not copied.
const WATCHED_AT_MOST: Duration = Duration::from_secs(50);

/// Directory of tables with 6 pits.
fn tables() -> &'static Path {
    built(&[(Rules::EmptyCapture, 6, REACH)])
}

/// Bytes of all tables.
fn table_bytes() -> u64 {
    files(tables()).values().map(|bytes| bytes.len() as u64).sum()
}

/// A search process that ends with the test.
struct Search(Child);

impl Drop for Search {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Processor time that a process used, from the fields `utime` and `stime` in ticks of 10 ms.
fn processor_time(process: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let ticks = |field: &str| field.parse::<u64>().unwrap();
    fields.split(' ').skip(11).take(2).map(|field| Duration::from_millis(10 * ticks(field))).sum()
}

/// Returns the most memory of its own that a long search takes in its first seconds of processor time, and its stderr.
fn watch(flags: &str) -> (u64, String) {
    let stderr = tempfile::NamedTempFile::new().unwrap();
    let mut command = with_tables(tables(), "solve 6x6 --no-book --threads 1");
    command.args(flags.split(' ')).stdout(Stdio::null()).stderr(stderr.reopen().unwrap());
    let child = command.spawn().unwrap();
    let (mut search, mut most, start) = (Search(child), 0, Instant::now());
    while processor_time(search.0.id()) < WATCHED && start.elapsed() < WATCHED_AT_MOST {
        let status = std::fs::read_to_string(format!("/proc/{}/status", search.0.id())).unwrap();
        let anonymous = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let kib = anonymous.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        most = most.max(1024 * kib.expect("the search goes on"));
        assert_eq!(search.0.try_wait().unwrap(), None, "the search is too short for this test");
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(search);
    (most, std::fs::read_to_string(stderr.path()).unwrap())
}

#[test]
fn a_search_keeps_to_its_memory() {
    let tables = table_bytes();
    let tight = tables / MIB + 24 + 16 + 4;
    let flags = ["--memory=256MiB --transpositions=32MiB", &format!("--memory={tight}MiB"), "--memory=64MiB"];
    let [roomy, tight_search, small] = std::thread::scope(|scope| {
        flags.map(|flags| scope.spawn(move || watch(flags))).map(|search| search.join().unwrap())
    });
    // A transposition table of 32 MiB, the tables, and copies of all of them.
    let (most, messages) = roomy;
    assert!(most > tables && most + tables < 256 * MIB, "{most}");
    assert!(!messages.contains("not all tables fit"), "{messages}");
    // No memory for copies.
    let (most, messages) = tight_search;
    assert!(most < (tight * MIB - tables) && !messages.contains("not all tables fit"), "{most} {messages}");
    // Not enough memory for all tables.
    let (most, messages) = small;
    assert!(most < 64 * MIB && messages.contains("exact ones to 1"), "{most} {messages}");
    assert!(messages.contains("--tables-up-to 18"), "{messages}");
}

#[test]
fn the_transposition_table_gets_what_the_tables_leave() {
    let position: Position = "6x6".parse().unwrap();
    let open = opened(Rules::EmptyCapture, 6, REACH);
    let options = |rest: u64, transpositions: Option<u64>| {
        let memory = SearchMemory::new(Some(table_bytes() + (24 + rest) * MIB), transpositions);
        SolverOptions::new(Rules::EmptyCapture, &position).tables(Some(&open)).memory(memory).within_memory()
    };
    for (rest, wanted, transpositions) in [(20, None, 16), (100, None, 32), (20, Some(2), 2), (20, Some(64), 16)] {
        let options = options(rest, wanted.map(|wanted| wanted * MIB));
        assert_eq!((options.reach(), options.transposition_bytes()), ((REACH, REACH), transpositions * MIB), "{rest}");
    }
    // A sixteenth is left at least, or what was wanted.
    assert!(options(2, None).reach().1 < REACH && options(2, Some(MIB)).reach().1 == REACH);
}

#[test]
fn plans_name_the_memory_they_are_for() {
    let run = |line: &str| with_tables(tables(), line).run();
    let plan = "plan search 6x6 --memory 24GiB --disk=1TiB --backend cpu --threads 2";
    let report = run(&format!("{plan} --json")).success().json();
    let layers = report["layers"].as_array().unwrap();
    let sum: u64 = layers.iter().map(|layer| layer["bytes"].as_u64().unwrap()).sum();
    assert_eq!(report["tables"], sum);
    assert!(sum + report["transpositions"].as_u64().unwrap() < 24 << 30);
    for (layer, seeds) in layers.iter().zip(2..) {
        // The existing tables are small, and therefore exact.
        assert_eq!((&layer["seeds"], &layer["exists"]), (&seeds.into(), &(seeds <= REACH).into()));
    }
    assert_eq!(report["exact_to_build"][0], REACH + 1);
    assert!(report["larger_disk"].is_null(), "{report}");

    // By default, a search does not fill the memory with a transposition table, and its plan states the same.
    let by_default = run("plan search 6x6 --tables-up-to 10 --json").success().json();
    assert!(by_default["transpositions"].as_u64().unwrap() <= by_default["memory"].as_u64().unwrap() / 4);

    let text = run(plan).printed();
    for part in ["24.00 GiB of memory", "2..", "exact", "2 bits", " of disk"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("instead of"), "{text}");
    // The program has no built-in network for 5 pits, and bound tables need one.
    let ran = run("plan search 5x6 --memory 64MiB");
    assert!(ran.stderr().contains("kalah train") && !ran.stdout().contains(" bits "), "{}", ran.all());
    // Existing tables are not built again.
    run("plan search 6x6 --memory 24GiB --tables-up-to 18").prints("all of them exist");
    let none = run("plan search 6x6 --memory 24GiB --disk 0").success();
    none.prints("all of them exist").prints("instead of 0 B");
    run("plan search 6x6 --memory 1MiB").exits(1).prints("--memory");
}

/// A plan once named tables of 43 seeds and 273 GiB for any disk.
#[test]
fn a_plan_is_for_the_disk_and_states_what_a_larger_one_brings() {
    let directory = tempfile::tempdir().unwrap();
    let run = |flags: &str| {
        let plan = "plan search 6x6 --memory=64GiB --backend=cpu --threads=2 --json";
        with_tables(directory.path(), &format!("{plan} {flags}")).run()
    };
    let report = |flags: &str| run(flags).success().json();
    let seeds = |report: &serde_json::Value| report["layers"].as_array().unwrap().len() as u64 + 1;
    let unlimited = report("--disk=1PiB");
    assert!(unlimited["larger_disk"].is_null(), "{unlimited}");
    let limited = report("--disk=100GiB");
    assert!(limited["disk"].as_u64() <= Some(100 << 30) && seeds(&limited) < seeds(&unlimited), "{limited}");
    let larger = &limited["larger_disk"];
    assert_eq!((&larger["disk"], larger["seeds"].as_u64()), (&unlimited["disk"], Some(seeds(&unlimited))));
    assert!(larger["nodes"].as_f64() < Some(0.9), "{limited}");
    // Without the flag, the disk of the tables counts.
    let own = report("--quiet");
    assert!(own["disk"].as_u64() <= own["disk_free"].as_u64(), "{own}");
    run("--disk=1KiB").exits(1);
}

/// Runs a short search. Returns its answer and its messages.
fn solve(directory: &Path, flags: &str) -> (Value, String) {
    let line = format!("solve 6x3 --json --value-only --threads 2 {flags}");
    let ran = with_tables(directory, &line).run().success();
    (ran.json(), ran.stderr())
}

#[test]
fn what_a_plan_names_is_built_and_used() {
    // In memory, exact tables above would be removed.
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (expected, _) = solve(tables(), "--quiet");
    let again = || solve(directory.path(), "--memory 32MiB --build");
    let (found, messages) = again();
    assert_eq!(found["value"], expected["value"]);
    assert!(messages.contains("to build") && messages.contains("making bound tables"), "{messages}");
    let (exact, bounds) = (found["table_seeds"].as_u64().unwrap(), found["bound_seeds"].as_u64().unwrap());
    assert!(exact < bounds, "{exact} {bounds}");
    let assert_found = |found: &Value, messages: &str| {
        assert_eq!((&found["value"], &found["bound_seeds"]), (&expected["value"], &bounds.into()), "{messages}");
    };
    // Further bound tables use the network of the existing ones.
    let open = Tables::open(directory.path(), Rules::EmptyCapture, 6, REACH).unwrap();
    let bounds_path = |table: &Table| table.key().bounds_path(directory.path());
    let mut bounded: Vec<_> = open.layers().iter().filter(|table| bounds_path(table).exists()).collect();
    let (inputs, zeros) = (vec![[0; LANES]; 2 * 6 * 16], [0; LANES]);
    let weights = Weights { inputs, bias: zeros, floor: zeros, outputs: zeros, shift: 7 };
    let network = Network::new(Rules::EmptyCapture, 6, &weights).unwrap();
    let maker = BoundMaker::new(&network, Cuts::TWO_BITS);
    std::fs::remove_file(bounds_path(bounded.pop().unwrap())).unwrap();
    for table in bounded {
        maker.write(table, directory.path(), &Default::default()).unwrap();
    }
    let (found, messages) = again();
    assert_found(&found, &messages);
    assert!(messages.contains("making bound tables of 1 layer"), "{messages}");
    // Bound tables do not need the exact tables that they were made from.
    for seeds in exact + 1..=bounds {
        std::fs::remove_file(directory.path().join(format!("empty-capture-6-{seeds:02}.kalah"))).unwrap();
    }
    let (found, messages) = solve(directory.path(), "--memory 32MiB");
    assert_found(&found, &messages);
    // The plan should name the existing tables.
    let (found, messages) = again();
    assert_found(&found, &messages);
    assert!(!messages.contains("to build") && !messages.contains("making"), "{messages}");
}

/// With tables in memory, one command builds them and keeps only what the search reads.
#[test]
fn tables_in_memory_that_the_search_does_not_read_are_removed() {
    let Ok(directory) = tempfile::tempdir_in("/dev/shm") else {
        return optional::skip("SYSTEM", "there is no directory in memory");
    };
    let path = |seeds: u64, form: &str| directory.path().join(format!("empty-capture-6-{seeds:02}.{form}"));
    // An exact table that was there before stays.
    with_tables(directory.path(), "build --seeds 8 --backend cpu").run().success();
    let solve = || solve(directory.path(), "--memory 32MiB --build");
    let (first, messages) = solve();
    let (exact, bounds) = (first["table_seeds"].as_u64().unwrap(), first["bound_seeds"].as_u64().unwrap());
    assert!(messages.contains("removed exact tables") && 8 < exact && exact < bounds, "{messages}");
    for seeds in 2..=bounds {
        assert_eq!(path(seeds, "kalah").exists(), seeds <= exact, "{seeds}");
        assert_eq!(path(seeds, "bounds").exists(), seeds > exact, "{seeds}");
    }
    let (second, messages) = solve();
    assert!(!messages.contains("to build") && !messages.contains("making"), "{messages}");
    assert_eq!((&second["value"], &second["bound_seeds"]), (&first["value"], &first["bound_seeds"]));
}

#[test]
fn a_system_that_does_not_report_its_memory_is_no_hindrance() {
    // An empty directory replaces /proc, for this program only.
    let hidden = |program: &str, arguments: &str| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c"]);
        command.arg(format!("mount -t tmpfs none /proc && exec {program} {arguments}")).output()
    };
    if !hidden("true", "").is_ok_and(|output| output.status.success()) {
        return optional::skip("SYSTEM", "namespaces are not allowed");
    }
    let directory = tempfile::tempdir().unwrap();
    let build = format!("build --pits 3 --seeds 6 --backend cpu --tables {}", directory.path().display());
    hidden(env!("CARGO_BIN_EXE_kalah"), &build).unwrap().success();
    assert!(directory.path().join("empty-capture-3-06.kalah").exists());
}

/// Runs the program with a limit of `ulimit` in KiB, such as `-d 1000`, and these tables.
fn limited(limit: &str, tables: &Path, line: &str) -> Output {
    let mut command = program::without_settings("sh");
    command.arg("-c").arg(format!("ulimit {limit} && exec {} {line}", env!("CARGO_BIN_EXE_kalah")));
    command.env("KALAH_TABLES", tables).env_remove("RUST_BACKTRACE").run()
}

/// Memory of the program apart from the plan: its own data, and the stacks of its threads. The limit counts all of
/// them, though they hardly use any.
const PROGRAM_KIB: u64 = 12 << 10;

#[test]
fn a_build_keeps_to_its_memory() {
    for (flags, threads) in
        [("--seeds 20", 2), ("--seeds 19", 1), ("--seeds 15 --rules s-kalaha", 2), ("--seeds 13 --pits 8", 2)]
    {
        let kalah = |limit: u64, command: &str| {
            let directory = tempfile::tempdir().unwrap();
            let line = format!("{command} --backend cpu {flags} --threads {threads} --json");
            limited(&format!("-d {limit}"), directory.path(), &line).success()
        };
        let plan = kalah(1 << 20, "plan build").json();
        let layers = plan["layers"].as_array().unwrap().iter();
        let planned = layers.map(|layer| layer["memory"].as_u64().unwrap()).max().unwrap() / 1024;
        kalah(planned + PROGRAM_KIB, "build");
    }
}

#[test]
fn unpacking_keeps_to_its_memory_and_reports_what_it_needs() {
    let key = TableKey { rules: Rules::EmptyCapture, pits: 6, seeds: 19 };
    let directory = tempfile::tempdir().unwrap();
    build(directory.path(), key.rules, key.pits, key.seeds).unwrap();
    let table = Table::open(key.path(directory.path())).unwrap();
    let packed = directory.path().join("small.archive");
    let info = archive::compress_in_chunks(&table, &packed, 512, &Pulse::default()).unwrap();
    let needed = archive::decompress_memory(&info, 1);
    // One and a half bytes for each position of the largest frame, and 8 MiB.
    let largest = key.frames().map(Frame::positions).max().unwrap();
    assert!(needed < largest * 3 / 2 + largest / 4 + (9 << 20), "{needed} for {largest}");
    let unpack = |kib: u64, flags: &str| {
        let to = tempfile::tempdir().unwrap();
        let line = format!("archive unpack {} --threads 1 {flags}", packed.display());
        (limited(&format!("-d {kib}"), to.path(), &line), to)
    };
    let (output, to) = unpack(needed / 1024 + (6 << 10), "");
    output.success();
    assert!(std::fs::read(key.path(to.path())).unwrap() == table.bytes());
    // Less is not enough, and the program reports this before it begins.
    let (output, to) = unpack(1 << 30, &format!("--memory {}", needed - 1));
    output.exits(1).prints("are allowed; allow more with --memory").prints("small.archive");
    assert_eq!(std::fs::read_dir(to.path()).unwrap().count(), 0);
    let (output, _) = unpack(largest / 1024, "");
    output.exits(1).prints("the data of a process is limited to").prints("ulimit -d");
}

/// Limits that are too small are an error before the work. Programs that reach one during the work abort.
#[test]
fn limits_of_the_process_are_kept_to() {
    let (space, data) = (("-v", "the address space"), ("-d", "the data of a process"));
    let mut refused = std::collections::BTreeMap::new();
    for ((flag, what), seeds, threads, kib, must_fit) in [
        (space, 14, 1, 100_000, true),
        (space, 18, 8, 400_000, true),
        (space, 14, 1, 50_000, false),
        (space, 18, 8, 70_000, false),
        (space, 18, 8, 90_000, false),
        (space, 18, 8, 120_000, false),
        (space, 18, 2, 150_000, false),
        (space, 24, 2, 300_000, false),
        (data, 18, 8, 100_000, true),
        (data, 20, 2, 75_000, false),
        (data, 18, 8, 50_000, false),
        (data, 18, 8, 20_000, false),
        (data, 18, 2, 10_000, false),
        (data, 14, 1, 6_000, false),
        (data, 14, 1, 3_000, false),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let line = format!("build --seeds {seeds} --threads {threads}");
        let output = limited(&format!("{flag} {kib}"), directory.path(), &line);
        let (code, messages) = (output.status.code(), output.stderr());
        let is_refused = code == Some(1) && messages.contains(&format!("{what} is limited to"));
        let is_right = code == Some(0) || is_refused && !must_fit;
        assert!(is_right, "{seeds} seeds, {threads} threads, {flag} {kib}: {}: {messages}", output.status);
        *refused.entry(flag).or_insert(0) += usize::from(is_refused);
    }
    assert!(refused.values().all(|&refused| refused > 0), "{refused:?}");
    for kib in [10_000, 12_000, 16_000, 40_000] {
        let output = limited(&format!("-d {kib}"), tables(), "solve 6x3 --no-book --threads 2");
        let is_refused = output.code() == 1 && output.stderr().contains("the data of a process is limited to");
        assert!(output.code() == 0 || kib < 40_000 && is_refused, "{kib}: {}", output.stderr());
    }
}
