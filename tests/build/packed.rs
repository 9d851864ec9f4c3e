//! Builds into archives: the same bytes as packing tables, with the planned memory and reads.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use kalah::build::{BuildError, BuildEvent, BuildPlan, BuildReport, Builder, build, layer_plans, lower_frames};
use kalah::file::beside;
use kalah::game::{Pit, Rules, sow};
use kalah::index::{Frame, RowIndex, game_row};
use kalah::progress::Pulse;
use kalah::table::{Table, TableKey, archive};

use crate::files::{assert_same_files, files};

/// Ample memory.
const AMPLE: u64 = 1 << 40;

/// Runs a build that stops after a number of events.
fn run(directory: &Path, last: TableKey, first: usize, memory: u64, stop_at: usize) -> Result<BuildReport, BuildError> {
    let (pulse, events) = (Pulse::default(), AtomicUsize::new(0));
    Builder::new(directory, last).archives(first, memory).run(&pulse, &|event| {
        let counts = matches!(event, BuildEvent::Pair(_) | BuildEvent::Compressing(_));
        if counts && events.fetch_add(1, Ordering::Relaxed) + 1 == stop_at {
            pulse.cancel.cancel();
        }
    })
}

/// Makes a directory as a build into archives should leave it: tables below `first`, archives of the layers above.
fn expected(last: TableKey, first: usize) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path(), last.rules, last.pits, last.seeds).unwrap();
    for seeds in first..=last.seeds {
        let key = TableKey { seeds, ..last };
        let table = Table::open(key.path(directory.path())).unwrap();
        archive::compress(&table, archive::archive_path(directory.path(), key), &Pulse::default()).unwrap();
        std::fs::remove_file(key.path(directory.path())).unwrap();
    }
    directory
}

/// Frames of lower layers that the moves from all positions of a frame lead to.
fn played(rules: Rules, frame: Frame) -> BTreeSet<(usize, usize)> {
    let index = RowIndex::new(frame.pits, frame.mover + frame.other).unwrap();
    let rows = |seeds| (0..index.rows(seeds) as u32).map(move |rank| (seeds, rank));
    let row = |(seeds, rank)| game_row(frame.pits, &index.unrank(seeds, rank)).unwrap();
    let mut found = BTreeSet::new();
    for mover in rows(frame.mover).map(row) {
        for other in rows(frame.other).map(row) {
            for pit in (0..frame.pits).filter(|&pit| mover.seeds()[pit] > 0) {
                let sown = sow(rules, &mover, &other, Pit::from_index(pit).unwrap());
                let seeds = |row: &kalah::game::Row| row.seeds().iter().sum::<u32>() as usize;
                let (left, opponent) = (seeds(&sown.mover), seeds(&sown.other));
                let child = if sown.again { (left, opponent) } else { (opponent, left) };
                if left > 0 && opponent > 0 && left + opponent < frame.mover + frame.other {
                    found.insert(child);
                }
            }
        }
    }
    found
}

#[test]
fn what_a_frame_is_computed_from_is_what_its_moves_lead_to() {
    for rules in Rules::ALL {
        for (pits, seeds) in [(1, 12), (2, 14), (3, 17), (4, 10), (6, 7), (8, 5)] {
            for mover in 1..seeds {
                let frame = Frame { pits, mover, other: seeds - mover };
                let needs = lower_frames(rules, frame);
                assert!(needs.is_sorted_by_key(|need| (need.mover + need.other, need.mover)));
                let needs: BTreeSet<_> = needs.iter().map(|need| (need.mover, need.other)).collect();
                let found = played(rules, frame);
                assert!(needs.is_superset(&found), "{rules} {frame:?}: {:?}", found.difference(&needs));
                // After a sowing around the other row, fewer seeds can be captured than the plan assumes, and not every
                // relay is possible.
                if !rules.relays() && mover < pits + 2 && pits > 1 {
                    assert_eq!(needs, found, "{rules} {frame:?}");
                }
            }
        }
    }
}

#[test]
fn archives_are_those_of_the_tables_of_a_plain_build() {
    for rules in Rules::ALL {
        for (pits, seeds, first) in [(1, 9, 2), (2, 19, 7), (3, 12, 2), (6, 8, 5), (7, 6, 3)] {
            let last = TableKey { rules, pits, seeds };
            let right = expected(last, first);
            for memory in [0, AMPLE] {
                let directory = tempfile::tempdir().unwrap();
                let report = run(directory.path(), last, first, memory, usize::MAX).unwrap();
                assert_eq!((report.built.len(), report.compressed), (seeds - 1, seeds + 1 - first));
                let what = format!("{last} from {first} up, {memory} bytes");
                assert_same_files(&files(right.path()), &files(directory.path()), &what);
                // The build has no work left.
                let report = run(directory.path(), last, first, memory, usize::MAX).unwrap();
                assert_eq!((report.built.len(), report.compressed, report.kept), (0, 0, seeds - 1));
            }
        }
    }
}

