//! The first texts that users see: help, explanations of the rule sets, working advice, and arguments understood as
//! intended.
#![cfg(feature = "cli")]

use std::path::Path;
use std::process::{Command, Output};
use std::sync::LazyLock;

use kalah::game::{Pit, Position, Rules};
use serde_json::Value;

#[cfg(unix)]
use kalah_tests::optional;
use kalah_tests::program::{self, Ran, Run};

/// All commands of a program with all features, except `help`.
const COMMANDS: [&str; 30] = [
    "build",
    "plan",
    "train",
    "bounds",
    "verify",
    "info",
    "export",
    "archive",
    "fetch",
    "publish",
    "gpu",
    "bench",
    "probe",
    "solve",
    "prove",
    "review",
    "search",
    "check",
    "book",
    "play",
    "move",
    "tournament",
    "puzzles",
    "serve",
    "export-site",
    "engine",
    "analyse",
    "rules",
    "completions",
    "man",
];

/// Commands with subcommands.
const GROUPS: [(&str, &[&str]); 4] = [
    ("plan", &["build", "search"]),
    ("archive", &["pack", "unpack"]),
    ("analyse", &["values", "graph", "complexity", "opening-scan"]),
    ("book", &["show", "make", "check", "import"]),
];

/// The commands of this program, except `help`.
fn commands() -> Vec<&'static str> {
    let is_there = |name: &&str| match *name {
        "fetch" => cfg!(feature = "remote"),
        "gpu" => cfg!(feature = "gpu"),
        _ => true,
    };
    COMMANDS.into_iter().filter(is_there).collect()
}

/// All commands that do work, each with the command above it.
fn paths() -> Vec<Vec<&'static str>> {
    let within = |name: &'static str| match GROUPS.iter().find(|(group, _)| *group == name) {
        Some((_, names)) => names.iter().map(|inner| vec![name, *inner]).collect(),
        None => vec![vec![name]],
    };
    commands().into_iter().flat_map(within).collect()
}

fn command(args: &[&str]) -> Command {
    let mut command = program::command();
    command.args(args).env_remove("COLUMNS").env("XDG_RUNTIME_DIR", "/nowhere");
    command
}

fn kalah(args: &[&str]) -> Output {
    command(args).run()
}

/// Tables to 10 seeds of the default rules, built once for all tests that only read.
fn tables() -> &'static Path {
    static TABLES: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
        let directory = tempfile::tempdir().unwrap();
        kalah(&["build", "--seeds", "10", "--backend", "cpu", "--tables", directory.path().to_str().unwrap()])
            .success();
        directory
    });
    TABLES.path()
}

