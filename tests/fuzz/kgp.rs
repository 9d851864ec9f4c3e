//! Hostile servers: their lines are nearly valid, invalid or truncated, or have changed bytes.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex};
use std::thread;
use std::time::Duration;

use kalah::build::build;
use kalah::cancel::Cancel;
use kalah::game::Rules;
use kalah::kgp::{self, Command, End, Introduction, KgpError, MAX_LINE, Thinking};
use kalah::table::Shelf;
use proptest::prelude::*;

use crate::fuzz;

static TABLES: LazyLock<PathBuf> = LazyLock::new(|| {
    let tables = tempfile::tempdir().unwrap().keep();
    build(&tables, Rules::Standard, 2, 6).unwrap();
    tables
});

/// Strategy for a text with special meaning for a terminal, or in the grammar.
fn nasty() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[ -~]{0,20}",
        2 => "[\u{1b}\u{7}\u{8}\u{7f}\u{9b}\u{85}\u{202e}\u{2066}\u{2028}\r\t\\[m0-9]{0,20}",
        1 => ".{0,20}",
        1 => (0..2 * MAX_LINE).prop_map(|length| "\u{1b}".repeat(length)),
    ]
}

fn quoted() -> impl Strategy<Value = String> {
    prop_oneof![6 => nasty().prop_map(|text| format!("\"{}\"", text.replace(['"', '\\'], ""))), 1 => nasty()]
}

fn board() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "<2,[0-9],[0-9],[0-9],[0-9],[0-9],[0-9]>",
        3 => "<3,[0-9],[0-9](,[0-9]){6}>",
        1 => "<1,[0-9]{1,9},[0-9]{1,9},[0-9]{1,9},[0-9]{1,9}>",
        1 => "<[0-9]{0,3}(,-?[0-9]{0,12}){0,12}>",
        1 => nasty(),
    ]
}

/// Strategy for a line without its end.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let ids = prop_oneof![
        8 => (0..10u64).prop_map(|id| format!("{} ", 2 * id)),
        4 => (0..10u64).prop_map(|id| format!("@{} ", 2 * id)),
        3 => Just(String::new()),
        2 => any::<(u64, u64)>().prop_map(|(id, reference)| format!("{id}@{reference} ")),
        1 => "[0-9@]{0,30} ",
    ];
    let command = prop_oneof![
        9 => board().prop_map(|board| format!("state {board}")),
        4 => Just("stop".to_owned()),
        4 => quoted().prop_map(|text| format!("ping {text}")),
        4 => quoted().prop_map(|text| format!("error {text}")),
        3 => (prop_oneof![Just("time:clock"), Just("time:mode"), Just("game:id")], "[a-z0-9.e-]{0,9}")
            .prop_map(|(option, value)| format!("set {option} {value}")),
        3 => "kgp (1 0 1|1|2 0 0|)",
        2 => "(ok|pong|mode|yield|move 1|set|ping|error|state)",
        1 => Just("goodbye".to_owned()),
        2 => nasty(),
    ];
    let change = (any::<prop::sample::Index>(), any::<u8>());
    let changes = prop_oneof![4 => Just(Vec::new()), 1 => prop::collection::vec(change, 1..4)];
    (ids, command, changes).prop_map(|(ids, command, changes)| {
        let mut line = format!("{ids}{command}").into_bytes();
        for (place, byte) in changes {
            let place = place.index(line.len() + 1);
            line.splice(place..(place + 1).min(line.len()), [byte]);
        }
        line
    })
}

/// Runs a session in which the server sends `lines`. Returns the lines that the client sends, and those that it prints
/// for the user.
fn session(lines: &[Vec<u8>]) -> Result<(Vec<String>, Vec<String>), TestCaseError> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let mut server = listener.accept().unwrap().0;
    server.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    server.set_write_timeout(Some(Duration::from_secs(60))).unwrap();
    let messages = Mutex::new(Vec::new());
    let heard = thread::scope(|scope| {
        let playing = scope.spawn(|| {
            let mut thinking = Thinking::default();
            (thinking.time, thinking.margin) = (Duration::from_millis(50), Duration::from_millis(1));
            (thinking.searches, thinking.memory) = (2, 1 << 20);
            let mut introduction = Introduction::default();
            introduction.name = "fuzz".to_owned();
            let on_event = |event: kgp::KgpEvent| messages.lock().unwrap().push(event.to_string());
            let shelf = Shelf::new(TABLES.clone());
            kgp::play(client, &introduction, &thinking, &shelf, &Cancel::new(), &on_event)
        });
        let reading = BufReader::new(server.try_clone().unwrap()).lines();
        let reading = scope.spawn(move || reading.collect::<Result<Vec<String>, _>>());
        // The client may have left before the last line.
        let _ = lines.iter().try_for_each(|line| server.write_all(line).and_then(|()| server.write_all(b"\r\n")));
        let _ = server.write_all(b"\r\ngoodbye\r\n");
        let ended = playing.join().map_err(|_| TestCaseError::fail("the client panicked"))?;
        prop_assert!(
            matches!(ended, Ok(End::Goodbye | End::Lost) | Err(KgpError::Version(_))),
            "the session ended with {ended:?}"
        );
        if let Err(error) = ended {
            messages.lock().unwrap().push(error.to_string());
        }
        // A reset of the connection may have lost the last lines.
        Ok(reading.join().unwrap().unwrap_or_default())
    })?;
    Ok((heard, messages.into_inner().unwrap()))
}

#[test]
fn kgp_lines_are_obeyed_refused_or_left_alone() {
    fuzz("kgp", &prop::collection::vec(line(), 0..24), |lines| {
        let (heard, messages) = session(&lines)?;
        for line in heard {
            prop_assert!(line.len() + 2 <= MAX_LINE, "{} bytes", line.len());
            let command: Result<Command, _> = line.parse();
            prop_assert!(command.is_ok_and(|command| command.id.is_some_and(|id| id % 2 == 1)), "{line:?}");
        }
        prop_assert!(messages.len() < 100, "{} messages", messages.len());
        for line in messages {
            let bad =
                |sign: char| sign.is_control() || matches!(sign, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            prop_assert!(!line.contains(bad) && line.chars().count() < 400, "{line:?}");
        }
        Ok(())
    });
}

#[test]
fn kgp_bytes_do_no_harm() {
    fuzz("kgp bytes", &prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..10), |lines| {
        let (_, messages) = session(&lines)?;
        prop_assert!(messages.iter().all(|line| !line.contains(char::is_control)), "{messages:?}");
        Ok(())
    });
}
