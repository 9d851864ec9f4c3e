//! The HTTP API beyond single positions: its description, games, texts, streams, caching.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use kalah::game::{Position, Rules};
use kalah::record::read_game;
use kalah::table::Tables;
use serde_json::{Value, json};

use kalah_tests::serving::description;
use kalah_tests::serving::description::fits;
use kalah_tests::serving::tables::{RULES, directory};
use kalah_tests::serving::{self, Server, code, encoded};

fn server() -> Arc<Server> {
    static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let flags =
            ["--no-book", "--time", "0.3", "--stream-time", "1.5", "--searches", "8", "--transpositions", "16MiB"];
        let server = Arc::new(Server::start(directory(), &flags));
        *shared = Arc::downgrade(&server);
        server
    })
}

fn post(path: &str, body: &Value) -> (u16, Value) {
    server().post(path, body.to_string().as_bytes())
}

/// Events of a stream: names and documents.
fn events(text: &str) -> Vec<(String, Value)> {
    let event = |event: &str| {
        let (name, data) = event.split_once('\n').expect("a name and a document");
        let data = data.strip_prefix("data: ").expect("a document");
        (name.strip_prefix("event: ").expect("a name").to_owned(), serde_json::from_str(data).expect("JSON"))
    };
    text.split("\n\n").filter(|event| !event.is_empty()).map(event).collect()
}

fn get_events(path: &str) -> Vec<(String, Value)> {
    // This reference keeps the server running until everything is read.
    let server = server();
    let mut response = serving::agent().get(server.url(path)).call().unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    events(&response.body_mut().read_to_string().unwrap())
}

#[test]
fn streams_are_neither_kept_nor_collected_on_the_way() {
    let server = server();
    for path in ["/api/search?board=3x2&time=0", "/api/position?board=3x2", "/", "/no/such/page"] {
        let response = serving::agent().get(server.url(path)).call().unwrap();
        let values = |name: &str| response.headers().get_all(name).iter().cloned().collect::<Vec<_>>();
        assert_eq!(values("cache-control"), ["no-cache"], "{path}");
        let unbuffered: &[&str] = if path.starts_with("/api/search") { &["no"] } else { &[] };
        assert_eq!(values("x-accel-buffering"), unbuffered, "{path}");
        let mut names: Vec<&str> = response.headers().keys().map(|name| name.as_str()).collect();
        names.retain(|name| values(name).len() > 1 && *name != "vary");
        assert_eq!(names, [""; 0], "{path}");
    }
}

/// Checks that a document fits a schema of the description.
#[track_caller]
fn assert_described(value: &Value, schema: &str) {
    description::assert_described(&server(), value, schema);
}

#[test]
fn every_address_is_described_and_answers_its_example_as_described() {
    let (status, description) = server().get("/api/openapi.json");
    assert_eq!((status, &description["openapi"]), (200, &json!("3.1.0")));
    let all = &description["components"]["schemas"];
    let mut described = BTreeSet::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for (method, request) in methods.as_object().unwrap() {
            described.insert((path.clone(), method.clone()));
            let examples = request["parameters"].as_array().into_iter().flatten();
            let examples = examples.filter(|one| one["name"] != "seed");
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let pairs: Vec<String> = examples
                .map(|one| format!("{}={}", one["name"].as_str().unwrap(), encoded(&text(&one["example"]))))
                .collect();
            let answers = &request["responses"]["200"]["content"];
            let answer = match &**method {
                "get" if answers["application/json"].is_null() => {
                    let events = get_events(&format!("{path}?{}", pairs.join("&")));
                    events.iter().for_each(|(_, document)| assert_described(document, "Search"));
                    None
                }
                "get" => Some(server().get(&format!("{path}?{}", pairs.join("&")))),
                _ => {
                    let content = &request["requestBody"]["content"]["application/json"];
                    assert_eq!(fits(&content["example"], &content["schema"], all, "body"), Ok(()), "{path}");
                    Some(post(path, &content["example"]))
                }
            };
            if let Some((status, answer)) = answer {
                assert_eq!(status, 200, "{path}: {answer}");
                assert_eq!(fits(&answer, &answers["application/json"]["schema"], all, path), Ok(()));
            }
            // Even the wrong method is refused with an error of the API, so every request is described.
            let other = if method == "get" { post(path, &json!({})) } else { server().get(path) };
            assert_eq!(code(&other), (405, "method"), "{path}");
            assert_described(&other.1, "Error");
        }
    }
    let source = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/crates/serve/src/routes.rs")).unwrap();
    let routes: BTreeSet<(String, String)> = source
        .split(".route(\"/api")
        .skip(1)
        .map(|rest| {
            let (path, rest) = rest.split_once('"').unwrap();
            let method = rest.strip_prefix(", ").unwrap().split('(').next().unwrap();
            (format!("/api{path}"), method.to_owned())
        })
        .collect();
    assert_eq!(described, routes);
}

