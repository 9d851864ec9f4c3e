//! Probes of tables at an address: a file server on this machine waits before each answer, as one far away does.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `KALAH_BENCH_TABLES` | directory with tables of 6 pits by empty capture | built to 20 seeds |
//! | `KALAH_BENCH_PROBES` | number of random positions | 100 |
//! | `KALAH_BENCH_LATENCY` | wait before each answer, in milliseconds | 30 |

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kalah::build::build;
use kalah::cancel::Cancel;
use kalah::game::{Position, Rules};
use kalah::index::MAX_TABLE_SEEDS;
use kalah::play::{PlayerName, Setting};
use kalah::remote::{Address, Cache, RemoteOptions, RemoteTables};
use kalah::table::Tables;

use kalah_tests::host::Host;

/// Reads a number from the environment.
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Tables at the address, for a board of 6 pits.
struct Opened {
    remote: RemoteTables,
    tables: Tables,
}

/// Opens the tables, and prints the cost.
fn open(server: &Host, cache: &Path, when: &str) -> Opened {
    server.requests();
    let begin = Instant::now();
    let options = RemoteOptions::new(Cache::new(cache, Cache::DEFAULT_LIMIT));
    let options = RemoteOptions { rules: vec![Rules::EmptyCapture], pits: Some(6), ..options };
    let remote = RemoteTables::open(&Address::parse(&server.address).unwrap(), options).unwrap();
    let tables = Tables::open(remote.directory(), Rules::EmptyCapture, 6, MAX_TABLE_SEEDS).unwrap();
    print(
        &format!("opening {} layers, {when}", tables.layers().len()),
        begin,
        (server.requests().len(), remote.fetched()),
        1,
    );
    Opened { remote, tables }
}

/// Prints the cost of each of `count` works since `begin`.
fn print(what: &str, begin: Instant, (requests, bytes): (usize, u64), count: usize) {
    let (seconds, count) = (begin.elapsed().as_secs_f64(), count as f64);
    let (requests, kib) = (requests as f64 / count, bytes as f64 / 1024.0 / count);
    println!("{what:<44} {:>8.1} ms {requests:>6.1} requests {kib:>8.1} KiB", 1000.0 * seconds / count);
}

/// Does `work` for each position, and prints its cost.
fn measure(
    what: &str,
    server: &Host,
    Opened { remote, tables }: &Opened,
    positions: &[Position],
    work: fn(&Tables, &Position),
) {
    server.requests();
    let (begin, before) = (Instant::now(), remote.fetched());
    positions.iter().for_each(|position| work(tables, position));
    print(what, begin, (server.requests().len(), remote.fetched() - before), positions.len());
}

fn score(tables: &Tables, position: &Position) {
    tables.score(position).unwrap();
}

fn scores_of_moves(tables: &Tables, position: &Position) {
    tables.move_scores(position).unwrap();
}

fn line(tables: &Tables, position: &Position) {
    tables.probe(position).unwrap();
}

/// Plays a game of two perfect players.
fn game(tables: &Tables, start: &Position) {
    let setting = Setting { tables: Some(tables), ..Setting::new(Rules::EmptyCapture) };
    let (mut player, mut position) = (PlayerName::Perfect.player(&setting), *start);
    while !position.is_over() {
        let choice = player.choose(&position, &Cancel::new(), &mut |_| ()).unwrap();
        position = position.play(Rules::EmptyCapture, choice.pit).unwrap().position;
    }
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
    let server = Host::new(&directory, "/tables");
    let cache = || tempfile::tempdir().unwrap();
    let last = open(&server, cache().path(), "without latency").tables.max_seeds().expect("tables");
    server.conduct().latency = Duration::from_millis(latency);
    println!("{probes} random positions of {last} seeds, {latency} ms before each answer; each:");
    let mut random = fastrand::Rng::with_seed(1);
    let mut position = || {
        let mut pits = [0u32; 12];
        (0..last).for_each(|_| pits[random.usize(0..12)] += 1);
        let row = |pits: &[u32]| pits.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        format!("{}/{}", row(&pits[..6]), row(&pits[6..])).parse::<Position>().unwrap()
    };
    let positions: Vec<Position> = (0..probes).map(|_| position()).collect();
    let (first, others) = positions.split_at(1);
    let scores_alone = cache();
    let opened = open(&server, scores_alone.path(), "cold");
    measure("first score of a layer", &server, &opened, first, score);
    measure("further scores of it", &server, &opened, others, score);
    let opened = open(&server, scores_alone.path(), "headers in the cache");
    measure("further scores, cache on disk", &server, &opened, others, score);
    for (what, work) in
        [("scores of all moves", scores_of_moves as fn(&Tables, &Position)), ("scores and a line of best play", line)]
    {
        let cache = cache();
        for when in ["cold", "cache on disk"] {
            measure(&format!("{what}, {when}"), &server, &open(&server, cache.path(), when), &positions, work);
        }
    }
    let (cache, start) = (cache(), "6x2".parse().unwrap());
    for when in ["cold", "cache on disk"] {
        measure(
            &format!("a game of perfect players from 6x2, {when}"),
            &server,
            &open(&server, cache.path(), when),
            &[start],
            game,
        );
    }
}
