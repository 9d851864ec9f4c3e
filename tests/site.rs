//! The page without a server: an exported folder on a plain static host, read by a real browser.
#![cfg(all(feature = "cli", feature = "serve"))]

mod browser;
mod serving;

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use browser::Browser;
use kalah::build::build;
use kalah::game::{Pit, Position, Rules};
use kalah::record::GameRecord;
use kalah::serve::{SiteError, SiteOptions, SitePlan, SitePulse};
use kalah::table::Shelf;
use serde_json::{Value, json};
use serving::{Server, encoded};

/// Some tables of several boards and rule sets, built once.
fn directory() -> &'static Path {
    static TABLES: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
        let directory = tempfile::tempdir().unwrap();
        for rules in Rules::ALL {
            build(directory.path(), rules, 3, 10).unwrap();
        }
        build(directory.path(), Rules::Standard, 6, 13).unwrap();
        directory
    });
    TABLES.path()
}

fn export(to: &Path, flags: &[&str]) -> (i32, Value) {
    let mut command = assert_cmd::Command::cargo_bin("kalah").unwrap();
    let command = command.env("KALAH_TABLES", directory()).arg("export-site").arg(to).args(["--json", "--days", "3"]);
    let output = command.args(flags).output().unwrap();
    // How much there is to do is told before it is done.
    assert!(String::from_utf8_lossy(&output.stderr).contains("to copy") || !output.status.success());
    (output.status.code().unwrap(), serde_json::from_slice(&output.stdout).unwrap_or(Value::Null))
}

/// A plain static host, until the process ends. Without `ranges` it sends whole files; while `down` is set it answers nobody.
fn host(folder: PathBuf, ranges: bool, down: Arc<AtomicBool>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            if !down.load(Ordering::Relaxed) {
                let folder = folder.clone();
                std::thread::spawn(move || answer(stream, &folder, ranges));
            }
        }
    });
    address
}

/// Answers one request.
fn answer(mut stream: TcpStream, folder: &Path, ranges: bool) -> Option<()> {
    let mut lines = BufReader::new(stream.try_clone().ok()?).lines().map_while(Result::ok);
    let path = lines.next()?.split(' ').nth(1)?.split(['?', '#']).next()?.trim_start_matches('/').to_owned();
    let headers: Vec<String> = lines.take_while(|line| !line.is_empty()).map(|line| line.to_lowercase()).collect();
    let path = if path.is_empty() { "index.html" } else { &path };
    let (mut status, mut range) = ("200 OK", String::new());
    let mut bytes = std::fs::read(folder.join(path)).unwrap_or_else(|_| {
        status = "404 Not Found";
        Vec::new()
    });
    if ranges && let Some(asked) = headers.iter().find_map(|line| line.strip_prefix("range: bytes=")) {
        let (first, last) = asked.split_once('-')?;
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        range = format!("Content-Range: bytes {first}-{last}/{}\r\n", bytes.len());
        bytes = bytes.get(first..=last)?.to_vec();
        status = "206 Partial Content";
    }
    let kind = match path.rsplit('.').next()? {
        "html" => "text/html",
        "js" => "text/javascript",
        "css" => "text/css",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        _ => "application/octet-stream",
    };
    let length = bytes.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{range}Connection: close\r\n\r\n"
    )
    .ok()?;
    stream.write_all(&bytes).ok()
}

/// The documents of requests that the page sends: status and JSON.
fn ask(browser: &Browser, paths: &[String]) -> Vec<(u64, Value)> {
    let script = format!(
        "return Promise.all({}.map(async (path) => {{ const answer = await fetch(path); return [answer.status, await answer.json()]; }}))",
        json!(paths)
    );
    let answers = browser.run(&script);
    answers.as_array().unwrap().iter().map(|one| (one[0].as_u64().unwrap(), one[1].clone())).collect()
}

/// Opens the page of a host, and waits until it shows a position.
fn open(browser: &Browser, address: &str) {
    browser.go(&format!("{address}/#board=3x1&rules=standard"));
    browser.wait("globalThis.plainFetch && document.querySelector('.pit')");
}

/// Positions from random games.
fn positions(rules: Rules, start: &str, random: &mut fastrand::Rng, count: usize) -> Vec<Position> {
    let (start, mut found): (Position, _) = (start.parse().unwrap(), Vec::new());
    let mut position = start;
    while found.len() < count {
        let moves: Vec<Pit> = position.moves().collect();
        let Some(pit) = random.choice(moves) else {
            position = start;
            continue;
        };
        position = position.play(rules, pit).unwrap().position;
        found.push(position);
    }
    found
}

fn is_in(position: &Position, most: u32) -> bool {
    !position.is_over() && position.seeds() <= most
}

