//! Commands that write a file, and one file of each content.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use kalah::file::FileContent;
use kalah::game::Rules;
use kalah_tests::program::{self, Ran, Run};
use kalah_tests::tables::built;

/// Tables of the standard rules with 3 pits, built once.
pub(crate) fn tables() -> &'static Path {
    built(&[(Rules::Standard, 3, 12)])
}

/// Command that runs the program in `directory`, with the tables.
pub(crate) fn command(directory: &Path, args: &[&str]) -> Command {
    let mut command = program::command();
    command.current_dir(directory).env("KALAH_TABLES", tables()).args(args);
    command
}

pub(crate) fn kalah(directory: &Path, args: &[&str]) -> Output {
    command(directory, args).run()
}

#[track_caller]
pub(crate) fn done(directory: &Path, args: &[&str]) -> String {
    let output = kalah(directory, args);
    assert!(output.status.success(), "{args:?}: {}", output.stderr());
    output.stdout()
}

/// Formats of exported scores.
#[cfg(feature = "parquet")]
const EXPORTS: [&str; 3] = ["csv", "npy", "parquet"];
#[cfg(not(feature = "parquet"))]
const EXPORTS: [&str; 2] = ["csv", "npy"];

/// One file of each content, by name.
pub(crate) fn files() -> &'static [(FileContent, PathBuf)] {
    static FILES: LazyLock<(tempfile::TempDir, Vec<(FileContent, PathBuf)>)> = LazyLock::new(|| {
        let directory = tempfile::tempdir().unwrap();
        let run = |args: &str| done(directory.path(), &args.split(' ').collect::<Vec<_>>());
        run("archive pack --rules standard --pits 3 --seeds 6 --output .");
        run("book make 3x2 --rules standard --output a.book");
        run("train --rules standard --pits 3 --samples 100 --solved 0 --estimated 0 --epochs 1 --output a.network");
        run("bounds --rules standard --pits 3 --seeds 6 --network a.network --output .");
        run("prove 3x2 --rules standard --proof proof --certificate a.certificate --rests-on 0");
        run("solve 3x2 --rules standard --state a.checkpoint --no-tables --no-book");
        run("analyse values --rules standard --pits 2 --seeds-per-pit 1..2 --state a.values");
        run("play 3x2 --rules standard --south greedy --north greedy --save a.games");
        run("man .");
        let exports: Vec<(FileContent, PathBuf)> = EXPORTS
            .map(|format| {
                run(&format!("export --rules standard --pits 3 --seeds 6 --format {format} --output a.{format}"));
                (FileContent::Scores, directory.path().join(format!("a.{format}")))
            })
            .to_vec();
        let beside = |name: &str| directory.path().join(name);
        let mut files = vec![
            (FileContent::Games, beside("a.games")),
            (FileContent::Manual, beside("kalah-build.1")),
            (FileContent::Table, tables().join("standard-3-06.kalah")),
            (FileContent::BoundTable, beside("standard-3-06.bounds")),
            (FileContent::Archive, beside("standard-3-06.kalah.archive")),
            (FileContent::Book, beside("a.book")),
            (FileContent::Network, beside("a.network")),
            (FileContent::Certificate, beside("a.certificate")),
            (FileContent::State, beside("a.checkpoint")),
            (FileContent::State, beside("a.values")),
            (FileContent::State, beside("proof/proof.json")),
            (FileContent::Records, tables().join("builds.jsonl")),
            (FileContent::Records, Path::new(env!("CARGO_MANIFEST_DIR")).join("tables/manifest.jsonl")),
        ];
        files.extend(exports);
        (directory, files)
    });
    &FILES.1
}

/// Commands that write a file OUT, with the content that they may replace.
pub(crate) const WRITERS: [(&str, Option<FileContent>); 15] = [
    ("export --rules standard --pits 3 --seeds 6 --output OUT", Some(FileContent::Scores)),
    (
        "train --rules standard --pits 3 --samples 100 --solved 0 --estimated 0 --epochs 1 --output OUT",
        Some(FileContent::Network),
    ),
    ("play 3x2 --rules standard --south greedy --north greedy --save OUT", Some(FileContent::Games)),
    ("tournament greedy --start 3x2 --rules standard --save OUT", None),
    ("tournament greedy --start 3x2 --rules standard --state OUT", Some(FileContent::State)),
    ("prove 3x2 --rules standard --proof new --rests-on 0 --certificate OUT", Some(FileContent::Certificate)),
    ("book make 3x2 --rules standard --output OUT", Some(FileContent::Book)),
    ("book import BOOK --output OUT", Some(FileContent::Book)),
    ("book import CERTIFICATE --output OUT", Some(FileContent::Book)),
    ("solve 3x2 --rules standard --no-tables --no-book --state OUT", Some(FileContent::State)),
    ("analyse values --rules standard --pits 2 --seeds-per-pit 1..2 --state OUT", Some(FileContent::State)),
    ("check CERTIFICATE --state OUT", Some(FileContent::State)),
    ("man .", Some(FileContent::Manual)),
    ("bounds --rules standard --pits 3 --seeds 6 --network NETWORK --output .", Some(FileContent::BoundTable)),
    ("archive pack --rules standard --pits 3 --seeds 6 --output .", Some(FileContent::Archive)),
];

/// Name of the file that a command writes.
pub(crate) fn name_of(writer: &str) -> &'static str {
    match writer.split(' ').next() {
        Some("man") => "kalah-build.1",
        Some("bounds") => "standard-3-06.bounds",
        Some("archive") => "standard-3-06.kalah.archive",
        _ => "out",
    }
}

/// Words of a command in which files stand for their contents.
pub(crate) fn words(writer: &str) -> Vec<&str> {
    let path_of = |wanted| files().iter().find(|(content, _)| *content == wanted).unwrap().1.to_str().unwrap();
    let word = |word| match word {
        "OUT" => "out",
        "NETWORK" => path_of(FileContent::Network),
        "BOOK" => path_of(FileContent::Book),
        "CERTIFICATE" => path_of(FileContent::Certificate),
        word => word,
    };
    writer.split(' ').map(word).collect()
}