#[test]
fn a_build_into_archives_that_was_stopped_goes_on_to_the_same_files() {
    let last = TableKey { rules: Rules::EmptyCapture, pits: 3, seeds: 8 };
    let right = expected(last, 4);
    let right = files(right.path());
    for stop_at in 1.. {
        let directory = tempfile::tempdir().unwrap();
        let stopped = match run(directory.path(), last, 4, 0, stop_at) {
            Ok(_) => false,
            Err(BuildError::Stopped(_)) => true,
            Err(other) => panic!("{other}"),
        };
        run(directory.path(), last, 4, 0, usize::MAX).unwrap();
        assert_same_files(&right, &files(directory.path()), &format!("stopped at event {stop_at}"));
        if !stopped {
            assert!(stop_at > 10, "{stop_at} events");
            break;
        }
    }
}

/// A power failure may leave the two files of an unfinished archive in any state. Only finished frames that are whole
/// are used.
#[test]
fn an_unfinished_archive_that_was_damaged_goes_on_to_the_same_file() {
    let last = TableKey { rules: Rules::EmptyCapture, pits: 4, seeds: 9 };
    let right = expected(last, 9);
    let right = files(right.path());
    let mut random = fastrand::Rng::with_seed(5);
    for case in 0..60 {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        for seeds in 2..9 {
            let name = TableKey { seeds, ..last }.file_name();
            std::fs::write(directory.join(&name), &right[&name]).unwrap();
        }
        assert!(matches!(run(directory, last, 9, 0, 2 + case % 3), Err(BuildError::Stopped(_))));
        let archive = archive::archive_path(directory, last);
        let damaged = beside(&archive, [".partial", ".frames.partial"][case % 2]);
        let mut bytes = std::fs::read(&damaged).unwrap();
        match case / 2 % 4 {
            0 => bytes.truncate(random.usize(..bytes.len())),
            1 => bytes.extend([7; 300]),
            2 => {
                let at = random.usize(..bytes.len());
                bytes[at] ^= 1 << random.u8(..8);
            }
            _ => bytes.fill(0),
        }
        std::fs::write(&damaged, bytes).unwrap();
        run(directory, last, 9, 0, usize::MAX).unwrap();
        assert_same_files(&right, &files(directory), &format!("case {case}"));
    }
}

/// Every state that a killed program can leave.
#[test]
fn what_a_killed_build_into_archives_left_is_used_or_removed() {
    let last = TableKey { rules: Rules::Standard, pits: 3, seeds: 8 };
    let right = expected(last, 4);
    let plain = tempfile::tempdir().unwrap();
    build(plain.path(), last.rules, last.pits, last.seeds).unwrap();
    let table = |seeds| TableKey { seeds, ..last }.file_name();
    let leave = |directory: &Path, name: String| std::fs::copy(plain.path().join(&name), directory.join(&name));
    // The program is killed before the table is deleted, before it is packed, while it is packed, and while it is
    // built.
    for case in 0..4 {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        run(directory, TableKey { seeds: if case == 0 { 8 } else { 7 }, ..last }, 4, 0, usize::MAX).unwrap();
        match case {
            0 => _ = leave(directory, table(8)).unwrap(),
            1 => _ = leave(directory, table(8)).unwrap(),
            2 => {
                leave(directory, table(8)).unwrap();
                std::fs::write(directory.join(table(8) + ".zst.0abcde.tmp"), b"half").unwrap();
            }
            _ => {
                let bytes = std::fs::read(plain.path().join(table(8))).unwrap();
                let partial = beside(&last.path(directory), ".partial");
                std::fs::write(partial, &bytes[..bytes.len() / 2]).unwrap();
            }
        }
        run(directory, last, 4, 0, usize::MAX).unwrap();
        assert_same_files(&files(right.path()), &files(directory), &format!("case {case}"));
    }
}

