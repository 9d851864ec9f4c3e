//! The HTTP API beyond single positions: its description, games, texts, streams, caching.

use std::collections::BTreeSet;
use std::io::{Read, Write};

use kalah::game::{Pit, Position, Rules, Trace};
use kalah::record::read_game;
use kalah::table::Tables;
use serde_json::{Value, json};

use crate::setup::{assert_described, directory, post, server, start};
use kalah_tests::serving::description::fits;
use kalah_tests::serving::{agent, code, encoded};

const RULES: Rules = Rules::Standard;

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
    let mut response = agent().get(server.url(path)).call().unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    events(&response.body_mut().read_to_string().unwrap())
}

#[test]
fn streams_are_neither_kept_nor_collected_on_the_way() {
    let server = server();
    for path in ["/api/search?board=3x2&time=0", "/api/position?board=3x2", "/", "/no/such/page"] {
        let response = agent().get(server.url(path)).call().unwrap();
        let values = |name: &str| response.headers().get_all(name).iter().cloned().collect::<Vec<_>>();
        assert_eq!(values("cache-control"), ["no-cache"], "{path}");
        let unbuffered: &[&str] = if path.starts_with("/api/search") { &["no"] } else { &[] };
        assert_eq!(values("x-accel-buffering"), unbuffered, "{path}");
        let mut names: Vec<&str> = response.headers().keys().map(|name| name.as_str()).collect();
        names.retain(|name| values(name).len() > 1 && *name != "vary");
        assert_eq!(names, [""; 0], "{path}");
    }
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
            let pairs = examples.filter(|one| one["name"] != "seed").map(|one| {
                let value = one["example"].as_str().map_or_else(|| one["example"].to_string(), str::to_owned);
                format!("{}={}", one["name"].as_str().unwrap(), encoded(&value))
            });
            let example = format!("{path}?{}", pairs.collect::<Vec<_>>().join("&"));
            let schema = &request["responses"]["200"]["content"]["application/json"]["schema"];
            if method == "get" && schema.is_null() {
                get_events(&example).iter().for_each(|(_, document)| assert_described(document, "Search"));
            } else {
                let (status, answer) = if method == "get" {
                    server().get(&example)
                } else {
                    let content = &request["requestBody"]["content"]["application/json"];
                    assert_eq!(fits(&content["example"], &content["schema"], all, "body"), Ok(()), "{path}");
                    post(path, &content["example"])
                };
                assert_eq!(status, 200, "{path}: {answer}");
                assert_eq!(fits(&answer, schema, all, path), Ok(()));
            }
            // Even the wrong method is refused with an error of the API, so every request is described.
            let other = if method == "get" { post(path, &json!({})) } else { server().get(path) };
            assert_eq!(code(&other), (405, "method"), "{path}");
            assert_described(&other.1, "Error");
        }
    }
    let source = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/crates/serve/src/routes.rs")).unwrap();
    let route = |rest: &str| {
        let (path, rest) = rest.split_once('"').unwrap();
        let method = rest.strip_prefix(", ").unwrap().split('(').next().unwrap();
        (format!("/api{path}"), method.to_owned())
    };
    assert_eq!(described, source.split(".route(\"/api").skip(1).map(route).collect());
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
    for (board, answer) in boards.iter().zip(answers) {
        let (_, single) = server().get(&format!("/api/position?board={}&rules=standard&time=0", encoded(board)));
        match answer["error"]["code"].as_str() {
            Some("not-found") => assert!(["6x4", "9x2"].contains(&board.as_str()), "{answer}"),
            _ => assert_eq!(*answer, single, "{board}"),
        }
    }
    assert_eq!(answers.iter().filter(|answer| answer["error"].is_null()).count(), boards.len() - 4);
    assert_eq!(post("/api/positions", &json!({"boards": []})).1["positions"], json!([]));
}

