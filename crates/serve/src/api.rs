use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::Uri;
use axum::response::{IntoResponse, Response};
use kalah_core::cancel::Cancel;
use kalah_core::game::{MAX_PITS, Pit, Position, Rules};
use kalah_play::play::{PlayerName, Setting};
use kalah_solve::book::Books;
use kalah_tables::table::{Probe, Shelf};

use super::answer::{
    BookEntry, LineAnswer, MoveAnswer, PlaceAnswer, PositionAnswer, SearchAnswer, ServerAnswer, Sown, TablesAnswer,
};
use super::cors::Sharing;
use super::error::{ApiError, MAX_LITERAL, MAX_MOVES, MAX_SEEDS};
use super::events;
use super::fields::Fields;
use super::hosts::Hosts;
use super::puzzle::Puzzles;
use super::searcher::Analysis;
use super::searches::{Reads, Searches};

/// State shared by all requests.
pub(super) struct Service {
    pub shelf: Arc<Shelf>,
    pub books: Arc<Books>,
    pub searches: Searches,
    /// Maximum time of a search.
    pub time: Duration,
    /// Maximum time of a streaming search.
    pub stream_time: Duration,
    pub search_count: usize,
    /// Maximum time of a client to send a request.
    pub patience: Duration,
    /// Hosts that the server answers as.
    pub hosts: Hosts,
    /// Websites that may use the API.
    pub sharing: Sharing,
    pub puzzles: Puzzles,
    /// Called with messages for the operator.
    pub log: Box<dyn Fn(&str) + Send + Sync>,
}

type Shared = State<Arc<Service>>;
type ApiResult<T> = Result<Json<T>, ApiError>;

pub(super) fn read_position(literal: &str) -> Result<Position, ApiError> {
    if literal.len() > MAX_LITERAL {
        return Err(ApiError::LongLiteral(literal.len()));
    }
    let position: Position = literal.parse()?;
    if position.seeds() > MAX_SEEDS { Err(ApiError::Large(position.seeds())) } else { Ok(position) }
}

pub(super) fn read_rules(fields: &mut Fields) -> Result<Rules, ApiError> {
    Ok(fields.text("rules")?.map_or(Ok(Rules::default()), |rules| rules.parse())?)
}

impl Service {
    /// Returns the time of a search: as requested, up to the limit.
    fn time(&self, fields: &mut Fields) -> Result<Duration, ApiError> {
        self.time_or(fields, self.time, self.time)
    }

    /// Returns the requested time, or `default`, up to `most`.
    pub fn time_or(&self, fields: &mut Fields, default: Duration, most: Duration) -> Result<Duration, ApiError> {
        let asked = fields.seconds("time")?;
        // A time too large for `Duration` is above the limit, too.
        let time = asked.map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
        Ok(time.unwrap_or(default).min(most))
    }

