use std::time::{Duration, UNIX_EPOCH};

use kalah_api::answer::{PAGE_STREAM_TIME, PAGE_TIME, PositionAnswer, SearchAnswer};
use kalah_api::{
    ApiError, Code, ErrorAnswer, GameRequest, MoveRequest, PositionRequest, PuzzleRequest, follow_line, read_query,
    read_text, write_text,
};
use kalah_core::game::{Position, Rules};
use kalah_core::table::TableKey;
use kalah_core::text::count;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::engine::{CallError, Engine};
use super::remote::{Part, RemoteTable, lock};
use super::searching::{Searches, Step};

/// Default time to search a position of a game.
const GAME_TIME: Duration = Duration::from_millis(200);

/// A call. Positions are texts, as in [`Position`]'s `FromStr`.
#[derive(Debug, Deserialize)]
#[serde(tag = "call", rename_all = "lowercase")]
pub(super) enum Call {
    /// Begins, without tables.
    Start {
        /// Maximum positions of the tables that are built for a board.
        positions: u64,
        /// Maximum bytes of the transposition table.
        transpositions: u64,
        /// Tables on the host.
        #[serde(default)]
        tables: Vec<RemoteTable>,
        /// Names of books and networks on the host, such as `standard-6.book`.
        #[serde(default)]
        files: Vec<String>,
    },
    /// Chooses the board of `build`, `probe` and `solve`.
    Open { rules: String, pits: usize, seeds: usize },
    /// Builds the next layer of the last board. The answer is `null` if all are built.
    Build,
    /// Looks up a position in the tables or the book: the document of `kalah probe --json`.
    Probe { position: String },
    /// Searches a position for this time: the document of `kalah solve --json`. If the value was not proved, it has
    /// bounds.
    Solve { position: String, seconds: f64, value_only: bool },
    /// A request of the HTTP API: its method, its target after `/api/`, its body.
    Request {
        method: String,
        target: String,
        #[serde(default)]
        body: String,
        /// True if results are reported as they improve.
        #[serde(default)]
        streams: bool,
        /// True to use no tables on the host.
        #[serde(default)]
        local: bool,
    },
    /// Continues the search of the last request.
    Step,
    /// Ends the search.
    Cancel,
    /// Gives the book or network of this name, whose bytes come with this call. The answer is `null`, or the reason
    /// that it cannot be used.
    File { name: String },
    /// Adds a part of a file on the host, whose bytes come with this call.
    Part(Part),
}

/// Result of a request or a step.
#[derive(Serialize)]
#[serde(untagged)]
enum Reply {
    /// It is answered.
    Answer { status: u16, answer: Value },
    /// It needs these parts of files; repeat it then.
    Needs { needs: Vec<Part> },
    /// It needs a book; repeat it then. A network may come later: searches prove values without it.
    Files { book: Option<String>, network: Option<String> },
    /// It began a search, which `step` continues.
    Searches { searches: bool },
    /// A search is in progress; repeat it then.
    Busy { busy: bool },
    /// The search goes on; results so far.
    Progress { progress: Vec<Value> },
}

/// Answers a call: a document, or an object with an `error`.
pub(super) fn answer(engine: &mut Option<Engine>, call: &[u8], attached: Vec<u8>) -> String {
    let call = serde_json::from_slice(call).map_err(CallError::wrong);
    call.and_then(|call| respond(engine, call, attached)).unwrap_or_else(|error| text(&ErrorAnswer { error: error.0 }))
}

/// The text of a document.
fn text(document: &impl Serialize) -> String {
    serde_json::to_string(document).expect("documents are JSON")
}

fn respond(engine: &mut Option<Engine>, call: Call, attached: Vec<u8>) -> Result<String, CallError> {
    if let Call::Start { positions, transpositions, tables, files } = call {
        *engine = Some(Engine::new(positions, transpositions, tables, files));
        return Ok("null".to_owned());
    }
    let engine = engine.as_mut().ok_or_else(|| CallError::wrong("the first call must be \"start\""))?;
    Ok(match call {
        Call::Start { .. } => unreachable!("answered above"),
        Call::Open { rules, pits, seeds } => {
            engine.open(TableKey { rules: rules.parse()?, pits, seeds })?;
            "null".to_owned()
        }
        Call::Build => text(&engine.build()?),
        Call::Probe { position } => text(&engine.look_up(&parse(engine, &position)?)?),
        Call::Solve { position, seconds, value_only } => {
            let position = parse(engine, &position)?;
            text(&engine.solve(&position, seconds, value_only)?)
        }
        Call::Request { method, target, body, streams, local } => {
            engine.local = local;
            let reply = request(engine, &method, &target, body.as_bytes(), streams);
            text(&finished(engine, reply))
        }
        Call::Step => {
            let reply = engine.with(|searches| searches.step()).map(|step| match step {
                Step::Progress(progress) => Reply::Progress { progress },
                Step::Answer(answer) => Reply::Answer { status: 200, answer },
            });
            if reply.is_err() {
                engine.with(|searches| searches.cancel());
            }
            text(&finished(engine, reply))
        }
        Call::Cancel => {
            engine.with(|searches| searches.cancel());
            "null".to_owned()
        }
        Call::File { name } => {
            let refused = engine.take(&name, &attached).err().map(|error| format!("{name}: {error}"));
            text(&refused)
        }
        Call::Part(part) => {
            lock(&engine.parts).fetched.insert(part, attached);
            "null".to_owned()
        }
    })
}

