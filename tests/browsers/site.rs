//! The page without a server: an exported folder on a plain static host, in a real browser.

use std::sync::OnceLock;

use kalah::build::MemoryBuilder;
use kalah::game::{Pit, Position, Rules};
use kalah::progress::Pulse;
use kalah::record::GameRecord;
use kalah::solve::{Solver, SolverOptions};
use kalah::table::{AllTables, TableKey, Tables};
use serde_json::{Value, json};

use crate::sites::{Conduct, Host, ask, directory, export, in_browsers, open, version};
use kalah_tests::browser::Browser;
use kalah_tests::serving::{Server, encoded};

in_browsers! {
    a_static_site_reads_the_tables_as_the_library_does,
    values_in_and_above_the_tables_are_those_of_the_solver,
    other_requests_are_answered_while_a_player_thinks,
    a_request_that_is_given_up_does_not_hold_others_up,
    a_table_that_fails_gives_way_to_the_search,
}

/// Number of compared values of each rule set, and of requests at a time.
const VALUES: usize = 500;
const AT_ONCE: usize = 100;

/// Maximum seeds in play of these positions: more than the engine has tables for.
const MOST: u32 = 22;

/// Tables to 12 seeds, built in memory.
fn tables(rules: Rules) -> &'static Tables {
    static TABLES: [OnceLock<MemoryBuilder>; Rules::ALL.len()] = [const { OnceLock::new() }; Rules::ALL.len()];
    let built = TABLES[rules.index()].get_or_init(|| {
        let mut builder = MemoryBuilder::new(TableKey { rules, pits: 6, seeds: 12 }).unwrap();
        while builder.build_layer(&Pulse::default()).unwrap().is_some() {}
        builder
    });
    built.tables()
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

