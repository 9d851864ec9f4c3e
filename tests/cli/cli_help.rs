//! The first texts that users see: help, explanations of the rule sets, working advice, and arguments understood as
//! intended.
#![cfg(feature = "cli")]

use std::path::Path;
use std::process::{Command, Output};

use kalah::game::Rules;

use crate::commands::{GROUPS, all, commands, follow, suggested};
use kalah_tests::files::{copied, flip};
#[cfg(unix)]
use kalah_tests::optional;
use kalah_tests::program::{self, Ran, Run};
use kalah_tests::tables::built;

fn command(line: &str) -> Command {
    let mut command = program::command();
    command.args(line.split(' ')).env_remove("COLUMNS").env("XDG_RUNTIME_DIR", "/nowhere");
    command
}

fn kalah(line: &str) -> Output {
    command(line).run()
}

/// Runs the program with these tables.
fn with(tables: &Path, line: &str) -> Output {
    command(line).arg("--tables").arg(tables).run()
}

/// Tables to 10 seeds of the default rules, built once for all tests that only read.
fn tables() -> &'static Path {
    built(&[(Rules::EmptyCapture, 6, 10)])
}

#[test]
fn a_missing_layer_is_advised_to_be_built() {
    let build = |seeds: usize| {
        format!("kalah build --seeds {seeds} --rules empty-capture --pits 6 --tables {}", tables().display())
    };
    for (line, code, advice) in [
        ("probe 6x4 --no-book", 1, vec![build(48), "kalah solve".to_owned()]),
        // No table can hold the position.
        ("probe 9x1", 2, vec!["kalah solve".to_owned()]),
        ("export --seeds 48", 1, vec![build(48)]),
        ("verify --seeds 48", 1, vec![build(48)]),
        // It needs the layers below only.
        ("bench --seeds 48", 1, vec![build(47)]),
    ] {
        let errors = with(tables(), line).exits(code).stderr();
        assert_eq!(suggested(&errors), advice, "{line}: {errors}");
        assert!(line == "probe 9x1" || errors.contains("layers 11 to 4"), "{line}: {errors}");
    }
}

/// Asks for help at the end of each command of a line, which is given once all words before are understood.
#[cfg(unix)]
fn understood(line: &str) -> Output {
    let script = format!("kalah() {{ command kalah \"$@\" --help > /dev/null; }}; man() {{ :; }}; {line}");
    follow(Path::new("/"), &script)
}

#[cfg(unix)]
#[test]
fn every_command_has_examples_that_are_understood() {
    let examples = |path: &str| -> Vec<String> {
        let help = kalah(&format!("help {path}")).printed();
        let lines = help.split("\nExample").nth(1).unwrap_or_default().lines().skip(1);
        lines.filter(|line| !line.contains("# ")).map(str::to_owned).collect()
    };
    for path in all() {
        // A group may have examples itself, or in each of its commands.
        let (own, group) = (examples(&path), path.split(' ').next().unwrap());
        let own = if own.is_empty() { examples(group) } else { own };
        assert!(!own.is_empty(), "{path:?}");
        own.iter().for_each(|example| _ = understood(example).success());
    }
    assert_eq!(understood("kalah build --seeds 24 --no-such-flag").code(), 2);
}

#[test]
fn missing_layers_are_named_exactly() {
    let directory = copied(tables());
    let directory = directory.path();
    let remove = |seeds: usize| {
        std::fs::remove_file(directory.join(format!("empty-capture-6-{seeds:02}.kalah"))).unwrap();
    };
    remove(5);
    // The message must name the gap, although lower and higher layers exist.
    let nine = "1,2,0,0,1,0/0,3,0,0,1,1";
    let probe = || with(directory, &format!("probe {nine}"));
    for ran in [probe(), with(directory, "bench --seeds 9")] {
        let errors = ran.stderr();
        assert!(errors.contains("layer 5 is missing") && !errors.contains("go to 4"), "{errors}");
    }
    let found = format!("found tables to 4 seeds for empty-capture with 6 pits in {}", directory.display());
    let errors = with(directory, &format!("solve {nine} --value-only")).success().stderr();
    assert!(errors.contains(&format!("{found}: layer 5 is missing")), "{errors}");
    remove(3);
    remove(8);
    let errors = probe().stderr();
    assert!(errors.contains("layers 3, 5, 8 are missing"), "{errors}");
    // The advised command restores the missing layers only.
    let built = follow(directory, &format!("{} --backend cpu", suggested(&errors)[0])).printed();
    assert!(built.contains("3 layers built"), "{built}");
    probe().success();
}