#[test]
fn a_wrong_document_is_found() {
    let schema = json!({"type": "object", "required": ["a"], "additionalProperties": false,
        "properties": {"a": {"type": "array", "items": {"type": "integer"}}, "b": {"type": "string", "enum": ["x"]}}});
    assert_eq!(fits(&json!({"a": [1], "b": "x"}), &schema, &json!({}), ""), Ok(()));
    for wrong in
        [json!({"b": "x"}), json!({"a": ["1"]}), json!({"a": [], "b": "y"}), json!({"a": [], "c": 1}), json!([])]
    {
        assert!(fits(&wrong, &schema, &json!({}), "").is_err(), "{wrong}");
    }
}

/// Many positions get the answers of single requests, in their order, and errors in place of those without an answer.
#[test]
fn many_positions_are_answered_as_single_ones() {
    let (_, places) = game();
    let mut boards: Vec<String> = places.iter().map(|(position, _)| position.to_string()).collect();
    boards.extend(
        ["6x4", "junk", "0,0,1/1,0,0", "1,0,0,0,0,2/0,0,0,0,1,0", "300x1", "9x2", "0,0,1/1,0,0"].map(str::to_owned),
    );
    let (status, answer) = post("/api/positions", &json!({"boards": boards, "rules": "standard"}));
    assert_eq!((status, &answer["rules"]), (200, &json!("standard")));
    assert_described(&answer, "Positions");
    let answers = answer["positions"].as_array().unwrap();
    assert_eq!(answers.len(), boards.len());
    let mut known = 0;
    for (board, answer) in boards.iter().zip(answers) {
        let (_, single) = server().get(&format!("/api/position?board={}&rules=standard&time=0", encoded(board)));
        match answer["error"]["code"].as_str() {
            Some("not-found") => assert!(["6x4", "9x2"].contains(&board.as_str()), "{answer}"),
            _ => assert_eq!(*answer, single, "{board}"),
        }
        known += usize::from(answer["error"].is_null());
    }
    assert_eq!(known, boards.len() - 4);
    assert_eq!(post("/api/positions", &json!({"boards": []})).1["positions"], json!([]));
}

#[test]
fn many_positions_are_limited() {
    let boards = vec!["1x1"; 1001];
    let answer = post("/api/positions", &json!({"boards": boards[1..]}));
    assert_eq!((answer.0, answer.1["positions"].as_array().unwrap().len()), (200, 1000));
    assert_eq!(code(&post("/api/positions", &json!({"boards": boards}))), (400, "request"));
    let long = vec![" ".repeat(100); 700];
    let refused = post("/api/positions", &json!({"boards": long}));
    assert_eq!(code(&refused), (413, "too-large"));
    assert!(refused.1["error"]["message"].as_str().unwrap().contains("65536"), "{}", refused.1);
    // The limit is that of all requests. A text within it is read.
    assert_eq!(code(&post("/api/text/read", &json!({"text": " ".repeat(70_000)}))), (413, "too-large"));
    assert_eq!(code(&post("/api/text/read", &json!({"text": " ".repeat(60_000)}))), (400, "request"));
}

