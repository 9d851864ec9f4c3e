use std::fmt::Display;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use kalah_api::answer::{PositionAnswer, SolveAnswer, TableEntry};
use kalah_api::{ApiError, Code};
use kalah_base::diagnostic::{Diagnostic, ErrorKind};
use kalah_base::progress::Pulse;
use kalah_core::cancel::Instant;
use kalah_core::evaluation::PhasedNetwork;
use kalah_core::game::{Position, Rules};
use kalah_core::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};
use kalah_core::table::{AllTables, Probe, ProbeError, TableError, TableKey, Tables};
use kalah_solve::book::{Book, Books};
use kalah_solve::solve::{SearchMemory, seeds_within};
use kalah_tables::builder::{BuildError, MemoryBuilder};
use serde::Serialize;

use super::remote::{Parts, RemoteTable, layers};
use super::searching::{Searches, Searching};

/// Maximum bytes of the transposition table: a quarter of the address space.
const MAX_TRANSPOSITIONS: u64 = 1 << 30;

/// Positions of the layers that are built before the first answer about a board: a tenth of a second.
const QUICK_POSITIONS: u64 = 10_000_000;

/// Boards whose tables are kept.
const KEPT_BOARDS: usize = 2;

/// The tables, books and searches of all boards.
pub(super) struct Engine {
    searching: Searching,
    books: Rc<Books>,
    memory: SearchMemory,
    /// The tables of the boards, which grow layer by layer; the board last asked about at the end.
    boards: Vec<MemoryBuilder>,
    /// Maximum positions of the tables of a board.
    positions: u64,
    /// Tables on the host.
    remote: Vec<RemoteTable>,
    /// Names of the books and networks on the host that it has not given.
    pub files: Vec<String>,
    pub parts: Arc<Mutex<Parts>>,
    /// True if the tables on the host are not used.
    pub local: bool,
    /// The layers of the last board, with those on the host; `None` until they are needed.
    layers: Option<Tables>,
}

/// A layer that was built.
#[derive(Serialize)]
pub(super) struct LayerAnswer {
    #[serde(flatten)]
    table: TableEntry,
    seconds: f64,
}

/// Error of a call. Unlike that of a request to a server, it is nearly always the caller's.
pub(super) struct CallError(pub ApiError);

impl<E: Diagnostic> From<E> for CallError {
    fn from(error: E) -> CallError {
        let code = if error.diagnosis().kind == ErrorKind::Memory { Code::Failed } else { Code::Request };
        CallError(ApiError::new(code, error))
    }
}

impl CallError {
    /// Returns the error of a wrong call.
    pub(super) fn wrong(why: impl Display) -> CallError {
        CallError(ApiError::request(why))
    }
}

/// Returns true if these are the tables of a board.
fn is(board: &MemoryBuilder, rules: Rules, pits: usize) -> bool {
    (board.tables().rules(), board.tables().pits()) == (rules, pits)
}

impl Engine {
    /// Begins without tables. Those of a board have at most this number of positions, and a transposition table this
    /// number of bytes. The host has the tables `remote`, and books and networks of these names.
    pub(crate) fn new(positions: u64, transpositions: u64, remote: Vec<RemoteTable>, files: Vec<String>) -> Engine {
        let memory = SearchMemory::shared(None, transpositions.min(MAX_TRANSPOSITIONS));
        let books = Rc::new(Books::none());
        Engine {
            searching: Searching::over(AllTables::of([]), Rc::clone(&books), memory),
            books,
            memory,
            boards: Vec::new(),
            positions,
            remote,
            files,
            parts: Arc::default(),
            local: false,
            layers: None,
        }
    }

    /// Makes `last` the board that later calls are about. Its tables can be built up to that layer.
    ///
    /// # Errors
    /// When the tables are too large.
    pub(crate) fn open(&mut self, last: TableKey) -> Result<(), CallError> {
        if last.seeds < 2 {
            return Err(CallError::wrong("tables have 2 seeds or more"));
        }
        self.boards.retain(|board| !is(board, last.rules, last.pits));
        self.boards.push(MemoryBuilder::new(last)?);
        self.renew();
        Ok(())
    }

    /// The tables that were built of the board that calls are about.
    pub(crate) fn tables(&self) -> Result<&Tables, CallError> {
        let tables = self.boards.last().map(MemoryBuilder::tables);
        tables.ok_or_else(|| CallError::wrong("the first call must be \"open\""))
    }

    /// Names of the book and the network of a board, if the host has not given them.
    pub(crate) fn lacking_files(&self, rules: Rules, pits: usize) -> [Option<String>; 2] {
        let names = [Book::file_name(rules, pits), PhasedNetwork::file_name(rules, pits)];
        names.map(|name| Some(name).filter(|name| self.files.contains(name)))
    }