#[test]
fn the_rule_sets_are_explained_where_they_are_chosen() {
    let explained = kalah("rules").printed();
    for name in Rules::ALL.map(Rules::name) {
        assert!(explained.contains(name), "{explained}");
    }
    assert!(explained.contains("avalanche") && explained.contains("what most people play"), "{explained}");
    assert!(explained.lines().all(|line| line.chars().count() <= 80), "{explained}");
    // The last seed captures five, or falls into the store.
    for example in ["<6,5,0,0,0,1,0,3,1,2,0,0,0,0,0>\n", "<6,1,0,1,0,1,0,3,0,2,0,0,0,4,0>, moves again\n"] {
        assert!(explained.contains(&format!("  standard       {example}")), "{explained}");
    }
    assert_eq!(explained.matches(" <6,").count(), 4 * Rules::ALL.len());
    let alone = kalah("rules S_Kalaha").printed();
    assert!(alone.contains("avalanche") && !alone.contains("empty-capture"), "{alone}");
    let mut with_rules = 0;
    for path in all() {
        let help = kalah(&format!("{path} --help")).printed();
        if help.contains("--rules <RULES>") {
            with_rules += 1;
            // The rule sets are described in one place only.
            assert!(help.contains("see `kalah rules`") && !help.contains("OpenSpiel"), "{path}: {help}");
        }
    }
    assert_eq!(with_rules, 26 + usize::from(cfg!(feature = "remote")));
}

