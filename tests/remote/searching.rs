//! Searches read whole layers, and state which.

use crate::server::{SEEDS, Server, TABLES, on_disk, run, shown};

/// A position above the tables.
const ABOVE: &str = "2,2,1,1,1,2/1,3,1,1,1,1";

#[test]
fn a_search_states_what_it_fetches_and_keeps_to_it() {
    let (server, cache) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    let here = run(&["solve", ABOVE, "--tables", shown(TABLES.path()), "--value-only", "--json", "--no-book"]);
    assert_eq!(here.0, 0, "{here:?}");
    let value = |answer: &str| serde_json::from_str::<serde_json::Value>(answer).unwrap()["value"].clone();
    for limit in ["256MiB", "1MiB", "0"] {
        server.requests();
        let cached = tempfile::tempdir_in(cache.path()).unwrap();
        let arguments = [
            "solve",
            ABOVE,
            "--tables",
            &*server.address,
            "--value-only",
            "--json",
            "--no-book",
            "--cache",
            shown(cached.path()),
            "--fetch-limit",
            limit,
        ];
        let (code, answer, notes) = run(&arguments);
        assert_eq!(code, 0, "{notes}");
        assert_eq!(value(&answer), value(&here.1));
        let blocks = server.block_requests();
        let read = |seeds: usize| blocks.iter().any(|request| request.name.contains(&format!("-{seeds:02}.")));
        match limit {
            "256MiB" => assert!(notes.contains(&format!("fetching the tables to {SEEDS} seeds")) && read(SEEDS)),
            "1MiB" => assert!(notes.contains("kalah fetch") && read(2) && !read(SEEDS), "{notes}"),
            _ => assert!(notes.contains(&format!("of 2 to {SEEDS} seeds")) && blocks.is_empty(), "{notes}{blocks:?}"),
        }
    }
}

#[test]
fn a_position_of_the_tables_is_only_looked_up() {
    let (server, cache) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    let position = "1,2,1,0,1,2/0,3,0,1,1,1";
    let with = |tables: &str| {
        let arguments = ["solve", position, "--tables", tables, "--json", "--no-book", "--cache", shown(cache.path())];
        let (code, answer, notes) = run(&arguments);
        assert_eq!(code, 0, "{notes}");
        let mut answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        let fields = ["value", "best", "line"].map(|field| answer[field].take());
        (fields, notes)
    };
    let (expected, _) = with(shown(TABLES.path()));
    let (found, notes) = with(&server.address);
    assert_eq!(found, expected);
    assert!(!notes.contains("fetching"), "{notes}");
    let whole: u64 =
        std::fs::read_dir(TABLES.path()).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum();
    let read = on_disk(cache.path());
    assert!(read < whole / 2, "{read} of {whole} bytes");
}

#[test]
fn the_perfect_player_needs_no_files() {
    let (server, cache) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    let game = |tables: &str| {
        let mut arguments =
            vec!["tournament", "perfect", "random", "--start", "6x1", "--rules", "empty-capture", "--tables", tables];
        if tables != shown(TABLES.path()) {
            arguments.extend(["--cache", shown(cache.path())]);
        }
        run(&arguments)
    };
    let (here, there) = (game(shown(TABLES.path())), game(&server.address));
    assert_eq!((here.0, there.0), (0, 0), "{here:?} {there:?}");
    // Player, games, and shares of points; times differ.
    let points = |answer: &str| {
        answer.lines().map(|line| line.split_whitespace().take(6).collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(points(&there.1)[..3], points(&here.1)[..3]);
}