#[test]
fn many_positions_are_limited() {
    let boards = vec!["1x1"; 1001];
    let answer = post("/api/positions", &json!({"boards": boards[1..]}));
    assert_eq!((answer.0, answer.1["positions"].as_array().unwrap().len()), (200, 1000));
    assert_eq!(code(&post("/api/positions", &json!({"boards": boards}))), (400, "request"));
    let refused = post("/api/positions", &json!({"boards": vec![" ".repeat(100); 700]}));
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

/// With laps, captures of both kinds, and relays.
#[test]
fn moves_show_how_their_seeds_are_sown() {
    for rules in Rules::ALL {
        for board in ["4x13", "<3,0,0,1,0,3,3,3,3>", "3x2", "<4,7,1,12,0,0,1,0,9,2,2>", "<2,0,0,1,0,0,1>"] {
            let position: Position = board.parse().unwrap();
            let path = format!("/api/position?board={}&rules={rules}&time=0", encoded(board));
            let (status, answer) = server().get(&path);
            assert_eq!(status, 200, "{answer}");
            for answer in answer["moves"].as_array().unwrap() {
                let pit = Pit::from_number(answer["move"].as_u64().unwrap() as usize).unwrap();
                let trace = Trace::of(rules, position.mover(), position.other(), pit);
                let lifts = trace.lifts.iter().map(|lift| json!({"from": lift.from, "drops": lift.drops}));
                assert_eq!(answer["sowing"], lifts.collect::<Value>(), "{rules} {board} {pit}");
                let captured = answer.get("captured").cloned().unwrap_or_else(|| json!([]));
                assert_eq!(captured, json!(trace.captured), "{rules} {board} {pit}");
            }
        }
    }
}

#[test]
fn a_whole_game_is_evaluated_as_its_positions_are() {
    let (moves, places) = game();
    let body = json!({"board": "3x2", "rules": "standard", "moves": moves});
    let (status, answer) = post("/api/game", &body);
    assert_eq!(status, 200, "{answer}");
    let tables = Tables::open(directory(), RULES, 3, 12).unwrap();
    let given = answer["places"].as_array().unwrap();
    assert_eq!(given.len(), places.len());
    let played = moves.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    let (_, line) = server().get(&format!("/api/line?board=3x2&rules=standard&moves={played}"));
    for (index, (place, (position, first))) in given.iter().zip(&places).enumerate() {
        let found = ["position", "first", "value", "index"].map(|field| place[field].clone());
        let value = tables.probe(position).unwrap().value;
        assert_eq!(found, [json!(position.to_string()), json!(first), json!(value), json!(index)]);
        let of_line = ["position", "first", "move"].map(|field| line["places"][index][field].clone());
        assert_eq!(of_line, [json!(position.to_string()), json!(first), json!(moves.get(index))]);
        let Some(&number) = moves.get(index) else { continue };
        assert_eq!(place["move"], number);
        for field in ["next", "again", "finished", "sowing", "captured"] {
            assert_eq!(place[field], line["places"][index][field], "{field}");
        }
    }
    let end = places.last().unwrap();
    assert_eq!(end.0.final_value().map(|value| json!(value)), Some(given.last().unwrap()["value"].clone()));
    assert_described(&answer, "Game");
    // The game in parts.
    let server = server();
    let request = agent().post(server.url("/api/game")).header("Accept", "text/event-stream");
    let mut events = events(&request.send(body.to_string()).unwrap().body_mut().read_to_string().unwrap());
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
        let moves = [before, after].map(|document| document["moves"].as_array().unwrap());
        for (before, after) in [(before, after)].into_iter().chain(moves[0].iter().zip(moves[1])) {
            let ([lower, upper], [later_lower, later_upper]) = (bounds(before), bounds(after));
            assert!(lower <= later_lower && later_upper <= upper, "{before} {after}");
        }
    }
    events.iter().for_each(|(_, document)| assert_described(document, "Search"));
}

#[test]
fn a_search_ends_with_its_reader_and_with_the_server() {
    let mut server = start(directory(), "--no-book --stream-time 600 --searches 1");
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

#[test]
fn documents_and_files_are_compressed_for_those_who_accept_that_and_files_are_sent_once() {
    let server = server();
    // The status, three headers, and the body.
    let get = |path: &str, headers: &[(&str, &str)]| {
        let request = agent().get(server.url(path));
        let request = headers.iter().fold(request, |request, &(name, value)| request.header(name, value));
        let mut response = request.call().unwrap();
        let header = |name| response.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
        let headers = ["content-encoding", "vary", "etag"].map(header);
        (response.status().as_u16(), headers, response.body_mut().read_to_vec().unwrap())
    };
    for path in ["/api", "/api/openapi.json", "/", "/style.css", "/page.js"] {
        let (_, [_, _, tag], plain) = get(path, &[]);
        let expected = |encoding: &str| [encoding, "accept-encoding", &tag].map(str::to_owned);
        assert_eq!(get(path, &[("accept-encoding", "identity")]), (200, expected(""), plain.clone()), "{path}");
        for accept in ["gzip", "br, gzip;q=0.8"] {
            let (status, headers, packed) = get(path, &[("accept-encoding", accept)]);
            assert_eq!((status, headers), (200, expected("gzip")), "{path}");
            let mut unpacked = Vec::new();
            flate2::read::GzDecoder::new(&*packed).read_to_end(&mut unpacked).unwrap();
            assert!(unpacked == plain && 2 * packed.len() < plain.len(), "{path}: {}", packed.len());
        }
        if path.starts_with("/api") {
            continue;
        }
        assert!(tag.starts_with("W/"), "{tag}");
        for accept in ["identity", "gzip", "gzip;q=0, *"] {
            let (status, [_, _, same], _) = get(path, &[("accept-encoding", accept), ("if-none-match", &tag)]);
            assert_eq!((status, &same), (304, &tag), "{accept}");
        }
        assert_eq!(get(path, &[("if-none-match", "\"x\"")]).0, 200);
    }
    // Streams are never compressed.
    assert_eq!(get("/api/search?board=3x2&rules=standard", &[("accept-encoding", "gzip")]).1[0], "");
}
