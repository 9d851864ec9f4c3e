//! Solving: shared flags, tables, and the solver made from them.

use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;
use indicatif::HumanBytes;
use kalah::cancel::Cancel;
use kalah::game::{Position, Rules};
use kalah::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};
use kalah::solve::{SearchMemory, SearchTables, Solver, SolverOptions};
use kalah::system::check_memory;
use kalah::table::{Blocks, Directory, Stamps, TableKey, missing_layers};

use crate::cli::flags::compute::Compute;
use crate::cli::{Progress, args, bail, failure, note, output, remote, return_freed_memory, solve_tables};

/// Flags of commands that solve.
#[derive(Args)]
pub(crate) struct SolverFlags {
    /// Rule set
    #[arg(long, default_value_t, value_name = "RULES")]
    pub rules: Rules,
    /// Do not use tables. Without this flag, a long search that finds none makes small ones in memory
    #[arg(long)]
    no_tables: bool,
    /// Use only tables with at most this many seeds
    #[arg(long, value_name = "N", value_parser = args::seeds, conflicts_with = "no_tables")]
    tables_up_to: Option<usize>,
    /// Use exact tables up to this many seeds, and bound tables above [default: all exact tables]
    #[arg(long, value_name = "N", value_parser = args::seeds, conflicts_with = "no_tables")]
    exact_up_to: Option<usize>,
    /// Build missing tables first, on a GPU if there is one: those that `kalah plan search` recommends, as far as the
    /// disk has room; with --tables-up-to N, the exact tables up to N seeds
    #[arg(long, conflicts_with = "no_tables")]
    build: bool,
    #[command(flatten)]
    compute: Compute,
    /// Limit the memory of the whole search, such as 16GiB: transposition table and tables, page cache included.
    /// Tables that do not fit are not used [default: the available memory, less a sixteenth]
    #[arg(long, value_name = "SIZE", value_parser = args::memory)]
    memory: Option<u64>,
    /// Limit the transposition table, such as 4GiB [default: a quarter of the memory]
    #[arg(long, value_name = "SIZE", value_parser = args::memory)]
    transpositions: Option<u64>,
    #[command(flatten)]
    tables: args::Directory,
    #[command(flatten)]
    pub threads: args::Threads,
}

impl SolverFlags {
    /// Leaves a part of a given --memory to the claims of a proof, which are checked with this `effort`.
    pub(crate) fn leave_memory_to_claims(&mut self, effort: u32) {
        if self.memory.is_some() {
            return_freed_memory();
        }
        self.memory = self.memory.map(|bytes| SearchMemory::beside_claims(bytes, effort));
    }

    /// Returns the memory of the search.
    fn search_memory(&self) -> SearchMemory {
        SearchMemory::new(self.memory, self.transpositions)
    }

    /// Opens the tables to use, after building them with `--build`, and notes missing ones. `cancel` stops the build.
    pub(crate) fn open_tables(&self, position: &Position, cancel: &Cancel) -> failure::Result<SearchTables> {
        let (pits, seeds) = (position.pits(), position.seeds() as usize);
        if self.no_tables || position.is_over() {
            return Ok(SearchTables::default());
        }
        if pits > MAX_TABLE_PITS {
            note!("there are no tables for {} a side: searching without them", output::count(pits, "pit"));
            return Ok(SearchTables::default());
        }
        let wanted = self.tables_up_to.unwrap_or(MAX_TABLE_SEEDS).min(seeds);
        let last = TableKey { rules: self.rules, pits, seeds: wanted };
        let directory = self.tables.directory();
        if self.build {
            let directory = directory.name();
            match self.tables_up_to {
                Some(_) => solve_tables::build(directory, last, self.memory, Some(&self.compute), cancel)?,
                None => {
                    let build = solve_tables::PlannedBuild { compute: &self.compute, allowed: self.memory, cancel };
                    build.run(directory, self.rules, position, self.search_memory())?;
                }
            }
        }
        let tables = SearchTables::open(directory, last, self.exact_up_to)?;
        remote::fetch_for_search(tables.tables(), Some(position), self.tables.fetch_limit())?;
        let (reach, rules, board) = (tables.reach, self.rules, output::count(pits, "pit"));
        let mut missing = tables.missing(wanted);
        missing.retain(|&seeds| seeds > reach);
        // Without missing layers, flags have chosen to use fewer.
        if reach < wanted && !(self.build && self.tables_up_to.is_none()) {
            if reach == 0 {
                note!(
                    "found no tables for {rules} with {board} in {directory}: searching without; --build builds some"
                );
            } else if !missing.is_empty() {
                let missing = missing_layers(&missing);
                note!("found tables to {reach} seeds for {rules} with {board} in {directory}: {missing}");
            }
        }
        Ok(tables)
    }

