//! Old spellings of commands, which still work.

use std::ffi::OsString;

/// Commands that moved into `analyse`.
const ANALYSES: [&str; 5] = ["values", "graph", "complexity", "opening", "opening-scan"];

/// Commands that moved into `archive`.
const ARCHIVES: [&str; 2] = ["pack", "unpack"];

/// Flags of the whole program that take a value of their own.
const WITH_VALUE: [&str; 1] = ["--color"];

/// Returns the command line in the current spelling; `arguments` begin with the name of the program.
pub fn modern(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let Some(at) = command_at(&arguments, 1) else { return arguments };
    let is_help = arguments[at] == "help";
    let Some(at) = (if is_help { command_at(&arguments, at + 1) } else { Some(at) }) else { return arguments };
    let command = arguments[at].to_str().unwrap_or_default();
    if ANALYSES.contains(&command) {
        arguments.insert(at, "analyse".into());
    } else if ARCHIVES.contains(&command) {
        arguments.insert(at, "archive".into());
    } else if command == "plan" && !is_help {
        let flags = &arguments[at + 1..];
        let is_asked = |name: &str| flags.iter().take_while(|flag| *flag != "--").position(|flag| flag == name);
        // The first argument chooses the plan; in the old spelling a flag does.
        let first = flags.first().and_then(|flag| flag.to_str()).unwrap_or("--help");
        if !first.starts_with('-') && is_asked("--search").is_none() || matches!(first, "--help" | "-h") {
            return arguments;
        }
        let plan = ["search", "layers"].into_iter().find_map(|plan| Some((plan, is_asked(&format!("--{plan}"))?)));
        if let Some((_, flag)) = plan {
            arguments.remove(at + 1 + flag);
        }
        arguments.insert(at + 1, plan.map_or("build", |(plan, _)| plan).into());
    }
    arguments
}

/// Returns the index of the first argument from `start` on that is not a flag of the whole program.
fn command_at(arguments: &[OsString], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        let argument = arguments.get(at)?.to_str()?;
        match argument.strip_prefix('-') {
            None => return Some(at),
            Some("-") => return None,
            Some(_) => at += if WITH_VALUE.contains(&argument) { 2 } else { 1 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modern_line(line: &str) -> String {
        let arguments = line.split(' ').map(OsString::from).collect();
        let words: Vec<String> = modern(arguments).into_iter().map(|word| word.into_string().unwrap()).collect();
        words.join(" ")
    }

    #[test]
    fn earlier_commands_are_found_in_their_groups() {
        for (old, new) in [
            ("kalah graph 4x3", "kalah analyse graph 4x3"),
            ("kalah --quiet --color never values --pits 2", "kalah --quiet --color never analyse values --pits 2"),
            ("kalah help opening-scan", "kalah help analyse opening-scan"),
            ("kalah pack --output graph", "kalah archive pack --output graph"),
            ("kalah plan --seeds 20 --commands", "kalah plan build --seeds 20 --commands"),
            ("kalah plan --seeds 20 --layers", "kalah plan layers --seeds 20"),
            ("kalah plan --search 6x6 --memory 1GiB", "kalah plan search 6x6 --memory 1GiB"),
            ("kalah plan 6x6 --search", "kalah plan search 6x6"),
        ] {
            assert_eq!(modern_line(old), new);
        }
    }

    #[test]
    fn today_s_commands_stay() {
        for line in [
            "kalah",
            "kalah --quiet",
            "kalah analyse graph 4x3",
            "kalah plan",
            "kalah plan --help",
            "kalah plan build --seeds 20",
            "kalah plan search",
            "kalah help plan",
            "kalah probe graph",
            "kalah -- graph",
        ] {
            assert_eq!(modern_line(line), line);
        }
    }
}
