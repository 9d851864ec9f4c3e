//! Random command lines. The program always ends with a documented exit code and, if it is not 0, a reason. With
//! `--json` it prints one JSON document.

use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use kalah::game::Rules;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

use crate::fuzz;
use kalah_tests::program::{self, Ran, Run};

/// Commands with their arguments. A letter stands for one of [`values`]. A flag is optional unless it begins with `!`.
const COMMANDS: [&str; 18] = [
    "build !--seeds=N --share --patience=N --pits=N --rules=R !--backend=cpu !--tables=W --memory=M --json",
    "plan build !--seeds=N !--backend=cpu --gpu-memory=M --pits=N --rules=R --tables=D --json",
    "verify --seeds=N --checksums --consistency --sample=N --against=cpu --manifest=O --rules=R !--pits=N \
        --tables=D --json",
    "probe P P P --rules=R --tables=D --json",
    "solve P --openings --at-least=V --at-most=V --value-only --first-guess=V --rules=R --no-tables \
        --tables-up-to=N --exact-up-to=N --memory=M --tables=D --json",
    "review P L L !--within=S --rules=R --no-tables --memory=M --tables=D --json",
    "search P --depth=N --method=seq-mm --par-depth=N --evaluation=seeds --rules=R --json",
    "analyse values !--pits=A !--seeds-per-pit=A !--within=S --rules=R --no-tables --memory=M --tables=D --json",
    "play P --south=C --north=C !--time=S --rules=R --memory=M --transpositions=M --seed=N --tables=D",
    "move P P --player=C !--time=S --rules=R --memory=M --transpositions=M --seed=N --tables=D --json",
    "tournament C C !--start=P --starts=N --random-moves=N --self-play !--time=S --rules=R --memory=M --tables=D \
     --json",
    "analyse opening-scan !--pits=A !--seeds-per-pit=A --rules=R --turns=N !--positions=N --wins --json",
    "export !--seeds=N --sample=N --seed=N --format=csv --output=O --rules=R !--pits=N --tables=D",
    "analyse graph P --pits=A --seeds-per-pit=A --rules=R --no-values --memory=M --tables=D --json",
    "analyse complexity P --pits=A --seeds-per-pit=A --rules=R !--games=N --depth=N --json",
    "info --tables=D --json --manifest",
    "archive pack --seeds=N !--output=W --rules=R --pits=N --tables=D --json",
    "archive unpack O !--tables=W --json",
];

/// Replacements of a letter: valid values, values at the limits, and values beyond them.
fn values(letter: &str) -> Vec<String> {
    let rules = Rules::ALL.map(Rules::name).join("|") + "|oware|";
    let values = match letter {
        "N" => "1|2|3|5|0|-1|49|65536|4294967296|18446744073709551616||x|1e3|\u{663}",
        "V" => "0|-2|3|-9223372036854775808|9223372036854775807|9223372036854775808|+1||x",
        "S" => "0.01|0.001|1e-300|0|-1|nan|inf|1e300|x|",
        "M" => "1MiB|64KiB|0|1|999PiB|16EiB|-1|x|",
        "A" => "1|1..2|2..1|0..1|1..|4294967296|x|",
        "R" => &rules,
        "C" => "greedy|perfect|heuristic|random:3|minimax:1|minimax2:2|minimax3:0|engine:true|engine:'x|human|x|",
        "L" => "1|12|2 1|1,2|0|99|x|",
        "D" => "tables|none|file|/dev/null||.",
        "W" => "new|file/below|/dev/null",
        "O" => "file|out.svg|none/out.svg|tables|/dev/full||tables/empty-capture-2-03.kalah",
        "P" => {
            "2x1|1x3|<2,5,5,0,1,1,0>|1,0/0,1|0,0/1,0|3x1|file|-|1x4294967295|1x1000000000|17x1|\
             <1,2147483646,0,0,1>|<1,2147483647,0,0,1>|tables|none|nonsense|"
        }
        literal => panic!("no values for {literal}"),
    };
    values.split('|').map(str::to_owned).collect()
}

/// Makes a command line. Random choices include or leave out each argument, and select its value.
fn line((command, choices): (Index, Vec<(u8, Index)>)) -> Vec<String> {
    let mut words = COMMANDS[command.index(COMMANDS.len())].split_whitespace();
    let mut line = vec![words.next().unwrap().to_owned()];
    for (word, (chance, which)) in words.zip(choices) {
        // Usually a valid value.
        let value = |letter| {
            let mut values = values(letter);
            let among = if chance % 4 < 2 { values.len().min(3) } else { values.len() };
            values.swap_remove(which.index(among))
        };
        let (always, word) = word.strip_prefix('!').map_or((false, word), |word| (true, word));
        if !always && word.starts_with("--") && chance > 80 {
            continue;
        }
        line.push(match word.split_once('=') {
            Some((flag, letter)) if letter.len() == 1 => format!("{flag}={}", value(letter)),
            _ if word.len() > 1 => word.to_owned(),
            _ => value(word),
        });
    }
    line
}

/// Makes small tables, and files that are not tables.
fn place() -> &'static Path {
    static PLACE: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
        let place = tempfile::tempdir().unwrap();
        for rules in Rules::ALL {
            for pits in 1..=3 {
                kalah::build::build(place.path().join("tables"), rules, pits, 5).unwrap();
            }
        }
        std::fs::write(place.path().join("file"), "\u{feff}2x1 # a\r\nbad\r\n1,0/0,1").unwrap();
        place
    });
    PLACE.path()
}

#[test]
fn every_command_line_ends_well() {
    let lines = (any::<Index>(), prop::collection::vec((any::<u8>(), any::<Index>()), 16)).prop_map(line);
    fuzz("command lines", &lines, |line| {
        let mut command = program::command();
        command.current_dir(place()).env("RAYON_NUM_THREADS", "1").args(&line);
        let output = command.run_within(Duration::from_secs(20), "1\n12\nu\nhint\nx\n");
        let (stdout, stderr) = (output.stdout(), output.stderr());
        // A search without a limit may take its time.
        #[cfg(unix)]
        if std::os::unix::process::ExitStatusExt::signal(&output.status) == Some(9) {
            return Ok(());
        }
        let code = output.status.code();
        prop_assert!(matches!(code, Some(0..=3)) && !stderr.contains("panicked"), "{:?}: {}", output.status, stderr);
        prop_assert!(
            code == Some(0) || !(stderr.trim().is_empty() && stdout.trim().is_empty()),
            "not a word, {:?}",
            code
        );
        if line.contains(&"--json".to_owned()) && code == Some(0) {
            let several = ["probe", "move"].contains(&&*line[0]);
            let documents: Vec<&str> = if several { stdout.lines().collect() } else { vec![&*stdout] };
            for document in documents {
                prop_assert!(serde_json::from_str::<Value>(document).is_ok(), "no JSON document: {}", document);
            }
        }
        Ok(())
    });
}
