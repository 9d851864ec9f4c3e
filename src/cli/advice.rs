//! What to do about an error, in words: the library's errors are data, here they get the command that helps. Commands are
//! suggested only if they fit this machine, and can be pasted into a shell.

use std::error::Error;
use std::ffi::OsStr;
use std::io;
use std::path::Path;

use indicatif::HumanBytes;
use kalah::analyse::GameValuesError;
use kalah::analyse::graph::GraphError;
use kalah::analyse::opening::StateError;
use kalah::build::{Backend, BuildError, ComputeError, Plan, PlanError};
use kalah::file::LockError;
use kalah::game::{Position, Rules, StartPosition};
use kalah::gpu::{GpuError, Shortage};
use kalah::isa::Isa;
use kalah::kgp::KgpError;
use kalah::play::PlayError;
use kalah::solve::{CheckpointError, SolveError};
use kalah::system::OutOfMemory;
use kalah::table::{FileKind, ProbeError, TableError, TableKey};
use kalah::verify::Fault;

/// The longest build that is suggested beside another way, in estimated seconds.
const QUICK: f64 = 600.0;

/// The directory that commands use, and the pits a side, where nothing is said.
const DEFAULT_DIRECTORY: &str = "tables";
const DEFAULT_PITS: usize = 6;

/// An error, and after a semicolon what to do about it.
pub fn told(error: &(dyn Error + 'static)) -> String {
    let statement = statement(error);
    match of(error) {
        Some(advice) => format!("{statement}; {advice}"),
        None => statement,
    }
}

/// The statement of an error, with its figures as people read them.
pub fn statement(error: &(dyn Error + 'static)) -> String {
    if let Some(error) = error.downcast_ref() {
        return plan_statement(error);
    }
    if let Some(error) = error.downcast_ref() {
        return graph_statement(error);
    }
    if let Some(OutOfMemory { what, bytes, .. }) = out_of_memory(error) {
        return format!("no memory for {what} ({})", HumanBytes(*bytes));
    }
    match gpu_error(error) {
        Some(GpuError::OutOfMemory { what, bytes, used, shortage }) => {
            let allowed = shortage.budget().map(|budget| format!(", {} are allowed", HumanBytes(budget)));
            let (bytes, used) = (HumanBytes(*bytes), HumanBytes(*used));
            format!("no room on the GPU for {what} ({bytes}; {used} are in use{})", allowed.unwrap_or_default())
        }
        _ => error.to_string(),
    }
}

fn graph_statement(error: &GraphError) -> String {
    match error {
        GraphError::Memory { start, need, limit } => format!(
            "the graph of {start} needs about {} of memory, {} at most, and {} are allowed",
            HumanBytes(need.expected),
            HumanBytes(need.most),
            HumanBytes(*limit)
        ),
        GraphError::Exhausted { start, limit, seeds, positions, .. } => format!(
            "the graph of {start} does not fit into {}: {positions} positions with more than {seeds} seeds in play were counted",
            HumanBytes(*limit)
        ),
        _ => error.to_string(),
    }
}

fn plan_statement(error: &PlanError) -> String {
    match error {
        PlanError::Budget { needed, allowed } => {
            format!(
                "this build needs {} of memory, {} are allowed by --memory",
                HumanBytes(*needed),
                HumanBytes(*allowed)
            )
        }
        PlanError::Memory { needed, available } => {
            format!("this build needs {} of memory, {} are available", HumanBytes(*needed), HumanBytes(*available))
        }
        PlanError::Disk { needed, free, directory } => {
            let (needed, free) = (HumanBytes(*needed), HumanBytes(*free));
            format!("this build needs {needed} of disk, {} has {free} free", directory.display())
        }
        _ => error.to_string(),
    }
}

/// What to do about an error, if it is known.
pub fn of(error: &(dyn Error + 'static)) -> Option<String> {
    if let Some(error) = error.downcast_ref() {
        return of_probe(error);
    }
    if let Some(Fault::Gap { directory, key, missing }) = error.downcast_ref() {
        let last = missing.last().map_or(*key, |&seeds| TableKey { seeds, ..*key });
        return Some(of_missing(directory, last));
    }
    if let Some(advice) = error.downcast_ref().and_then(of_checkpoint) {
        return Some(advice.to_owned());
    }
    if let Some(advice) = solve_error(error).and_then(of_solve) {
        return Some(advice.to_owned());
    }
    if let Some(error) = error.downcast_ref() {
        return of_plan(error).map(str::to_owned);
    }
    match error.downcast_ref() {
        Some(BuildError::Gpu(error)) => {
            let kept = "finished frames are kept: run the same command again, or with --backend cpu";
            return Some(of_gpu(error).map_or(kept.to_owned(), |advice| format!("{advice}; {kept}")));
        }
        Some(BuildError::Stopped(_)) => {
            return Some("finished frames are kept, the same command goes on from there".to_owned());
        }
        Some(BuildError::PairStopped(_)) => {
            return Some("nothing of them is kept, the same command begins them again".to_owned());
        }
        _ => {}
    }
    if let Some(error) = gpu_error(error) {
        return of_gpu(error).map(str::to_owned);
    }
    if let Some(error) = error.downcast_ref() {
        return of_graph(error);
    }
    if let Some(error) = error.downcast_ref() {
        return of_game_values(error);
    }
    if let Some(error) = error.downcast_ref() {
        return of_scan_state(error);
    }
    if let Some(error) = lock_error(error) {
        return of_lock(error);
    }
    of_table(table_error(error)?)
}

/// The error of a table that `error` is, or passes on.
pub fn table_error<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e TableError> {
    if let Some(error) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(ProbeError::Table(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(BuildError::Table(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(Fault::Damage(error) | Fault::Failed(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(SolveError::Table(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(GraphError::Table(error)) = error.downcast_ref() {
        return Some(error);
    }
    match error.downcast_ref() {
        Some(KgpError::Play(PlayError::Table(error) | PlayError::Solve(SolveError::Table(error)))) => Some(error),
        _ => match error.downcast_ref()? {
            PlayError::Table(error) | PlayError::Solve(SolveError::Table(error)) => Some(error),
            _ => None,
        },
    }
}

/// The error of a solver that `error` is, or passes on.
fn solve_error<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e SolveError> {
    match error.downcast_ref() {
        Some(KgpError::Play(PlayError::Solve(error))) => Some(error),
        _ => match error.downcast_ref() {
            Some(PlayError::Solve(error)) => Some(error),
            _ => error.downcast_ref(),
        },
    }
}

/// The error of a lock that `error` is, or passes on.
fn lock_error<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e LockError> {
    match error.downcast_ref() {
        Some(CheckpointError::Lock(error)) => Some(error),
        _ => match error.downcast_ref() {
            Some(BuildError::Lock(error)) => Some(error),
            _ => error.downcast_ref(),
        },
    }
}

fn of_solve(error: &SolveError) -> Option<&'static str> {
    match error {
        SolveError::OutOfMemory { .. } => Some("choose less with --memory"),
        SolveError::Contradiction(_) => {
            Some("search without --checkpoint or --state, and check the tables with `kalah verify`")
        }
        _ => None,
    }
}

fn of_checkpoint(error: &CheckpointError) -> Option<&'static str> {
    match error {
        CheckpointError::Damaged { .. } => Some("delete it to begin anew, or name another file"),
        CheckpointError::Other { .. } => Some("name another file with --checkpoint"),
        _ => None,
    }
}

fn of_lock(error: &LockError) -> Option<String> {
    match error {
        LockError::Held { .. } => Some("wait for it, or stop it first".to_owned()),
        _ => None,
    }
}

fn of_graph(error: &GraphError) -> Option<String> {
    match error {
        GraphError::Memory { .. } => Some("allow more with --memory, or take a smaller board".to_owned()),
        GraphError::Exhausted { need, .. } => {
            Some(format!("allow more with --memory, {} at most", HumanBytes(need.most)))
        }
        GraphError::Table(error) => of_table(error),
        _ => None,
    }
}

fn of_game_values(error: &GameValuesError) -> Option<String> {
    match error {
        GameValuesError::Unusable { .. } => Some("name another file with --state".to_owned()),
        GameValuesError::Damaged { .. } => {
            Some("delete it to begin anew, or name another file with --state".to_owned())
        }
        GameValuesError::Lock(error) => of_lock(error),
        _ => None,
    }
}

fn of_scan_state(error: &StateError) -> Option<String> {
    match error {
        StateError::Other(_) => Some("use the same ones, or name another file with --state".to_owned()),
        // The first line names the scan.
        StateError::Version { .. } | StateError::Damaged { line: 1, .. } => {
            Some("name another file with --state".to_owned())
        }
        StateError::Damaged { .. } => {
            Some("delete the line to have its games scanned again, or name another file with --state".to_owned())
        }
        StateError::Lock(error) => of_lock(error),
        _ => None,
    }
}

/// The error of a GPU that `error` is, or passes on.
fn gpu_error<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e GpuError> {
    if let Some(BuildError::Gpu(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(ComputeError::Gpu(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(Fault::Gpu(error)) = error.downcast_ref() {
        return Some(error);
    }
    error.downcast_ref()
}

/// The lack of memory that `error` is, or passes on.
fn out_of_memory<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e OutOfMemory> {
    if let Some(BuildError::Memory(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(Fault::Memory(error)) = error.downcast_ref() {
        return Some(error);
    }
    error.downcast_ref()
}

fn of_plan(error: &PlanError) -> Option<&'static str> {
    match error {
        PlanError::Budget { .. } => Some("allow more, or build fewer seeds"),
        PlanError::Memory { .. } => Some("end other programs, or build fewer seeds"),
        PlanError::Disk { .. } => Some("make room or use another --tables directory"),
        _ => None,
    }
}

fn of_gpu(error: &GpuError) -> Option<&'static str> {
    match error {
        GpuError::Unsupported => Some("use --backend cpu, or build the program with its feature `gpu`"),
        GpuError::NoAdapter { wanted: None, .. } => {
            Some("use --backend cpu, or name a software adapter with --adapter")
        }
        GpuError::OutOfMemory { shortage, .. } => match shortage {
            Shortage::Allowed(_) => Some("allow more with --gpu-memory, build fewer seeds, or use --backend cpu"),
            Shortage::BufferSize(_) => Some("the adapter has no buffers of this size; use --backend cpu"),
            Shortage::Device(_) => Some("end other programs that use the GPU, or use --backend cpu"),
            _ => Some("end other programs, or use --backend cpu"),
        },
        _ => None,
    }
}

fn of_probe(error: &ProbeError) -> Option<String> {
    match error {
        ProbeError::AboveTables { position, directory, key, .. } => {
            let solve = format!("find its value with `{}`", solve_command(directory, key.rules, position));
            Some(match quick_build(directory, *key) {
                Some(build) => format!("build the missing layers with `{build}`, or {solve}"),
                None => solve,
            })
        }
        ProbeError::BeyondTables { position, directory, rules } => {
            Some(format!("find its value with `{}`", solve_command(directory, *rules, position)))
        }
        ProbeError::Table(error) => of_table(error),
        _ => None,
    }
}

fn of_table(error: &TableError) -> Option<String> {
    match error {
        TableError::Missing { directory, key, .. } => Some(of_missing(directory, *key)),
        TableError::Full { source, kept, .. } => Some(format!("{kept}; {}", of_full(source))),
        TableError::Damaged { kind: FileKind::Table(Some(key)), path, .. } => {
            let directory = path.parent().unwrap_or(Path::new(""));
            // The file gives back the disk that the new one takes.
            let mut all = plan(Path::new("/nothing is built here"), *key);
            all.disk = 0;
            Some(match all.check(directory, None) {
                Ok(()) => format!("delete it and run `{}`", build_command(directory, *key)),
                Err(error) => format!("delete it; {}", does_not_fit(&error)),
            })
        }
        TableError::Damaged { kind: FileKind::Table(None), .. } => {
            Some("its name is not that of a table, so it cannot be rebuilt".to_owned())
        }
        TableError::Damaged { kind: FileKind::Piece, .. } => Some("its frames are computed again".to_owned()),
        TableError::Damaged { kind: FileKind::Archive, .. } => {
            Some("download it again, or pack the table again".to_owned())
        }
        TableError::OutOfMemory { bytes, .. } => {
            let needed = HumanBytes(*bytes);
            Some(format!(
                "{needed} of memory or address space are needed: end other programs, or raise the limit (see `ulimit -v`)"
            ))
        }
        TableError::InUse { .. } => Some("wait for it, or stop it first".to_owned()),
        _ => None,
    }
}

/// What to do where a table and perhaps others below it are missing.
fn of_missing(directory: &Path, key: TableKey) -> String {
    match plan(directory, key).check(directory, None) {
        Ok(()) => format!("build the missing layers with `{}`", build_command(directory, key)),
        Err(error) => does_not_fit(&error),
    }
}

/// What to do where a file could not grow.
fn of_full(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::FileTooLarge => {
            "raise the limit on the size of files (see `ulimit -f`) and run the same command again"
        }
        _ => "make room and run the same command again",
    }
}

fn plan(directory: &Path, key: TableKey) -> Plan {
    Plan::new(directory, key, &Backend::Cpu(Isa::detect()), rayon::current_num_threads())
}

/// Why a build is not suggested.
fn does_not_fit(error: &PlanError) -> String {
    let (needed, free, what) = match error {
        PlanError::Memory { needed, available, .. } => (needed, available, "memory"),
        PlanError::Disk { needed, free, .. } => (needed, free, "disk"),
        other => return format!("it cannot be built here: {}", plan_statement(other)),
    };
    format!("building it takes {} of {what}, but only {} is free", HumanBytes(*needed), HumanBytes(*free))
}

/// The command that builds a table and all below it, if it fits and is no long work.
pub fn quick_build(directory: &Path, key: TableKey) -> Option<String> {
    let plan = plan(directory, key);
    let fits = plan.seconds <= QUICK && plan.check(directory, None).is_ok();
    fits.then(|| build_command(directory, key))
}

/// The command that builds a table and all below it.
fn build_command(directory: &Path, key: TableKey) -> String {
    format!("kalah build --seeds {}{}", key.seeds, table_flags(directory, key.rules, key.pits))
}

/// The command that solves a position.
fn solve_command(directory: &Path, rules: Rules, position: &Position) -> String {
    format!("kalah solve {}{}", word(position), table_flags(directory, rules, DEFAULT_PITS))
}

/// The flags that name rules, pits and directory to any command, each after a space; none where the default is meant.
pub fn table_flags(directory: &Path, rules: Rules, pits: usize) -> String {
    let mut flags = String::new();
    if !rules.is_default() {
        flags += &format!(" --rules {rules}");
    }
    if pits != DEFAULT_PITS {
        flags += &format!(" --pits {pits}");
    }
    if directory != Path::new(DEFAULT_DIRECTORY) || std::env::var_os("KALAH_TABLES").is_some() {
        flags += &flag("--tables", directory.as_os_str());
    }
    flags
}

/// A flag and its value, after a space.
pub fn flag(name: &str, value: &OsStr) -> String {
    // What begins with a dash would be taken for a flag.
    let separator = if value.as_encoded_bytes().starts_with(b"-") { "=" } else { " " };
    format!(" {name}{separator}{}", quoted(value))
}

/// A position as an argument: as short as it can be written.
fn word(position: &Position) -> String {
    let start = StartPosition { pits: position.pits(), seeds: position.mover().seeds()[0] };
    match start.position() {
        Ok(same) if same == *position => start.to_string(),
        _ => quoted(OsStr::new(&position.to_string())),
    }
}

/// A text as one word for a shell.
pub fn quoted(text: &OsStr) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./=+,:@%".contains(&byte);
    match text.to_str() {
        Some(text) if !text.is_empty() && text.bytes().all(plain) => text.to_owned(),
        Some(text) if !text.contains(char::is_control) => format!("'{}'", text.replace('\'', r"'\''")),
        // Bytes that a terminal cannot show, as bash and zsh read them.
        _ => {
            let escaped = text.as_encoded_bytes().iter().map(|&byte| match byte {
                b'\'' | b'\\' => format!("\\{}", byte as char),
                b' '..=b'~' => (byte as char).to_string(),
                _ => format!("\\x{byte:02x}"),
            });
            format!("$'{}'", escaped.collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        for text in ["plain/path-1.2", "with space", "it's", "-dash", "", "a\"b$c`d\\", "<6,0,0,1>", "tab\there", "ü"]
        {
            let script = format!("printf %s {}", quoted(OsStr::new(text)));
            let output = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), text, "{script}");
        }
        assert_eq!(flag("--tables", OsStr::new("-x y")), " --tables='-x y'");
        assert_eq!(flag("--tables", OsStr::new("x")), " --tables x");
    }

    #[cfg(unix)]
    #[test]
    fn words_that_are_no_text_survive_a_shell() {
        use std::os::unix::ffi::OsStrExt;
        let bytes = b"no \xff text\xc3 ' here\n";
        let script = format!("printf %s {}", quoted(OsStr::from_bytes(bytes)));
        let output = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
        assert_eq!(output.stdout, bytes, "{script}");
    }

    #[test]
    fn a_build_that_lost_its_gpu_can_go_on() {
        let advice = of(&BuildError::Gpu(GpuError::Lost("it was unplugged".to_owned()))).unwrap();
        assert!(advice.contains("kept") && advice.contains("--backend cpu"), "{advice}");
    }

    #[test]
    fn positions_are_written_as_short_as_they_can_be() {
        let word = |text: &str| word(&text.parse().unwrap());
        assert_eq!(word("6x4"), "6x4");
        assert_eq!(word("<2,0,0,3,3,3,3>"), "2x3");
        assert_eq!(word("1,2/3,4"), "'<2,0,0,1,2,3,4>'");
    }
}
