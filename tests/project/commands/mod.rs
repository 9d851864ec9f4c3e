//! Commands in the documentation run, and print the output on the page.
//!
//! The commands of a page run from top to bottom in one shell. Its folder has tables to 20 seeds in `tables/`, and the
//! repository's `certificates/`. Times, speeds and sizes are masked.
//!
//! A block that cannot run here (hours, a GPU, a cluster) has the comment `<!-- not run: REASON -->` in front of it.
//! Only the flags of its commands are checked, as for commands within text.

mod masks;
mod page;
mod shell;

use page::{arguments, blocks, inline_commands};
use shell::{Shell, fault_of_flags};

use crate::{read, root};

/// Seeds of the largest table in that folder.
const SEEDS: &str = "20";

/// Names and texts of the pages with commands.
fn pages() -> impl Iterator<Item = (String, String)> {
    let list = |folder: &str| {
        let entries = root().join(folder).read_dir().unwrap().map(|entry| entry.unwrap().file_name());
        entries.map(|name| format!("{folder}/{}", name.to_str().unwrap())).collect::<Vec<_>>()
    };
    let others = ["README.md", "certificates/README.md", "tables/README.md"].map(str::to_owned);
    let names = list("docs").into_iter().chain(list("docs/contributing")).filter(|name| name.ends_with(".md"));
    names.chain(others).map(|name| (name.clone(), read(&name)))
}

/// Runs the commands of a page. Returns their number and the faults.
fn faults_of_runs(name: &str, text: &str, shell: &mut Shell) -> (usize, Vec<String>) {
    let (mut runs, mut faults) = (0, Vec::new());
    for block in blocks(text).iter().filter(|block| block.why_not_run.is_none()) {
        for command in &block.commands {
            let (output, code) = shell.run(&command.text);
            runs += 1;
            let at = format!("{name}:{}: $ {}", command.line, command.text);
            if code != 0 && !command.shows_failure() {
                faults.push(format!("{at}\nended with {code}:\n{output}"));
            } else if block.shows_output && !masks::matches(&command.output, &output) {
                faults.push(format!("{at}\nThe page has:\n{}\nThe program printed:\n{output}", command.output));
            }
        }
    }
    (runs, faults)
}

#[test]
fn commands_of_the_documentation_print_what_it_shows() {
    let tables = shell::tables(SEEDS);
    let (mut runs, mut faults) = (0, Vec::new());
    for (name, text) in pages() {
        let (count, found) = faults_of_runs(&name, &text, &mut Shell::new(&tables));
        runs += count;
        faults.extend(found);
    }
    assert!(faults.is_empty(), "{} of {runs} commands:\n\n{}", faults.len(), faults.join("\n\n"));
    assert!(runs > 40, "only {runs} commands ran");
}

/// The program has the flags of all commands in text, and in blocks that do not run.
#[test]
fn the_program_has_every_flag_that_the_documentation_names() {
    let (mut checked, mut faults) = (0, Vec::new());
    for (name, text) in pages() {
        let in_blocks = blocks(&text).into_iter().filter(|block| block.why_not_run.is_some());
        let in_blocks = in_blocks.flat_map(|block| block.commands).map(|command| (command.line, command.text));
        for (line, command) in in_blocks.chain(inline_commands(&text)) {
            for arguments in arguments(&command) {
                checked += 1;
                let fault = fault_of_flags(&arguments);
                faults.extend(fault.map(|fault| format!("{name}:{line}: kalah {arguments:?}: {fault}")));
            }
        }
    }
    assert!(faults.is_empty(), "{} of {checked} commands:\n{}", faults.len(), faults.join("\n"));
    assert!(checked > 100, "only {checked} commands were checked");
}

#[test]
fn planted_faults_are_found() {
    let tables = shell::tables("5");
    let block = |command: &str, output: &str| format!("```console\n$ {command}\n{output}\n```\n");
    let probe = |score| {
        let shown = format!("  score {score} of the 2 seeds in play, value 0");
        block("kalah probe 0,0,0,0,0,1/1,0,0,0,0,0 | grep score", &shown)
    };
    for (page, count) in [
        (probe(1), 0),
        (probe(2), 1),
        (block("cd tables && false", ""), 1),
        (block("echo one; echo two; echo 3.5 s", "one\n...\n17 s"), 0),
        (block("echo one; echo layer 5: slow; echo two", "one\ntwo"), 0),
        (format!("<!-- not run: never -->\n{}", block("false", "")), 0),
        ("```sh\nexport A=1\nfalse\n```\n".to_owned(), 1),
    ] {
        let (_, faults) = faults_of_runs("page", &page, &mut Shell::new(&tables));
        assert_eq!(faults.len(), count, "{page}");
    }
    for (command, count) in [
        ("kalah build --seeds N --threads 2 | head -n 3 > file.txt && kalah play --north 'engine:x --y' 6x4", 0),
        ("cd x; kalah build --seedz 20 && kalah biuld --seeds 20 # --seedz", 2),
        ("kalah help COMMAND", 0),
    ] {
        assert_eq!(arguments(command).iter().filter_map(|words| fault_of_flags(words)).count(), count, "{command}");
    }
}