#[test]
fn a_damaged_archive_below_ends_the_build() {
    let last = TableKey { rules: Rules::EmptyCapture, pits: 3, seeds: 7 };
    let right = expected(last, 4);
    let path = archive::archive_path(right.path(), last);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[200] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let error = run(right.path(), TableKey { seeds: 8, ..last }, 4, 0, usize::MAX).unwrap_err();
    assert!(error.to_string().contains(".kalah.zst") && error.to_string().contains("chunk"), "{error}");
    // A table that differs from its archive is not deleted.
    let right = expected(last, 4);
    let other = tempfile::tempdir().unwrap();
    build(other.path(), Rules::Standard, 3, 7).unwrap();
    let foreign = archive::archive_path(right.path(), last);
    let key = TableKey { rules: Rules::Standard, ..last };
    archive::compress(&Table::open(key.path(other.path())).unwrap(), &foreign, &Pulse::default()).unwrap();
    let error = run(right.path(), last, 4, 0, usize::MAX).unwrap_err();
    assert!(error.to_string().contains("standard"), "{error}");
}

#[test]
fn a_build_into_archives_reads_what_was_planned() {
    for (rules, pits, seeds, first) in
        [(Rules::EmptyCapture, 6, 13, 5), (Rules::Standard, 4, 15, 2), (Rules::SKalaha, 5, 9, 6)]
    {
        let last = TableKey { rules, pits, seeds };
        let threads = rayon::current_num_threads();
        let least = BuildPlan::of_archives(Path::new("nothing is here"), last, first, threads).memory;
        let mut reads = Vec::new();
        for memory in [least, least + (1 << 20), AMPLE] {
            let plans = layer_plans(last, Some(first), (memory, threads), |_| false);
            assert!(plans.iter().all(|plan| plan.memory <= least));
            let directory = tempfile::tempdir().unwrap();
            let pulse = Pulse::default();
            let done = Builder::new(directory.path(), last).archives(first, memory).run(&pulse, &|_| {}).unwrap().reads;
            let planned = plans.iter().map(|plan| plan.decompressed as u64).sum::<u64>();
            let positions = plans.iter().map(|plan| plan.decompressed_positions).sum::<u64>();
            assert_eq!((done.frames, done.positions), (planned, positions), "{last} with {memory} bytes");
            // The progress display ends at the planned number.
            let computed = plans.iter().map(|plan| plan.positions).sum::<u64>();
            assert_eq!(pulse.positions.load(Ordering::Relaxed), computed + positions, "{last} with {memory} bytes");
            // The archives are at most as large as planned.
            for plan in plans.iter().filter(|plan| plan.key.seeds >= first) {
                let path = archive::archive_path(directory.path(), plan.key);
                assert!(path.metadata().unwrap().len() <= plan.archive, "{}", plan.key);
            }
            if memory == AMPLE {
                // Each frame is read once.
                let all = (first..seeds).map(|seeds| kalah::index::layer_positions(pits, seeds)).sum::<u64>();
                assert!(done.positions <= all, "{} of {all}", done.positions);
            }
            reads.push(done.positions);
        }
        // A relay can lead to any lower frame, so all of them are needed in any case.
        assert!(reads[0] > reads[2] || rules.relays(), "{last}: {reads:?}");
    }
}

#[test]
fn what_the_disk_reads_depends_on_the_page_cache() {
    let last = TableKey { rules: Rules::Standard, pits: 6, seeds: 16 };
    let plans = |memory| layer_plans(last, None, (memory, 1), |key| key.seeds < 14);
    for (none, all) in plans(0).iter().zip(plans(AMPLE)) {
        assert_eq!(none.read, none.read_by_step);
        // Frames read or written for the layer below are still in memory.
        assert_eq!(all.read, if all.key.seeds == 14 { all.read_once } else { 0 });
        let some = &plans(all.memory + all.step_bytes)[all.key.seeds - 14];
        assert!((all.read..=none.read).contains(&some.read), "{}", all.key);
        // Memory for the reads of one step is too little for that: its frames are read in several places at once.
        assert!(none.may_read_more && some.may_read_more && !all.may_read_more, "{}", all.key);
        // All lower tables are read, and no other file: each frame by some step.
        let tables: u64 = (2..all.key.seeds).map(|seeds| kalah::index::layer_positions(6, seeds)).sum();
        assert!(all.read_once.abs_diff(tables * 42 / 80) <= 1000, "{}", all.key);
    }
}

#[cfg(all(feature = "cli", target_os = "linux"))]
mod program {
    use std::process::{Command, Output};

    use super::*;