    /// Returns the directory of the tables.
    pub(crate) fn directory(&self) -> &Directory {
        self.tables.directory()
    }

    /// Makes a solver of `position` and all positions that follow it, with `further` options. `cancel` stops its
    /// searches.
    ///
    /// # Errors
    /// If the board is too large, flags contradict each other, or there is not enough memory.
    pub(crate) fn solver<'a>(
        &self,
        position: &Position,
        tables: &'a SearchTables,
        cancel: &Cancel,
        further: impl FnOnce(SolverOptions<'a>) -> SolverOptions<'a>,
    ) -> failure::Result<Solver<'a>> {
        let mut options = SolverOptions::new(self.rules, position)
            .tables(tables.tables())
            .bounds(tables.bounds())
            .exact_up_to(self.exact_up_to.unwrap_or(MAX_TABLE_SEEDS))
            .threads(rayon::current_num_threads());
        let memory = self.search_memory();
        options = further(options.memory(memory));
        if self.tables_up_to.is_none() {
            let all = options.reach();
            options = options.within_memory();
            if options.reach() != all {
                let (memory, most) = (HumanBytes(memory.total().unwrap_or(0)), tables.reach);
                let used = match options.reach() {
                    (_, 0) => "none is used".to_owned(),
                    (exact, reach) => format!("exact ones to {exact} seeds and all to {reach} are used"),
                };
                note!("not all tables fit into {memory} of memory: {used}; --tables-up-to {most} uses all anyway");
            }
        }
        let what = || "this search takes".to_owned();
        if let Err(shortage) = check_memory(options.own_bytes(), None, what) {
            // Without this, the system may end the program.
            bail!("{shortage}; allow less with --memory");
        }
        compare(options.files(), cancel)?;
        // `cancel` ends only searches, not the making of the solver, so that commands report a stopped search.
        Ok(Solver::new(options)?.under(cancel))
    }

    /// The same. If no tables were found, and the search of `position` is long, small ones are made in memory first.
    pub(crate) fn solver_that_makes<'a>(
        &self,
        position: &Position,
        tables: &'a SearchTables,
        cancel: &Cancel,
        further: impl Fn(SolverOptions<'a>) -> SolverOptions<'a>,
    ) -> failure::Result<Solver<'a>> {
        let solver = self.solver(position, tables, cancel, &further)?;
        let may_make = !self.no_tables
            && self.tables_up_to.is_none()
            && self.search_memory().has_room_to_make()
            && position.pits() <= MAX_TABLE_PITS
            && tables.tables().is_none()
            && tables.reach == 0;
        // The search itself meets any error again, and does without tables if there is no memory for them.
        let is_made = may_make
            && solver.is_long(position).unwrap_or(false)
            && tables.make(self.rules, position, cancel).is_ok()
            && tables.tables().is_some();
        if !is_made {
            return Ok(solver);
        }
        drop(solver);
        self.solver(position, tables, cancel, further)
    }
}

/// Compares the files that are in memory or mapped with their checksums, unless that was done before. If `cancel` is
/// cancelled, the rest is compared when it is read.
///
/// # Errors
/// If a table is damaged.
pub(crate) fn compare<'a>(files: impl Iterator<Item = &'a Blocks>, cancel: &Cancel) -> failure::Result<()> {
    let files: Vec<&Blocks> = files.filter(|file| file.is_resident()).collect();
    let bytes = files.iter().map(|file| file.file_bytes()).sum();
    let (progress, done) = (Progress::of(bytes, "bytes").at("comparing tables"), AtomicU64::new(0));
    let on_bytes = |bytes| _ = done.fetch_add(bytes, Ordering::Relaxed);
    let stamps = Stamps::of_user();
    progress.complete(&done, || files.into_iter().try_for_each(|file| stamps.compare(file, cancel, &on_bytes)))?;
    Ok(())
}
