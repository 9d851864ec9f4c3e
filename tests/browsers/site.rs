//! The page without a server: an exported folder on a plain static host, in a real browser.

use std::ops::RangeInclusive;

use kalah::game::{Position, Rules};
use kalah::table::{AllTables, Table};
use serde_json::{Value, json};

use crate::sites::{Site, ask, ask_all, directory, in_browsers, open, question, version};
use kalah_tests::browser::Browser;
use kalah_tests::files::flip;
use kalah_tests::host::Host;
use kalah_tests::random::random_position;
use kalah_tests::serving::{Server, encoded};

in_browsers! {
    both:
    a_static_site_reads_the_tables_as_a_server_does,
    a_request_that_is_given_up_does_not_hold_others_up;
    chromium:
    a_static_site_answers_other_requests_as_a_server_does,
    other_requests_are_answered_while_a_player_thinks,
    a_table_that_fails_gives_way_to_the_search,
}

/// Requests for 40 unfinished positions with some of these numbers of seeds.
fn questions(random: &mut fastrand::Rng, rules: Rules, pits: usize, seeds: RangeInclusive<u32>) -> Vec<String> {
    let positions = std::iter::repeat_with(|| {
        let seeds = random.u32(seeds.clone());
        random_position(random, pits, seeds)
    });
    positions.filter(|position| !position.is_over()).map(|position| question(rules, position)).take(40).collect()
}

fn a_static_site_reads_the_tables_as_a_server_does(browser: &Browser) {
    // The second site builds no tables, but reads all of them from the host.
    let [site, remote] = ["", "--seeds 0"].map(Site::new);
    let without_ranges = Host::new(remote.path(), "");
    without_ranges.conduct().whole = true;
    let server = Server::start(directory(), &["--no-book"]);
    let mut random = fastrand::Rng::with_seed(7);
    for host in [&site.host, &remote.host, &without_ranges] {
        open(browser, host);
        for (rules, pits, most) in Rules::ALL.iter().map(|&rules| (rules, 3, 10)).chain([(Rules::Standard, 6, 14)]) {
            let paths = questions(&mut random, rules, pits, 2..=most);
            for (path, (status, answer)) in paths.iter().zip(ask_all(browser, &paths)) {
                let (_, expected) = server.get(&format!("/{path}"));
                assert_eq!(expected["source"], "tables");
                assert_eq!((status, answer), (200, expected));
            }
        }
    }
}

fn a_static_site_answers_other_requests_as_a_server_does(browser: &Browser) {
    let site = Site::new("");
    open(browser, &site.host);
    // A puzzle whose best move is right.
    let (status, puzzle) = ask(browser, "api/puzzle?rules=standard&board=6x4&level=easy&seed=3");
    assert_eq!(status, 200, "{puzzle}");
    let (_, answer) = ask(browser, &question(Rules::Standard, puzzle["position"].as_str().unwrap()));
    assert_eq!((&answer["best"], &answer["line"]), (&json!([puzzle["move"]]), &puzzle["line"]));
    // Puzzles of a day and book values, as a server with the same tables answers.
    let server = Server::start(directory(), &[]);
    for level in ["easy", "medium", "hard"] {
        let (_, today) = server.get(&format!("/api/puzzle?rules=standard&level={level}"));
        let path = format!("api/puzzle?rules=standard&level={level}&day={}", today["day"].as_str().unwrap());
        assert_eq!(ask(browser, &path), (200, today));
    }
    let (_, after) = server.get("/api/line?rules=standard&board=6x5&moves=1,2");
    for board in ["6x4", "6x5", "6x6", after["places"][2]["position"].as_str().unwrap(), "3x1", "12x3"] {
        let path = format!("api/book?rules=standard&board={}", encoded(board));
        let ((status, mut expected), (_, mut answer)) = (server.get(&format!("/{path}")), ask(browser, &path));
        assert_eq!(status, 200);
        // A line goes on in the tables, of which the two have different layers.
        let [line, other] = [&answer, &expected].map(|document| document["line"].as_str().unwrap_or_default());
        assert!(line.starts_with(other) || other.starts_with(line), "{answer} {expected}");
        assert_eq!(line.is_empty(), other.is_empty(), "{answer} {expected}");
        for document in [&mut answer, &mut expected] {
            document.as_object_mut().unwrap().retain(|field, _| !["line", "line_open"].contains(&field.as_str()));
        }
        assert_eq!(answer, expected);
    }
    // Values above all tables.
    let mut random = fastrand::Rng::with_seed(11);
    for rules in [Rules::EmptyCapture, Rules::Standard] {
        let paths = questions(&mut random, rules, 6, 19..=22);
        for (path, (_, answer)) in paths.iter().zip(ask_all(browser, &paths)) {
            let (_, expected) = server.get(&format!("/{path}"));
            assert_eq!((&answer["known"], &answer["value"]), (&json!("exact"), &expected["value"]), "{path} {answer}");
        }
    }
    // Texts of games, and errors.
    let post = |path: &str, body: &Value| {
        let found = browser.value(&format!("ask('{path}', {{ method: 'POST', body: JSON.stringify({body}) }})"));
        let (_, expected) = server.post(&format!("/{path}"), body.to_string().as_bytes());
        assert_eq!(found, expected, "{body}");
        found
    };
    for (board, moves) in
        [("6x4", vec![3, 6, 2, 1, 4]), ("3x1", vec![1, 1, 3, 2]), ("<2,7,5,1,0,0,2>", vec![]), ("12x3", vec![12])]
    {
        let headers = json!([["South", "Ä"], ["Event", "a \"club\" \\"]]);
        let body = json!({ "board": board, "rules": "standard", "moves": moves, "headers": headers });
        let text = post("api/text/write", &body)["text"].as_str().map(str::to_owned);
        if let Some(text) = text {
            assert_eq!(post("api/text/read", &json!({ "text": text }))["moves"], json!(moves));
            let refused = post("api/text/read", &json!({ "text": text + "1 2 3" }));
            assert_eq!(refused["error"]["code"], "request", "{refused}");
        }
    }
    let path = "api/position?board=six";
    let (status, refused) = server.get(&format!("/{path}"));
    assert_eq!(ask(browser, path), (status.into(), refused));
}