/// A whole game of 3x2: its moves, and its positions, each with true if the first player is to move.
fn game() -> (Vec<usize>, Vec<(Position, bool)>) {
    let (mut position, mut first): (Position, bool) = ("3x2".parse().unwrap(), true);
    let (mut moves, mut places) = (Vec::new(), Vec::new());
    while !position.is_over() {
        places.push((position, first));
        let pit = position.moves().nth(moves.len() % 2).or_else(|| position.moves().next()).unwrap();
        moves.push(pit.number());
        let played = position.play(RULES, pit).unwrap();
        (position, first) = (played.position, first == played.again);
    }
    places.push((position, first));
    (moves, places)
}

#[test]
fn a_whole_game_is_evaluated_as_its_positions_are() {
    let (moves, places) = game();
    let (status, answer) = post("/api/game", &json!({"board": "3x2", "rules": "standard", "moves": moves}));
    assert_eq!(status, 200, "{answer}");
    let tables = Tables::open(directory(), RULES, 3, 12).unwrap();
    let given = answer["places"].as_array().unwrap();
    assert_eq!(given.len(), places.len());
    for (index, (place, (position, first))) in given.iter().zip(&places).enumerate() {
        assert_eq!((&place["position"], &place["first"]), (&json!(position.to_string()), &json!(first)));
        assert_eq!((&place["value"], &place["index"]), (&json!(tables.probe(position).unwrap().value), &json!(index)));
        let Some(&number) = moves.get(index) else { continue };
        assert_eq!(place["move"], json!(number));
        let (_, line) =
            server().get(&format!("/api/line?board={}&rules=standard&moves={number}", encoded(&position.to_string())));
        for field in ["next", "again", "finished", "sowing", "captured"] {
            assert_eq!(place[field], line["places"][0][field], "{field}");
        }
    }
    let end = places.last().unwrap();
    assert_eq!(end.0.final_value().map(|value| json!(value)), Some(given.last().unwrap()["value"].clone()));
    assert_described(&answer, "Game");
    // The game in parts.
    let server = server();
    let mut response = serving::agent()
        .post(server.url("/api/game"))
        .header("Accept", "text/event-stream")
        .send(json!({"board": "3x2", "rules": "standard", "moves": moves}).to_string())
        .unwrap();
    let mut events = events(&response.body_mut().read_to_string().unwrap());
    assert_eq!(events.pop(), Some(("answer".to_owned(), answer.clone())));
    let mut indices = BTreeSet::new();
    for (name, document) in events {
        assert_eq!(name, "place");
        assert_described(&document, "GamePlace");
        let index = document["index"].as_u64().unwrap();
        assert_eq!(document, answer["places"][index as usize]);
        assert!(indices.insert(index));
    }
    assert_eq!(indices.len(), places.len());
}

#[test]
fn a_game_above_the_tables_is_searched() {
    let body = json!({"board": "6x3", "rules": "standard", "moves": [4, 1, 2], "time": 0.05});
    let (status, answer) = post("/api/game", &body);
    assert_eq!(status, 200, "{answer}");
    assert_described(&answer, "Game");
    for place in answer["places"].as_array().unwrap() {
        assert!(["exact", "bounds", "estimate"].contains(&place["known"].as_str().unwrap()), "{place}");
    }
}