    /// Reads tables on other threads than those that answer requests, since the disk may be slow.
    pub async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Shelf) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let shelf = Arc::clone(&self.shelf);
        let reading = tokio::task::spawn_blocking(move || read(&shelf));
        reading.await.map_err(|_| ApiError::Failed("reading the tables failed unexpectedly".to_owned()))?
    }

    /// Reads the tables for a position. Results are discarded if a table became shorter meanwhile.
    pub async fn read_for<T: Send + 'static>(
        &self,
        rules: Rules,
        position: Position,
        read: impl FnOnce(&Shelf) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let all = move |shelf: &Shelf| {
            let result = read(shelf);
            shelf.require_whole(rules, position.pits(), position.seeds() as usize)?;
            result
        };
        self.read(all).await
    }

    /// Reports errors that are not the client's fault to the operator.
    pub fn report<T>(&self, result: Result<T, ApiError>) -> Result<T, ApiError> {
        if let Err(error) = &result
            && error.is_of_server()
        {
            (self.log)(&error.to_string());
        }
        result
    }

    /// Answers about a position without a search: from the rules, the tables or the book.
    pub async fn at_once(&self, rules: Rules, position: Position) -> Result<Option<PositionAnswer>, ApiError> {
        if let Some(probe) = Probe::of_finished(&position) {
            return Ok(Some(PositionAnswer::probed(rules, &probe)));
        }
        let books = Arc::clone(&self.books);
        let known = self.read_for(rules, position, move |shelf| {
            if let Some(probe) = shelf.probe(rules, &position)? {
                return Ok(Some(PositionAnswer::probed(rules, &probe)));
            }
            let Some(book) = books.get(rules, position.pits()) else { return Ok(None) };
            let tables = shelf.tables(rules, position.pits());
            let recalled = book.recall(&position, tables)?;
            if !(recalled.from_book && recalled.is_exact()) {
                return Ok(None);
            }
            let (line, _) = book.line(&position, tables)?;
            Ok(Some(PositionAnswer::recalled(rules, &position, &recalled, Some(&line))))
        });
        known.await
    }

    async fn position(&self, rules: Rules, position: Position, time: Duration) -> Result<PositionAnswer, ApiError> {
        if let Some(answer) = self.at_once(rules, position).await? {
            return Ok(answer);
        }
        let search = self.searches.run(Reads::of(rules, &position), time, move |searcher, cancel| {
            let analysis = searcher.analyse(rules, &position, cancel)?;
            Ok(PositionAnswer::searched(rules, &position, &analysis))
        });
        search.await
    }

    /// Searches a position, and streams results as they are found.
    async fn search(self: &Arc<Service>, address: &Uri) -> Result<Response, ApiError> {
        let mut fields = Fields::of_query(address, &["board", "rules", "time"])?;
        let position = read_position(&fields.board()?)?;
        let rules = read_rules(&mut fields)?;
        let time = self.time_or(&mut fields, self.time, self.stream_time)?;
        let begin = Instant::now();
        let answer =
            move |known, nodes, ended| SearchAnswer { known, nodes, seconds: begin.elapsed().as_secs_f64(), ended };
        if let Some(known) = self.at_once(rules, position).await? {
            return Ok(events::stream(move |_| async move { Ok(answer(known, 0, Some("proved"))) }));
        }
        let service = Arc::clone(self);
        let (reports, mut progress) = tokio::sync::mpsc::unbounded_channel();
        let reads = Reads::of(rules, &position);
        let shelf = Arc::clone(&self.shelf);
        let search = self.searches.begin(reads, time, move |searcher, cancel| {
            let report = move |analysis: &Analysis| {
                if reads.require_whole(&shelf).is_err() {
                    return;
                }
                let known = PositionAnswer::searched(rules, &position, analysis);
                let _ = reports.send(answer(known, analysis.nodes, None));
            };
            let analysis = searcher.analyse_and_report(rules, &position, cancel, Some(&report))?;
            let ended = if analysis.is_proved() {
                "proved"
            } else if cancel.is_cancelled() {
                "time"
            } else {
                "depth"
            };
            Ok((PositionAnswer::searched(rules, &position, &analysis), analysis.nodes, ended))
        })?;
        Ok(events::stream(move |sender| async move {
            let result = search.result();
            tokio::pin!(result);
            let found = loop {
                tokio::select! {
                    // Results found on the way come before the end.
                    biased;
                    Some(known) = progress.recv() => sender.send("progress", &known),
                    found = &mut result => break found,
                }
            };
            let (known, nodes, ended) = service.report(found)?;
            let ended = if ended == "time" && service.searches.is_stopping() { "stopped" } else { ended };
            Ok(answer(known, nodes, Some(ended)))
        }))
    }

    async fn choose(&self, body: &[u8]) -> Result<MoveAnswer, ApiError> {
        let mut fields = Fields::of_body(body, &["board", "rules", "player", "time"])?;
        let board = fields.board()?;
        let (position, rules) = (read_position(&board)?, read_rules(&mut fields)?);
        let player = fields.text("player")?;
        let name = player.as_deref().map_or(Ok(PlayerName::Perfect), str::parse)?;
        let time = self.time(&mut fields)?;
        if position.is_over() {
            return Err(ApiError::GameOver);
        }
        // A random player with a seed repeats its moves in equal positions.
        let seeded = player.is_some_and(|player| player.contains(':'));
        let game = if seeded { xxhash_rust::xxh3::xxh3_64(board.as_bytes()) } else { fastrand::u64(..) };
        let start = Instant::now();
        let quick = matches!(name, PlayerName::Greedy | PlayerName::Random(_) | PlayerName::Heuristic);
        let books = Arc::clone(&self.books);
        let choice = self.read_for(rules, position, move |shelf| {
            let (tables, book) = (shelf.tables(rules, position.pits()), books.get(rules, position.pits()));
            let setting = Setting::new(rules).tables(tables).book(book).game(game);
            let recalled = book.map(|book| book.recall(&position, tables)).transpose()?;
            let is_known = recalled.is_some_and(|recalled| recalled.from_book && recalled.best().next().is_some());
            let at_once = quick || name == PlayerName::Perfect && (shelf.reaches(rules, &position) || is_known);
            Ok(if at_once {
                Some(name.player(&setting).choose(&position, &Cancel::new().within(time), &mut |_| ())?)
            } else {
                None
            })
        });
        let choice = match choice.await? {
            Some(choice) => choice,
            None => {
                let search = self.searches.run(Reads::of(rules, &position), time, move |searcher, cancel| {
                    searcher.choose(name, rules, &position, game, cancel)
                });
                search.await?
            }
        };
        let played = position.play(rules, choice.pit).map_err(|error| ApiError::Failed(error.to_string()))?;
        let sown = Sown::new(rules, &position, choice.pit, &played);
        Ok(MoveAnswer::new(rules, &position, name.to_string(), &choice, sown, start.elapsed().as_secs_f64()))
    }
}

