//! The parts of help beside the flags: the commands in groups, examples, the rule sets.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command};
use kalah::game::Rules;

/// The commands by what they are for.
const GROUPS: [(&str, &[&str]); 6] = [
    (
        "Build and check tables",
        &["build", "plan", "train", "bounds", "verify", "info", "stats", "export", "archive", "bench", "gpu"],
    ),
    ("Look up and solve", &["probe", "solve", "prove", "line", "review", "search", "check", "book"]),
    ("Play", &["play", "move", "tournament", "puzzles"]),
    ("Serve", &["serve", "export-site", "kgp", "engine"]),
    ("Analyse boards", &["analyse"]),
    ("About this program", &["rules", "completions", "man", "help"]),
];

/// What an example does, and the command.
type Example = (&'static str, &'static str);

/// Examples of each command.
const EXAMPLES: [(&str, &[Example]); 38] = [
    (
        "build",
        &[
            ("All layers to 24 seeds: some 650 MB", "kalah build --seeds 24"),
            ("Other rules, on the CPU, with two threads", "kalah build --seeds 20 --rules standard --threads 2"),
            ("The upper layers as archives only", "kalah build --seeds 22 --packed 20"),
        ],
    ),
    (
        "plan build",
        &[
            ("What is missing of a build, as commands for a batch system", "kalah plan build --seeds 30 --commands"),
            ("The same for a program", "kalah plan build --seeds 30 --json"),
        ],
    ),
    ("plan layers", &[("The memory of each layer, and what it reads and writes", "kalah plan layers --seeds 36")]),
    ("plan search", &[("Which tables to have for a search", "kalah plan search 6x6 --memory 24GiB")]),
    (
        "train",
        &[
            ("A network for boards that the program has none for", "kalah train --pits 5 --seeds 24"),
            ("The one that the program has", "kalah train --seeds 28 --output empty-capture-6.network"),
        ],
    ),
    (
        "bounds",
        &[
            ("Two bits a position of the layers from 15 seeds up", "kalah bounds --seeds 15..28"),
            ("One bit, whether the score reaches the evaluation", "kalah bounds --seeds 29..30 --bits 1"),
        ],
    ),
    (
        "verify",
        &[
            ("All files against their checksums", "kalah verify"),
            ("Every score against those of its moves", "kalah verify --seeds 16 --consistency"),
        ],
    ),
    ("info", &[("The tables, their sizes and digests", "kalah info"), ("A chart", "kalah info --plot sizes.svg")]),
    ("stats", &[("How often each score is in a layer", "kalah stats --seeds 12")]),
    (
        "export",
        &[
            ("A layer as CSV", "kalah export --seeds 8 --output layer-8.csv"),
            (
                "A million random positions with exact scores, for numpy",
                "kalah export --seeds 20 --sample 1000000 --format npy --output sample.npy",
            ),
        ],
    ),
    ("archive pack", &[("Pack all layers into another directory", "kalah archive pack --output archives")]),
    (
        "archive unpack",
        &[("Unpack a table and check it", "kalah archive unpack archives/empty-capture-6-24.kalah.zst")],
    ),
    ("bench", &[("Rebuild a layer and measure the speed", "kalah bench --seeds 20")]),
    ("gpu", &[("What tables could be built on", "kalah gpu")]),
    (
        "probe",
        &[
            ("A position with its stores", "kalah probe '<6,5,3,0,1,2,0,3,0,1,0,0,2,0,0>'"),
            ("Rows alone, by the rules that most people play", "kalah probe 0,0,1,0,2,1/1,0,0,3,0,0 --rules standard"),
        ],
    ),
    (
        "solve",
        &[
            ("Kalah(6,4) with four seeds in each pit", "kalah solve 6x4"),
            ("Every first turn; builds the tables it needs first", "kalah solve 6x4 --openings --build"),
            ("Only test a bound: quicker than finding the value", "kalah solve 6x4 --at-least 2"),
        ],
    ),
    (
        "prove",
        &[
            ("The value of Kalah(6,4), and a certificate of it", "kalah prove 6x4 --proof proof"),
            ("Go on with a proof, together with others", "kalah prove --proof proof --share"),
            ("How far it is", "kalah prove --proof proof --status"),
        ],
    ),
    ("line", &[("What the positions of a line of play are worth", "kalah line 6x3 '42 1 3'")]),
    (
        "review",
        &[
            ("A game that was kept, with three seconds for a position", "kalah review mine.games --within 3"),
            ("The first turns of one", "kalah review 6x4 36 1 --rules standard"),
        ],
    ),
    (
        "analyse values",
        &[
            ("The values of small boards", "kalah analyse values --pits 1..4 --seeds-per-pit 1..4"),
            ("All to 6 by 6, kept in a file", "kalah analyse values --build --state values.json"),
        ],
    ),
    (
        "check",
        &[
            ("Every claim of a certificate", "kalah check kalah-6x4.certificate"),
            ("A thousand of its claims", "kalah check kalah-6x4.certificate --sample 1000"),
            ("A long check that can be interrupted", "kalah check kalah-6x6.certificate --state check.json"),
        ],
    ),
    ("search", &[("To a depth of nine moves, without tables", "kalah search 6x4 --depth 9")]),
    (
        "book",
        &[
            ("What the book has of a position", "kalah book show 6x4"),
            ("The positions of the first three turns", "kalah book make 6x4 --turns 3"),
            ("Prove ten positions of it again", "kalah book check --sample 10"),
        ],
    ),
    (
        "play",
        &[
            ("Against the perfect player, who moves second", "kalah play 6x4"),
            ("An easier one, by the rules that most people play", "kalah play 6x4 --north minimax:3 --rules standard"),
        ],
    ),
    (
        "move",
        &[
            ("The best move found in two seconds", "kalah move 6x4 --time 2"),
            ("What a weak player does", "kalah move 6x4 --player greedy"),
        ],
    ),
    (
        "tournament",
        &[
            ("Three players, each against each", "kalah tournament greedy minimax:4 random:1"),
            ("Another program against ours", "kalah tournament 'engine:python3 my_engine.py' perfect --time 1"),
        ],
    ),
    (
        "puzzles",
        &[
            ("Ten positions with only one winning move", "kalah puzzles"),
            ("Hard ones, by the rules that most people play", "kalah puzzles --level hard --rules standard --json"),
        ],
    ),
    ("serve", &[("A page to play on, for this machine alone", "kalah serve --address 127.0.0.1:8080")]),
    ("export-site", &[("The page and 50 MB of tables for a static host", "kalah export-site site --size 50MB")]),
    ("kgp", &[("Play on a server", "kalah kgp --host kalah.example --name Ayo")]),
    (
        "engine",
        &[("An engine of some strength, for a program that speaks the protocol", "kalah engine --player alphabeta:6")],
    ),
    (
        "analyse graph",
        &[
            ("All positions of a game, counted", "kalah analyse graph 4x3"),
            ("The same for many boards", "kalah analyse graph --pits 1..3 --seeds-per-pit 1..6"),
        ],
    ),
    ("analyse complexity", &[("How large the game trees are", "kalah analyse complexity 6x4 --games 100")]),
    ("analyse opening", &[("Whether the first turn wins", "kalah analyse opening 6x4 --rules s-kalaha")]),
    (
        "analyse opening-scan",
        &[("All losses with up to 1000 seeds in each pit", "kalah analyse opening-scan --seeds-per-pit ..1000")],
    ),
    ("rules", &[("The rule sets, with examples", "kalah rules"), ("One of them", "kalah rules standard")]),
    ("completions", &[("For bash, until it is closed", "eval \"$(kalah completions bash)\"")]),
    ("man", &[("Write the pages and read one", "kalah man man && man -l man/kalah-build.1")]),
];

