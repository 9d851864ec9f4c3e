//! Commands that write a file, and files that commands read.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::LazyLock;

use kalah::game::Rules;
use kalah_tests::program::{Ran, Run, with_tables};
use kalah_tests::tables::built;

/// Tables of the standard rules with 3 pits, built once.
pub(crate) fn tables() -> &'static Path {
    built(&[(Rules::Standard, 3, 12)])
}

/// Runs the program in `directory`, with the tables and the words of a line.
pub(crate) fn kalah(directory: &Path, line: &str) -> Output {
    with_tables(tables(), line).current_dir(directory).run()
}

#[track_caller]
pub(crate) fn done(directory: &Path, line: &str) -> String {
    kalah(directory, line).printed()
}

/// Files that commands read, by kind.
pub(crate) fn files() -> &'static [(&'static str, PathBuf)] {
    static FILES: LazyLock<(tempfile::TempDir, Vec<(&str, PathBuf)>)> = LazyLock::new(|| {
        let directory = tempfile::tempdir().unwrap();
        let run = |line: &str| done(directory.path(), line);
        run("archive pack --rules standard --pits 3 --seeds 6 --output .");
        run("book make 3x2 --rules standard --output a.book");
        run("train --rules standard --pits 3 --samples 100 --solved 0 --estimated 0 --epochs 1 --output a.network");
        run("prove 3x2 --rules standard --proof proof --certificate a.certificate --rests-on 0");
        let beside = |name: &str| directory.path().join(name);
        let files = vec![
            ("ARCHIVE", beside("standard-3-06.kalah.archive")),
            ("BOOK", beside("a.book")),
            ("NETWORK", beside("a.network")),
            ("CERTIFICATE", beside("a.certificate")),
        ];
        (directory, files)
    });
    &FILES.1
}

/// Commands that write a file OUT anew.
pub(crate) const OUTPUTS: [&str; 3] = [
    "export --rules standard --pits 3 --seeds 6 --output OUT",
    "train --rules standard --pits 3 --samples 100 --solved 0 --estimated 0 --epochs 1 --output OUT",
    "tournament greedy --start 3x2 --rules standard --save OUT",
];

/// Commands that continue a file OUT.
pub(crate) const CONTINUED: [&str; 9] = [
    "play 3x2 --rules standard --south greedy --north greedy --save OUT",
    "tournament greedy --start 3x2 --rules standard --state OUT",
    "prove 3x2 --rules standard --proof new --rests-on 0 --certificate OUT",
    "book make 3x2 --rules standard --output OUT",
    "book import BOOK --output OUT",
    "book import CERTIFICATE --output OUT",
    "solve 3x2 --rules standard --no-tables --no-book --state OUT",
    "analyse values --rules standard --pits 2 --seeds-per-pit 1..2 --state OUT",
    "check CERTIFICATE --state OUT",
];

/// The command in which files stand for their kinds, and `out` for OUT.
pub(crate) fn filled(writer: &str, out: &str) -> String {
    let file = |word| files().iter().find(|(kind, _)| *kind == word).map(|(_, path)| path.to_str().unwrap());
    let word = |word| if word == "OUT" { out } else { file(word).unwrap_or(word) };
    writer.split(' ').map(word).collect::<Vec<_>>().join(" ")
}