#[allow(clippy::too_many_lines, reason = "a script for the browser is part of it")]
fn a_static_site_reads_the_tables_as_the_library_does(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site");
    let (code, report) = export(&site, &[]);
    assert_eq!((code, &report["tables"], &report["left_out"]), (0, &json!(4 * 9 + 13), &json!(0)));
    assert!(report["module_bytes"].as_u64() > Some(0) && report["book_positions"].as_u64() > Some(0));
    // Here the engine builds no tables, but reads all of them from the host.
    let remote = folder.path().join("remote");
    export(&remote, &["--seeds", "0"]);
    let (all_tables, mut random) = (AllTables::new(directory().to_owned()), fastrand::Rng::with_seed(7));
    for host in [Host::new(site.clone()), Host::new(remote.clone()), Host::without_ranges(remote.clone())] {
        open(browser, &host.address);
        for rules in Rules::ALL {
            let boards: &[(&str, u32)] =
                if all_tables.tables(rules, 6).is_some() { &[("3x3", 10), ("6x3", 14)] } else { &[("3x3", 10)] };
            for &(start, most) in boards {
                let mut wanted = positions(rules, start, &mut random, 400);
                wanted.retain(|position| is_in(position, most));
                wanted.truncate(40);
                assert!(wanted.len() > 20);
                let path = |position: &Position| {
                    format!("api/position?rules={rules}&board={}", encoded(&position.to_string()))
                };
                let answers = ask(browser, &wanted.iter().map(path).collect::<Vec<String>>());
                for (position, (status, answer)) in wanted.iter().zip(answers) {
                    let probe = all_tables.probe(rules, position).unwrap().unwrap();
                    assert_eq!((status, &answer["score"]), (200, &json!(probe.score)), "{rules} {position} {answer}");
                    assert_eq!(answer["value"], json!(probe.value));
                    assert_eq!(answer["line"], json!(probe.line.to_string()), "{answer}");
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
    // A whole game, and a puzzle whose best move is right.
    let host = Host::new(site.clone());
    open(browser, &host.address);
    let (status, puzzle) =
        ask(browser, &["api/puzzle?rules=standard&board=6x4&level=easy&seed=3".to_owned()]).remove(0);
    assert_eq!(status, 200, "{puzzle}");
    let path = format!("api/position?rules=standard&board={}", encoded(puzzle["position"].as_str().unwrap()));
    assert_eq!(ask(browser, std::slice::from_ref(&path))[0].1["best"], json!([puzzle["move"]]));
    assert_eq!(ask(browser, std::slice::from_ref(&path))[0].1["line"], puzzle["line"]);
    // Puzzles of a day and book values, as a server with the same tables answers.
    let server = Server::start(directory(), &[]);
    for level in ["easy", "medium", "hard"] {
        let (_, today) = server.get(&format!("/api/puzzle?rules=standard&level={level}"));
        let path = format!("api/puzzle?rules=standard&level={level}&day={}", today["day"].as_str().unwrap());
        assert_eq!(ask(browser, &[path]), [(200, today)]);
    }
    let (_, after) = server.get("/api/line?rules=standard&board=6x5&moves=1,2");
    for board in ["6x4", "6x5", "6x6", after["places"][2]["position"].as_str().unwrap(), "3x1", "12x3"] {
        let path = format!("api/book?rules=standard&board={}", encoded(board));
        let (status, mut expected) = server.get(&format!("/{path}"));
        let (_, mut answer) = ask(browser, &[path]).remove(0);
        assert_eq!((status, &answer["in_book"]), (200, &expected["in_book"]));
        // A line goes on in the tables, of which the two have different layers.
        let [line, other] = [&answer, &expected].map(|document| document["line"].as_str().unwrap_or_default());
        assert!(line.starts_with(other) || other.starts_with(line), "{answer} {expected}");
        assert_eq!(line.is_empty(), other.is_empty(), "{answer} {expected}");
        for document in [&mut answer, &mut expected] {
            document.as_object_mut().unwrap().retain(|field, _| !["line", "line_open"].contains(&field.as_str()));
        }
        assert_eq!(answer, expected);
    }
    // Games as text, as the library writes and reads them.
    for (board, moves) in
        [("6x4", vec![3, 6, 2, 1, 4]), ("3x1", vec![1, 1, 3, 2]), ("<2,7,5,1,0,0,2>", vec![]), ("12x3", vec![12])]
    {
        let pits: Vec<Pit> = moves.iter().map(|&number| Pit::from_number(number).unwrap()).collect();
        let Ok(game) = GameRecord::of_moves(Rules::ALL[1], board.parse().unwrap(), &pits) else { continue };
        // Texts begin with the players.
        let game = game.with_header("South", "Ä").with_header("Event", "a \"club\" \\");
        let headers = json!([["South", "Ä"], ["Event", "a \"club\" \\"]]);
        let body = json!({ "board": board, "rules": game.rules.name(), "moves": moves, "headers": headers });
        let post = |path: &str, body: &Value| {
            let script = format!(
                "return fetch('{path}', {{ method: 'POST', body: JSON.stringify({body}) }}).then((answer) => \
                    answer.json())"
            );
            browser.run(&script)
        };
        assert_eq!(post("api/text/write", &body), json!({ "text": game.to_string() }));
        let read = post("api/text/read", &json!({ "text": game.to_string() }));
        assert_eq!((&read["moves"], &read["headers"]), (&json!(moves), &json!(game.headers)), "{read}");
        let refused = post("api/text/read", &json!({ "text": format!("{game}1 2 3") }));
        assert_eq!(refused["error"]["code"], "request", "{refused}");
    }
    // Errors have the words of the API.
    let (status, refused) = ask(browser, &["api/position?board=six".to_owned()]).remove(0);
    assert_eq!((status, &refused["error"]["code"]), (400, &json!("request")));
    // Files that were read once work without the host, and so does the page itself.
    browser.wait("navigator.serviceWorker.controller");
    let before = ask(browser, std::slice::from_ref(&path));
    browser.go("about:blank");
    open(browser, &host.address);
    assert_eq!(ask(browser, std::slice::from_ref(&path)), before);
    host.conducts(Conduct::Down);
    browser.go("about:blank");
    open(browser, &host.address);
    assert_eq!(ask(browser, &[path]), before);
}

fn values_in_and_above_the_tables_are_those_of_the_solver(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    export(folder.path(), &["--size", "0"]);
    open(browser, &Host::new(folder.path().to_owned()).address);
    let mut random = fastrand::Rng::with_seed(11);
    for rules in [Rules::EmptyCapture, Rules::Standard] {
        let mut wanted = positions(rules, "6x4", &mut random, 8 * VALUES);
        wanted.retain(|position| position.seeds() <= MOST && !position.is_over());
        wanted.truncate(VALUES);
        assert_eq!(wanted.len(), VALUES);
        let largest = wanted.iter().max_by_key(|position| position.seeds()).unwrap();
        assert_eq!(largest.seeds(), MOST);
        let options = SolverOptions::new(rules, largest).tables(Some(tables(rules))).transpositions(1 << 24);
        let solver = Solver::new(options).unwrap();
        let path = |position: &Position| format!("api/position?rules={rules}&board={}", encoded(&position.to_string()));
        for wanted in wanted.chunks(AT_ONCE) {
            let answers = ask(browser, &wanted.iter().map(path).collect::<Vec<String>>());
            for (position, (_, answer)) in wanted.iter().zip(answers) {
                let (_, value) = solver.value(position, 0).unwrap();
                assert_eq!((&answer["known"], &answer["value"]), (&json!("exact"), &json!(value)), "{rules} {answer}");
            }
        }
    }
}

fn other_requests_are_answered_while_a_player_thinks(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    export(folder.path(), &["--size", "0"]);
    open(browser, &Host::new(folder.path().to_owned()).address);
    // The move takes all of its time, on a board with a solver and on one without.
    for board in ["6x6", "16x10"] {
        let order = browser.run(&format!(
            "return (async () => {{
               await (await fetch('api/position?board=6x4')).json();
               const order = [];
               const body = JSON.stringify({{ board: '{board}', rules: 'single-move', player: 'perfect', time: 3 }});
               const move = fetch('api/move', {{ method: 'POST', body }}).then(() => order.push('move'));
               const line = fetch('api/line?board=6x4&moves=3').then(() => order.push('line'));
               await Promise.all([move, line]);
               return order; }})()"
        ));
        assert_eq!(order, json!(["line", "move"]), "{board}");
    }
}

fn a_request_that_is_given_up_does_not_hold_others_up(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    export(folder.path(), &["--size", "0"]);
    open(browser, &Host::new(folder.path().to_owned()).address);
    // Searches of a minute, given up at different moments; then a search that ends by itself.
    let slowest = browser.run(
        "return (async () => { let slowest = 0;
           for (let number = 0; number < 20; number += 1) {
             const giveUp = new AbortController();
             const path = 'api/search?board=6x6&rules=single-move&time=60';
             fetch(path, { signal: giveUp.signal }).then((answer) => answer.text()).catch(() => {});
             await new Promise((done) => setTimeout(done, 5 * number));
             giveUp.abort();
             const begin = performance.now();
             await (await fetch('api/position?board=6x6&rules=single-move&time=0.2')).json();
             slowest = Math.max(slowest, performance.now() - begin);
           }
           return slowest; })()",
    );
    assert!(slowest.as_f64().unwrap() < 30_000.0, "{slowest} ms");
}

