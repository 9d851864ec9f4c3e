//! Suggested commands: only those that fit this machine, ready to be pasted into a shell.

use std::ffi::OsStr;
use std::path::Path;

use kalah::build::{Backend, BuildPlan, PlanError};
use kalah::diagnostic::Commands;
use kalah::game::{Position, Rules, StartPosition};
use kalah::isa::Isa;
use kalah::solve::BoardKeys;
use kalah::system::MemoryShortage;
use kalah::table::{Directory, TableKey};
use kalah::text::{count, size};

/// Default directory and pits a side of commands.
const DEFAULT_DIRECTORY: &str = "tables";
const DEFAULT_PITS: usize = 6;

/// The commands of this program.
pub(super) struct Suggestions;

impl Commands for Suggestions {
    fn build(&self, directory: &Path, key: TableKey) -> String {
        build_command(directory, key)
    }

    fn build_that_fits(&self, directory: &Path, key: TableKey, replaced: bool) -> Result<String, String> {
        let checked = if replaced {
            let mut all = plan(Path::new("/nothing is built here"), key);
            all.disk = 0;
            all.check(directory, None)
        } else {
            plan(directory, key).check(directory, None)
        };
        checked.map(|()| build_command(directory, key)).map_err(|error| does_not_fit(&error, directory, key))
    }

    fn bounds(&self, directory: &Path, key: TableKey) -> String {
        format!("kalah bounds --seeds {}{}", key.seeds, table_flags(directory, key.rules, key.pits))
    }

    fn solve(&self, directory: &Directory, rules: Rules, position: &Position) -> Option<String> {
        let is_solvable = BoardKeys::<u128>::new(position.pits(), position.seeds() as usize).is_some();
        let flags = || table_flags(directory, rules, DEFAULT_PITS);
        is_solvable.then(|| format!("kalah solve {}{}", word(position), flags()))
    }
}

/// Plans a build of the table `key` in `directory` on this machine's CPU.
fn plan(directory: &Path, key: TableKey) -> BuildPlan {
    BuildPlan::new(directory, key, &Backend::Cpu(Isa::detect()), rayon::current_num_threads())
}

/// Seeds of the tables to suggest in a directory without tables.
const SUGGESTED_SEEDS: usize = 14;

/// States that there are no tables of a board.
pub(super) fn no_tables(directory: &Directory, rules: Rules, pits: usize) -> String {
    let build = build_command(directory, TableKey { rules, pits, seeds: SUGGESTED_SEEDS });
    let pits = count(pits, "pit");
    format!(
        "there are no tables for {rules} with {pits} in {directory}; build some with `{build}`, or give their \
         directory with --tables"
    )
}

/// Returns the command that builds a table and all below it.
fn build_command(directory: impl Into<Directory>, key: TableKey) -> String {
    format!("kalah build --seeds {}{}", key.seeds, table_flags(directory, key.rules, key.pits))
}

/// Returns the reason why no build is suggested, and the command that shows which layers can be built.
fn does_not_fit(error: &PlanError, directory: &Path, key: TableKey) -> String {
    let (needed, free, what) = match error {
        PlanError::Memory(MemoryShortage::Available { needed, available, .. }) => (needed, &available.bytes, "memory"),
        PlanError::Disk { needed, free, .. } => (needed, free, "disk"),
        other => return format!("it cannot be built here: {other}"),
    };
    let (needed, free, flags) = (size(*needed), size(*free), table_flags(directory, key.rules, key.pits));
    let layers = format!("kalah plan build --seeds {}{flags}", key.seeds);
    format!("building it takes {needed} of {what}, but only {free} are free; `{layers}` shows what each layer takes")
}

/// Returns the flags for rules, pits and directory, each with a space before it. Default values are left out.
fn table_flags(directory: impl Into<Directory>, rules: Rules, pits: usize) -> String {
    let directory = directory.into();
    let mut flags = String::new();
    if !rules.is_default() {
        flags += &format!(" --rules {rules}");
    }
    if pits != DEFAULT_PITS {
        flags += &format!(" --pits {pits}");
    }
    if directory.name() != Path::new(DEFAULT_DIRECTORY) || std::env::var_os("KALAH_TABLES").is_some() {
        flags += &flag("--tables", directory.name().as_os_str());
    }
    flags
}

/// Returns a flag and its value, with a space before it.
fn flag(name: &str, value: &OsStr) -> String {
    // A value that begins with a dash would be taken for a flag.
    let separator = if value.as_encoded_bytes().starts_with(b"-") { "=" } else { " " };
    format!(" {name}{separator}{}", quoted(value))
}

/// Returns a position as an argument, in its shortest form.
fn word(position: &Position) -> String {
    let start = StartPosition { pits: position.pits(), seeds: position.mover().seeds()[0] };
    match start.position() {
        Ok(same) if same == *position => start.to_string(),
        _ => quoted(OsStr::new(&position.to_string())),
    }
}

