use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use kalah_api::answer::{SolveAnswer, Value as Known};
use kalah_api::{ApiError, GameRequest, MoveRequest, PositionRequest, PuzzleRequest, Searcher, Sources, pause};
use kalah_core::cancel::{Cancel, Instant};
use kalah_core::game::{Position, Rules};
use kalah_core::table::AllTables;
use kalah_solve::book::Books;
use kalah_solve::solve::{SearchMemory, SolveError, Solver, SolverOptions};
use self_cell::self_cell;
use serde_json::{Value, json};

/// Minimum time of a step of a search, after which the page may do something else.
const STEP: Duration = Duration::from_millis(50);

/// Time of a step of a proof, whose results the transposition table keeps.
const SLICE: Duration = Duration::from_millis(100);

/// Tables and books that searches use.
pub(super) struct Owned {
    pub all_tables: AllTables,
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
    searcher: Rc<RefCell<Searcher<'t>>>,
    memory: SearchMemory,
    /// Solver of the last call of [`Searches::solve`], kept for its proved bounds.
    solver: Option<Solver<'t>>,
    /// The search in progress.
    work: Option<Work<'t>>,
}

/// A search in progress.
struct Work<'t> {
    search: Pin<Box<dyn Future<Output = Result<Value, ApiError>> + 't>>,
    reports: Reports,
}

/// Results of a search that were not reported yet.
type Reports = Rc<RefCell<Vec<Value>>>;

/// The result of a step of a search.
pub(super) enum Step {
    /// It goes on; the results so far, in order.
    Progress(Vec<Value>),
    /// It is over.
    Answer(Value),
}

impl Searching {
    /// Prepares searches in `all_tables`.
    pub(crate) fn over(all_tables: AllTables, books: Rc<Books>, memory: SearchMemory) -> Searching {
        Searching::new(Owned { all_tables, books }, |Owned { all_tables, books }| {
            let sources = Sources { all_tables, books };
            let searcher = Rc::new(RefCell::new(Searcher::new(sources, memory, 1)));
            Searches { sources, searcher, memory, solver: None, work: None }
        })
    }
}

impl<'t> Searches<'t> {
    /// Returns true if a search is in progress.
    pub(crate) fn is_busy(&self) -> bool {
        self.work.is_some()
    }

    /// Ends the search in progress.
    pub(crate) fn cancel(&mut self) {
        self.work = None;
    }

    /// Begins a search, which adds its results to the reports on its way.
    fn start(&mut self, reports: Reports, search: impl Future<Output = Result<Value, ApiError>> + 't) {
        self.work = Some(Work { search: Box::pin(search), reports });
    }

    /// Begins to search a position for `time`.
    pub(crate) fn begin(&mut self, request: &PositionRequest, time: Duration, streams: bool) -> Result<(), ApiError> {
        let search = self.searcher.borrow_mut().begin(request.rules, &request.position, &Cancel::new().within(time))?;
        let reports = Reports::default();
        self.start(Rc::clone(&reports), async move {
            let report = |answer| {
                if streams {
                    reports.borrow_mut().push(json!(answer));
                }
            };
            let answer = search.run(report).await?;
            Ok(if streams { json!(answer) } else { json!(answer.known) })
        });
        Ok(())
    }

    /// Begins to choose the move of a player within `time`.
    pub(crate) fn begin_move(&mut self, request: MoveRequest, time: Duration) {
        let (searcher, cancel) = (Rc::clone(&self.searcher), Cancel::new().within(time));
        self.start(Reports::default(), async move {
            let player = request.player(&mut searcher.borrow_mut(), &cancel)?;
            Ok(json!(request.search(SLICE, player, &cancel).await?))
        });
    }

    /// Begins to search for a puzzle.
    pub(crate) fn begin_puzzle(&mut self, request: PuzzleRequest) {
        let tables = self.sources.all_tables.tables(request.rules, request.start.pits());
        self.start(Reports::default(), async move { Ok(json!(request.find(tables, &Cancel::new()).await?)) });
    }

    /// Begins to search the positions of a game that are not `known`, each for `time`.
    pub(crate) fn begin_game(&mut self, mut game: GameRequest, time: Duration, known: Vec<Value>) {
        let (searcher, reports) = (Rc::clone(&self.searcher), Rc::new(RefCell::new(known)));
        self.start(Rc::clone(&reports), async move {
            loop {
                let place = game.search_next(&mut searcher.borrow_mut(), time, &Cancel::new())?;
                let Some(place) = place else { return Ok(json!(game.answer())) };
                reports.borrow_mut().push(json!(place));
                pause().await;
            }
        });
    }

    /// Continues the search in progress for a while, or until it has something to report.
    pub(crate) fn step(&mut self) -> Result<Step, ApiError> {
        let Work { search, reports } = self.work.as_mut().ok_or_else(|| ApiError::request("there is no search"))?;
        let start = Instant::now();
        while reports.borrow().is_empty() {
            match search.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(answer) => {
                    self.work = None;
                    return answer.map(Step::Answer);
                }
                Poll::Pending if start.elapsed() < STEP => {}
                Poll::Pending => break,
            }
        }
        Ok(Step::Progress(reports.take()))
    }

    /// Solves a position by the book or by a search of at most `seconds`, which proves no best moves with `value_only`.
    pub(crate) fn solve(
        &mut self,
        rules: Rules,
        position: &Position,
        seconds: f64,
        value_only: bool,
    ) -> Result<SolveAnswer, SolveError> {
        let (start, book) = (Instant::now(), self.sources.books.get(rules, position.pits()));
        let mut answer = SolveAnswer::new(rules, position, book)?;
        if answer.best.is_some() {
            answer.seconds = start.elapsed().as_secs_f64();
            return Ok(answer);
        }
        // A time beyond the clock's range is no limit.
        let time = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX);
        let cancel = Cancel::new().within(time);
        match self.solver(rules, position, &cancel) {
            Ok(solver) => {
                let solver = solver.under(&cancel);
                let (nodes, hits) = (solver.nodes(), solver.table_hits());
                narrow(&solver, position, time, &mut answer)?;
                if let Some(value) = answer.value.value().filter(|_| !value_only) {
                    match solver.solve(position, value) {
                        Ok(solution) => answer.add_solution(&solution),
                        // Best moves and line are missing.
                        Err(SolveError::Stopped) => {}
                        Err(error) => return Err(error),
                    }
                }
                answer.add_effort(&solver, 1, start.elapsed());
                (answer.nodes, answer.table_hits) = (answer.nodes - nodes, answer.table_hits - hits);
            }
            Err(SolveError::Stopped) => answer.seconds = start.elapsed().as_secs_f64(),
            Err(error) => return Err(error),
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
                .tables(self.sources.all_tables.tables(rules, position.pits()))
                .book(self.sources.books.get(rules, position.pits()))
                .memory(self.memory)
                .cancel(cancel.clone());
            self.solver = Some(Solver::new(options)?);
        }
        Ok(self.solver.as_ref().expect("made above"))
    }
}

/// Searches until the value is proved or the time is over, and adds its bounds to `answer`.
fn narrow(solver: &Solver, position: &Position, time: Duration, answer: &mut SolveAnswer) -> Result<(), SolveError> {
    let searched = solver.first_guess(position).and_then(|guess| solver.narrow(position, guess, time));
    match searched {
        Err(SolveError::Stopped) | Ok(_) => {}
        Err(error) => return Err(error),
    }
    let bounds = solver.value_bounds(position)?;
    answer.value = Known::new(bounds).beyond_stores(position);
    Ok(())
}
