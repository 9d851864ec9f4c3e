//! Compares outputs except for differences between machines and runs: times, speeds, sizes of memory, numbers of
//! threads.

/// Units whose numbers are masked.
const UNITS: &str = "s ms ns us seconds second minutes minute hours hour positions/s nodes/s B KiB MiB GiB TiB thread \
                     threads million core cores";

/// Keys of JSON documents whose numbers are masked.
const KEYS: [&str; 6] = ["seconds", "rate", "threads", "memory", "milliseconds", "nodes_per_second"];

/// Returns true if an output matches that of a page, in which a line `...` stands for any lines.
pub(super) fn matches(expected: &str, output: &str) -> bool {
    let masked = |text: &str| text.trim_end().lines().map(mask).collect::<Vec<String>>();
    lines_match(&masked(expected), &masked(output))
}

fn lines_match(expected: &[String], output: &[String]) -> bool {
    // A line that the program prints only where a step takes long, as on a busy machine.
    let is_progress = |line: &str| line.starts_with("layer ") || line.contains(" % of ");
    let skips = output.split_first().is_some_and(|(line, rest)| is_progress(line) && lines_match(expected, rest));
    let fits = || match expected.split_first() {
        None => output.is_empty(),
        Some((first, rest)) if first == "..." => {
            (0..=output.len()).any(|skipped| lines_match(rest, &output[skipped..]))
        }
        Some((first, rest)) => {
            output.split_first().is_some_and(|(line, others)| line == first && lines_match(rest, others))
        }
    };
    skips || fits()
}

fn mask(line: &str) -> String {
    let is_number = |word: &str| {
        word.starts_with(|letter: char| letter.is_ascii_digit())
            && word.chars().all(|letter| letter.is_ascii_digit() || letter == ',' || letter == '.')
    };
    let mut words: Vec<String> = line.trim_end().split(' ').map(mask_json).collect();
    for index in 1..words.len() {
        let unit = words[index].trim_end_matches([',', '.', ')', ';', ':']).len();
        let (unit, ending) = words[index].split_at(unit);
        if UNITS.split(' ').any(|known| known == unit) && is_number(words[index - 1].trim_start_matches('(')) {
            // The unit changes with the number.
            words[index] = format!("unit{ending}");
            words[index - 1] = "#".to_owned();
        }
        if index > 1 && words[index - 1] == "to" && words[index].starts_with("unit") {
            words[index - 2] = "#".to_owned();
        }
    }
    // The instruction set of the machine, and the device that computes.
    let sets = ["avx512", "avx2", "neon", "baseline"];
    sets.iter().fold(words.join(" "), |line, set| line.replace(&format!("({set})"), "(#)"))
}

fn mask_json(word: &str) -> String {
    let mut word = word.to_owned();
    for key in KEYS.map(|key| format!("\"{key}\":")) {
        if let Some(at) = word.find(&key) {
            let number = at + key.len();
            let is_part = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-' | 'e');
            let end = word[number..].find(|letter| !is_part(letter)).map_or(word.len(), |length| number + length);
            word.replace_range(number..end, "#");
        }
    }
    word
}
