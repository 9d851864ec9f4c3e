//! Compares outputs except for differences between machines and runs: times, speeds, sizes of memory, numbers of
//! threads.

/// Units whose numbers are masked.
const UNITS: [&str; 22] = [
    "s",
    "ms",
    "ns",
    "us",
    "seconds",
    "second",
    "minutes",
    "minute",
    "hours",
    "hour",
    "positions/s",
    "nodes/s",
    "B",
    "KiB",
    "MiB",
    "GiB",
    "TiB",
    "thread",
    "threads",
    "million",
    "core",
    "cores",
];

/// Keys of JSON documents whose numbers are masked.
const KEYS: [&str; 6] = ["seconds", "rate", "threads", "memory", "milliseconds", "nodes_per_second"];

/// Returns true if an output matches that of a page, in which a line `...` stands for any lines.
pub(super) fn matches(expected: &str, output: &str) -> bool {
    let expected: Vec<String> = expected.trim_end().lines().map(mask).collect();
    let output: Vec<String> = output.trim_end().lines().map(mask).collect();
    lines_match(&expected, &output)
}

fn lines_match(expected: &[String], output: &[String]) -> bool {
    let skips = output.split_first().is_some_and(|(line, rest)| is_progress(line) && lines_match(expected, rest));
    skips
        || match expected.split_first() {
            None => output.is_empty(),
            Some((first, rest)) if first == "..." => {
                (0..=output.len()).any(|skipped| lines_match(rest, &output[skipped..]))
            }
            Some((first, rest)) => {
                output.split_first().is_some_and(|(line, others)| line == first && lines_match(rest, others))
            }
        }
}

/// True for a line that the program prints only where a step takes long, as on a busy machine.
fn is_progress(line: &str) -> bool {
    line.starts_with("layer ") || line.contains(" % of ")
}

fn mask(line: &str) -> String {
    let mut words: Vec<String> = line.trim_end().split(' ').map(mask_json).collect();
    for index in 1..words.len() {
        let unit = words[index].trim_end_matches([',', '.', ')', ';', ':']).to_owned();
        if UNITS.contains(&unit.as_str()) && is_number(words[index - 1].trim_start_matches('(')) {
            words[index - 1] = "#".to_owned();
            // The unit changes with the number.
            let ending = words[index][unit.len()..].to_owned();
            words[index] = format!("unit{ending}");
        }
        if index > 1 && words[index - 1] == "to" && words[index].starts_with("unit") {
            words[index - 2] = "#".to_owned();
        }
    }
    let line = words.join(" ");
    // The instruction set of the machine, and the device that computes.
    ["avx512", "avx2", "neon", "baseline"].iter().fold(line, |line, set| line.replace(&format!("({set})"), "(#)"))
}

fn is_number(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_digit())
        && word.chars().all(|letter| letter.is_ascii_digit() || letter == ',' || letter == '.')
}

fn mask_json(word: &str) -> String {
    let mut word = word.to_owned();
    for key in KEYS {
        let key = format!("\"{key}\":");
        if let Some(at) = word.find(&key) {
            let number = at + key.len();
            let is_part = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-' | 'e');
            let end = word[number..].find(|letter| !is_part(letter)).map_or(word.len(), |length| number + length);
            word.replace_range(number..end, "#");
        }
    }
    word
}