/// Quotes a text as one word for a shell.
fn quoted(text: &OsStr) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./=+,:@%".contains(&byte);
    match text.to_str() {
        Some(text) if !text.is_empty() && text.bytes().all(plain) => text.to_owned(),
        Some(text) if !text.contains(char::is_control) => format!("'{}'", text.replace('\'', r"'\''")),
        // Bytes that a terminal cannot show, in the form of bash and zsh.
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
    use kalah::build::BuildError;
    use kalah::cancel::Stopped;
    use kalah::diagnostic::Diagnostic;
    use kalah::table::{Damage, ProbeError, TableError};

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
    fn positions_are_written_as_short_as_they_can_be() {
        let word = |text: &str| word(&text.parse().unwrap());
        assert_eq!(word("6x4"), "6x4");
        assert_eq!(word("<2,0,0,3,3,3,3>"), "2x3");
        assert_eq!(word("1,2/3,4"), "'<2,0,0,1,2,3,4>'");
    }

    /// Texts between backquotes in the code that begin with `kalah`, with their file. Comments are left out.
    fn suggested() -> Vec<(String, String)> {
        let mut folders = ["src", "crates"].map(|folder| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).to_vec();
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let text = std::fs::read_to_string(&path).unwrap();
                    let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
                    // A text may continue on the next line.
                    let joined = code.iter().map(|line| match line.strip_suffix('\\') {
                        Some(start) => start.to_owned(),
                        None => format!("{line}\n"),
                    });
                    let code: String = joined.collect();
                    let quoted = code.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
                    let words = |quoted: &str| quoted.split_whitespace().collect::<Vec<_>>().join(" ");
                    let commands = quoted.map(words).filter(|quoted| quoted.starts_with("kalah "));
                    found.extend(commands.map(|command| (command, path.display().to_string())));
                }
            }
        }
        found
    }

    /// Reads a command as the program does. Words in capitals and in braces are placeholders.
    #[track_caller]
    fn assert_understood(command: &str, place: &str) {
        let words = shlex::split(command)
            .unwrap_or_else(|| panic!("{place}: `{command}` is no command"))
            .into_iter()
            .map(|word| match word.as_str() {
                "POSITION" => "6x4".to_owned(),
                "N" | "COMMAND" => if word == "N" { "6" } else { "solve" }.to_owned(),
                _ => word.replace("{pits}", "6").replace("{rules}", "standard").replace("2..{last}", "2..6"),
            });
        let words: Vec<String> = words.collect();
        let mut known = crate::cli::command();
        // The name of a command alone is a mention.
        let mut named = &known;
        let mentions = words[1..].iter().all(|word| match named.find_subcommand(word) {
            Some(inner) => {
                named = inner;
                true
            }
            None => false,
        });
        if mentions {
            return;
        }
        let read = known.try_get_matches_from_mut(&words);
        let shown = |error: &clap::Error| error.kind() == clap::error::ErrorKind::DisplayHelp;
        assert!(read.as_ref().err().is_none_or(shown), "{place}: `{command}`: {}", read.unwrap_err());
    }

    #[test]
    fn every_command_that_a_text_of_the_program_suggests_is_understood() {
        let suggested = suggested();
        assert!(suggested.len() > 10, "{suggested:?}");
        for (command, place) in suggested {
            assert_understood(&command, &place);
        }
    }

    #[test]
    fn every_command_that_is_put_together_is_understood() {
        for directory in ["tables", "with space", "-dash"].map(Path::new) {
            for rules in Rules::ALL {
                for pits in [1, 6, 8] {
                    let key = TableKey { rules, pits, seeds: 12 };
                    let position = format!("{pits}x4").parse().unwrap();
                    let commands = [
                        build_command(directory, key),
                        Suggestions.bounds(directory, key),
                        Suggestions.solve(&directory.into(), rules, &position).unwrap(),
                    ];
                    commands.iter().for_each(|command| assert_understood(command, "suggestion.rs"));
                }
            }
        }
    }

    /// Without room for a new table, a damaged one is better than none.
    #[test]
    fn no_table_is_to_be_deleted_that_cannot_be_built() {
        let path = Path::new("tables/standard-6-48.kalah");
        let advice = TableError::damaged(path, Damage::Digest).diagnosis(&Suggestions).help.unwrap();
        assert!(!advice.contains("delete") && !advice.contains("kalah build"), "{advice}");
        assert!(advice.contains("kalah plan build --seeds 48 --rules standard"), "{advice}");
    }

    /// Positions too large for the solver must not be sent to it.
    #[test]
    fn no_command_is_suggested_that_would_refuse() {
        let advice = |start: &str| {
            let (position, rules) = (Box::new(start.parse().unwrap()), Rules::EmptyCapture);
            ProbeError::BeyondTables { position, directory: "tables".into(), rules }.diagnosis(&Suggestions).help
        };
        assert_eq!(advice("6x99"), None);
        assert_eq!(advice("9x1").as_deref(), Some("find its value with `kalah solve 9x1`"));
    }

    #[test]
    fn a_build_that_lost_its_gpu_can_go_on() {
        let advice = BuildError::Device(Stopped.into()).diagnosis(&Suggestions).help.unwrap();
        assert!(advice.contains("kept") && advice.contains("--backend cpu"), "{advice}");
    }
}
