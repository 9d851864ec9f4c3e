//! All players, the solver, the server and commands keep time limits, and stop on request, on any board.
//!
//! An answer may be 50 ms late. On a busy machine it may be later through no fault of the program. So the thread's
//! processor time decides, and a late case is tried again. `KALAH_TIME_CASES` sets the number of random cases.

use std::io::Write;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use kalah::book::Book;
use kalah::cancel::Cancel;
use kalah::game::{Position, Row, Rules};
use kalah::play::{PlayerName, Setting, Worth};
use kalah::solve::{Depth, SearchMemory, SolveError, Solver, SolverOptions};
use kalah::table::Tables;
use serde_json::{Value, json};

use crate::setup::directory;
use kalah_tests::program::{Ran, Run, with_tables};
use kalah_tests::serving::{Server, encoded};

/// Maximum delay of an answer.
const LATE: Duration = Duration::from_millis(50);

/// Number of tries before a case counts as late.
const TRIES: usize = 5;

/// Time limit for a test that would never end: far longer than any step here takes.
const GUARD: Duration = Duration::from_secs(120);

/// Number of random cases.
fn cases(usual: u64) -> u64 {
    std::env::var("KALAH_TIME_CASES").map_or(usual, |cases| cases.parse().expect("a number"))
}

/// Lets one test run at a time, since they measure.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Processor time of this thread, if the system reports it.
fn busy() -> Option<Duration> {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    statistics.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// Does `work` in this thread, as [`timely`].
fn within<T>(time: Duration, what: &str, work: impl FnMut() -> T) -> T {
    timely(time, what, busy, work)
}

/// Does `work`. Fails if it takes longer than `time` plus the tolerance several times in a row, by the elapsed and by
/// the processor time. Ends the process if it never returns.
fn timely<T>(time: Duration, what: &str, busy: impl Fn() -> Option<Duration>, mut work: impl FnMut() -> T) -> T {
    let (_done, is_done) = channel::<()>();
    let subject = what.to_owned();
    thread::spawn(move || {
        if is_done.recv_timeout(time + GUARD) == Err(RecvTimeoutError::Timeout) {
            // Not through the harness, which hides the output of tests.
            let _ = std::io::stderr().write_all(format!("no answer: {subject}\n").as_bytes());
            std::process::abort();
        }
    });
    let mut took = Vec::new();
    for _ in 0..TRIES {
        let (begin, before) = (Instant::now(), busy());
        let result = work();
        let wall = begin.elapsed();
        let busy = busy().zip(before).map_or(wall, |(after, before)| after - before);
        took.push((wall, busy));
        if wall.min(busy) <= time + LATE {
            return result;
        }
    }
    panic!("{what} within {time:?}: took {took:?}");
}

/// A position of an unfinished game: few seeds or many, even or uneven, on a board of 1 to 16 pits a side.
fn random_position(random: &mut fastrand::Rng, most_seeds: u32) -> Position {
    loop {
        let pits = random.usize(1..=16);
        let most = [1, 2, 4, 8, 16, 64, 255][random.usize(..7)];
        let least = if random.bool() { most } else { 0 };
        let mut row = || Row::new(&(0..pits).map(|_| random.u32(least..=most)).collect::<Vec<_>>()).unwrap();
        let (mover, other) = (row(), row());
        let stores = if random.bool() { [0, 0] } else { [random.u32(..300), random.u32(..300)] };
        let position = Position::new(mover, other, stores[0], stores[1]).unwrap();
        if !position.is_over() && position.seeds() <= most_seeds {
            return position;
        }
    }
}

/// A time from microseconds to 300 milliseconds, small ones as often as large ones.
fn random_time(random: &mut fastrand::Rng) -> Duration {
    Duration::from_nanos(10f64.powf(3.0 + random.f64() * 5.47) as u64)
}

fn random_player(random: &mut fastrand::Rng) -> PlayerName {
    let depth = random.u32(1..=99);
    let kinds =
        ["perfect", "perfect", "perfect", "minimax", "alphabeta", "minimax2", "minimax3", "heuristic", "greedy"];
    let kind = kinds[random.usize(..kinds.len())];
    let deep = ["minimax", "alphabeta", "minimax2", "minimax3"].contains(&kind);
    if deep { format!("{kind}:{depth}").parse().unwrap() } else { kind.parse().unwrap() }
}

/// Tables of 6 pits of all rule sets.
fn tables() -> [Tables; Rules::ALL.len()] {
    Rules::ALL.map(|rules| Tables::open(directory(), rules, 6, 8).unwrap())
}

fn options<'t>(rules: Rules, position: &Position) -> SolverOptions<'t> {
    SolverOptions::new(rules, position).transpositions(16 << 20)
}

fn solver<'t>(rules: Rules, position: &Position) -> Solver<'t> {
    Solver::new(options(rules, position)).unwrap()
}

#[test]
fn every_player_answers_any_board_in_time_with_a_legal_move() {
    let _alone = alone();
    let tables = tables();
    for seed in 0..cases(120) {
        let mut random = fastrand::Rng::with_seed(seed);
        let (rules, position) = (Rules::ALL[random.usize(..Rules::ALL.len())], random_position(&mut random, u32::MAX));
        let (name, time) = (random_player(&mut random), random_time(&mut random));
        let tables = tables.iter().find(|tables| tables.rules() == rules && tables.pits() == position.pits());
        let setting = Setting { tables, memory: SearchMemory::shared(None, 64 << 20), ..Setting::new(rules) };
        let context = format!("case {seed}: {name}, {rules}, {position}");
        let choice = within(time, &context, || {
            let mut player = name.player(&setting);
            player.choose(&position, &Cancel::new().within(time), &mut |_| ()).unwrap()
        });
        assert!(position.play(rules, choice.pit).is_ok(), "{context}: {choice:?}");
    }
}

#[test]
fn every_player_has_a_move_at_once_when_it_is_stopped() {
    let _alone = alone();
    for (index, board) in ["6x8", "8x8", "12x7", "16x15"].into_iter().enumerate() {
        let position: Position = board.parse().unwrap();
        for player in ["perfect", "minimax:40", "alphabeta:40", "minimax2:1", "minimax2:9", "minimax3:9"] {
            let name: PlayerName = player.parse().unwrap();
            let times = [None, Some(Duration::from_secs(3600))];
            for (time, rules) in times.into_iter().zip([Rules::SKalaha, Rules::ALL[index % Rules::ALL.len()]]) {
                let context = format!("{player}, {rules}, {board}, stopped after 30 ms");
                let choice = within(Duration::from_millis(30), &context, || {
                    let cancel = Cancel::new();
                    let cancel = time.map_or_else(|| cancel.clone(), |time| cancel.within(time));
                    let mut player =
                        name.player(&Setting { memory: SearchMemory::shared(None, 16 << 20), ..Setting::new(rules) });
                    thread::scope(|scope| {
                        scope.spawn(|| {
                            thread::sleep(Duration::from_millis(30));
                            cancel.cancel();
                        });
                        player.choose(&position, &cancel, &mut |_| ()).unwrap()
                    })
                });
                assert!(position.play(rules, choice.pit).is_ok());
            }
        }
    }
}

#[test]
fn a_deadline_ends_a_search_wherever_it_is() {
    let _alone = alone();
    let mut ended = [0, 0];
    for (board, rules) in [
        ("6x8", Rules::SKalaha),
        ("8x8", Rules::SKalaha),
        ("8x15", Rules::EmptyCapture),
        ("12x5", Rules::SKalaha),
        ("13x4", Rules::Standard),
        ("3x40", Rules::SKalaha),
    ] {
        let position: Position = board.parse().unwrap();
        let solver = solver(rules, &position);
        for time in [0, 3, 30, 100].map(Duration::from_millis) {
            let tested = within(time, &format!("a test, {rules}, {board}"), || {
                solver.within(time).test(&position, position.seeds() / 2).map(drop)
            });
            within(time, &format!("bounds, {rules}, {board}"), || solver.narrow(&position, 0, time).map(drop).unwrap());
            within(time, &format!("a guess, {rules}, {board}"), || {
                solver.within(time).first_guess(&position).map(drop).unwrap()
            });
            let looked = within(time, &format!("a look, {rules}, {board}"), || {
                solver.within(time).depth_limited_within(&position, Depth::Turns(9), u64::MAX).map(drop)
            });
            for (ended, result) in ended.iter_mut().zip([tested, looked]) {
                *ended += usize::from(matches!(result, Err(SolveError::Stopped)));
            }
        }
    }
    // Nearly all positions take far longer.
    assert!(ended.iter().all(|&ended| ended >= 18), "{ended:?}");
}

/// Unit tests next to the steps of making a solver check that each of them looks at the time.
#[test]
fn a_solver_is_not_made_when_the_time_is_over_before() {
    let _alone = alone();
    let position: Position = "6x4".parse().unwrap();
    for tables in &tables() {
        let options = options(tables.rules(), &position).tables(Some(tables)).tables_up_to(8);
        let options = options.book(Book::shipped(tables.rules(), 6));
        assert!(Solver::new(options.clone()).is_ok_and(|solver| solver.table_seeds() == Some(8)));
        let stopped = Solver::new(options.cancel(Cancel::new().within(Duration::ZERO)));
        assert!(matches!(stopped, Err(SolveError::Stopped)));
    }
}

#[test]
fn times_beyond_any_clock_are_no_limit() {
    let position: Position = "3x2".parse().unwrap();
    for rules in Rules::ALL {
        let value = solver(rules, &position).value(&position, 0).unwrap().1;
        for time in [Duration::MAX, Duration::from_secs(u64::MAX / 2)] {
            let bounds = solver(rules, &position).narrow(&position, 0, time).unwrap();
            assert_eq!(bounds.value(), Some(value));
            let choice = PlayerName::Perfect.player(&Setting::new(rules)).choose(
                &position,
                &Cancel::new().within(time).within(time),
                &mut |_| (),
            );
            assert_eq!(choice.unwrap().worth, Worth::Exact(value));
        }
    }
}

#[test]
fn a_turn_without_an_end_is_searched_within_a_budget() {
    let position: Position = "6x8".parse().unwrap();
    let search = |depth| solver(Rules::SKalaha, &position).depth_limited_within(&position, depth, 1 << 20);
    assert!(matches!(search(Depth::Turns(1)), Err(SolveError::OverBudget)));
    let found = search(Depth::Moves(3)).unwrap().unwrap();
    assert!(found.depth == Depth::Moves(3) && !found.exact, "{found:?}");
    assert_eq!(found, search(Depth::Moves(3)).unwrap().unwrap());
    let glance = solver(Rules::SKalaha, &position).one_move_deep(&position).unwrap().unwrap();
    assert_eq!(glance.depth, Depth::Moves(1));
}

#[test]
fn times_that_are_none_are_refused_and_small_and_large_ones_are_not() {
    let commands = [
        "move 6x4 --player greedy --time",
        "play 3x2 --south greedy --north greedy --time",
        "tournament greedy heuristic --start 3x2 --starts 1 --time",
        "analyse values --pits 2 --seeds-per-pit 1 --within",
        "review 3x1 1 --within",
        "serve --address 127.0.0.1:0 --time",
        "solve 3x1 --state /nonexistent/file --save-every",
    ];
    let run = |command: &str, time: &str| with_tables(directory(), command).arg(time).run();
    for command in commands {
        for time in ["1e19", "1e300", "inf", "nan", "-1", "0", "", "soon", "0x10"] {
            run(command, time).exits(2).does_not_print("panicked");
        }
    }
    for command in &commands[..5] {
        for time in ["1e-9", "1e6", "2s", "500ms", "0.01h"] {
            run(command, time).success().does_not_print("panicked");
        }
    }
    // Seconds are stored as nanoseconds, and this is less than one.
    for command in [commands[0], commands[1], commands[2], commands[5]] {
        run(command, "1e-300").exits(2);
    }
}

/// A server that searches for this time, in seconds.
fn server(time: &str, searches: &str) -> Server {
    let flags = ["--no-book", "--transpositions", "64MiB", "--time", time, "--searches", searches];
    Server::start(directory(), &flags)
}

/// The answer of a server, which comes in time.
fn served(server: &Server, time: Duration, context: &str, ask: impl Fn() -> (u16, Value)) -> Value {
    timely(
        time,
        context,
        || server.busy(),
        || {
            let (status, answer) = ask();
            assert_eq!(status, 200, "{context}: {answer}");
            answer
        },
    )
}

#[test]
fn the_server_answers_any_board_in_time() {
    let _alone = alone();
    let server = server("0.3", "2");
    for seed in 0..cases(60) {
        let mut random = fastrand::Rng::with_seed(seed);
        let position = random_position(&mut random, 400);
        let (rules, time) = (Rules::ALL[random.usize(..Rules::ALL.len())], random_time(&mut random));
        let (name, ask_move, seconds) = (random_player(&mut random), random.bool(), time.as_secs_f64());
        let context =
            format!("case {seed}: {} {rules} {position}", if ask_move { name.to_string() } else { String::new() });
        served(&server, time, &context, || {
            if ask_move {
                let body = json!({ "board": position.to_string(), "rules": rules.name(), "player": name.to_string(),
                    "time": seconds });
                server.post("/api/move", body.to_string().as_bytes())
            } else {
                let board = encoded(&position.to_string());
                server.get(&format!("/api/position?board={board}&rules={rules}&time={seconds}"))
            }
        });
    }
    // Some of these have turns without an end.
    for board in ["6x8", "8x8", "6x4", "16x12"] {
        for rules in Rules::ALL {
            let answer = served(&server, Duration::from_millis(300), &format!("{rules} {board}"), || {
                server.get(&format!("/api/position?board={board}&rules={rules}&time=0.3"))
            });
            assert!(answer["moves"].as_array().is_some_and(|moves| !moves.is_empty()), "{answer}");
            assert!(answer["value"].is_i64() || answer["estimate"].is_i64(), "{answer}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_server_in_the_middle_of_a_search_stops_and_answers() {
    let _alone = alone();
    // The first one is in a turn without an end.
    for path in ["board=6x8&rules=s-kalaha", "board=16x12&rules=s-kalaha", "board=6x6"] {
        let mut server = server("600", "1");
        let begin = thread::scope(|scope| {
            let server = &server;
            // Repeats the request if our own request below was first.
            let ask = move || server.get(&format!("/api/position?{path}"));
            let asked = scope.spawn(move || std::iter::repeat_with(ask).find(|(status, _)| *status != 503).unwrap());
            // The only search is in use once another one is refused.
            while server.get("/api/position?board=6x5&time=0").0 != 503 {}
            thread::sleep(Duration::from_millis(200));
            let begin = Instant::now();
            server.interrupt();
            let (status, answer) = asked.join().unwrap();
            assert!(status == 200 && answer["estimate"].is_i64(), "{status} {answer}");
            begin
        });
        assert_eq!(server.wait().code(), Some(130));
        // The server would wait ten seconds for a search that does not end.
        assert!(begin.elapsed() < Duration::from_secs(5), "{path}: {:?}", begin.elapsed());
    }
}
