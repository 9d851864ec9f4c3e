use std::error::Error;
use std::rc::Rc;
use std::sync::Arc;

use kalah_api::SearchOptions;
use kalah_api::answer::{PositionAnswer, SolveAnswer};
use kalah_core::evaluation::PhasedNetwork;
use kalah_core::game::{Position, Rules};
use kalah_core::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};
use kalah_core::table::{AllTables, Probe, TableError, TableKey, Tables};
use kalah_core::text::count;
use kalah_solve::book::{Book, Books};
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
    /// Names of the books and networks on the host that it has not given.
    files: Vec<String>,
    pub parts: Arc<Parts>,
    /// True if the tables on the host are not used.
    pub local: bool,
    /// The layers of the last board, with those on the host; `None` until they are needed.
    layers: Option<Tables<SiteLayer>>,
}

impl Engine {
    /// Begins without tables. Those of a board have at most this number of positions, and a transposition table this
    /// number of bytes. The host has the tables `remote`, and books and networks of these names.
    pub(crate) fn new(positions: u64, transpositions: u64, remote: Vec<RemoteTable>, files: Vec<String>) -> Engine {
        let memory = SearchMemory::shared(None, transpositions.min(MAX_TRANSPOSITIONS));
        let options = SearchOptions { memory, threads: 1 };
        let books = Rc::new(Books::none());
        Engine {
            searching: Searching::over(AllTables::of([]), Rc::clone(&books), options),
            books,
            options,
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

    /// Returns true if the host has a book or a network for a board that it has not given.
    pub(crate) fn lacks_files(&self, rules: Rules, pits: usize) -> bool {
        files_of(rules, pits).iter().any(|file| self.files.contains(file))
    }

    /// Names of the book and the network that the host has not given. It is asked for the network once.
    pub(crate) fn lacking_files(&mut self, rules: Rules, pits: usize) -> [Option<String>; 2] {
        let lacking = files_of(rules, pits).map(|file| Some(file).filter(|file| self.files.contains(file)));
        self.files.retain(|file| lacking[1].as_ref() != Some(file));
        lacking
    }

    /// Takes the bytes of a book or a network of this name from the host. A book ends the search in progress.
    ///
    /// # Errors
    /// If they are damaged. The host is not asked for this file again.
    pub(crate) fn take(&mut self, name: &str, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
        self.files.retain(|file| file != name);
        if name.ends_with(".book") {
            self.books = Rc::new(self.books.with(Book::from_bytes(bytes)?));
            self.renew();
        } else {
            PhasedNetwork::from_bytes(bytes)?.ship();
            // Searches use it from now on; one in progress goes on without it.
            if !self.with(|searches| searches.is_busy()) {
                self.renew();
            }
        }
        Ok(())
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
}

/// Names of the book and the network of a board.
fn files_of(rules: Rules, pits: usize) -> [String; 2] {
    [Book::file_name(rules, pits), PhasedNetwork::file_name(rules, pits)]
}