#[test]
fn a_static_site_reads_the_tables_as_the_library_does() {
    let Some(browser) = Browser::open(1280, 800, &[]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site");
    let (code, report) = export(&site, &[]);
    assert_eq!((code, &report["tables"], &report["left_out"]), (0, &json!(4 * 9 + 12), &json!(0)));
    assert!(report["puzzles"].as_u64() > Some(0) && report["book_positions"].as_u64() > Some(0));
    let (shelf, mut random) = (Shelf::new(directory().to_owned()), fastrand::Rng::with_seed(7));
    let down = Arc::new(AtomicBool::new(false));
    for ranges in [true, false] {
        let address = host(site.clone(), ranges, Arc::clone(&down));
        open(&browser, &address);
        for rules in Rules::ALL {
            let boards: &[(&str, u32)] =
                if shelf.tables(rules, 6).is_some() { &[("3x3", 10), ("6x3", 13)] } else { &[("3x3", 10)] };
            for &(start, most) in boards {
                let mut wanted = positions(rules, start, &mut random, 400);
                wanted.retain(|position| is_in(position, most));
                wanted.truncate(40);
                assert!(wanted.len() > 20);
                let path = |position: &Position| {
                    format!("api/position?rules={rules}&board={}", encoded(&position.to_string()))
                };
                let answers = ask(&browser, &wanted.iter().map(path).collect::<Vec<String>>());
                for (position, (status, answer)) in wanted.iter().zip(answers) {
                    let probe = shelf.probe(rules, position).unwrap().unwrap();
                    assert_eq!((status, &answer["score"]), (200, &json!(probe.score)), "{rules} {position} {answer}");
                    assert_eq!(answer["value"], json!(probe.value));
                    // Left out where it takes too long.
                    assert!(answer["line"].is_null() || answer["line"] == json!(probe.line.to_string()), "{answer}");
                    let best: Vec<usize> = probe.best().map(Pit::number).collect();
                    assert_eq!(answer["best"], json!(best));
                    for (one, (pit, score)) in answer["moves"].as_array().unwrap().iter().zip(&probe.moves) {
                        assert_eq!((&one["move"], &one["score"]), (&json!(pit.number()), &json!(score)), "{position}");
                        let played = position.play(rules, *pit).unwrap();
                        assert_eq!(one["next"], json!(played.position.to_string()));
                        assert_eq!(one["again"], json!(played.again));
                    }
                }
            }
        }
    }
    // A whole game, and a puzzle whose move is the best.
    let address = host(site.clone(), true, Arc::clone(&down));
    open(&browser, &address);
    let (status, puzzle) =
        ask(&browser, &["api/puzzle?rules=standard&board=6x4&level=easy&seed=3".to_owned()]).remove(0);
    assert_eq!(status, 200, "{puzzle}");
    let path = format!("api/position?rules=standard&board={}", encoded(puzzle["position"].as_str().unwrap()));
    assert_eq!(ask(&browser, std::slice::from_ref(&path))[0].1["best"], json!([puzzle["move"]]));
    assert_eq!(ask(&browser, std::slice::from_ref(&path))[0].1["line"], puzzle["line"]);
    // The puzzles of a day, and what the book has, as a server with the same tables answers.
    let server = Server::start(directory(), &[]);
    for level in ["easy", "medium", "hard"] {
        let (_, today) = server.get(&format!("/api/puzzle?rules=standard&level={level}"));
        let path = format!("api/puzzle?rules=standard&level={level}&day={}", today["day"].as_str().unwrap());
        assert_eq!(ask(&browser, &[path]), [(200, today)]);
    }
    let (_, after) = server.get("/api/line?rules=standard&board=6x5&moves=1,2");
    for board in ["6x4", "6x5", "6x6", after["places"][2]["position"].as_str().unwrap(), "3x1", "12x3"] {
        let path = format!("api/book?rules=standard&board={}", encoded(board));
        let (status, mut expected) = server.get(&format!("/{path}"));
        let (_, mut answer) = ask(&browser, &[path]).remove(0);
        assert_eq!((status, &answer["in_book"]), (200, &expected["in_book"]));
        // The site does not follow a line through the tables.
        let line = answer["line"].as_str().unwrap_or_default().to_owned();
        assert!(expected["line"].as_str().unwrap_or_default().starts_with(&line), "{answer} {expected}");
        for document in [&mut answer, &mut expected] {
            document.as_object_mut().unwrap().retain(|field, _| !["line", "complete"].contains(&field.as_str()));
        }
        assert_eq!(answer, expected);
    }
    // Games as text, as the library writes and reads them.
    for (board, moves) in
        [("6x4", vec![3, 6, 2, 1, 4]), ("3x1", vec![1, 1, 3, 2]), ("<2,7,5,1,0,0,2>", vec![]), ("12x3", vec![12])]
    {
        let pits: Vec<Pit> = moves.iter().map(|&number| Pit::from_number(number).unwrap()).collect();
        let Ok(game) = GameRecord::of_moves(Rules::ALL[1], board.parse().unwrap(), &pits) else { continue };
        let game = game.with_header("Event", "a \"club\" \\").with_header("South", "Ä");
        let game = game.with_comment(0, "a long comment: ".repeat(20).trim()).with_comment(9, "an } or two");
        let body = json!({ "board": board, "rules": game.rules.name(), "moves": moves, "south": "Ä",
            "headers": [["Event", "a \"club\" \\"]],
            "comments": [{ "after": 0, "text": "a long comment: ".repeat(20) }, { "after": 99, "text": "an }\nor two " }] });
        let post = |path: &str, body: &Value| {
            let script = format!(
                "return fetch('{path}', {{ method: 'POST', body: JSON.stringify({body}) }}).then((answer) => answer.json())"
            );
            browser.run(&script)
        };
        assert_eq!(post("api/text/write", &body), json!({ "text": game.to_string() }));
        let read = post("api/text/read", &json!({ "text": game.to_string() }));
        assert_eq!((&read["moves"], &read["line"]), (&json!(moves), &json!(game.line.to_string())), "{read}");
        assert_eq!((&read["south"], &read["result"]), (&json!("Ä"), &json!(game.result)));
        let comments: Vec<&Value> = read["comments"].as_array().unwrap().iter().map(|one| &one["text"]).collect();
        assert_eq!(json!(comments), json!(game.comments.iter().map(|(_, text)| text).collect::<Vec<_>>()));
        assert_eq!(read["comments"][1]["after"], json!(moves.len()));
        let refused = post("api/text/read", &json!({ "text": format!("{game}1 2 3") }));
        assert_eq!(refused["error"]["code"], "text", "{refused}");
    }
    // Above the tables: an evaluation, no proof. And what is wrong has the words of the API.
    let above =
        ask(&browser, &["api/position?rules=standard&board=6x3".to_owned(), "api/position?board=six".to_owned()]);
    assert_eq!((&above[0].1["known"], &above[0].1["source"]), (&json!("estimate"), &json!("depth")));
    assert_eq!((above[1].0, &above[1].1["error"]["code"]), (400, &json!("board")));
    // Once read, it is there without the host, the page itself too.
    browser.wait("navigator.serviceWorker.controller");
    let before = ask(&browser, std::slice::from_ref(&path));
    browser.go("about:blank");
    open(&browser, &address);
    assert_eq!(ask(&browser, std::slice::from_ref(&path)), before);
    down.store(true, Ordering::Relaxed);
    browser.go("about:blank");
    open(&browser, &address);
    assert_eq!(ask(&browser, &[path]), before);
}

#[test]
fn a_flipped_bit_on_the_host_is_an_error_and_never_an_answer() {
    let Some(browser) = Browser::open(1280, 800, &[]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site");
    export(&site, &[]);
    let refusal = |position: &Position| {
        open(&browser, &host(site.clone(), true, Arc::default()));
        let path = format!("api/position?rules=standard&board={}", encoded(&position.to_string()));
        let (status, answer) = ask(&browser, &[path]).remove(0);
        assert_eq!((status, &answer["error"]["code"]), (500, &json!("damaged-table")), "{answer}");
        answer["error"]["message"].as_str().unwrap().to_owned()
    };
    let file_of = |position: &Position| site.join(format!("tables/standard-6-{:02}.kalah", position.seeds()));
    let position: Position = "1,2,0,1,2,1/1,0,2,1,1,1".parse().unwrap();
    for position in [position, "1,0,0,1,0,1/1,0,0,1,1,0".parse().unwrap()] {
        let file = file_of(&position);
        let entry = kalah::table::Table::open(&file).unwrap().header().entries[position.mover().total() as usize - 1];
        let sound = std::fs::read(&file).unwrap();
        let groups = entry.offset + entry.rows.next_multiple_of(64);
        let mut faults = vec![
            (40, "header"),
            (128 + 72 + 9, "directory"),
            (groups + 3, "block of scores"),
            (entry.offset + 1, "block of scores"),
        ];
        // Behind the checksum of a frame's only block.
        if entry.blocks() == 1 {
            faults.push((entry.offset + entry.checksums_at() + 8, "frame at byte"));
        }
        assert_eq!(entry.blocks() == 1, position.seeds() == 6);
        for (byte, told) in faults {
            let mut bytes = sound.clone();
            bytes[byte as usize] ^= 1;
            std::fs::write(&file, bytes).unwrap();
            let (message, name) = (refusal(&position), file.file_name().unwrap().to_str().unwrap());
            assert!(message.contains(told) && message.contains(name), "{message}");
        }
        std::fs::write(&file, &sound).unwrap();
    }
    // A sound table, but another one than the site was made with; and one that is cut off.
    let (file, list) = (file_of(&position), site.join("site/site.json"));
    let (sound, named) = (std::fs::read(&file).unwrap(), std::fs::read_to_string(&list).unwrap());
    let digest = kalah::table::Table::open(&file).unwrap().header().digest;
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let other = named.replace(&digest, &digest.chars().rev().collect::<String>());
    assert_ne!(named, other);
    for (list_text, bytes, told) in [(&other, &sound[..], "digest"), (&named, &sound[..sound.len() - 64], "complete")] {
        std::fs::write(&list, list_text).unwrap();
        std::fs::write(&file, bytes).unwrap();
        let message = refusal(&position);
        assert!(message.contains(told), "{message}");
    }
}

#[test]
fn the_digests_of_the_browser_are_those_of_the_library() {
    let Some(browser) = Browser::open(1280, 800, &[]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site");
    export(&site, &["--size", "1KiB", "--no-book"]);
    browser.go(&format!("{}/site/icon.svg", host(site, true, Arc::default())));
    let lengths = [0, 1, 63, 64, 65, 127, 128, 1023, 1024, 1025, 2048, 2049, 3072, 3073, 7168, 7169, 8193, 65_600];
    let found = browser.run(&format!(
        "return import('/site/blake3.js').then(({{ blake3 }}) => {}.map((length) =>
           blake3(Uint8Array.from({{ length }}, (_, index) => (index * 7 + length) % 251))))",
        json!(lengths)
    ));
    for (length, found) in lengths.into_iter().zip(found.as_array().unwrap()) {
        let bytes: Vec<u8> = (0..length).map(|index: usize| ((index * 7 + length) % 251) as u8).collect();
        assert_eq!(found, &json!(blake3::hash(&bytes).to_hex().to_string()), "{length}");
    }
}

#[test]
fn an_export_that_is_stopped_is_written_anew() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site");
    let mut options = SiteOptions::new(directory().to_owned());
    options.days = 1;
    let plan = SitePlan::new(&options);
    assert!(plan.bytes() > 0 && plan.puzzle_steps() > 0);
    let pulse = SitePulse::default();
    plan.copy_tables(&site, &pulse).unwrap();
    assert_eq!(pulse.done.load(Ordering::Relaxed), plan.bytes());
    pulse.stop();
    assert!(matches!(plan.write_rest(&site, &pulse), Err(SiteError::Stopped)));
    assert!(matches!(plan.copy_tables(&site, &pulse), Err(SiteError::Stopped)));
    let (code, report) = export(&site, &[]);
    assert_eq!((code, &report["table_bytes"]), (0, &json!(plan.bytes())));
}