#[test]
fn games_that_are_none_are_refused() {
    for (path, body, expected) in [
        ("game", json!({}), (400, "request")),
        ("game", json!({"board": "3x2", "text": "1"}), (400, "request")),
        ("game", json!({"board": "3x2", "moves": {"a": 1}}), (400, "request")),
        ("game", json!({"board": "3x2", "moves": [[1]]}), (400, "request")),
        ("game", json!({"board": "3x2", "moves": [4]}), (400, "request")),
        ("game", json!({"board": "3x2", "moves": [1.5]}), (400, "request")),
        ("game", json!({"board": "3x2", "moves": [1, 1, 1, 1, 1, 1]}), (400, "request")),
        ("text/read", json!({"text": "[Start \"3x2\"]\n\n4"}), (400, "request")),
        ("text/read", json!({"text": ""}), (400, "request")),
        ("text/read", json!({"text": "[Start \"6x99\"]"}), (400, "request")),
        ("text/read", json!({}), (400, "request")),
    ] {
        let answer = post(&format!("/api/{path}"), &body);
        assert_eq!(code(&answer), expected, "{body}: {}", answer.1);
        assert_described(&answer.1, "Error");
    }
    let answer = post("/api/text/read", &json!({"text": "[Start \"3x2\"]\n\n4"})).1;
    assert!(answer["error"]["message"].as_str().unwrap().starts_with("line 3: "), "{answer}");
    assert_eq!(code(&post("/api/text/write", &json!({"board": "3x2", "headers": [["Start", "x"]]}))), (400, "request"));
    assert_eq!(code(&post("/api/text/write", &json!({"board": "3x2", "headers": ["Event"]}))), (400, "request"));
}

#[test]
fn documents_are_compressed_for_those_who_accept_that() {
    let server = server();
    let get = |path: &str, accept: &str| {
        let mut response = serving::agent().get(server.url(path)).header("Accept-Encoding", accept).call().unwrap();
        let header = |name| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        let (encoding, varies) = (header("content-encoding"), header("vary"));
        (response.status().as_u16(), encoding, varies, response.body_mut().read_to_vec().unwrap())
    };
    for path in ["/api", "/api/openapi.json"] {
        let (_, encoding, varies, plain) = get(path, "identity");
        assert_eq!((encoding.as_deref(), varies.as_deref()), (None, Some("accept-encoding")), "{path}");
        let (_, encoding, varies, packed) = get(path, "gzip");
        assert_eq!((encoding.as_deref(), varies.as_deref()), (Some("gzip"), Some("accept-encoding")), "{path}");
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(&*packed).read_to_end(&mut unpacked).unwrap();
        assert_eq!(unpacked, plain);
        assert!(2 * packed.len() < plain.len(), "{} of {}", packed.len(), plain.len());
    }
    // Streams are never compressed.
    assert_eq!(get("/api/search?board=3x2&rules=standard", "gzip").1, None);
}

#[test]
fn texts_are_written_and_read() {
    let headers = json!([["South", "Ada \"A\""], ["Event", "Club"]]);
    let body = json!({"board": "6x4", "moves": [3, 6, 2], "headers": headers});
    let (status, answer) = post("/api/text/write", &body);
    assert_eq!(status, 200, "{answer}");
    let game = read_game(answer["text"].as_str().unwrap(), Rules::default()).unwrap();
    assert_eq!((game.line.to_string(), game.header("South")), ("36 2".to_owned(), Some("Ada \"A\"")));
    let (_, read) = post("/api/text/read", &answer);
    assert_eq!((&read["moves"], &read["headers"]), (&json!([3, 6, 2]), &headers));
    assert_described(&read, "Read");
}

