use std::error::Error;
use std::rc::Rc;
use std::sync::Arc;

use kalah_api::SearchOptions;
use kalah_api::answer::{PositionAnswer, SolveAnswer};
use kalah_core::game::{Position, Rules};
use kalah_core::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};
use kalah_core::table::{AllTables, Probe, TableError, TableKey, Tables};
use kalah_core::text::count;
use kalah_solve::book::Books;
use kalah_solve::solve::{SearchMemory, seeds_within};

use super::board::{Board, LayerAnswer};
use super::remote::{Parts, RemoteTable, SiteLayer, layers, probe};
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
    options: SearchOptions,
    /// The boards, the last one asked about at the end.
    boards: Vec<Board>,
    /// Maximum positions of the tables of a board.
    positions: u64,
    /// Tables on the host.
    remote: Vec<RemoteTable>,
    pub parts: Arc<Parts>,
    /// True if the tables on the host are not used.
    pub local: bool,
    /// The layers of the last board, with those on the host; `None` until they are needed.
    layers: Option<Tables<SiteLayer>>,
}

impl Engine {
    /// Begins without tables. Those of a board have at most this number of positions, and a transposition table this
    /// number of bytes.
    pub(crate) fn new(positions: u64, transpositions: u64, books: Books, remote: Vec<RemoteTable>) -> Engine {
        let memory = SearchMemory::shared(None, transpositions.min(MAX_TRANSPOSITIONS));
        let options = SearchOptions { memory, threads: 1 };
        let books = Rc::new(books);
        Engine {
            searching: Searching::over(AllTables::of([]), Rc::clone(&books), options),
            books,
            options,
            boards: Vec::new(),
            positions,
            remote,
            parts: Arc::default(),
            local: false,
            layers: None,
        }
    }

    /// Makes `last` the board that later calls are about. Its tables can be built up to that layer.
    ///
    /// # Errors
    /// When the tables are too large.
    pub(crate) fn open(&mut self, last: TableKey) -> Result<(), Box<dyn Error>> {
        let TableKey { rules, pits, seeds } = last;
        if !(1..=MAX_TABLE_PITS).contains(&pits) || !(2..=MAX_TABLE_SEEDS).contains(&seeds) {
            let limits = format!("1 to {MAX_TABLE_PITS} pits and 2 to {MAX_TABLE_SEEDS} seeds");
            return Err(format!(
                "no tables for {} and {}: they have {limits}",
                count(pits, "pit"),
                count(seeds, "seed")
            )
            .into());
        }
        self.boards.retain(|board| !board.is(rules, pits));
        self.boards.push(Board::new(last)?);
        self.renew();
        Ok(())
    }

    /// The board that calls are about.
    pub(crate) fn board(&self) -> Option<TableKey> {
        self.boards.last().map(Board::last)
    }