/// `GET /api`
pub(super) async fn server(State(service): Shared) -> Json<ServerAnswer> {
    Json(ServerAnswer {
        version: env!("CARGO_PKG_VERSION"),
        rules: Rules::ALL.map(Rules::name),
        rule_sets: Rules::ALL.map(Into::into),
        players: PlayerName::KNOWN,
        time: service.time.as_secs_f64(),
        stream_time: service.stream_time.as_secs_f64(),
        searches: service.search_count,
        seeds: MAX_SEEDS,
        pits: MAX_PITS,
        books: BookEntry::list(&service.books),
    })
}

/// `GET /api/tables`
pub(super) async fn tables(State(service): Shared) -> ApiResult<TablesAnswer> {
    let listing = service.read(|shelf| {
        shelf.list().map_err(|error| ApiError::Failed(format!("cannot list the directory of the tables: {error}")))
    });
    Ok(Json(service.report(listing.await)?.into()))
}

/// `GET /api/position`
pub(super) async fn position(State(service): Shared, address: Uri) -> ApiResult<PositionAnswer> {
    let mut fields = Fields::of_query(&address, &["board", "rules", "time"])?;
    let position = read_position(&fields.board()?)?;
    let rules = read_rules(&mut fields)?;
    let time = service.time(&mut fields)?;
    Ok(Json(service.report(service.position(rules, position, time).await)?))
}

/// `GET /api/search`
pub(super) async fn search(State(service): Shared, address: Uri) -> Response {
    match service.search(&address).await {
        Ok(response) => response,
        Err(error) => service.report::<()>(Err(error)).into_response(),
    }
}

/// `GET /api/line`
pub(super) async fn line(address: Uri) -> ApiResult<LineAnswer> {
    let mut fields = Fields::of_query(&address, &["board", "rules", "moves"])?;
    let mut position = read_position(&fields.board()?)?;
    let rules = read_rules(&mut fields)?;
    let moves = fields.text("moves")?.unwrap_or_default();
    let moves: Vec<&str> = moves.split(',').filter(|text| !text.is_empty()).collect();
    if moves.len() > MAX_MOVES {
        return Err(ApiError::Line(format!("the line has {} moves, but the limit is {MAX_MOVES}", moves.len())));
    }
    let (mut first, mut places) = (true, Vec::new());
    for (index, text) in moves.into_iter().enumerate() {
        let bad = |why: String| ApiError::Line(format!("move {} of the line, '{text}': {why}", index + 1));
        let pit = text.parse().ok().and_then(Pit::from_number).filter(|pit| pit.index() < position.pits());
        let pit = pit.ok_or_else(|| bad(format!("moves are numbers from 1 to {}", position.pits())))?;
        let played = position.play(rules, pit).map_err(|error| bad(error.to_string()))?;
        let sown = Sown::new(rules, &position, pit, &played);
        let (r#move, sown) = (Some(pit.number()), Some(sown));
        places.push(PlaceAnswer { position: position.to_string(), first, r#move, sown });
        (position, first) = (played.position, first == played.again);
    }
    places.push(PlaceAnswer { position: position.to_string(), first, r#move: None, sown: None });
    Ok(Json(LineAnswer { rules: rules.name(), places }))
}

/// `POST /api/move`
pub(super) async fn choose(State(service): Shared, body: Bytes) -> ApiResult<MoveAnswer> {
    Ok(Json(service.report(service.choose(&body).await)?))
}
