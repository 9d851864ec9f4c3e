//! A hostile server cannot harm the client's terminal, or make the client use unlimited memory or time.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use kalah::cancel::Cancel;
use kalah::kgp::{self, Command, End, Introduction, MAX_LINE, Thinking};
use kalah::table::Shelf;

use super::{LONG, Peer, directory};
#[cfg(unix)]
use crate::signals::interrupt;

/// Memory that the client must stay below, apart from tables and transposition tables.
#[cfg(target_os = "linux")]
const MEMORY: u64 = 128 << 20;

impl Peer {
    /// Starts to read all further lines of the client in a thread, so that neither side waits for the other.
    fn hear_all(&self) -> thread::JoinHandle<Vec<Command>> {
        let lines = BufReader::new(self.stream.try_clone().unwrap()).lines();
        thread::spawn(move || lines.map_while(Result::ok).map(|line| line.parse().unwrap()).collect())
    }

    /// Waits for the end of the client, and returns its stderr.
    fn stderr(mut self) -> String {
        let mut messages = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut messages).unwrap();
        messages
    }

    #[cfg(target_os = "linux")]
    fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
        1024 * line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap()
    }
}

/// Text that controls a terminal or is invisible.
const NASTY: &str = "\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\u{202e}txet\u{2066}\u{2028}\u{85}\r\u{8}\u{7f}";