    /// Makes a board the one that calls are about, and builds its small layers. A board that is too large for tables
    /// changes nothing. Returns false if that would end the search in progress.
    pub(crate) fn choose(&mut self, rules: Rules, pits: usize) -> Result<bool, Box<dyn Error>> {
        if pits > MAX_TABLE_PITS || self.positions == 0 {
            return Ok(true);
        }
        match self.boards.iter().position(|board| board.is(rules, pits)) {
            Some(index) if index + 1 == self.boards.len() => {}
            Some(index) => {
                let board = self.boards.remove(index);
                self.boards.push(board);
                self.layers = None;
            }
            None if self.with(|searches| searches.is_busy()) => return Ok(false),
            None => {
                let mut board = Board::new(TableKey { rules, pits, seeds: seeds_within(pits, self.positions) })?;
                let quick = seeds_within(pits, QUICK_POSITIONS);
                while board.seeds() < quick && board.build()?.is_some() {}
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
    pub(crate) fn build(&mut self) -> Result<Option<LayerAnswer>, Box<dyn Error>> {
        if self.with(|searches| searches.is_busy()) {
            return Ok(None);
        }
        let Some(board) = self.boards.last_mut() else { return Ok(None) };
        let built = board.build()?;
        if built.is_some() {
            self.renew();
        }
        Ok(built)
    }

    /// Makes searches use all tables. They lose their proved results.
    fn renew(&mut self) {
        let copies = self.boards.iter().map(|board| {
            let (tables, last) = (board.tables(), board.last());
            let copy = Tables::empty(tables.directories(), last.rules, last.pits, last.seeds);
            let mut copy = copy.expect("the board has tables");
            tables.layers().iter().for_each(|layer| copy.push(Arc::clone(layer)).expect("they are in order"));
            copy
        });
        self.searching = Searching::over(AllTables::of(copies), Rc::clone(&self.books), self.options);
        self.layers = None;
    }

    /// Calls `work` with the searches.
    pub(crate) fn with<T>(&mut self, work: impl for<'t> FnOnce(&mut Searches<'t>) -> T) -> T {
        self.searching.with_dependent_mut(|_, searches| work(searches))
    }

    /// Tables of all boards: those that were built, and those on the host above them.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (TableKey, u64)> {
        let built = self.boards.iter().flat_map(|board| board.tables().layers());
        let built = built.map(|table| (table.key(), table.header().file_bytes));
        let remote = self.remote.iter().filter_map(|table| {
            let key = TableKey { rules: table.rules.parse().ok()?, pits: table.pits, seeds: table.seeds };
            let is_built = |board: &Board| board.is(key.rules, key.pits) && board.seeds() >= key.seeds;
            (!self.boards.iter().any(is_built)).then_some((key, table.bytes))
        });
        built.chain(remote)
    }

    /// Looks up a position of the last board in all its tables, including those on the host.
    pub(crate) fn probe_all(&mut self, rules: Rules, position: &Position) -> Result<Option<Probe>, TableError> {
        if self.local {
            return Ok(None);
        }
        let empty;
        let built = match self.boards.last().filter(|board| board.is(rules, position.pits())) {
            Some(board) => board.tables(),
            None if position.pits() > MAX_TABLE_PITS => return Ok(None),
            None => {
                empty = Tables::empty("memory", rules, position.pits(), MAX_TABLE_SEEDS)?;
                self.layers =
                    self.layers.take().filter(|layers| (layers.rules(), layers.pits()) == (rules, position.pits()));
                &empty
            }
        };
        let layers = self.layers.get_or_insert_with(|| layers(built, &self.remote, &self.parts));
        probe(layers, position)
    }

    /// Forgets the parts of files on the host, and, if one was damaged, the blocks read from them.
    pub(crate) fn forget_parts(&mut self, damaged: bool) {
        self.parts.clear();
        if damaged {
            self.layers = None;
        }
    }

    /// Looks up a position of the opened board in the tables that were built, or else in the book.
    pub(crate) fn look_up(&self, position: &Position) -> Result<PositionAnswer, Box<dyn Error>> {
        let tables = self.boards.last().ok_or("the first call must be \"open\"")?.tables();
        let above = match tables.probe(position) {
            Ok(probe) => return Ok(PositionAnswer::probed(tables.rules(), &probe)),
            Err(error) => error,
        };
        let book = self.books.get(tables.rules(), tables.pits());
        let recalled = book.map(|book| PositionAnswer::of_book(book, position, Some(tables))).transpose()?;
        Ok(recalled.flatten().ok_or(above)?)
    }

    /// Solves a position of the opened board by the book or by a search of at most `seconds`.
    pub(crate) fn solve(&mut self, position: &Position, seconds: f64) -> Result<SolveAnswer, Box<dyn Error>> {
        let rules = self.board().ok_or("the first call must be \"open\"")?.rules;
        self.with(|searches| searches.solve(rules, position, seconds))
    }

    /// The books.
    pub(crate) fn books(&self) -> &Books {
        &self.books
    }
}
