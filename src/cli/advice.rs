//! What to do about an error, in words: the library's errors are data, here they get the command that helps. Commands are
//! suggested only if they fit this machine, and can be pasted into a shell.

use std::error::Error;
use std::ffi::OsStr;
use std::io;
use std::path::Path;

use indicatif::HumanBytes;
use kalah::analyse::graph::GraphError;
use kalah::build::{Backend, BuildError, Plan, PlanError};
use kalah::game::{Position, Rules, StartPosition};
use kalah::isa::Isa;
use kalah::kgp::KgpError;
use kalah::play::PlayError;
use kalah::solve::{CheckpointError, SolveError};
use kalah::table::{FileKind, ProbeError, TableError, TableKey};
use kalah::verify::Fault;

/// The longest build that is suggested beside another way, in estimated seconds.
const QUICK: f64 = 600.0;

/// The directory that commands use, and the pits a side, where nothing is said.
const DEFAULT_DIRECTORY: &str = "tables";
const DEFAULT_PITS: usize = 6;

/// An error, and after a semicolon what to do about it.
pub fn told(error: &(dyn Error + 'static)) -> String {
    match of(error) {
        Some(advice) => format!("{error}; {advice}"),
        None => error.to_string(),
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
    if let Some(BuildError::Gpu(_)) = error.downcast_ref() {
        return Some("finished frames are kept: run the same command again, or with --backend cpu".to_owned());
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
        ProbeError::OtherPits { .. } => None,
        ProbeError::Table(error) => of_table(error),
    }
}

fn of_table(error: &TableError) -> Option<String> {
    match error {
        TableError::Missing { directory, key, .. } => Some(of_missing(directory, *key)),
        TableError::Full { source, kept, .. } => Some(format!("{kept}; {}", of_full(source))),
        TableError::Damaged { kind: FileKind::Table(Some(key)), path, .. } => {
            let directory = path.parent().unwrap_or(Path::new(""));
            // The file gives back the disk that the new one takes.
            let all = Plan { disk: 0, ..plan(Path::new("/nothing is built here"), *key) };
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
        TableError::Io { .. } | TableError::Lock(_) => None,
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
    use kalah::build::gpu::GpuError;

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