/// The command line with all that belongs to its help.
pub fn completed(command: Command) -> Command {
    let command = command.mut_subcommands(|command| explained(command, ""));
    let heading = *command.get_styles().get_header();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\n{heading}Options:{heading:#}\n{{options}}{{after-help}}",
        groups(&command)
    );
    command.help_template(template).after_help(AFTER)
}

/// A command, and those within it, with their rule sets and examples; `above` are the names of those that it is within.
fn explained(command: Command, above: &str) -> Command {
    let name = format!("{above}{}", command.get_name());
    let command = by_rules(command).mut_subcommands(|inner| explained(inner, &format!("{name} ")));
    match examples(&name) {
        [] => command,
        examples => {
            let heading = if examples.len() == 1 { "Example" } else { "Examples" };
            let lines = examples.iter().map(|(what, example)| format!("\n  # {what}\n  {example}"));
            command.after_help(format!("{heading}:{}", lines.collect::<String>()))
        }
    }
}

/// A command with the rule sets explained at its flag, if it has one.
fn by_rules(command: Command) -> Command {
    let has_rules = command.get_arguments().any(|arg| arg.get_id() == "rules" && arg.get_long().is_some());
    if has_rules { command.mut_arg("rules", rules) } else { command }
}

/// The text below the groups.
const AFTER: &str = "`kalah help COMMAND` explains a command, with examples. \
    Exit codes: 0 done, 1 failed, 2 wrong usage, 3 a check found a wrong value or damage, 130 interrupted. \
    Pages that help names, such as docs/engine.md, come with the program, and are in the repository.";

