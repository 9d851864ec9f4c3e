//! Probes of tables at an address: a file server on this machine waits before each answer, as one far away does.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `KALAH_BENCH_TABLES` | directory with tables of 6 pits by empty capture | built to 20 seeds |
//! | `KALAH_BENCH_PROBES` | number of random positions | 100 |
//! | `KALAH_BENCH_LATENCY` | wait before each answer, in milliseconds | 30 |

#[allow(dead_code)]
#[path = "../tests/remote/server.rs"]
mod server;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use kalah::build::build;
use kalah::game::{Position, Rules};
use kalah::index::MAX_TABLE_SEEDS;
use kalah::remote::RemoteTables;
use kalah::table::Tables;

use server::Server;

/// Reads a number from the environment.
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Does `work` for each position, and prints its rate and its traffic.
fn measure(what: &str, remote: &RemoteTables, positions: &[Position], work: impl Fn(&Position)) {
    let (begin, before) = (Instant::now(), remote.traffic());
    positions.iter().for_each(&work);
    let (seconds, after, count) = (begin.elapsed().as_secs_f64(), remote.traffic(), positions.len() as f64);
    println!(
        "{what:<34} {:>10.1} a second  {:>6.1} requests  {:>8.1} KiB each",
        count / seconds,
        (after.requests - before.requests) as f64 / count,
        (after.bytes - before.bytes) as f64 / 1024.0 / count,
    );
}

fn main() {
    let built = tempfile::tempdir().unwrap();
    let directory = std::env::var_os("KALAH_BENCH_TABLES").map_or_else(
        || {
            build(built.path(), Rules::EmptyCapture, 6, 20).unwrap();
            built.path().to_owned()
        },
        PathBuf::from,
    );
    let (probes, latency) = (setting("KALAH_BENCH_PROBES", 100), setting("KALAH_BENCH_LATENCY", 30));
    let (server, cache) = (Server::of(&directory), tempfile::tempdir().unwrap());
    server.wait(Duration::from_millis(latency));
    let open = |when: &str| {
        let begin = Instant::now();
        let remote = server.open(cache.path());
        let tables = Tables::open(remote.directory(), Rules::EmptyCapture, 6, MAX_TABLE_SEEDS).unwrap();
        let (seconds, traffic) = (begin.elapsed().as_secs_f64(), remote.traffic());
        println!(
            "opening {} layers, {when}: {seconds:.2} s, {} requests, {:.1} KiB",
            tables.layers().len(),
            traffic.requests,
            traffic.bytes as f64 / 1024.0
        );
        (remote, tables)
    };
    let (remote, tables) = open("cold");
    let last = tables.max_seeds().expect("tables");
    println!("{probes} random positions of {last} seeds, {latency} ms before each answer");
    let mut random = fastrand::Rng::with_seed(1);
    let mut position = || {
        let mut pits = [0u32; 12];
        (0..last).for_each(|_| pits[random.usize(0..12)] += 1);
        let row = |pits: &[u32]| pits.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        format!("{}/{}", row(&pits[..6]), row(&pits[6..])).parse::<Position>().unwrap()
    };
    let positions: Vec<Position> = (0..probes).map(|_| position()).collect();
    let scores = |tables: &Tables, position: &Position| drop(tables.move_scores(position).unwrap());
    measure("scores of all moves, cold", &remote, &positions, |position| scores(&tables, position));
    measure("scores of all moves, again", &remote, &positions, |position| scores(&tables, position));
    let (remote, tables) = open("warm");
    measure("scores of all moves, cache on disk", &remote, &positions, |position| scores(&tables, position));
    let others: Vec<Position> = (0..probes / 5).map(|_| position()).collect();
    measure("others, with a line of best play", &remote, &others, |position| drop(tables.probe(position).unwrap()));
    let cold = tempfile::tempdir().unwrap();
    let remote = server.open(cold.path());
    let tables = Tables::open(remote.directory(), Rules::EmptyCapture, 6, MAX_TABLE_SEEDS).unwrap();
    measure("a game of perfect players, cold", &remote, &others[..1], |start| {
        let mut position = *start;
        while !position.is_over() {
            let moves = tables.move_scores(&position).unwrap();
            let &(pit, _) = moves.iter().max_by_key(|&&(_, score)| score).expect("a move");
            position = position.play(Rules::EmptyCapture, pit).unwrap().position;
        }
    });
}
