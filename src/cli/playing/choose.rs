//! The command `kalah move`; certificates as players, for `--from CERTIFICATE` of this command and `kalah play`.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use kalah::answer::MoveAnswer;
use kalah::book::Books;
use kalah::cancel::Cancel;
use kalah::certificate::{Certificate, Strategy};
use kalah::file;
use kalah::game::Position;
use kalah::header::Kind;
use kalah::play::{ByCertificate, Participant, Player, PlayerName, Setting};
use kalah::table::{Directory, Tables};

use crate::cli::{Context, Outcome, PlayerFlags, args, examples, failure, output, positions, progress, usage};

/// Ask a player for its move in a position
///
/// Use this to get a good move, or to see what a weaker player would do. Write a position as 6x4 (6 pits a side, 4
/// seeds in each), or as two rows (0,0,1,0,2,1/1,0,0,3,0,0). With stores, write <m,S,N,s1..sm,n1..nm>: pits a side,
/// both stores, both rows. The mover is South, whose store and row come first. Each row begins with its owner's pit 1.
/// Files have one position a line, and # begins a comment. The players are, about from weak to strong, random:SEED,
/// greedy, heuristic, minimax:D, alphabeta:D, minimax3:D, minimax2:D and perfect, where D is the number of moves that
/// they search; or engine:COMMAND, another program that speaks the protocol of docs/engine.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Print the best move found in two seconds", "kalah move 6x4 --time 2s"),
    ("Print the move of a weak player", "kalah move 6x4 --player greedy"),
    ("Print the move of a proof", "kalah move 6x4 --from kalah-6x4.certificate"),
]))]
pub(crate) struct Choose {
    /// Positions, such as 6x4 or 4,4,4,4,4,4/4,4,4,4,4,4, files with positions, or - for standard input
    #[arg(value_name = "POSITION|FILE", required = true)]
    positions: Vec<OsString>,
    /// Player to ask
    #[arg(long, value_name = "NAME", default_value = "perfect")]
    player: Participant,
    /// Ask the strategy of a certificate of effort 0 (docs/proving.md), under its rules
    #[arg(long, value_name = "CERTIFICATE", conflicts_with_all = ["player", "time"])]
    from: Option<PathBuf>,
    /// Think about each position for this time, such as 2s or 500ms [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = args::time::<1>)]
    time: Option<Duration>,
    #[command(flatten)]
    with: PlayerFlags,
    #[command(flatten)]
    book: args::BookFlag,
    /// Print one JSON object for each position
    #[arg(long)]
    json: bool,
}

impl Choose {
    pub(crate) fn run(mut self) -> failure::Result<Outcome> {
        if self.time.is_none() && self.player.is_engine() {
            return Err(usage("an engine that never answers would not end: add --time"));
        }
        self.with.threads.start()?;
        let strategy = self.from.as_ref().map(|path| StrategyFile::read(path, self.with.directory())).transpose()?;
        let mut by_certificate = strategy.as_ref().map(StrategyFile::player).transpose()?;
        if let Some(strategy) = &strategy {
            let rules = strategy.certificate.head.statement.rules;
            output::require_rules_of("the certificate", rules, self.with.rules)?;
            self.with.rules = rules;
        }
        let books = self.book.find(self.with.directory(), &[self.with.rules])?;
        let (outcome, has_chosen) = positions::answer_each(&self.positions, |position| {
            if position.is_over() {
                return Ok(Some(usage(format_args!("the game is over at {position}: there is no move to choose"))));
            }
            let answered = match &mut by_certificate {
                Some(player) => self.ask(player, position),
                None => self.answer(position, &books),
            };
            match answered {
                Err(error) if error.outcome == Outcome::Usage => Ok(Some(error)),
                // The player would fail in the same way for other positions.
                answered => answered.map(|()| None),
            }
        })?;
        if has_chosen && !self.json {
            output::default_rules(self.with.rules)?;
        }
        Ok(outcome)
    }

    fn answer(&self, position: &Position, books: &Books) -> failure::Result<()> {
        let tables = self.with.open_tables(position, self.player == PlayerName::Perfect.into())?;
        let setting = self.with.setting(&tables, rayon::current_num_threads());
        let setting = Setting { book: books.get(self.with.rules, position.pits()), ..setting };
        self.ask(self.player.player(&setting).as_mut(), position)
    }

    /// Prints the move of a player. Its time begins when it is ready.
    fn ask(&self, player: &mut dyn Player, position: &Position) -> failure::Result<()> {
        let (rules, mut cancel) = (self.with.rules, Cancel::new());
        player.prepare(position, &cancel)?;
        let start = Instant::now();
        if let Some(time) = self.time {
            cancel = cancel.within(time);
        }
        let subject = format!("{} on {position}, {rules}", player.name());
        let choice = progress::watch(&subject, || player.choose(position, &cancel, &mut |_| ()))?;
        let answer = MoveAnswer::new(rules, position, player.name(), &choice, start.elapsed().as_secs_f64());
        Ok(output::answer(self.json, &answer, || output::line(&answer))?)
    }
}

/// Certificate, and the tables that it rests on.
pub(crate) struct StrategyFile {
    path: PathBuf,
    pub certificate: Certificate,
    tables: Option<Tables>,
}

impl StrategyFile {
    /// Returns true if a file begins as certificates do. Files that cannot be read are left to other readers.
    pub(crate) fn is_certificate(path: &Path) -> bool {
        let (mut start, magic) = ([0; 8], Kind::Certificate.magic());
        file::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok()) && start == magic
    }

    /// Reads a certificate, and opens its tables in `directory`.
    pub(crate) fn read(path: &Path, directory: &Directory) -> failure::Result<StrategyFile> {
        let certificate = Certificate::read(path)?;
        let (seeds, statement) = (certificate.head.table_seeds(), &certificate.head.statement);
        let (rules, pits) = (statement.rules, statement.position.pits());
        let open = || Tables::open(directory, rules, pits, seeds);
        let tables = (seeds > 0).then(open).transpose()?;
        Ok(StrategyFile { path: path.to_owned(), certificate, tables })
    }

    /// Returns its player.
    pub(crate) fn player(&self) -> failure::Result<ByCertificate<'_>> {
        let strategy = Strategy::new(&self.certificate, self.tables.as_ref());
        Ok(ByCertificate::new(strategy.with_context(|| self.path.display().to_string())?))
    }
}
