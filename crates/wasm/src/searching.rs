use std::cell::RefCell;
use std::collections::VecDeque;
use std::error::Error;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use kalah_api::{
    ApiError, GameRequest, MoveRequest, PositionRequest, PuzzleRequest, PuzzleSearch, SearchAnswer, SearchOptions,
    Searcher, Sources,
};
use kalah_core::cancel::Cancel;
use kalah_core::clock::Instant;
use kalah_core::game::{Position, Rules};
use kalah_core::table::Shelf;
use kalah_solve::answer::SolveAnswer;
use kalah_solve::book::Books;
use kalah_solve::solve::{SolveError, Solver, SolverOptions};
use self_cell::self_cell;
use serde_json::{Value, json};

/// Minimum time of a step of a search, after which the page may do something else.
const STEP: Duration = Duration::from_millis(50);

/// Time of a step of a proof, whose results the transposition table keeps.
const SLICE: Duration = Duration::from_millis(100);

/// Tables and books that searches use.
pub(super) struct Owned {
    pub shelf: Shelf,
    pub books: Rc<Books>,
}

self_cell!(
    /// The tables with the searches that use them. It is replaced when tables are added.
    pub(super) struct Searching {
        owner: Owned,
        #[not_covariant]
        dependent: Searches,
    }
);

/// Searches, and their proved results.
pub(super) struct Searches<'t> {
    pub sources: Sources<'t>,
    pub searcher: Searcher<'t>,
    options: SearchOptions,
    /// Solver of the last call of [`Searches::solve`], kept for its proved bounds.
    solver: Option<Solver<'t>>,
    /// The search in progress.
    work: Option<Work<'t>>,
}

/// A search in progress.
enum Work<'t> {
    Position {
        search: Pin<Box<dyn Future<Output = Result<SearchAnswer, ApiError>> + 't>>,
        progress: Rc<RefCell<VecDeque<SearchAnswer>>>,
        /// True if results are reported as they improve.
        streams: bool,
    },
    /// The move of a player, until `cancel` ends its time.
    Move {
        request: Box<MoveRequest>,
        cancel: Cancel,
    },
    Puzzle {
        request: Box<PuzzleRequest>,
        search: Box<PuzzleSearch<'t>>,
    },
    Game {
        game: Box<GameRequest>,
        time: Duration,
        /// Places that needed no search, and are not reported yet.
        known: Vec<Value>,
    },
}

/// The result of a step of a search.
pub(super) enum Step {
    /// It goes on; the results so far, in order.
    Progress(Vec<Value>),
    /// It is over.
    Answer(Value),
}

impl Searching {
    /// Prepares searches in `shelf`.
    pub fn over(shelf: Shelf, books: Rc<Books>, options: SearchOptions) -> Searching {
        Searching::new(Owned { shelf, books }, |Owned { shelf, books }| {
            let sources = Sources { shelf, books };
            Searches { sources, searcher: Searcher::new(sources, options), options, solver: None, work: None }
        })
    }
}

impl<'t> Searches<'t> {
    /// Returns true if a search is in progress.
    pub fn is_busy(&self) -> bool {
        self.work.is_some()
    }

    /// Ends the search in progress.
    pub fn cancel(&mut self) {
        self.work = None;
    }

    /// Begins to search a position for `time`.
    pub fn begin(&mut self, request: &PositionRequest, time: Duration, streams: bool) -> Result<(), ApiError> {
        let search = request.begin(&mut self.searcher, &Cancel::new().within(time))?;
        let progress: Rc<RefCell<VecDeque<SearchAnswer>>> = Rc::default();
        let reports = Rc::clone(&progress);
        let search = Box::pin(search.run(move |answer| reports.borrow_mut().push_back(answer)));
        self.work = Some(Work::Position { search, progress, streams });
        Ok(())
    }

    /// Begins to choose the move of a player within `time`.
    pub fn begin_move(&mut self, request: MoveRequest, time: Duration) {
        self.work = Some(Work::Move { request: Box::new(request), cancel: Cancel::new().within(time) });
    }

    /// Begins to search for a puzzle.
    ///
    /// # Errors
    /// If there are no tables for it.
    pub fn begin_puzzle(&mut self, request: PuzzleRequest) -> Result<(), ApiError> {
        let key = request.key;
        let tables = self.sources.shelf.tables(key.rules, key.start.pits()).ok_or(ApiError::NoPuzzle)?;
        self.work = Some(Work::Puzzle { search: Box::new(key.search(tables)?), request: Box::new(request) });
        Ok(())
    }

    /// Begins to search the positions of a game that are not `known`, each for `time`.
    pub fn begin_game(&mut self, game: GameRequest, time: Duration, known: Vec<Value>) {
        self.work = Some(Work::Game { game: Box::new(game), time, known });
    }

