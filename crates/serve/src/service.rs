use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::response::Response;
use kalah_analyse::Puzzle;
use kalah_api::answer::{Ended, ExplorerAnswer, MoveAnswer, PositionAnswer, PuzzleAnswer};
use kalah_api::{
    ApiError, GameAnswer, GameRequest, MoveRequest, PlaceEvent, PositionRequest, PositionsAnswer, PositionsRequest,
    PuzzleKey, PuzzleRequest, Sources,
};
use kalah_core::game::{Position, Rules};
use parking_lot::Mutex;

use super::events;
use super::options::Options;
use super::searches::{NeededTables, Searches};

/// Default time to search a position of a game.
const GAME_TIME: Duration = Duration::from_millis(200);

/// State shared by all requests.
pub(super) struct Service {
    pub options: Arc<Options>,
    pub searches: Searches,
    pub puzzles: Puzzles,
}

impl Service {
    /// Reads tables and books on other threads than those that answer requests, since the disk may be slow.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(Sources<'_>) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let options = Arc::clone(&self.options);
        let reading = tokio::task::spawn_blocking(move || read(options.sources()));
        reading.await.map_err(|_| ApiError::Failed("reading the tables failed unexpectedly".to_owned()))?
    }

    /// Reports errors that are not the client's fault to the operator.
    pub(crate) fn report<T>(&self, result: Result<T, ApiError>) -> Result<T, ApiError> {
        if let Err(error) = &result
            && error.is_of_server()
        {
            (self.options.log)(&error.to_string());
        }
        result
    }

    async fn at_once(&self, rules: Rules, position: Position) -> Result<Option<PositionAnswer>, ApiError> {
        self.read(move |sources| sources.at_once(rules, &position)).await
    }

    /// Returns the time of a search: as requested, up to the limit.
    fn time(&self, asked: Option<Duration>) -> Duration {
        asked.unwrap_or(self.options.time).min(self.options.time)
    }

    /// Answers about a position.
    pub(crate) async fn position(&self, request: PositionRequest) -> Result<PositionAnswer, ApiError> {
        let PositionRequest { rules, position, time } = request;
        if let Some(answer) = self.at_once(rules, position).await? {
            return Ok(answer);
        }
        let (needed, time) = (NeededTables::of(rules, &position), self.time(time));
        self.searches.run(needed, time, move |searcher, cancel| request.search(searcher, cancel)).await
    }

    /// Answers about many positions without a search. Errors of single ones that are not the client's fault are
    /// reported to the operator.
    pub(crate) async fn positions(self: &Arc<Service>, request: PositionsRequest) -> Result<PositionsAnswer, ApiError> {
        let service = Arc::clone(self);
        self.read(move |sources| {
            let report = |error: &ApiError| {
                if error.is_of_server() {
                    (service.options.log)(&error.to_string());
                }
            };
            Ok(request.answer(|rules, position| sources.at_once(rules, position), report))
        })
        .await
    }

    /// Searches a position, and streams results as they are found.
    pub(crate) async fn search(self: &Arc<Service>, request: PositionRequest) -> Result<Response, ApiError> {
        let PositionRequest { rules, position, time } = request;
        let (start, time) = (Instant::now(), time.unwrap_or(self.options.time).min(self.options.stream_time));
        if let Some(known) = self.at_once(rules, position).await? {
            let answer = PositionRequest::known_at_once(known, start.elapsed().as_secs_f64());
            return Ok(events::stream(move |_| async move { Ok(answer) }));
        }
        let service = Arc::clone(self);
        let (reports, mut progress) = tokio::sync::mpsc::unbounded_channel();
        let search = self.searches.begin(NeededTables::of(rules, &position), time, move |searcher, cancel| {
            let report = move |answer| _ = reports.send(answer);
            pollster::block_on(request.begin(searcher, cancel)?.run(report))
        });
        let search = search.await?;
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
            let mut answer = service.report(found)?;
            if answer.ended == Some(Ended::Time) && service.searches.is_stopping() {
                answer.ended = Some(Ended::Stopped);
            }
            Ok(answer)
        }))
    }

    /// Chooses the move of a player.
    pub(crate) async fn choose(&self, request: MoveRequest) -> Result<MoveAnswer, ApiError> {
        let (rules, position, time) = (request.rules, request.position, self.time(request.time));
        let quick = request.clone();
        let choice = self.read(move |sources| quick.at_once(sources, time));
        match choice.await? {
            Some(answer) => Ok(answer),
            None => {
                let needed = NeededTables::of(rules, &position);
                self.searches.run(needed, time, move |searcher, cancel| request.search(searcher, cancel)).await
            }
        }
    }

    /// Answers the opening explorer.
    pub(crate) async fn recall(&self, request: PositionRequest) -> Result<ExplorerAnswer, ApiError> {
        let PositionRequest { rules, position, .. } = request;
        self.read(move |sources| sources.recall(rules, &position)).await
    }

    /// Evaluates all places of a game, and reports each as soon as it is evaluated.
    pub(crate) async fn game(
        self: Arc<Service>,
        mut game: GameRequest,
        report: impl Fn(PlaceEvent) + Clone + Send + Sync + 'static,
    ) -> Result<GameAnswer, ApiError> {
        let (rules, time) = (game.rules(), game.time.unwrap_or(GAME_TIME).min(self.options.time));
        let reported = report.clone();
        let known = self.read(move |sources| {
            game.answer_at_once(|rules, position| sources.at_once(rules, position), reported)?;
            Ok(game)
        });
        let mut game = known.await?;
        if let Some(largest) = game.first_unanswered() {
            // One more period, to make the solver.
            let all = time.saturating_mul(game.unanswered() + 1);
            let needed = NeededTables::of(rules, &largest);
            let search = self.searches.run(needed, all, move |searcher, cancel| {
                searcher.prepare(rules, &largest, cancel)?;
                while let Some(place) = game.search_next(searcher, &cancel.within(time))? {
                    report(place);
                }
                Ok(game)
            });
            game = search.await?;
        }
        Ok(game.answer())
    }

    /// Finds a puzzle.
    pub(crate) async fn puzzle(&self, request: PuzzleRequest) -> Result<PuzzleAnswer, ApiError> {
        let key = request.key;
        let puzzle = match request.known().map(Some).or_else(|| self.puzzles.get(&key)) {
            Some(known) => known,
            None => {
                let needed = NeededTables { seeds: key.seeds(), ..NeededTables::of(key.rules, &key.start) };
                // A number of games instead of a time limit, so that everybody gets the same puzzle.
                let search = self.searches.run(needed, Duration::MAX, move |searcher, cancel| {
                    let tables = searcher.sources().all_tables.tables(key.rules, key.start.pits());
                    tables.map_or(Ok(None), |tables| key.find(tables, cancel))
                });
                let found = search.await?;
                self.puzzles.put(key, found.clone());
                found
            }
        };
        request.answer(puzzle)
    }
}

/// Maximum number of cached puzzles.
const KEPT: usize = 256;

/// Cache of found puzzles, since finding one takes a while.
#[derive(Default)]
pub(super) struct Puzzles(Mutex<HashMap<PuzzleKey, Option<Puzzle>>>);

impl Puzzles {
    /// Returns the cached result of a search; its inner `None` means that there is no puzzle.
    pub(crate) fn get(&self, key: &PuzzleKey) -> Option<Option<Puzzle>> {
        self.0.lock().get(key).cloned()
    }

    /// Adds a puzzle.
    pub(crate) fn put(&self, key: PuzzleKey, puzzle: Option<Puzzle>) {
        let mut kept = self.0.lock();
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(key, puzzle);
    }
}
