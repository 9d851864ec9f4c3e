//! Commands that write a file, and files that commands read.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use kalah::game::Rules;
use kalah_tests::place::Place;
use kalah_tests::program::Ran;
use kalah_tests::tables::built;

/// Tables of the standard rules with 3 pits, built once.
pub(crate) fn tables() -> &'static Path {
    built(&[(Rules::Standard, 3, 12)])
}

/// An empty folder in which commands run, with the tables.
pub(crate) fn place() -> Place {
    Place::beside(tables())
}

/// Files that commands read, by kind.
pub(crate) fn files() -> &'static [(&'static str, PathBuf)] {
    static FILES: LazyLock<(Place, Vec<(&str, PathBuf)>)> = LazyLock::new(|| {
        let place = place();
        let run = |line: &str| place.run(line).success();
        run("archive pack --rules standard --pits 3 --seeds 6 --output .");
        run("book make 3x2 --rules standard --output a.book");
        run("train --rules standard --pits 3 --samples 100 --solved 0 --estimated 0 --epochs 1 --output a.network");
        run("prove 3x2 --rules standard --proof proof --certificate a.certificate --rests-on 0");
        let files = vec![
            ("ARCHIVE", place.at("standard-3-06.kalah.archive")),
            ("BOOK", place.at("a.book")),
            ("NETWORK", place.at("a.network")),
            ("CERTIFICATE", place.at("a.certificate")),
        ];
        (place, files)
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