    /// Continues the search in progress for a while.
    pub fn step(&mut self) -> Result<Step, ApiError> {
        let step = match &mut self.work {
            None => Err(ApiError::Stopping),
            Some(Work::Game { known, .. }) if !known.is_empty() => Ok(Some(std::mem::take(known))),
            Some(Work::Game { game, time, .. }) => {
                let next = game.search_next(&mut self.searcher, &Cancel::new().within(*time))?;
                Ok(next.map(|place| vec![json!(place)]))
            }
            Some(Work::Move { request, cancel }) => {
                let Some(answer) = request.search_for(SLICE, &mut self.searcher, cancel)? else {
                    return Ok(Step::Progress(Vec::new()));
                };
                self.work = None;
                return Ok(Step::Answer(json!(answer)));
            }
            Some(Work::Puzzle { search, .. }) => {
                let start = Instant::now();
                let found = loop {
                    match search.game()? {
                        Some(found) => break found,
                        None if start.elapsed() < STEP => {}
                        None => return Ok(Step::Progress(Vec::new())),
                    }
                };
                let Some(Work::Puzzle { request, .. }) = self.work.take() else { return Err(ApiError::Stopping) };
                return Ok(Step::Answer(json!(request.answer(found)?)));
            }
            Some(Work::Position { search, progress, streams }) => {
                let start = Instant::now();
                let answer = loop {
                    match search.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                        Poll::Ready(answer) => break Some(answer),
                        Poll::Pending if start.elapsed() < STEP => {}
                        Poll::Pending => break None,
                    }
                };
                match answer {
                    Some(answer) => {
                        let (answer, streams) = (answer, *streams);
                        self.work = None;
                        let answer = answer?;
                        return Ok(Step::Answer(if streams { json!(answer) } else { json!(answer.known) }));
                    }
                    None if *streams => Ok(Some(progress.take().into_iter().map(|answer| json!(answer)).collect())),
                    None => Ok(Some(Vec::new())),
                }
            }
        };
        match step? {
            Some(progress) => Ok(Step::Progress(progress)),
            None => match self.work.take() {
                Some(Work::Game { game, .. }) => Ok(Step::Answer(json!(game.answer()))),
                _ => Err(ApiError::Stopping),
            },
        }
    }

    /// Solves a position by the book or by a search of at most `seconds`.
    pub fn solve(&mut self, rules: Rules, position: &Position, seconds: f64) -> Result<SolveAnswer, Box<dyn Error>> {
        let (start, mut answer) = (Instant::now(), SolveAnswer::new(rules, position));
        if let Some(book) = self.sources.books.get(rules, position.pits()) {
            let recalled = book.recall(position, None)?;
            answer.book = recalled.from_book && recalled.score().is_some();
            if answer.book && recalled.is_decided() {
                answer.value = recalled.score().map(|score| position.value(score));
                answer.add_recalled(book, position, &recalled)?;
                answer.seconds = start.elapsed().as_secs_f64();
                return Ok(answer);
            }
        }
        // A time beyond the clock's range is no limit.
        let time = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX);
        let cancel = Cancel::new().within(time);
        let threads = self.options.threads;
        match self.solver(rules, position, &cancel) {
            Ok(solver) => {
                let solver = solver.under(&cancel);
                let (nodes, hits) = (solver.nodes(), solver.table_hits());
                search(&solver, position, time, &mut answer)?;
                answer.add_effort(&solver, threads, start.elapsed());
                (answer.nodes, answer.table_hits) = (answer.nodes - nodes, answer.table_hits - hits);
            }
            Err(SolveError::Stopped) => answer.seconds = start.elapsed().as_secs_f64(),
            Err(error) => return Err(error.into()),
        }
        Ok(answer)
    }

    /// A solver for `position` that uses all tables.
    fn solver(&mut self, rules: Rules, position: &Position, cancel: &Cancel) -> Result<&Solver<'t>, SolveError> {
        let serves = |solver: &Solver| {
            (solver.rules(), solver.pits()) == (rules, position.pits()) && solver.seeds() >= position.seeds() as usize
        };
        if !self.solver.as_ref().is_some_and(serves) {
            // Its transposition table is freed before another one is allocated.
            self.solver = None;
            let options = SolverOptions::new(rules, position)
                .tables(self.sources.shelf.tables(rules, position.pits()))
                .book(self.sources.books.get(rules, position.pits()))
                .transpositions_up_to(self.options.memory)
                .threads(self.options.threads)
                .cancel(cancel.clone());
            self.solver = Some(Solver::new(options)?);
        }
        Ok(self.solver.as_ref().expect("made above"))
    }
}

/// Searches until the value is proved or the time is over, and adds the result to `answer`.
fn search(solver: &Solver, position: &Position, time: Duration, answer: &mut SolveAnswer) -> Result<(), SolveError> {
    let searched = solver.first_guess(position).and_then(|guess| solver.narrow(position, guess, time));
    match searched {
        Err(SolveError::Stopped) | Ok(_) => {}
        Err(error) => return Err(error),
    }
    let bounds = solver.value_bounds(position)?;
    let Some(value) = bounds.value() else {
        answer.add_bounds(position, bounds);
        return Ok(());
    };
    answer.value = Some(value);
    match solver.solve(position, value) {
        Ok(solution) => answer.add_solution(&solution),
        // Best moves and line are missing.
        Err(SolveError::Stopped) => {}
        Err(error) => return Err(error),
    }
    Ok(())
}