    /// Takes the bytes of a book or a network of this name from the host. A book ends the search in progress.
    ///
    /// # Errors
    /// If they are damaged. The host is not asked for this file again.
    pub(crate) fn take(&mut self, name: &str, bytes: &[u8]) -> Result<(), ApiError> {
        self.files.retain(|file| file != name);
        if name.ends_with(".book") {
            self.books = Rc::new(self.books.with(Book::from_bytes(bytes).map_err(ApiError::failed)?));
            self.renew();
        } else {
            PhasedNetwork::from_bytes(bytes).map_err(ApiError::failed)?.ship();
            // Searches use it from now on; one in progress goes on without it.
            if !self.with(|searches| searches.is_busy()) {
                self.renew();
            }
        }
        Ok(())
    }

    /// Makes a board the one that calls are about, and builds its small layers. A board that is too large for tables
    /// changes nothing. Returns false if that would end the search in progress.
    pub(crate) fn choose(&mut self, rules: Rules, pits: usize) -> Result<bool, BuildError> {
        if pits > MAX_TABLE_PITS || self.positions == 0 {
            return Ok(true);
        }
        match self.boards.iter().position(|board| is(board, rules, pits)) {
            Some(index) if index + 1 == self.boards.len() => {}
            Some(index) => {
                let board = self.boards.remove(index);
                self.boards.push(board);
                self.layers = None;
            }
            None if self.with(|searches| searches.is_busy()) => return Ok(false),
            None => {
                let mut board =
                    MemoryBuilder::new(TableKey { rules, pits, seeds: seeds_within(pits, self.positions) })?;
                let quick = seeds_within(pits, QUICK_POSITIONS);
                while board.tables().max_seeds() < Some(quick) && board.build_layer(&Pulse::default())?.is_some() {}
                if self.boards.len() == KEPT_BOARDS {
                    self.boards.remove(0);
                }
                self.boards.push(board);
                self.renew();
            }
        }
        Ok(true)
    }

    /// Builds the next layer of the last board; `None` if all are built, or a search is in progress.
    pub(crate) fn build(&mut self) -> Result<Option<LayerAnswer>, BuildError> {
        if self.with(|searches| searches.is_busy()) {
            return Ok(None);
        }
        let start = Instant::now();
        let Some(board) = self.boards.last_mut() else { return Ok(None) };
        let Some(table) = board.build_layer(&Pulse::default())? else { return Ok(None) };
        let built = LayerAnswer { table: TableEntry::from(table), seconds: start.elapsed().as_secs_f64() };
        self.renew();
        Ok(Some(built))
    }

    /// Makes searches use all tables. They lose their proved results.
    fn renew(&mut self) {
        let copies = self.boards.iter().map(MemoryBuilder::tables).map(|tables| {
            let copy = Tables::empty(tables.directory(), tables.rules(), tables.pits(), MAX_TABLE_SEEDS);
            let mut copy = copy.expect("the board has tables");
            tables.layers().iter().for_each(|layer| copy.push(Arc::clone(layer)).expect("they are in order"));
            copy
        });
        self.searching = Searching::over(AllTables::of(copies), Rc::clone(&self.books), self.memory);
        self.layers = None;
    }

    /// Calls `work` with the searches.
    pub(crate) fn with<T>(&mut self, work: impl for<'t> FnOnce(&mut Searches<'t>) -> T) -> T {
        self.searching.with_dependent_mut(|_, searches| work(searches))
    }

    /// Looks up a position of the last board in all its tables, including those on the host.
    pub(crate) fn probe_all(&mut self, rules: Rules, position: &Position) -> Result<Option<Probe>, TableError> {
        let pits = position.pits();
        if self.local || pits > MAX_TABLE_PITS {
            return Ok(None);
        }
        let empty;
        let built = match self.boards.last().filter(|board| is(board, rules, pits)) {
            Some(board) => board.tables(),
            None => {
                empty = Tables::empty("memory", rules, pits, MAX_TABLE_SEEDS)?;
                self.layers = self.layers.take().filter(|layers| (layers.rules(), layers.pits()) == (rules, pits));
                &empty
            }
        };
        let layers = self.layers.get_or_insert_with(|| layers(built, &self.remote, &self.parts));
        match layers.probe(position) {
            Ok(probe) => Ok(Some(probe)),
            Err(ProbeError::Table(error)) => Err(error),
            // The layers do not reach it.
            Err(_) => Ok(None),
        }
    }

    /// Looks up a position of the opened board in the tables that were built, or else in the book.
    pub(crate) fn look_up(&self, position: &Position) -> Result<PositionAnswer, CallError> {
        let tables = self.tables()?;
        let above = match tables.probe(position) {
            Ok(probe) => return Ok(PositionAnswer::probed(tables.rules(), &probe)),
            Err(error) => error,
        };
        let book = self.books.get(tables.rules(), tables.pits());
        let recalled = book.map(|book| PositionAnswer::of_book(book, position, Some(tables))).transpose()?;
        recalled.flatten().ok_or_else(|| CallError(ApiError::new(Code::NotFound, above)))
    }

    /// Solves a position of the opened board by the book or by a search of at most `seconds`. With `value_only`, the
    /// search proves no best moves.
    pub(crate) fn solve(
        &mut self,
        position: &Position,
        seconds: f64,
        value_only: bool,
    ) -> Result<SolveAnswer, CallError> {
        let rules = self.tables()?.rules();
        Ok(self.with(|searches| searches.solve(rules, position, seconds, value_only))?)
    }
}
