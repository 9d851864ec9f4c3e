//! Help beyond the flags themselves: groups of commands and flags, examples, rule sets.

use clap::builder::styling::Style;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command};
use kalah::game::Rules;

/// Returns the text below the flags of a command: examples, each a description and a command.
pub(super) fn examples(examples: &[(&str, &str)]) -> String {
    let heading = if examples.len() == 1 { "Example" } else { "Examples" };
    let lines = examples.iter().map(|(what, example)| format!("\n  # {what}\n  {example}"));
    format!("{heading}:{}", lines.collect::<String>())
}

/// Returns the command line with its complete help, in which each of `headings` has its last command.
pub(super) fn completed(command: Command, headings: &[(&str, &str)]) -> Command {
    let command = grouped(command.mut_subcommands(by_rules));
    let heading = *command.get_styles().get_header();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} \
         {{usage}}\n{}\n{heading}Options:{heading:#}\n{{options}}{{after-help}}",
        list(&command, headings, heading)
    );
    command.help_template(template).after_help(AFTER)
}

/// Headings of the flags that several commands share. A command's own flags come first, under "Options".
const HEADINGS: [(&str, &[&str]); 3] = [
    (
        "Game and tables",
        &[
            "rules",
            "pits",
            "seeds-per-pit",
            "tables",
            "cache",
            "cache-limit",
            "fetch-limit",
            "no-tables",
            "tables-up-to",
            "exact-up-to",
            "build",
            "book",
            "no-book",
        ],
    ),
    (
        "Memory, threads and GPU",
        &["memory", "transpositions", "threads", "backend", "adapter", "gpu-memory", "checked"],
    ),
    ("Output", &["json", "quiet"]),
];

/// Puts the shared flags of a command, and of those within it, under their headings.
fn grouped(command: Command) -> Command {
    command.mut_subcommands(grouped).mut_args(|arg| {
        let name = arg.get_long().unwrap_or_default();
        match HEADINGS.iter().find(|(_, flags)| flags.contains(&name)) {
            Some((heading, _)) => arg.help_heading(*heading),
            None => arg,
        }
    })
}

/// Explains the rule sets at the `--rules` flag of a command and of those within it.
fn by_rules(command: Command) -> Command {
    let command = command.mut_subcommands(by_rules);
    let has_rules = command.get_arguments().any(|arg| arg.get_id() == "rules" && arg.get_long().is_some());
    if has_rules { command.mut_arg("rules", rules) } else { command }
}

/// The text below the groups.
const AFTER: &str = "Run `kalah help COMMAND` for the flags of a command, with examples. \
    Exit codes: 0 success, 1 failure, 2 wrong usage, 3 a check found a wrong value or damage, 130 interrupted. \
    The pages that help refers to, such as docs/engine.md, come with the program.";

/// Lists the commands below their headings, each with its one-line help. `style` is the style of headings.
fn list(command: &Command, headings: &[(&str, &str)], style: Style) -> String {
    let commands: Vec<&Command> = command.get_subcommands().collect();
    let is_last = |command: &&Command| headings.iter().any(|(_, last)| command.get_name() == *last);
    let mut text = String::new();
    for ((heading, _), commands) in headings.iter().zip(commands.split_inclusive(is_last)) {
        text += &format!("\n{style}{heading}:{style:#}\n");
        for command in commands {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            text += &format!("  {:<13} {about}\n", command.get_name());
        }
    }
    // clap adds this one itself later.
    text + &format!("  {:<13} Explain a command\n", "help")
}

/// Returns the flag of the rule set, with an explanation of each.
fn rules(arg: Arg) -> Arg {
    let values = Rules::ALL.map(|rules| {
        let help = format!("{}. {}", rules.played_by(), rules.summary());
        PossibleValue::new(rules.name()).alias(rules.name().replace('-', "_")).help(help)
    });
    let parser = PossibleValuesParser::new(values).try_map(|name| name.parse::<Rules>());
    // `kalah rules` explains them in full; completions show these summaries.
    arg.help(format!("Rule set: {}; see `kalah rules`", Rules::ALL.map(Rules::name).join(", ")))
        .hide_possible_values(true)
        .value_parser(parser)
        .ignore_case(true)
}