/// The examples of a command.
fn examples(name: &str) -> &'static [Example] {
    EXAMPLES.iter().find(|(command, _)| *command == name).map_or(&[], |(_, examples)| examples)
}

/// The commands with what they do, in groups.
fn groups(command: &Command) -> String {
    let (mut text, style) = (String::new(), *command.get_styles().get_header());
    for (heading, names) in GROUPS {
        text += &format!("\n{style}{heading}:{style:#}\n");
        for name in names {
            let about = match command.find_subcommand(name).and_then(Command::get_about) {
                Some(about) => about.to_string(),
                // clap adds this one itself, later.
                None if *name == "help" => "Explain a command".to_owned(),
                // The program was compiled without it.
                None => continue,
            };
            text += &format!("  {name:<13} {about}\n");
        }
    }
    text
}

/// The flag of the rule set, with what each of them is.
fn rules(arg: Arg) -> Arg {
    let values = Rules::ALL.map(|rules| {
        let help = format!("{}. {}", rules.played_by(), rules.summary());
        PossibleValue::new(rules.name()).alias(rules.name().replace('-', "_")).help(help)
    });
    let parser = PossibleValuesParser::new(values).try_map(|name| name.parse::<Rules>());
    // What each of them is stands in one place; completions show it, too.
    arg.help(format!("Rule set: {}; see `kalah rules`", Rules::ALL.map(Rules::name).join(", ")))
        .hide_possible_values(true)
        .value_parser(parser)
        .ignore_case(true)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use clap::error::ErrorKind;

    use super::*;

    fn command() -> Command {
        completed(crate::cli::Cli::command())
    }

    /// The commands that the program was compiled without.
    const LEFT_OUT: &[&str] = if cfg!(feature = "serve") { &[] } else { &["serve", "export-site"] };

    #[test]
    fn the_command_line_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn every_command_is_in_one_group_and_has_examples() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        grouped.retain(|&name| name != "help" && !LEFT_OUT.contains(&name));
        grouped.sort_unstable();
        let command = command();
        let mut names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        names.sort_unstable();
        assert_eq!(grouped, names);
        // Examples are those of a command, or of the commands within it.
        let mut paths = Vec::new();
        for command in command.get_subcommands() {
            let (name, inner) = (command.get_name(), command.get_subcommands().map(Command::get_name));
            let inner: Vec<String> = inner.map(|inner| format!("{name} {inner}")).collect();
            let is_given = |name: &String| !examples(name).is_empty();
            assert!(!examples(name).is_empty() || !inner.is_empty() && inner.iter().all(is_given), "{name}");
            paths.extend(inner);
            paths.push(name.to_owned());
        }
        assert!(EXAMPLES.iter().all(|(name, _)| paths.iter().any(|path| path == name) || LEFT_OUT.contains(name)));
    }

    /// Flags have had other names, under which scripts know them.
    #[test]
    fn old_spellings_are_understood() {
        for line in [
            "verify --consistency --sample 9 --random-seed 1",
            "check FILE --sample 9 --random-seed 1",
            "analyse values --pits 2..3 --seeds 1..2 --within 5",
            "analyse graph --pits 2..3 --seeds 1..2",
            "analyse complexity --pits 2..3 --seeds 1..2",
            "analyse opening-scan --houses 2..3 --seeds 4..9",
        ] {
            let parsed = command().try_get_matches_from(["kalah"].into_iter().chain(line.split(' ')));
            assert!(parsed.is_ok(), "{line}: {}", parsed.err().unwrap());
        }
    }

    /// The words of the commands of a shell line, without quotes.
    fn words(line: &str) -> Vec<String> {
        let script = format!("kalah() {{ printf '%s\\n' kalah \"$@\"; }}; man() {{ :; }}; {line}");
        let output = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn every_example_is_understood() {
        let present = EXAMPLES.iter().filter(|(name, _)| !LEFT_OUT.contains(name));
        for (name, example) in present.flat_map(|(name, examples)| examples.iter().map(move |(_, e)| (name, e))) {
            if cfg!(not(feature = "plot")) && example.contains("--plot") {
                continue;
            }
            // What `eval` is given is the command here.
            let line = example.strip_prefix("eval \"$(").and_then(|rest| rest.strip_suffix(")\"")).unwrap_or(example);
            let words = words(line);
            assert!(words[1..].join(" ").starts_with(name), "{example}");
            let parsed = command().try_get_matches_from(&words);
            assert!(parsed.is_ok(), "{example}: {}", parsed.err().unwrap());
        }
    }

    #[test]
    fn an_example_that_is_wrong_would_be_found() {
        let error = command().try_get_matches_from(words("kalah build --seeds 24 --no-such-flag")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnknownArgument);
    }
}