#[test]
fn a_folder_is_replaced_and_others_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site");
    let (code, all) = export(&site, &[]);
    assert_eq!(code, 0);
    let (code, few) = export(&site, &["--size", "100KiB", "--no-book"]);
    assert_eq!((code, &few["book_positions"]), (0, &json!(0)));
    assert!(few["tables"].as_u64() < all["tables"].as_u64() && few["left_out"].as_u64() > Some(0));
    assert!(few["table_bytes"].as_u64() <= Some(100 << 10));
    let tables = std::fs::read_dir(site.join("tables")).unwrap().count() as u64;
    assert_eq!(few["tables"], json!(tables));
    // Below each layer there are all others.
    let listed: Value = serde_json::from_slice(&std::fs::read(site.join("site/site.json")).unwrap()).unwrap();
    let listed = listed["tables"].as_array().unwrap();
    for table in listed {
        let same = |other: &&Value| other["rules"] == table["rules"] && other["pits"] == table["pits"];
        let below = listed.iter().filter(same).filter(|other| other["seeds"].as_u64() < table["seeds"].as_u64());
        assert_eq!(json!(below.count() + 2), table["seeds"]);
    }
    std::fs::create_dir(folder.path().join("mine")).unwrap();
    std::fs::write(folder.path().join("mine/letter.txt"), "mine").unwrap();
    let mut command = assert_cmd::Command::cargo_bin("kalah").unwrap();
    let refused = command.arg("export-site").arg(folder.path().join("mine")).output().unwrap();
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(1) && told.contains("; name another folder, or empty this one"), "{told}");
    assert_eq!(std::fs::read_dir(folder.path().join("mine")).unwrap().count(), 1);
}