    /// Runs the program through a shell that sets limits first.
    fn limited(limits: &str, tables: &Path, args: &str) -> Output {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("{limits}; exec {} {args}", env!("CARGO_BIN_EXE_kalah")));
        command.env("KALAH_TABLES", tables).env_remove("RUST_BACKTRACE");
        command.output().unwrap()
    }

    #[track_caller]
    fn ran(output: &Output, code: i32) -> String {
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{printed}");
        printed + &String::from_utf8_lossy(&output.stdout)
    }

    /// Memory of the program apart from the plan: its own data and that of its threads.
    const PROGRAM_KIB: u64 = 6 << 10;

    #[test]
    fn unpacking_keeps_to_its_memory_and_reports_what_it_needs() {
        let key = TableKey { rules: Rules::EmptyCapture, pits: 6, seeds: 19 };
        let directory = tempfile::tempdir().unwrap();
        build(directory.path(), key.rules, key.pits, key.seeds).unwrap();
        let table = Table::open(key.path(directory.path())).unwrap();
        let packed = directory.path().join("small.zst");
        let info = archive::compress_in_chunks(&table, &packed, 512, &Pulse::default()).unwrap();
        let needed = archive::decompress_memory(&info, 1);
        // One and a half bytes for each position of the largest frame, and 8 MiB.
        let largest = key.frames().map(Frame::positions).max().unwrap();
        assert!(needed < largest * 3 / 2 + largest / 4 + (9 << 20), "{needed} for {largest}");
        let unpack = |limits: &str, flags: &str| {
            let to = tempfile::tempdir().unwrap();
            let args = format!("archive unpack {} --threads 1 {flags}", packed.display());
            (limited(limits, to.path(), &args), to)
        };
        let (output, to) = unpack(&format!("ulimit -d {}", needed / 1024 + PROGRAM_KIB), "");
        ran(&output, 0);
        assert!(std::fs::read(key.path(to.path())).unwrap() == table.bytes());
        // Half of that memory is not enough, and the program reports this before it begins. A limit of the system shows
        // only when it is reached.
        let (output, to) = unpack("true", &format!("--memory {}", needed - 1));
        let printed = ran(&output, 1);
        assert!(printed.contains("allowed by --memory") && printed.contains("small.zst"), "{printed}");
        assert_eq!(std::fs::read_dir(to.path()).unwrap().count(), 0);
        let (output, _) = unpack(&format!("ulimit -d {}", largest / 1024), "");
        assert!(ran(&output, 1).contains("memory"));
    }

    #[test]
    fn a_build_into_archives_keeps_to_its_memory() {
        let last = TableKey { rules: Rules::EmptyCapture, pits: 6, seeds: 17 };
        let (first, directory) = (9, tempfile::tempdir().unwrap());
        let needed = BuildPlan::of_archives(directory.path(), last, first, 1).memory;
        let flags = format!("build --seeds 17 --packed {first} --threads 1 --backend cpu --json");
        let output = limited("true", directory.path(), &format!("{flags} --memory {}", needed - 1));
        assert!(ran(&output, 1).contains("allowed by --memory"));
        let limits = format!("ulimit -d {}", needed / 1024 + PROGRAM_KIB);
        let output = limited(&limits, directory.path(), &format!("{flags} --memory {needed}"));
        ran(&output, 0);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let plan = limited(
            "true",
            Path::new("nothing is here"),
            &format!("plan layers --seeds 17 --packed {first} --memory {needed} --threads 1 --json"),
        );
        ran(&plan, 0);
        let plan: serde_json::Value = serde_json::from_slice(&plan.stdout).unwrap();
        let layers = plan["layers"].as_array().unwrap();
        let planned: u64 = layers.iter().map(|layer| layer["unpacked_positions"].as_u64().unwrap()).sum();
        assert_eq!((report["reads"]["positions"].as_u64(), layers.len()), (Some(planned), 16));
        // The tables are those of a plain build.
        let plain = tempfile::tempdir().unwrap();
        build(plain.path(), last.rules, last.pits, last.seeds).unwrap();
        let to = tempfile::tempdir().unwrap();
        let archive = archive::archive_path(directory.path(), last);
        let unpacked = archive::decompress(&archive, to.path(), &Pulse::default()).unwrap();
        assert!(std::fs::read(unpacked).unwrap() == std::fs::read(last.path(plain.path())).unwrap());
    }

    #[test]
    fn plans_of_layers_are_printed() {
        let directory = tempfile::tempdir().unwrap();
        let output = limited("true", directory.path(), "plan layers --seeds 38 --packed 35 --memory 20GiB");
        let printed = ran(&output, 0);
        assert!(
            printed.lines().any(|line| line.trim_start().starts_with("38 ")) && printed.contains("read once"),
            "{printed}"
        );
        let refused = |args: &str| ran(&limited("true", directory.path(), args), 2);
        refused("plan build --seeds 9 --packed 4");
        refused("plan build --seeds 9 --memory 1GiB");
        refused("plan search --layers");
        assert!(refused("build --seeds 9 --packed 4 --backend gpu").contains("on the CPU"));
        refused("build --seeds 9 --packed 4 --share");
    }
}