fn other_requests_are_answered_while_a_player_thinks(browser: &Browser) {
    let site = Site::new("--size 0");
    open(browser, &site.host);
    // The move takes all of its time, on a board with a solver and on one without.
    for board in ["6x6", "16x10"] {
        let order = |seconds: u32| {
            browser.run(&format!(
                "return (async () => {{
                   await ask('api/position?board=6x4');
                   const [order, time] = [[], {seconds}];
                   const body = {{ board: '{board}', rules: 'single-move', player: 'perfect', time }};
                   const move = ask('api/move', {{ method: 'POST', body: JSON.stringify(body) }});
                   const line = ask('api/line?board=6x4&moves=3');
                   await Promise.all([move.then(() => order.push('move')), line.then(() => order.push('line'))]);
                   return order; }})()"
            ))
        };
        // On a busy machine, the other answer takes some seconds, too.
        assert!([3, 12, 48].into_iter().any(|seconds| order(seconds) == json!(["line", "move"])), "{board}");
    }
}

fn a_request_that_is_given_up_does_not_hold_others_up(browser: &Browser) {
    let site = Site::new("--size 0");
    open(browser, &site.host);
    // Searches of a minute, given up at different moments; then a search that ends by itself.
    for pause in (0..100).step_by(5) {
        let milliseconds = browser.run(&format!(
            "return (async () => {{
               const giveUp = new AbortController();
               const path = 'api/search?board=6x6&rules=single-move&time=60';
               fetch(path, {{ signal: giveUp.signal }}).then((answer) => answer.text()).catch(() => {{}});
               await new Promise((done) => setTimeout(done, {pause}));
               giveUp.abort();
               const begin = performance.now();
               await ask('api/position?board=6x6&rules=single-move&time=0.2');
               return performance.now() - begin; }})()"
        ));
        assert!(milliseconds.as_f64().unwrap() < 30_000.0, "{milliseconds} ms");
    }
}

fn a_table_that_fails_gives_way_to_the_search(browser: &Browser) {
    let site = Site::new("--seeds 0");
    let tables = AllTables::new(directory().to_owned());
    // The note on an answer, which is right.
    let note = |position: &Position| {
        // Another host, of which the browser keeps nothing.
        open(browser, &Host::new(site.path(), ""));
        let (status, answer) = ask(browser, &format!("{}&time=5", question(Rules::Standard, position)));
        let probe = tables.probe(Rules::Standard, position).unwrap().unwrap();
        assert_eq!((status, &answer["value"]), (200, &json!(probe.value)), "{answer}");
        answer["note"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    let [large, small]: [Position; 2] =
        ["1,2,0,1,2,1/1,0,2,1,1,1", "1,0,0,1,0,1/1,0,0,1,1,0"].map(|text| text.parse().unwrap());
    for (position, has_one_block) in [(large, false), (small, true)] {
        let file = site.table(position.seeds());
        let entry = Table::open(&file).unwrap().header().entries[position.mover().total() as usize - 1];
        assert_eq!(entry.section().blocks() == 1, has_one_block);
        let groups = entry.offset + entry.rows.next_multiple_of(64);
        // A frame with one block is compared with its digest as a whole.
        let scores = if has_one_block { "frame" } else { "block of scores" };
        let mut faults =
            vec![(40, "header"), (128 + 72 + 9, "directory"), (groups + 3, scores), (entry.offset + 1, scores)];
        // Behind the checksum of a frame's only block.
        if has_one_block {
            faults.push((entry.offset + entry.checksums_at() + 8, "frame"));
        }
        for (byte, reason) in faults {
            flip(&file, byte as usize, 1);
            let (message, name) = (note(&position), file.file_name().unwrap().to_str().unwrap());
            assert!(message.contains(reason) && message.contains(name), "{message}");
            flip(&file, byte as usize, 1);
        }
    }
    // An intact table other than that of the export, a truncated one, another file, and none.
    let (file, list) = (site.table(large.seeds()), version(site.path()).join("site.json"));
    let (sound, named) = (std::fs::read(&file).unwrap(), std::fs::read_to_string(&list).unwrap());
    let digest: String = Table::open(&file).unwrap().header().digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let other = named.replace(&digest, &digest.chars().rev().collect::<String>());
    assert_ne!(named, other);
    for (named, bytes, reason) in [
        (&other, Some(&sound[..]), "digest"),
        (&named, Some(&sound[..sound.len() - 64]), "complete"),
        (&named, Some(b"<!doctype html><p>Not found"), "standard-6"),
        (&named, None, "404"),
    ] {
        std::fs::write(&list, named).unwrap();
        match bytes {
            Some(bytes) => std::fs::write(&file, bytes).unwrap(),
            None => std::fs::remove_file(&file).unwrap(),
        }
        let message = note(&large);
        assert!(message.contains(reason), "{message}");
    }
}
