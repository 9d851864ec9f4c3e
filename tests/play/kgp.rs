//! The client of the Kalah Game Protocol, against servers written from the protocol alone: one plays whole games, the
//! other behaves like real servers.
#![cfg(feature = "cli")]

mod hostile;

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command as Process, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use kalah::build::build;
use kalah::game::{Pit, Position, Rules};
use kalah::kgp::{Argument, Command, MAX_LINE};
use kalah::table::Tables;
use proptest::prelude::*;

/// A position that is not in the book and takes longer than minutes to search. Start positions will not do, since the
/// book grows.
const LONG: &str = "<6,0,0,6,6,6,6,6,6,6,6,6,6,6,7>";

/// All tables of 3 pits a side with up to 18 seeds, built once.
fn directory() -> &'static Path {
    static TABLES: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
        let directory = tempfile::tempdir().unwrap();
        build(directory.path(), Rules::Standard, 3, 18).unwrap();
        directory
    });
    TABLES.path()
}

/// The server's end of a connection, and the client process behind it.
struct Peer {
    child: Child,
    listener: TcpListener,
    lines: BufReader<TcpStream>,
    stream: TcpStream,
}

impl Peer {
    /// Starts the client and waits until it connects. The environment variables of tournaments hold the server's
    /// address.
    fn new(flags: &[&str]) -> Peer {
        Peer::start(directory(), flags, Stdio::null())
    }

    /// Does the same, with tables in another directory.
    fn with_tables(directory: &Path, flags: &[&str]) -> Peer {
        Peer::start(directory, flags, Stdio::null())
    }

    /// Does the same, and keeps the client's stderr.
    fn with_stderr(flags: &[&str]) -> Peer {
        Peer::start(directory(), flags, Stdio::piped())
    }

