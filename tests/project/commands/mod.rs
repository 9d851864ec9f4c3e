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

use std::path::{Path, PathBuf};

use page::{blocks, inline_commands};
use shell::Shell;

/// Seeds of the largest table in that folder.
const SEEDS: &str = "20";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Pages with commands.
fn pages() -> Vec<PathBuf> {
    let folders = ["docs", "docs/contributing"].map(|folder| root().join(folder).read_dir().unwrap());
    let files = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.extend(["README.md", "certificates/README.md", "tables/README.md"].map(|page| root().join(page)));
    pages.sort();
    pages
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
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        let name = page.strip_prefix(root()).unwrap().display().to_string();
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
    let mut shell = Shell::new(Path::new("/nowhere"));
    let (mut checked, mut faults) = (0, Vec::new());
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        let in_blocks = blocks(&text).into_iter().filter(|block| block.why_not_run.is_some());
        let in_blocks = in_blocks.flat_map(|block| block.commands).map(|command| (command.line, command.text));
        for (line, command) in in_blocks.chain(inline_commands(&text)) {
            for arguments in page::arguments(&command) {
                checked += 1;
                let fault = shell.fault_of_flags(&arguments);
                faults.extend(fault.map(|fault| format!("{}:{line}: kalah {arguments:?}: {fault}", page.display())));
            }
        }
    }
    assert!(faults.is_empty(), "{} of {checked} commands:\n{}", faults.len(), faults.join("\n"));
    assert!(checked > 100, "only {checked} commands were checked");
}

#[test]
fn planted_faults_are_found() {
    let tables = shell::tables("5");
    let faults = |text: &str| faults_of_runs("page", text, &mut Shell::new(&tables)).1.len();
    let block = |command: &str, output: &str| format!("```console\n$ {command}\n{output}\n```\n");
    assert_eq!(
        faults(&block("kalah probe 0,0,0,0,0,1/1,0,0,0,0,0 | grep score", "  score 1 of the 2 seeds in play, value 0")),
        0
    );
    assert_eq!(
        faults(&block("kalah probe 0,0,0,0,0,1/1,0,0,0,0,0 | grep score", "  score 2 of the 2 seeds in play, value 0")),
        1
    );
    assert_eq!(faults(&block("cd tables && false", "")), 1);
    assert_eq!(faults(&block("echo one; echo two; echo 3.5 s", "one\n...\n17 s")), 0);
    assert_eq!(faults(&block("echo one; echo layer 5: slow; echo two", "one\ntwo")), 0);
    assert_eq!(faults(&format!("<!-- not run: never -->\n{}", block("false", ""))), 0);
    assert_eq!(faults("```sh\nexport A=1\nfalse\n```\n"), 1);
    let mut shell = Shell::new(&tables);
    let mut faults = |command: &str| {
        page::arguments(command).iter().filter(|arguments| shell.fault_of_flags(arguments).is_some()).count()
    };
    assert_eq!(
        faults("kalah build --seeds N --threads 2 | head -n 3 > file.txt && kalah play --north 'engine:x --y' 6x4"),
        0
    );
    assert_eq!(faults("cd x; kalah build --seedz 20 && kalah biuld --seeds 20 # --seedz"), 2);
    assert_eq!(faults("kalah help COMMAND"), 0);
}