fn a_table_that_fails_gives_way_to_the_search(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site");
    export(&site, &["--seeds", "0"]);
    let note = |position: &Position| {
        open(browser, &Host::new(site.clone()).address);
        let path = format!("api/position?rules=standard&time=5&board={}", encoded(&position.to_string()));
        let (status, answer) = ask(browser, &[path]).remove(0);
        let probe = AllTables::new(directory().to_owned()).probe(Rules::Standard, position).unwrap().unwrap();
        assert_eq!((status, &answer["value"]), (200, &json!(probe.value)), "{answer}");
        answer["note"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    let file_of = |position: &Position| {
        let beginning = format!("standard-6-{:02}-", position.seeds());
        let mut tables = std::fs::read_dir(site.join("tables")).unwrap().map(|entry| entry.unwrap().path());
        tables.find(|path| path.file_name().unwrap().to_str().unwrap().starts_with(&beginning)).unwrap()
    };
    let position: Position = "1,2,0,1,2,1/1,0,2,1,1,1".parse().unwrap();
    for position in [position, "1,0,0,1,0,1/1,0,0,1,1,0".parse().unwrap()] {
        let file = file_of(&position);
        let entry = kalah::table::Table::open(&file).unwrap().header().entries[position.mover().total() as usize - 1];
        let sound = std::fs::read(&file).unwrap();
        let groups = entry.offset + entry.rows.next_multiple_of(64);
        // A frame with one block is compared with its digest as a whole.
        let scores = if entry.section().blocks() == 1 { "frame" } else { "block of scores" };
        let mut faults =
            vec![(40, "header"), (128 + 72 + 9, "directory"), (groups + 3, scores), (entry.offset + 1, scores)];
        // Behind the checksum of a frame's only block.
        if entry.section().blocks() == 1 {
            faults.push((entry.offset + entry.checksums_at() + 8, "frame"));
        }
        assert_eq!(entry.section().blocks() == 1, position.seeds() == 6);
        for (byte, reason) in faults {
            let mut bytes = sound.clone();
            bytes[byte as usize] ^= 1;
            std::fs::write(&file, bytes).unwrap();
            let (message, name) = (note(&position), file.file_name().unwrap().to_str().unwrap());
            assert!(message.contains(reason) && message.contains(name), "{message}");
        }
        std::fs::write(&file, &sound).unwrap();
    }
    // An intact table other than that of the export, and a truncated one.
    let (file, list) = (file_of(&position), version(&site).join("site.json"));
    let (sound, named) = (std::fs::read(&file).unwrap(), std::fs::read_to_string(&list).unwrap());
    let digest = kalah::table::Table::open(&file).unwrap().header().digest;
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let other = named.replace(&digest, &digest.chars().rev().collect::<String>());
    assert_ne!(named, other);
    let html = b"<!doctype html><p>Not found";
    for (list_text, bytes, reason) in
        [(&other, &sound[..], "digest"), (&named, &sound[..sound.len() - 64], "complete"), (&named, html, "")]
    {
        std::fs::write(&list, list_text).unwrap();
        std::fs::write(&file, bytes).unwrap();
        let message = note(&position);
        assert!(message.contains(reason), "{message}");
    }
    std::fs::remove_file(&file).unwrap();
    let message = note(&position);
    assert!(message.contains("404"), "{message}");
}