    fn start(directory: &Path, flags: &[&str], stderr: Stdio) -> Peer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        let mut client = Process::new(assert_cmd::cargo::cargo_bin("kalah"));
        client.env("KGP_HOST", "127.0.0.1").env("KGP_PORT", port).env("KALAH_TABLES", directory);
        client.args(["kgp", "--memory", "16MiB"]).args(flags).stderr(stderr);
        #[cfg(unix)]
        crate::signals::heard(&mut client);
        let child = client.spawn().unwrap();
        let stream = listener.accept().unwrap().0;
        let lines = BufReader::new(stream.try_clone().unwrap());
        let peer = Peer { child, listener, lines, stream };
        peer.stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        peer.stream.set_write_timeout(Some(Duration::from_secs(60))).unwrap();
        peer
    }

    /// Waits for the client to connect again.
    fn accept(&mut self) {
        self.stream = self.listener.accept().unwrap().0;
        self.stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        self.lines = BufReader::new(self.stream.try_clone().unwrap());
    }

    fn say(&mut self, line: &str) {
        self.stream.write_all(format!("{line}\r\n").as_bytes()).unwrap();
    }

    /// Reads the next line of the client. It must be a command, end as the protocol requires, and have an odd id.
    #[track_caller]
    fn hear(&mut self) -> Command {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        assert!(line.ends_with("\r\n") && line.len() <= MAX_LINE, "{line:?}");
        let command: Command = line.parse().unwrap();
        assert!(command.id.is_none_or(|id| id % 2 == 1), "{line}");
        command
    }

    /// Greets the client, and reads from it until it requests its mode.
    #[track_caller]
    fn greet(&mut self) -> HashMap<String, String> {
        self.say("2 kgp 1 0 1");
        let mut options = HashMap::new();
        loop {
            let command = self.hear();
            let text = |index: usize| command.arguments[index].text().to_owned();
            match command.name.as_str() {
                "set" => drop(options.insert(text(0), text(1))),
                "mode" => {
                    assert_eq!(text(0), "freeplay");
                    self.say(&format!("@{} ok", command.id.unwrap()));
                    return options;
                }
                _ => panic!("{command}"),
            }
        }
    }

    /// Reads the moves for a state until the client yields.
    #[track_caller]
    fn moves(&mut self, id: u64) -> Vec<usize> {
        let mut moves = Vec::new();
        loop {
            let command = self.hear();
            assert_eq!(command.reference, Some(id), "{command}");
            match command.name.as_str() {
                "move" => moves.push(command.arguments[0].text().parse().unwrap()),
                "yield" => return moves,
                _ => panic!("{command}"),
            }
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn lines_are_read_as_the_protocol_writes_them() {
    let read = |line: &str| line.parse::<Command>().unwrap();
    let state = read("  12 state <3,10,2,1,2,3,4,2,0> \r");
    assert_eq!((state.id, state.reference, state.name.as_str()), (Some(12), None, "state"));
    assert_eq!(state.arguments, [Argument::Word("<3,10,2,1,2,3,4,2,0>".to_owned())]);
    let moved = read("13@12 move 3");
    assert_eq!((moved.id, moved.reference), (Some(13), Some(12)));
    // A line without its own id, and with an empty number before the sign.
    assert_eq!(read("@12 move 3").reference, Some(12));
    assert_eq!(read("mode freeplay").id, None);
    let text = read(r#"4 set info:comment "a \"b\" \\ \n\t\x""#);
    assert_eq!(text.arguments[1], Argument::Text("a \"b\" \\ \n\tx".to_owned()));
    for bad in ["", "12", "@", "x@3 move", "mo-ve 3", "set \"open", "99999999999999999999999 state"] {
        assert!(bad.parse::<Command>().is_err(), "{bad}");
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(
        id in proptest::option::of(any::<u64>()),
        reference in proptest::option::of(any::<u64>()),
        name in "[a-z][A-Za-z0-9]{0,9}",
        texts in prop::collection::vec("[^\r]{0,20}", 0..4),
    ) {
        let arguments = texts.into_iter().map(Argument::Text).collect();
        let command = Command { id, reference, name, arguments };
        prop_assert!(!command.to_string().contains('\n'));
        prop_assert_eq!(command.to_string().parse::<Command>().unwrap(), command);
    }

    #[test]
    fn any_text_is_read_or_refused(line in ".{0,60}") {
        let _ = line.parse::<Command>();
    }
}

#[test]
fn the_client_introduces_itself_and_answers_pings() {
    let mut peer = Peer::new(&["--name", "a \"b\"", "--author", "C,D", "--once"]);
    let options = peer.greet();
    assert_eq!((options["info:name"].as_str(), options["info:authors"].as_str()), ("a \"b\"", "C,D"));
    peer.say("4 ping \"still \\\"there\\\"\"");
    let pong = peer.hear();
    assert_eq!((pong.name.as_str(), pong.reference), ("pong", Some(4)));
    assert_eq!(pong.arguments[0].text(), "still \"there\"");
    peer.say("6 ping");
    assert_eq!(peer.hear().to_string().split_once(' ').unwrap().1, "pong");
    peer.say("goodbye");
    assert_eq!(peer.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_whole_game_is_played_perfectly() {
    let mut peer = Peer::new(&["--once"]);
    peer.greet();
    let tables = Tables::open(directory(), Rules::Standard, 3, 18).unwrap();
    let mut random = fastrand::Rng::with_seed(7);
    let mut id = 4;
    for _ in 0..20 {
        let mut position: Position = "3x3".parse().unwrap();
        let (mut client, mut value) = (true, tables.probe(&position).unwrap().value);
        while !position.is_over() {
            let pit = if client {
                peer.say(&format!("{id} state {position}"));
                let number = *peer.moves(id).last().unwrap();
                id += 2;
                Pit::from_number(number).unwrap()
            } else {
                random.choice(position.moves().collect::<Vec<_>>()).unwrap()
            };
            let played = position.play(Rules::Standard, pit).expect("a legal move");
            (position, client) = (played.position, client == played.again);
            let now = tables.probe(&position).unwrap().value * if client { 1 } else { -1 };
            assert!(now >= value, "a move lost seeds: {value}, then {now}");
            value = now;
        }
    }
}

#[test]
fn a_flipped_bit_in_a_table_ends_the_client() {
    let tables = tempfile::tempdir().unwrap();
    build(tables.path(), Rules::Standard, 3, 6).unwrap();
    let damaged = tables.path().join("standard-3-06.kalah");
    let entry = kalah::table::Table::open(&damaged).unwrap().header().entries[2];
    let mut bytes = std::fs::read(&damaged).unwrap();
    bytes[entry.offset as usize] ^= 1;
    std::fs::write(&damaged, bytes).unwrap();
    // Positions of the layer itself, and above the tables.
    for state in ["3x1", "3x2"] {
        let mut peer = Peer::with_tables(tables.path(), &["--once"]);
        peer.greet();
        peer.say(&format!("4 state {}", state.parse::<Position>().unwrap()));
        assert_eq!(peer.child.wait().unwrap().code(), Some(3), "{state}");
    }
}

#[test]
fn boards_of_all_sizes_get_legal_moves_in_time() {
    let mut peer = Peer::new(&["--once", "--time", "0.5"]);
    peer.greet();
    for (index, start) in ["6x6", "8x8", "10x10", "12x12", "1x3", "16x9"].into_iter().enumerate() {
        let position: Position = start.parse().unwrap();
        let (id, begin) = (2 * index as u64 + 4, Instant::now());
        peer.say(&format!("{id} state {position}"));
        let moves = peer.moves(id);
        assert!(moves.iter().all(|&number| (1..=position.pits()).contains(&number)), "{moves:?}");
        // Twenty times the limit. A client without a limit would take hours.
        assert!(begin.elapsed() < Duration::from_secs(10), "{start}");
    }
}

#[test]
fn several_states_are_distinguished_and_a_stop_ends_one() {
    let mut peer = Peer::new(&["--once", "--time", "600", "--searches", "2"]);
    peer.greet();
    // Two searches that take ten minutes, and one that waits for them. Then one of the two is stopped.
    for id in [4, 6, 8] {
        let board = if id == 8 { "<3,0,0,0,0,1,1,0,1>" } else { LONG };
        peer.say(&format!("{id} state {board}"));
    }
    let mut seen = HashMap::new();
    while seen.len() < 3 {
        let command = peer.hear();
        assert_eq!(command.name, "move");
        seen.insert(command.reference.unwrap(), command.arguments[0].text().to_owned());
    }
    peer.say("10@4 stop");
    loop {
        let command = peer.hear();
        if command.name == "yield" {
            assert_eq!(command.reference, Some(8), "only the small search finishes");
            break;
        }
    }
    // The stopped search writes no more. Stopping it twice, or stopping one that does not exist, does no harm.
    peer.say("@4 stop");
    peer.say("@77 stop");
    peer.say("12 ping");
    loop {
        let command = peer.hear();
        assert_ne!(command.reference, Some(4), "{command}");
        if command.name == "pong" {
            break;
        }
    }
}

#[test]
fn what_servers_do_wrong_does_no_harm() {
    let mut peer = Peer::new(&["--once", "--time", "1"]);
    peer.greet();
    for line in [
        "",
        "   ",
        "nonsense",
        "4 unknown 1 2 3",
        "@1 ok",
        "error \"No state associated with id\"",
        "set game:id \"7\"",
        "set time:mode relative",
        "set time:clock x",
        "6 stop",
        "state <3,0,0,1,1,1,1,1,1>",
        "\u{fffd}\u{1f600}",
    ] {
        peer.say(line);
    }
    peer.say(&"x".repeat(2 * MAX_LINE));
    for (id, board) in [(8, "<3,0,0,1>"), (10, "<3,0,0,0,0,0,1,1,1>"), (12, "3x3"), (14, "")] {
        peer.say(&format!("{id} state {board}"));
        let command = peer.hear();
        assert_eq!((command.name.as_str(), command.reference), ("error", Some(id)), "{command}");
    }
    // Two lines at once, a line in parts, and a line that ends without a carriage return.
    peer.stream.write_all(b"16 ping\r\n18 pi").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    peer.stream.write_all(b"ng\n").unwrap();
    assert_eq!(peer.hear().reference, Some(16));
    assert_eq!(peer.hear().reference, Some(18));
    peer.say("20 state <3,0,0,1,0,3,3,3,3>");
    assert!(!peer.moves(20).is_empty());
}

#[test]
fn another_version_is_refused() {
    let mut peer = Peer::new(&["--once"]);
    peer.say("2 kgp 2 0 0");
    let command = peer.hear();
    assert_eq!((command.name.as_str(), command.reference), ("error", Some(2)));
    assert_eq!(peer.hear().name, "goodbye");
    assert_eq!(peer.child.wait().unwrap().code(), Some(1));
}

#[test]
fn a_lost_connection_is_made_again() {
    let mut peer = Peer::new(&[]);
    peer.greet();
    peer.stream.shutdown(std::net::Shutdown::Both).unwrap();
    peer.accept();
    peer.greet();
    peer.say("4 state <3,0,0,1,0,3,3,3,3>");
    assert!(!peer.moves(4).is_empty());
}

/// Positions and moves from the tests of a real server (go-kgp, board_test.go, TestSow), from the view of the player to
/// move: board, move, resulting board, and true if the same player moves again.
#[test]
fn sowing_is_that_of_the_server_in_the_field() {
    for (before, number, after, again) in [
        ("<3,0,0,3,3,3,3,3,3>", 1, "<3,1,0,0,4,4,3,3,3>", true),
        ("<4,0,0,5,5,5,5,5,5,5,5>", 3, "<4,1,0,5,5,0,6,6,6,6,5>", false),
        ("<3,0,0,9,9,9,9,9,9>", 1, "<3,1,0,1,11,11,10,10,10>", false),
        ("<3,0,0,1,0,3,3,3,3>", 1, "<3,4,0,0,0,3,3,0,3>", false),
        ("<3,0,0,7,3,3,3,3,3>", 1, "<3,6,0,0,4,4,4,4,0>", false),
        ("<3,0,0,1,0,1,0,0,1>", 1, "<3,0,0,0,1,1,0,0,1>", false),
    ] {
        let position: Position = before.parse().unwrap();
        let played = position.play(Rules::Standard, Pit::from_number(number).unwrap()).unwrap();
        let seen = if played.again { played.position } else { played.position.turned() };
        assert_eq!((seen.to_string().as_str(), played.again), (after, again), "{before} {number}");
    }
}