/// Parses a position of the opened board.
fn parse(engine: &Engine, text: &str) -> Result<Position, CallError> {
    let position: Position = text.parse()?;
    let expected = engine.tables()?.pits();
    let found = position.pits();
    if found == expected {
        Ok(position)
    } else {
        Err(CallError::wrong(format_args!("{text} has {} a side, not {expected}", count(found, "pit"))))
    }
}

/// Returns the reply, the parts that are needed for it, or the document of its error. Other replies end the need of
/// all parts.
fn finished(engine: &Engine, reply: Result<Reply, ApiError>) -> Reply {
    let mut parts = lock(&engine.parts);
    let needs = std::mem::take(&mut parts.needed);
    if reply.is_err() && !needs.is_empty() {
        return Reply::Needs { needs };
    }
    parts.fetched.clear();
    match reply {
        Err(error) => Reply::Answer { status: error.status(), answer: json!(ErrorAnswer { error }) },
        Ok(reply) => reply,
    }
}

const BUSY: Reply = Reply::Busy { busy: true };

fn answered(document: impl Serialize) -> Result<Reply, ApiError> {
    Ok(Reply::Answer { status: 200, answer: json!(document) })
}

/// Answers a request of the HTTP API, or begins the search that it needs.
fn request(engine: &mut Engine, method: &str, target: &str, body: &[u8], streams: bool) -> Result<Reply, ApiError> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    match (method, path) {
        ("GET", "position" | "search") => {
            let request: PositionRequest = read_query(query)?;
            if let Some(first) = choose(engine, request.rules, request.position.pits())? {
                return Ok(first);
            }
            if let Some(known) = at_once(engine, request.rules, &request.position)? {
                return if path == "search" { answered(SearchAnswer::at_once(known, 0.0)) } else { answered(known) };
            }
            let is_search = path == "search";
            let time = request.time.unwrap_or(PAGE_TIME).min(if is_search { PAGE_STREAM_TIME } else { PAGE_TIME });
            searches(engine, |searches| searches.begin(&request, time, is_search && streams))
        }
        ("GET", "book") => {
            let PositionRequest { rules, position, .. } = read_query(query)?;
            if let Some(first) = choose(engine, rules, position.pits())? {
                return Ok(first);
            }
            answered(engine.with(|searches| searches.sources.recall(rules, &position))?)
        }
        ("GET", "line") => answered(follow_line(query)?),
        ("POST", "move") => {
            let request = MoveRequest::read(body)?;
            if let Some(first) = choose(engine, request.rules, request.position.pits())? {
                return Ok(first);
            }
            let time = request.time.unwrap_or(PAGE_TIME).min(PAGE_TIME);
            match engine.with(|searches| request.at_once(searches.sources, time))? {
                Some(answer) => answered(answer),
                None => searches(engine, |searches| {
                    searches.begin_move(request, time);
                    Ok(())
                }),
            }
        }
        ("POST", "game") => {
            let mut game = GameRequest::read(body)?;
            if let Some(first) = choose(engine, game.rules, game.start().pits())? {
                return Ok(first);
            }
            let time = game.time.unwrap_or(GAME_TIME).min(PAGE_TIME);
            let mut known = Vec::new();
            game.answer_at_once(|rules, position| at_once(engine, rules, position), |place| known.push(json!(place)))?;
            if game.unanswered().is_empty() {
                return answered(game.answer());
            }
            searches(engine, |searches| {
                searches.begin_game(game, time, known);
                Ok(())
            })
        }
        ("POST", "text/read") => answered(read_text(body)?),
        ("POST", "text/write") => answered(write_text(body)?),
        ("GET", "puzzle") => {
            // The page names the day.
            let request = PuzzleRequest::read(query, UNIX_EPOCH)?;
            if let Some(known) = request.known() {
                return answered(request.answer(&known));
            }
            if let Some(first) = choose(engine, request.rules, request.start.pits())? {
                return Ok(first);
            }
            searches(engine, |searches| {
                searches.begin_puzzle(request);
                Ok(())
            })
        }
        _ => Err(ApiError::new(Code::NotFound, format_args!("there is nothing at /api/{path} without a server"))),
    }
}

/// Begins a search, unless one is in progress.
fn searches(
    engine: &mut Engine,
    begin: impl for<'t> FnOnce(&mut Searches<'t>) -> Result<(), ApiError>,
) -> Result<Reply, ApiError> {
    engine.with(|searches| {
        if searches.is_busy() {
            return Ok(BUSY);
        }
        begin(searches)?;
        Ok(Reply::Searches { searches: true })
    })
}

/// Chooses the board of a request. Returns what must come first: the files for it, or the end of the search.
fn choose(engine: &mut Engine, rules: Rules, pits: usize) -> Result<Option<Reply>, ApiError> {
    let [book, network] = engine.lacking_files(rules, pits);
    if book.is_none() && network.is_none() {
        let is_chosen = engine.choose(rules, pits).map_err(ApiError::failed)?;
        return Ok((!is_chosen).then_some(BUSY));
    }
    if engine.with(|searches| searches.is_busy()) {
        return Ok(Some(BUSY));
    }
    // The host is asked for the network once.
    engine.files.retain(|file| Some(file) != network.as_ref());
    Ok(Some(Reply::Files { book, network }))
}

/// Answers about a position without a search: from the rules, the tables here and on the host, or the book.
fn at_once(engine: &mut Engine, rules: Rules, position: &Position) -> Result<Option<PositionAnswer>, ApiError> {
    if !position.is_over()
        && let Some(probe) = engine.probe_all(rules, position)?
    {
        return Ok(Some(PositionAnswer::probed(rules, &probe)));
    }
    engine.with(|searches| searches.sources.at_once(rules, position))
}