#[track_caller]
fn assert_clean(messages: &str) {
    let bad = messages.chars().find(|&sign| {
        sign != '\n' && (sign.is_control() || matches!(sign, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
    });
    assert_eq!(bad, None, "{messages:?}");
    assert!(messages.lines().all(|line| line.chars().count() < 1000), "{messages}");
}

#[test]
fn messages_of_the_server_do_nothing_to_the_terminal() {
    let mut peer = Peer::with_stderr(&["--once"]);
    peer.say(&format!("2 kgp 1 \"{NASTY}\" 1"));
    peer.say(&format!("4 error \"{NASTY}\""));
    peer.say(&format!("error \"{}\"", "long ".repeat(3000)));
    peer.say(&format!("6 {NASTY}"));
    peer.say(&format!("8 unknown {NASTY}"));
    peer.say(&format!("state <{NASTY}>"));
    peer.stream.write_all(b"\xff\xfe\x1b[31m\r\n").unwrap();
    peer.say("goodbye");
    let messages = peer.stderr();
    assert_clean(&messages);
    assert!(messages.contains("\\u{1b}[2J") && messages.contains("\\u{202e}"), "{messages}");

    let mut peer = Peer::with_stderr(&["--once"]);
    peer.say(&format!("2 kgp 7{NASTY} \"{NASTY}\" {}", "9".repeat(10_000)));
    let messages = peer.stderr();
    assert_clean(&messages);
    assert!(messages.contains("this client speaks version 1"), "{messages}");
}

#[test]
fn thousands_of_states_are_answered_and_few_of_them_held() {
    const STATES: u64 = 5000;
    let mut peer = Peer::new(&["--once", "--time", "600", "--searches", "2"]);
    peer.greet();
    let heard = peer.hear_all();
    for id in 0..STATES {
        peer.say(&format!("{} state {LONG}", 2 * id + 4));
    }
    peer.say("3000000 ping \"done\"");
    for id in 0..STATES {
        peer.say(&format!("{}@{} stop", 2 * id + 20_004, 2 * id + 4));
    }
    // The client goes on as usual.
    peer.say("4000000 state <3,0,0,1,0,3,3,3,3>");
    peer.say("4000002 ping");
    thread::sleep(Duration::from_secs(2));
    #[cfg(target_os = "linux")]
    assert!(peer.memory() < MEMORY, "{} bytes", peer.memory());
    peer.say("goodbye");
    assert_eq!(peer.child.wait().unwrap().code(), Some(0));
    let heard = heard.join().unwrap();
    let said = |name: &'static str| heard.iter().filter(move |command| command.name == name);
    let moved = (0..STATES).filter(|id| said("move").any(|command| command.reference == Some(2 * id + 4))).count();
    assert_eq!(moved as u64, STATES, "every state is answered with a move");
    let refused = said("error").count() as u64;
    assert!((STATES - 300..STATES).contains(&refused), "{refused}");
    assert!(said("error").all(|command| command.arguments[0].text().contains("positions are waiting")));
    // The server does not wait for a refused search.
    assert!(said("error").all(|error| said("yield").any(|command| command.reference == error.reference)));
    assert!(said("yield").any(|command| command.reference == Some(4_000_000)));
    assert_eq!(said("pong").count(), 2);
}

#[test]
fn an_id_in_use_is_refused() {
    let mut peer = Peer::new(&["--once", "--time", "600", "--searches", "1"]);
    peer.greet();
    peer.say(&format!("4 state {LONG}"));
    peer.say("4 state <3,0,0,1,0,3,3,3,3>");
    let refused = loop {
        let command = peer.hear();
        assert_eq!(command.reference, Some(4));
        match command.name.as_str() {
            "move" => {}
            "error" => break command,
            _ => panic!("{command}"),
        }
    };
    assert!(refused.arguments[0].text().contains("id 4"), "{refused}");
    peer.say("6@4 stop");
    peer.say("8 state <3,0,0,1,0,3,3,3,3>");
    loop {
        let command = peer.hear();
        if command.name == "yield" {
            assert_eq!(command.reference, Some(8));
            break;
        }
    }
}

#[test]
fn floods_are_answered_without_growing() {
    let mut peer = Peer::with_stderr(&["--once", "--searches", "1"]);
    peer.greet();
    let heard = peer.hear_all();
    // A line without an end; then lines without meaning, options, greetings, and the longest possible pings.
    let long = "x".repeat(1 << 20);
    for _ in 0..64 {
        peer.stream.write_all(long.as_bytes()).unwrap();
    }
    peer.say("");
    for index in 0..20_000 {
        peer.say(&format!("nonsense-{index}"));
        peer.say(&format!("set option:{index} \"{index}\""));
        peer.say(&format!("{}@{} stop", u64::MAX - index, u64::MAX - index));
        peer.say("99999999999999999999999999 state <3,0,0,1,0,3,3,3,3>");
        peer.say("error \"again\"");
    }
    for _ in 0..500 {
        peer.say("4 kgp 1 0 1");
        peer.say(&format!("6 ping \"{}\"", "\t\"\u{fffd}".repeat(3000)));
        peer.stream.write_all(b"8 ping \"").unwrap();
        peer.stream.write_all(&[0xff; MAX_LINE - 20]).unwrap();
        peer.say("\"");
    }
    #[cfg(target_os = "linux")]
    assert!(peer.memory() < MEMORY, "{} bytes", peer.memory());
    peer.say("10 ping \"still there\"");
    peer.say("goodbye");
    let messages = peer.stderr();
    assert!(messages.lines().count() < 200, "{} lines", messages.lines().count());
    assert!(messages.contains("not shown"), "{messages}");
    let heard = heard.join().unwrap();
    let pongs: Vec<&Command> = heard.iter().filter(|command| command.name == "pong").collect();
    assert_eq!(pongs.last().unwrap().arguments[0].text(), "still there");
    assert_eq!(pongs.len(), 1001, "each is answered, with as much of its text as a line holds");
    assert!(heard.iter().all(|command| command.to_string().len() + 2 <= MAX_LINE));
    assert!(heard.iter().filter(|command| command.name == "mode").count() == 0, "it was greeted before");
}

#[cfg(unix)]
#[test]
fn a_server_that_does_not_read_does_not_hold_the_client() {
    let mut peer = Peer::new(&[]);
    peer.greet();
    let line = format!("4 ping \"{}\"\r\n", "x".repeat(16_000));
    peer.stream.set_nonblocking(true).unwrap();
    let (mut sent, mut last) = (0, Instant::now());
    // Lines are sent until the client takes no more.
    while last.elapsed() < Duration::from_secs(2) {
        match peer.stream.write(&line.as_bytes()[sent..]) {
            Ok(more) => (sent, last) = ((sent + more) % line.len(), Instant::now()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(Duration::from_millis(20)),
            Err(error) => panic!("{error}"),
        }
    }
    interrupt(&peer.child);
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = peer.child.try_wait().unwrap() {
            break status;
        }
        assert!(begin.elapsed() < Duration::from_secs(30), "it still waits for the server");
        thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(130));
}

#[test]
fn any_time_is_a_time() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let client = thread::spawn(move || {
        let mut thinking = Thinking::default();
        (thinking.time, thinking.margin, thinking.memory) = (Duration::MAX, Duration::MAX, 1 << 20);
        let shelf = Shelf::new(directory().to_owned());
        let stream = TcpStream::connect(address).unwrap();
        kgp::play(stream, &Introduction::default(), &thinking, &shelf, &Cancel::new(), &|_| ()).unwrap()
    });
    let mut stream = listener.accept().unwrap().0;
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    for lines in [
        "4 state <3,0,0,1,0,3,3,3,3>",
        "set time:clock 18446744073709549568\r\n6 state <3,0,0,1,0,3,3,3,3>",
        "set time:mode absolute\r\nset time:clock -1\r\n8 state <3,0,0,1,0,3,3,3,3>",
        "set time:clock 1e-300\r\n10 state <3,0,0,1,0,3,3,3,3>",
        "set time:clock inf\r\n12 state <3,0,0,1,0,3,3,3,3>",
    ] {
        stream.write_all(format!("{lines}\r\n").as_bytes()).unwrap();
    }
    let yields = lines.by_ref().map(|line| line.unwrap().parse::<Command>().unwrap());
    assert_eq!(yields.filter(|command| command.name == "yield").take(5).count(), 5);
    stream.write_all(b"goodbye\r\n").unwrap();
    assert_eq!(client.join().unwrap(), End::Goodbye);
}