/// Runs a command as on a terminal with variables, such as `NAME=VALUE`. Returns its output.
#[cfg(unix)]
fn on_a_terminal(variables: &str, args: &str) -> Option<String> {
    let line = format!("{variables} {} {args}", program::path().display());
    let mut script = program::without_settings("script");
    script.args(["-qec", &line, "/dev/null"]).env_remove("NO_COLOR").env("TERM", "xterm");
    match script.output() {
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
    let directory = tempfile::tempdir().unwrap();
    let run = |line: &str| command(line).env("KALAH_TABLES", tables()).current_dir(directory.path()).run().printed();
    let position = "1,0,0,0,0,1/0,0,0,0,1,0";
    let game = format!("play {position} --south greedy --north greedy");
    for line in [
        &format!("probe {position} 6x4 {position}"),
        &format!("solve {position}"),
        &format!("solve {position} --openings"),
        "solve 6x4 --openings",
        &format!("review {position} 1"),
        &format!("move {position} {position}"),
        &game,
    ] {
        let text = run(line);
        assert_eq!(text.matches("under empty-capture").count(), 1, "{line}: {text}");
        assert!(text.contains(hint) && (line == game || text.ends_with(hint)), "{line}: {text}");
        let text = run(&format!("{line} --rules empty-capture"));
        assert!(!text.contains("empty-capture"), "{line}: {text}");
        if !line.starts_with('p') {
            let json = run(&format!("{line} --json"));
            assert!(json.lines().all(|answer| answer.contains(r#""rules":"empty-capture""#)), "{line}: {json}");
        }
    }
    // A game has its own rules.
    run(&format!("{game} --save games"));
    for line in ["review games", "play --from games"] {
        let text = run(line);
        assert!(text.contains("under empty-capture"), "{line}: {text}");
    }
}

#[test]
fn help_has_the_commands_in_groups() {
    let help = |flag: &str| command(flag).env("COLUMNS", "80").run().printed();
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
    for path in all() {
        let help = command(&format!("help {path}")).env("COLUMNS", "60").run().printed();
        // Words that are longer than a line are not split: usage lines and examples have them.
        let text = help.lines().filter(|line| !line.trim_start().starts_with("kalah ") && !line.starts_with("Usage:"));
        let long: Vec<&str> = text.filter(|line| line.chars().count() > 60).collect();
        assert!(long.is_empty(), "{path}: {long:#?}");
        assert!(help.contains("--quiet"), "{path}");
    }
}

#[test]
fn shells_complete_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = kalah(&format!("completions {shell}")).printed();
        assert!(all().iter().flat_map(|path| path.split(' ')).all(|name| script.contains(name)), "{shell}");
        assert!(script.contains("s-kalaha") || ["powershell", "elvish"].contains(&shell), "{shell}");
    }
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let directory = tempfile::tempdir().unwrap();
    let pages = directory.path().join("share/man");
    let ran = kalah(&format!("man {}", pages.display())).success();
    assert!(ran.stdout().starts_with("manual pages in "), "{}", ran.stdout());
    let page = |name: &str| std::fs::read_to_string(pages.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(page("kalah.1").contains(".TH kalah 1"));
    for path in all() {
        let name = path.replace(' ', "-");
        let page = page(&format!("kalah-{name}.1"));
        assert!(page.contains(&format!(".TH kalah-{name} 1")), "{page}");
        assert!(page.contains("Example") || path.starts_with("book "), "{name}");
    }
    assert_eq!(std::fs::read_dir(&pages).unwrap().count(), all().len() + GROUPS.len() + 1);
    kalah("man /dev/null/x").fails(1, "cannot write manual pages to /dev/null/x");
}

#[test]
fn quiet_leaves_answers_and_errors() {
    let directory = tempfile::tempdir().unwrap();
    for line in ["--quiet build --seeds 8 --backend cpu", "build --quiet --seeds 8 --backend cpu"] {
        let ran = with(directory.path(), line).success();
        assert_eq!((ran.stderr().as_str(), ran.stdout().is_empty()), ("", false), "{line}");
    }
    for line in ["solve 3x3", "move 2x2", "analyse values --pits 1..2 --seeds-per-pit 1..2"] {
        let empty = tempfile::tempdir().unwrap();
        assert_ne!(with(empty.path(), line).success().stderr(), "", "{line}");
        let ran = with(empty.path(), &format!("{line} --quiet")).success();
        assert_eq!((ran.stderr().as_str(), ran.stdout().is_empty()), ("", false), "{line}");
    }
    with(directory.path(), "probe nonsense --quiet").fails(2, "is not a position");
    with(directory.path(), "export --seeds 9 --quiet").fails(1, "layer 9 is missing");
}

#[cfg(unix)]
#[test]
fn only_a_terminal_shows_colours_unless_they_are_declined() {
    for line in ["--help", "build --nonsense"] {
        kalah(line).does_not_print("\u{1b}");
    }
    let Some(shown) = on_a_terminal("", "build --help") else { return };
    assert!(shown.contains('\u{1b}'));
    assert!(!on_a_terminal("NO_COLOR=1", "build --help").unwrap().contains("\u{1b}[1m"));
}

#[test]
fn capitals_and_underscores_are_understood() {
    let solve = |words: &str| kalah(&format!("solve {words} --no-tables --value-only --json")).success().json();
    for (loose, exact) in [
        ("3X3 --rules Standard", "3x3 --rules standard"),
        ("3X2 --rules S_Kalaha", "3x2 --rules s-kalaha"),
        ("2X2 --rules EMPTY_capture", "2x2 --rules empty-capture"),
    ] {
        let [loose, exact] = [loose, exact].map(solve);
        assert_eq!([&loose["rules"], &loose["value"]], [&exact["rules"], &exact["value"]]);
    }
    assert!("empty capture".parse::<Rules>().is_err());
}

#[test]
fn a_thousand_threads_are_planned() {
    let report = kalah("plan build --seeds 10 --json --threads 1000").success().json();
    assert_eq!(report["threads"], 1000);
}

#[test]
fn a_complete_directory_that_cannot_be_written_needs_no_building() {
    let directory = copied(tables());
    let directory = directory.path();
    // The lock file cannot be written, as in a directory that is read-only even for root.
    std::fs::create_dir(directory.join("build.lock")).unwrap();
    let build = |seeds: u32| with(directory, &format!("build --seeds {seeds} --backend cpu"));
    for seeds in [10, 7] {
        let place = directory.display();
        let expected = format!("nothing to build: all layers to {seeds} seeds are in {place}, and are sound");
        assert_eq!(build(seeds).printed().trim(), expected);
    }
    let planned = with(directory, "plan build --seeds 10 --backend cpu --json").printed();
    assert!(planned.contains("\"seconds\":0.0}"), "{planned}");
    build(11).fails(1, "build.lock");
    // Existing layers are still checked.
    let path = directory.join("empty-capture-6-09.kalah");
    flip(&path, path.metadata().unwrap().len() as usize / 2, 1);
    build(10).fails(3, "empty-capture-6-09.kalah cannot be used");
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
    let printed = kalah("--version").printed();
    assert!(printed.contains(&format!("\nfeatures: {}\n", on.join(", "))), "{printed}");
}
