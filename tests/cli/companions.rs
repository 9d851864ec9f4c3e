//! Companion files: locks, unfinished files, logs and others that commands make beside those that a user names. One
//! that the program did not make stays as it is, and no link is followed.
#![cfg(all(unix, feature = "cli"))]

use std::os::unix::fs::symlink;
use std::path::Path;

use kalah::file::FileContent;

use crate::writers::{files, kalah};
use kalah_tests::program::{self, Ran};

/// Commands, each with a companion of its files, and true if a companion of somebody else is an error.
const COMPANIONS: [(&str, &str, bool); 11] = [
    ("analyse values --rules standard --pits 2 --seeds-per-pit 1..2 --state Cargo", "Cargo.lock", true),
    ("solve 3x2 --rules standard --no-tables --no-book --state k", "k.lock", true),
    ("check CERTIFICATE --state s", "s.lock", true),
    ("tournament greedy --start 3x2 --rules standard --save g", "g.lock", true),
    ("tournament greedy --start 3x2 --rules standard --state g", "g.lock", true),
    ("book make 3x2 --rules standard --output b", "b.lock", true),
    ("book import BOOK --output b", "b.lock", true),
    ("prove 3x2 --rules standard --proof p --rests-on 0", "p/jobs.lock", true),
    ("build --rules standard --pits 2 --seeds 5 --backend cpu --tables .", "build.lock", true),
    ("export --rules standard --pits 3 --seeds 6 --format csv --output e.csv", "e.csv.backup.tmp", false),
    ("man .", "kalah.1.backup.tmp", false),
];

/// Runs a command in `directory`.
fn run(directory: &Path, command: &str) -> (Option<i32>, String) {
    let path_of = |wanted| files().iter().find(|(content, _)| *content == wanted).unwrap().1.to_str().unwrap();
    let args = command.split(' ').map(|word| match word {
        "ARCHIVE" => path_of(FileContent::Archive),
        "BOOK" => path_of(FileContent::Book),
        "CERTIFICATE" => path_of(FileContent::Certificate),
        word => word,
    });
    let ran = kalah(directory, &args.collect::<Vec<_>>());
    (ran.status.code(), ran.stderr())
}

#[test]
fn companions_of_others_stay() {
    for (command, name, is_error) in COMPANIONS {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "mine\n").unwrap();
        let (code, messages) = run(directory.path(), command);
        assert_eq!(std::fs::read(&path).unwrap_or_default(), b"mine\n", "{command}: {name} is lost: {messages}");
        if is_error {
            let is_refused = ["is left as it is; move it away", name].iter().all(|text| messages.contains(text));
            assert!(code == Some(1) && is_refused, "{command}, {name}: {messages}");
        } else {
            assert_eq!(code, Some(0), "{command}, {name}: {messages}");
        }
    }
}

/// The target even begins like a lock.
#[test]
fn links_are_not_followed() {
    let page = ("man .", "kalah-build.1", true);
    for (command, name, is_error) in COMPANIONS.into_iter().chain([page]) {
        let directory = tempfile::tempdir().unwrap();
        let (path, target) = (directory.path().join(name), directory.path().join("target"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&target, "process 1 (mine)\n").unwrap();
        symlink(&target, &path).unwrap();
        let (code, messages) = run(directory.path(), command);
        assert_eq!(std::fs::read(&target).unwrap(), b"process 1 (mine)\n", "{command}, {name}: {messages}");
        assert!(path.is_symlink(), "{command}: {name} is lost: {messages}");
        if is_error {
            let is_refused = ["it is a link, through which nothing is written", name];
            let is_refused = is_refused.iter().all(|text| messages.contains(text));
            assert!(code == Some(1) && is_refused, "{command}, {name}: {messages}");
        }
    }
}

/// In a folder with setgid that a group can write, with the usual mask and the files of earlier versions.
#[test]
fn every_user_of_a_group_folder_can_build() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    use std::os::unix::process::CommandExt;
    const GROUP: u32 = 54_300;
    let mode = |path: &Path, mode: u32| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("tables");
    std::fs::create_dir(&folder).unwrap();
    if let Err(error) = chown(&folder, None, Some(GROUP)) {
        return kalah_tests::optional::skip("SYSTEM", format_args!("files cannot be given to a group: {error}"));
    }
    mode(directory.path(), 0o755);
    mode(&folder, 0o2775);
    for (user, seeds) in [(54_301, "4"), (54_302, "5"), (54_303, "6")] {
        let mut command = std::process::Command::new("sh");
        let program = program::path();
        command.args(["-c", "umask 022; exec \"$0\" \"$@\""]).arg(program).current_dir(&folder).uid(user).gid(GROUP);
        command.args([
            "build",
            "--rules",
            "standard",
            "--pits",
            "2",
            "--backend",
            "cpu",
            "--tables",
            ".",
            "--seeds",
            seeds,
        ]);
        let ran = match command.output() {
            Ok(ran) if ran.status.code() != Some(126) => ran,
            refused => {
                return kalah_tests::optional::skip("SYSTEM", format_args!("no other user can run it: {refused:?}"));
            }
        };
        assert!(ran.status.success(), "user {user}: {}", ran.stderr());
        {
            let name = "build.lock";
            let path = folder.join(name);
            let found = path.metadata().unwrap();
            match seeds {
                "4" => assert_eq!((found.mode() & 0o777, found.gid()), (0o664, GROUP), "{name}"),
                // That of the first user, whose directory is the group's.
                _ => assert_eq!(found.uid(), 54_301, "{name}"),
            }
            if seeds == "5" {
                mode(&path, 0o644);
            }
        }
    }
    assert!(folder.join("standard-2-06.kalah").exists());
}

/// A lock is named only if it is the obstacle.
#[test]
fn errors_name_no_file_that_was_not_given() {
    let directory = tempfile::tempdir().unwrap();
    for command in [
        "analyse values --rules standard --pits 2 --seeds-per-pit 1..2 --state no/such/x",
        "solve 3x2 --rules standard --no-tables --no-book --state no/such/x",
        "check CERTIFICATE --state no/such/x",
        "tournament greedy --start 3x2 --rules standard --save no/such/x",
        "book import BOOK --output no/such/x",
    ] {
        let (code, messages) = run(directory.path(), command);
        assert!(code == Some(1) && messages.contains("no/such/x"), "{command}: {messages}");
        assert!(messages.contains("there is no directory no/such"), "{command}: {messages}");
        assert!(!messages.contains("x.lock") && !messages.contains(".tmp"), "{command}: {messages}");
    }
}