/// Copies the tables into a separate directory, where layers can be removed.
fn copy_tables(to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for file in std::fs::read_dir(tables()).unwrap() {
        let path = file.unwrap().path();
        std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

/// Commands that a message suggests.
fn suggested(message: &str) -> Vec<&str> {
    let mut parts = message.split('`').skip(1).step_by(2);
    parts.by_ref().filter(|part| part.starts_with("kalah ")).collect()
}

/// Runs a suggested command in a shell, in `directory`.
fn follow(advice: &str, directory: &Path) -> Output {
    let mut shell = program::without_settings("sh");
    shell.arg("-c").arg(advice).env("PATH", program::search_path()).current_dir(directory).run()
}

#[test]
fn a_missing_layer_is_advised_to_be_built() {
    let tables = tables().to_str().unwrap();
    let build = |seeds: usize| format!("kalah build --seeds {seeds} --rules empty-capture --pits 6 --tables {tables}");
    let ran = kalah(&["probe", "6x4", "--no-book", "--tables", tables]).exits(1);
    assert_eq!(suggested(&ran.stderr()), [&*build(48), "kalah solve"], "{}", ran.stderr());
    assert!(ran.stderr().contains("layers 11 to 48 are missing"), "{}", ran.stderr());
    // No table can hold the position.
    let ran = kalah(&["probe", "9x1", "--tables", tables]);
    assert_eq!(suggested(&ran.stderr()), ["kalah solve"], "{}", ran.stderr());
    // `bench` needs the layers below only.
    for (command, seeds) in [("export", 48), ("verify", 48), ("bench", 47)] {
        let ran = kalah(&[command, "--seeds", "48", "--tables", tables]).exits(1);
        assert_eq!(suggested(&ran.stderr()), [build(seeds)], "{command}: {}", ran.stderr());
    }
}

/// Asks for help at the end of each command of a line, which is given once all words before are understood.
#[cfg(unix)]
fn understood(line: &str) -> Output {
    let script = format!("kalah() {{ command kalah \"$@\" --help > /dev/null; }}; man() {{ :; }}; {line}");
    follow(&script, Path::new("/"))
}

#[cfg(unix)]
#[test]
fn every_command_has_examples_that_are_understood() {
    let examples = |path: &[&str]| -> Vec<String> {
        let help = kalah(&[&["help"], path].concat()).success().stdout();
        let lines = help.split("\nExample").nth(1).unwrap_or_default().lines().skip(1);
        lines.filter(|line| !line.contains("# ")).map(str::to_owned).collect()
    };
    for path in paths() {
        // A group may have examples itself, or in each of its commands.
        let own = examples(&path);
        let own = if own.is_empty() { examples(&path[..1]) } else { own };
        assert!(!own.is_empty(), "{path:?}");
        own.iter().for_each(|example| _ = understood(example).success());
    }
    assert_eq!(understood("kalah build --seeds 24 --no-such-flag").code(), 2);
}

#[test]
fn missing_layers_are_named_exactly() {
    let directory = tempfile::tempdir().unwrap();
    let tables = directory.path().to_str().unwrap();
    copy_tables(directory.path());
    let remove = |seeds: usize| {
        std::fs::remove_file(directory.path().join(format!("empty-capture-6-{seeds:02}.kalah"))).unwrap();
    };
    remove(5);
    // The message must name the gap, although lower and higher layers exist.
    let nine = "1,2,0,0,1,0/0,3,0,0,1,1";
    for args in [&["probe", nine][..], &["bench", "--seeds", "9"]] {
        let ran = kalah(&[args, &["--tables", tables]].concat());
        assert!(ran.stderr().contains("layer 5 is missing"), "{args:?}: {}", ran.stderr());
        assert!(!ran.stderr().contains("go to 4"), "{args:?}: {}", ran.stderr());
    }
    let ran = kalah(&["solve", nine, "--value-only", "--tables", tables]).success();
    let found = format!("found tables to 4 seeds for empty-capture with 6 pits in {tables}: layer 5 is missing");
    assert!(ran.stderr().contains(&found), "{}", ran.stderr());
    remove(3);
    remove(8);
    let ran = kalah(&["probe", nine, "--tables", tables]);
    assert!(ran.stderr().contains("layers 3, 5, 8 are missing"), "{}", ran.stderr());
    // The advised command restores the missing layers only.
    let messages = ran.stderr();
    let build = suggested(&messages)[0];
    assert!(follow(&format!("{build} --backend cpu"), directory.path()).success().stdout().contains("3 layers built"));
    kalah(&["probe", nine, "--tables", tables]).success();
}

#[test]
fn the_rule_sets_are_explained_where_they_are_chosen() {
    let explained = kalah(&["rules"]).success().stdout();
    for name in Rules::ALL.map(Rules::name) {
        assert!(explained.contains(name), "{explained}");
    }
    assert!(explained.contains("avalanche") && explained.contains("what most people play"), "{explained}");
    assert!(explained.lines().all(|line| line.chars().count() <= 80), "{explained}");
    let alone = kalah(&["rules", "S_Kalaha"]).success().stdout();
    assert!(alone.contains("avalanche") && !alone.contains("empty-capture"), "{alone}");
    assert_eq!(kalah(&["rules", "mancala"]).code(), 2);
    let mut with_rules = 0;
    for path in paths() {
        let (name, help) = (path.join(" "), kalah(&[&path[..], &["--help"]].concat()).success().stdout());
        if help.contains("--rules <RULES>") {
            with_rules += 1;
            // The rule sets are described in one place only.
            assert!(help.contains("see `kalah rules`") && !help.contains("OpenSpiel"), "{name}: {help}");
        }
    }
    assert_eq!(with_rules, 26 + usize::from(cfg!(feature = "remote")));
}

#[test]
fn the_examples_of_the_rule_sets_are_what_the_rules_do() {
    let explained = kalah(&["rules"]).success().stdout();
    let start: Position = "1,0,1,0,3,1/2,0,0,0,4,0".parse().unwrap();
    let mut after = Vec::new();
    for moves in explained.split("\nMove ").skip(1) {
        let pit = Pit::from_number(moves[..1].parse().unwrap()).unwrap();
        for line in moves.lines().filter_map(|line| line.strip_prefix("  ")) {
            let (rules, shown) = line.split_once(' ').unwrap();
            let rules: Rules = rules.parse().unwrap();
            let played = start.play(rules, pit).unwrap();
            let seen = if played.again { played.position } else { played.position.turned() };
            let again = if played.again { ", moves again" } else { "" };
            assert_eq!(shown.trim_start(), format!("{seen}{again}"));
            after.push((rules, pit, seen));
        }
    }
    assert_eq!(after.len(), 4 * Rules::ALL.len());
    // By hand: a capture with four seeds, a capture alone, and a relay that ends in North's empty pit 4.
    let seen = |rules: Rules, number: usize| {
        let found = after.iter().find(|(other, pit, _)| *other == rules && pit.number() == number);
        found.unwrap().2.to_string()
    };
    assert_eq!(seen(Rules::EmptyCapture, 1), "<6,5,0,0,0,1,0,3,1,2,0,0,0,0,0>");
    assert_eq!(seen(Rules::Standard, 1), "<6,5,0,0,0,1,0,3,1,2,0,0,0,0,0>");
    assert_eq!(seen(Rules::SKalaha, 1), "<6,0,0,0,1,1,0,3,1,2,0,0,0,4,0>");
    assert_eq!(seen(Rules::EmptyCapture, 3), "<6,1,0,1,0,0,0,3,1,2,0,0,0,4,0>");
    assert_eq!(seen(Rules::Standard, 3), "<6,0,0,1,0,0,1,3,1,2,0,0,0,4,0>");
    assert_eq!(seen(Rules::SKalaha, 5), "<6,1,0,1,0,1,0,0,2,0,1,1,1,4,0>");
    assert_eq!(seen(Rules::Standard, 5), "<6,1,0,1,0,1,0,0,2,3,0,0,0,4,0>");
    for rules in Rules::ALL {
        assert_eq!(seen(rules, 6), "<6,1,0,1,0,1,0,3,0,2,0,0,0,4,0>");
    }
}

/// Runs a command as on a terminal, and returns its output.
#[cfg(unix)]
fn on_a_terminal(args: &str) -> Option<String> {
    on_a_terminal_with("", args)
}

/// Does the same with variables set, such as `NAME=VALUE`.
#[cfg(unix)]
fn on_a_terminal_with(variables: &str, args: &str) -> Option<String> {
    let line = format!("{variables} {} {args}", env!("CARGO_BIN_EXE_kalah"));
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).env_remove("KALAH_TABLES").env_remove("NO_COLOR").env("TERM", "xterm");
    match script.stdin(std::process::Stdio::null()).output() {
        Ok(output) => Some(output.stdout()),
        Err(error) => {
            optional::skip("SYSTEM", format_args!("the command `script` cannot be started: {error}"));
            None
        }
    }
}

/// By the rules that most people play, Kalah(6,4) is won by 8; the default ones give 10.
#[test]
fn an_answer_names_the_rules_once_if_no_flag_does() {
    let hint = "under empty-capture; most people play --rules standard, see kalah rules\n";
    let (directory, position) = (tempfile::tempdir().unwrap(), "1,0,0,0,0,1/0,0,0,0,1,0");
    let run = |args: &[&str], flags: &[&str]| {
        let mut command = command(args);
        command.args(flags).env("KALAH_TABLES", tables()).current_dir(directory.path()).run().success().stdout()
    };
    let game = ["play", position, "--south", "greedy", "--north", "greedy"];
    for args in [
        &["probe", position, "6x4", position][..],
        &["solve", position],
        &["solve", position, "--openings"],
        &["solve", "6x4", "--openings"],
        &["review", position, "1"],
        &["move", position, position],
        &game,
    ] {
        let text = run(args, &[]);
        assert_eq!(text.matches("under empty-capture").count(), 1, "{args:?}: {text}");
        assert!(text.contains(hint) && (args == game || text.ends_with(hint)), "{args:?}: {text}");
        let text = run(args, &["--rules", "empty-capture"]);
        assert!(!text.contains("empty-capture"), "{args:?}: {text}");
        if !["probe", "play"].contains(&args[0]) {
            let json = run(args, &["--json"]);
            assert!(json.lines().all(|line| line.contains(r#""rules":"empty-capture""#)), "{args:?}: {json}");
        }
    }
    // A game has its own rules.
    run(&game, &["--save", "games"]);
    for args in [&["review", "games"][..], &["play", "--from", "games"]] {
        let text = run(args, &[]);
        assert!(text.contains("under empty-capture"), "{args:?}: {text}");
    }
}

#[test]
fn help_has_the_commands_in_groups() {
    let help = |flag: &str| command(&[flag]).env("COLUMNS", "80").run().success().stdout();
    assert_eq!(help("--help"), help("-h"));
    let help = help("--help");
    let headings = [
        "Build and check tables:",
        "Look up and solve:",
        "Play:",
        "Serve:",
        "Analyse boards:",
        "About this program:",
        "Options:",
    ];
    let shown: Vec<&str> = help.lines().filter(|line| headings.contains(line)).collect();
    assert_eq!(shown, headings);
    let listed: Vec<&str> = help
        .lines()
        .skip_while(|line| !headings.contains(line))
        .take_while(|line| *line != "Options:")
        .filter_map(|line| line.strip_prefix("  "))
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    assert_eq!(listed, [&commands()[..], &["help"]].concat());
    assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
}

#[test]
fn help_fits_the_window() {
    for path in paths() {
        let name = path.join(" ");
        let narrow = command(&[&["help"], &path[..]].concat()).env("COLUMNS", "60").run();
        let help = narrow.success().stdout();
        // Words that are longer than a line are not split: usage lines and examples have them.
        let text = help.lines().filter(|line| !line.trim_start().starts_with("kalah ") && !line.starts_with("Usage:"));
        let long: Vec<&str> = text.filter(|line| line.chars().count() > 60).collect();
        assert!(long.is_empty(), "{name}: {long:#?}");
        // The examples of the book are in the help of the command above.
        assert!(help.contains("\nExample") || path[0] == "book", "{name}");
        assert!(help.contains("--quiet"), "{name}");
    }
}

#[test]
fn shells_complete_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = kalah(&["completions", shell]).success().stdout();
        assert!(commands().iter().all(|name| script.contains(name)), "{shell}");
        assert!(script.contains("s-kalaha") || ["powershell", "elvish"].contains(&shell), "{shell}");
    }
    // At least Bash is installed everywhere.
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("kalah.bash");
    std::fs::write(&script, kalah(&["completions", "bash"]).stdout()).unwrap();
    let complete = format!(
        ". {}; COMP_WORDS=(kalah analyse ope); COMP_CWORD=2; _kalah kalah ope analyse; echo \"${{COMPREPLY[@]}}\"",
        script.display()
    );
    let output = Command::new("bash").args(["-c", &complete]).run();
    assert_eq!(output.stdout().trim(), "opening-scan");
    assert_eq!(kalah(&["completions", "none"]).code(), 2);
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let directory = tempfile::tempdir().unwrap();
    let pages = directory.path().join("share/man");
    let ran = kalah(&["man", pages.to_str().unwrap()]).success();
    let count = paths().len() + GROUPS.len() + 1;
    assert!(ran.stdout().starts_with("manual pages in "), "{}", ran.stdout());
    let page = |name: &str| std::fs::read_to_string(pages.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(page("kalah.1").contains(".TH kalah 1"));
    for path in paths() {
        let name = path.join("-");
        let page = page(&format!("kalah-{name}.1"));
        assert!(page.contains(&format!(".TH kalah-{name} 1")), "{page}");
        assert!(page.contains("Example") || path[0] == "book", "{name}");
    }
    assert_eq!(std::fs::read_dir(&pages).unwrap().count(), count);
    let ran = kalah(&["man", "/dev/null/x"]).exits(1);
    assert!(ran.stderr().contains("cannot write manual pages to /dev/null/x"), "{}", ran.stderr());
}

#[test]
fn quiet_leaves_answers_and_errors() {
    let directory = tempfile::tempdir().unwrap();
    let tables = directory.path().to_str().unwrap();
    let flags = ["--seeds", "8", "--backend", "cpu", "--tables", tables];
    for args in [&["--quiet", "build"][..], &["build", "--quiet"]] {
        let ran = kalah(&[args, &flags].concat()).success();
        assert_eq!(ran.stderr(), "");
        assert!(!ran.stdout().is_empty());
    }
    for args in
        [&["solve", "3x3"][..], &["move", "2x2"], &["analyse", "values", "--pits", "1..2", "--seeds-per-pit", "1..2"]]
    {
        let empty = tempfile::tempdir().unwrap();
        let empty = empty.path().to_str().unwrap();
        let ran = kalah(&[args, &["--tables", empty]].concat()).success();
        assert_ne!(ran.stderr(), "", "{args:?}");
        let ran = kalah(&[args, &["--tables", empty, "--quiet"]].concat()).success();
        assert_eq!(ran.stderr(), "", "{args:?}");
        assert_ne!(ran.stdout(), "", "{args:?}");
    }
    let ran = kalah(&["probe", "nonsense", "--quiet", "--tables", tables]).exits(2);
    assert!(ran.stderr().contains("is not a position"), "{}", ran.stderr());
    let ran = kalah(&["export", "--seeds", "9", "--quiet", "--tables", tables]).exits(1);
    assert!(ran.stderr().contains("layer 9 is missing"), "{}", ran.stderr());
}

#[test]
fn only_a_terminal_gets_colours() {
    for args in [&["--help"][..], &["build", "--nonsense"]] {
        let ran = kalah(args);
        assert!(!(ran.stdout() + &ran.stderr()).contains('\u{1b}'), "{args:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_terminal_shows_colours_unless_they_are_declined() {
    let Some(shown) = on_a_terminal("build --help") else { return };
    assert!(shown.contains('\u{1b}'));
    assert!(!on_a_terminal_with("NO_COLOR=1", "build --help").unwrap().contains("\u{1b}[1m"));
}

#[test]
fn capitals_and_underscores_are_understood() {
    let value = |args: &[&str]| -> Value {
        kalah(&[&["solve", "--no-tables", "--value-only", "--json"], args].concat()).success().json()
    };
    for (start, rules) in [("3X3", "Standard"), ("3x3", "STANDARD"), ("3X2", "S_Kalaha"), ("2X2", "empty_capture")] {
        let answer = value(&[start, "--rules", rules]);
        let plain = rules.to_lowercase().replace('_', "-");
        assert_eq!(answer["rules"], plain);
        assert_eq!(answer["value"], value(&[&start.to_lowercase(), "--rules", &plain])["value"]);
    }
    for (rules, text) in
        [(Rules::Standard, "sTanDard"), (Rules::SKalaha, "s_kalaha"), (Rules::EmptyCapture, "EMPTY-CAPTURE")]
    {
        assert_eq!(text.parse(), Ok(rules));
    }
    assert!("empty capture".parse::<Rules>().is_err());
    let ran = kalah(&["solve", "3x3", "--rules", "oware"]).exits(2);
    assert!(ran.stderr().contains(&Rules::ALL.map(Rules::name).join(", ")), "{}", ran.stderr());
}

#[test]
fn more_threads_than_any_machine_has_are_refused() {
    let build = ["build", "--seeds", "8", "--threads", "65535"];
    assert!(kalah(&build).exits(2).stderr().contains("1..=1024"));
    let report: Value = kalah(&["plan", "build", "--seeds", "10", "--json", "--threads", "1000"]).success().json();
    assert_eq!(report["threads"], 1000);
}

#[test]
fn a_complete_directory_that_cannot_be_written_needs_no_building() {
    let directory = tempfile::tempdir().unwrap();
    let tables = directory.path().to_str().unwrap();
    copy_tables(directory.path());
    // The lock file cannot be written, as in a directory that is read-only even for root.
    let lock = directory.path().join("build.lock");
    let _ = std::fs::remove_file(&lock);
    std::fs::create_dir(&lock).unwrap();
    let build = |seeds: &str| kalah(&["build", "--seeds", seeds, "--backend", "cpu", "--tables", tables]);
    for seeds in ["10", "7"] {
        let ran = build(seeds).success();
        let expected = format!("nothing to build: all layers to {seeds} seeds are in {tables}, and are sound");
        assert_eq!(ran.stdout().trim(), expected);
    }
    let plan = ["plan", "build", "--seeds", "10", "--backend", "cpu", "--json", "--tables", tables];
    let planned = kalah(&plan).success().stdout();
    assert!(planned.contains("\"seconds\":0.0}"), "{planned}");
    let ran = build("11").exits(1);
    assert!(ran.stderr().contains("build.lock"), "{}", ran.stderr());
    // Existing layers are still checked.
    let path = directory.path().join("empty-capture-6-09.kalah");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let ran = build("10").exits(3);
    assert!(ran.stderr().contains("empty-capture-6-09.kalah cannot be used"), "{}", ran.stderr());
}

#[test]
fn the_version_names_the_features_of_the_program() {
    let features = [
        ("cli", true),
        ("gpu", cfg!(feature = "gpu")),
        ("parquet", cfg!(feature = "parquet")),
        ("remote", cfg!(feature = "remote")),
        ("serve", cfg!(feature = "serve")),
    ];
    let (_, manifest) = include_str!("../../Cargo.toml").split_once("[features]\n").unwrap();
    let lines = manifest.lines().take_while(|line| !line.starts_with('['));
    let mut declared: Vec<&str> = lines.filter_map(|line| Some(line.split_once(" = ")?.0)).collect();
    declared.retain(|name| *name != "default");
    declared.sort_unstable();
    assert_eq!(declared, features.map(|(name, _)| name));
    let on: Vec<&str> = features.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect();
    let printed = kalah(&["--version"]).success().stdout();
    assert!(printed.contains(&format!("\nfeatures: {}\n", on.join(", "))), "{printed}");
}