#[test]
fn a_search_reports_its_progress() {
    // In the tables: the answer comes at once.
    let events = get_events("/api/search?board=3x2&rules=standard");
    assert_eq!(events.len(), 1);
    assert_eq!((&*events[0].0, &events[0].1["ended"]), ("answer", &json!("proved")));
    // Above the tables: progress, whose bounds never widen, then the answer.
    let events = get_events("/api/search?board=6x5&rules=standard&time=1.2");
    let (last, before) = events.split_last().unwrap();
    assert_eq!((&*last.0, &last.1["ended"]), ("answer", &json!("time")));
    assert!(before.len() >= 2 && before.iter().all(|(name, _)| name == "progress"), "{}", before.len());
    let bounds = |document: &Value| {
        let bound = |name: &str, other: i64| document["value"].as_i64().or(document[name].as_i64()).unwrap_or(other);
        [bound("lower", i64::MIN), bound("upper", i64::MAX)]
    };
    for documents in events.windows(2) {
        let (before, after) = (&documents[0].1, &documents[1].1);
        assert!(before["nodes"].as_u64() <= after["nodes"].as_u64());
        assert!(before["seconds"].as_f64() <= after["seconds"].as_f64());
        let mut pairs = vec![(bounds(before), bounds(after))];
        let moves = [before, after].map(|document| document["moves"].as_array().unwrap());
        pairs.extend(moves[0].iter().zip(moves[1]).map(|(before, after)| (bounds(before), bounds(after))));
        for ([lower, upper], [later_lower, later_upper]) in pairs {
            assert!(lower <= later_lower && later_upper <= upper, "{before} {after}");
        }
    }
    events.iter().for_each(|(_, document)| assert_described(document, "Search"));
    // A bad request has its own status.
    assert_eq!(code(&server().get("/api/search?board=nonsense")), (400, "request"));
}

#[test]
fn a_search_ends_with_its_reader_and_with_the_server() {
    let flags = ["--no-book", "--stream-time", "600", "--searches", "1", "--transpositions", "16MiB"];
    let mut server = Server::start(directory(), &flags);
    let ask = || {
        let mut stream = server.connect();
        stream.write_all(b"GET /api/search?board=6x6&time=600 HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut begin = [0; 64];
        stream.read_exact(&mut begin).unwrap();
        assert!(begin.starts_with(b"HTTP/1.1 200"));
        stream
    };
    let stream = ask();
    assert_eq!(code(&server.get("/api/search?board=6x6")), (503, "busy"));
    drop(stream);
    while code(&server.get("/api/position?board=6x6&time=0")).0 == 503 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    #[cfg(unix)]
    {
        let mut stream = ask();
        server.interrupt();
        let mut rest = String::new();
        stream.read_to_string(&mut rest).unwrap();
        assert!(rest.contains("event: answer") && rest.contains("\"ended\":\"time\""), "{rest}");
        assert_eq!(server.wait().code(), Some(130));
    }
}

/// Status and headers of a response, in lower case.
fn head(server: &Server, first: &str, headers: &[&str]) -> (u16, String) {
    let mut request = format!("{first} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    headers.iter().for_each(|header| request += &format!("{header}\r\n"));
    // The server takes a client that stops sending for gone.
    let mut stream = server.connect();
    stream.write_all(format!("{request}\r\n").as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).to_lowercase();
    let head = answer.split("\r\n\r\n").next().unwrap().to_owned();
    (head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status"), head)
}

#[test]
fn files_of_the_page_are_compressed_and_sent_once() {
    let server = server();
    for path in ["/", "/style.css", "/page.js"] {
        let (status, plain) = head(&server, &format!("GET {path}"), &[]);
        assert!(status == 200 && !plain.contains("content-encoding") && plain.contains("vary: accept-encoding"));
        let (status, packed) = head(&server, &format!("GET {path}"), &["Accept-Encoding: br, gzip;q=0.8"]);
        assert!(status == 200 && packed.contains("content-encoding: gzip"), "{packed}");
        let etag = |head: &str| head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap().to_owned();
        assert!(etag(&plain) == etag(&packed) && etag(&plain).starts_with("w/"), "{plain}");
        for accept in ["identity", "gzip", "gzip;q=0, *"] {
            let tag = etag(&plain).replace("w/", "W/");
            let headers = [format!("Accept-Encoding: {accept}"), format!("If-None-Match: {tag}")];
            let (status, same) = head(&server, &format!("GET {path}"), &[&headers[0], &headers[1]]);
            assert_eq!((status, etag(&same)), (304, etag(&plain)), "{accept}");
        }
        assert_eq!(head(&server, &format!("GET {path}"), &["If-None-Match: \"x\""]).0, 200);
    }
}
