//! Output files of commands that exist already. No command replaces the work of another one or of someone else.
#![cfg(feature = "cli")]

use kalah::file::FileContent;

use crate::writers::{WRITERS, done, files, kalah, name_of, tables, words};
use kalah_tests::program::Ran;

#[test]
fn no_output_replaces_a_file_of_the_program() {
    for (content, path) in files() {
        assert_eq!(FileContent::of(path).unwrap(), Some(*content), "{}", path.display());
        let bytes = std::fs::read(path).unwrap();
        for (writer, own) in WRITERS.iter().filter(|(_, own)| own != &Some(*content)) {
            let directory = tempfile::tempdir().unwrap();
            let output = directory.path().join(name_of(writer));
            std::fs::write(&output, &bytes).unwrap();
            let ran = kalah(directory.path(), &words(writer));
            let messages = ran.stderr();
            assert!(std::fs::read(&output).unwrap() == bytes, "{writer}: {content} is lost: {messages}");
            assert!(matches!(ran.status.code(), Some(1..=3)), "{writer} over {content}, own {own:?}: {messages}");
            assert!(messages.contains(name_of(writer)), "{writer} over {content}: {messages}");
            assert!(ran.stdout.is_empty(), "{writer} over {content}: {messages}");
        }
    }
}

/// A file of someone else, whatever its name, and files of the program that are write-protected.
#[test]
fn files_of_others_and_read_only_files_are_not_replaced() {
    for (writer, own) in &WRITERS {
        let protected = files().iter().find(|(content, _)| Some(*content) == *own).map(|(_, path)| path);
        let strangers = [&b"my notes\n"[..], b"[notes]\nname = 1\n", &[0; 5000], b"a,b\n1,2\n"];
        let strangers = strangers.map(|bytes| (bytes.to_vec(), false));
        let protected = protected.map(|path| (std::fs::read(path).unwrap(), true));
        for (bytes, read_only) in strangers.into_iter().chain(protected) {
            let directory = tempfile::tempdir().unwrap();
            let output = directory.path().join(name_of(writer));
            std::fs::write(&output, &bytes).unwrap();
            let mut permissions = output.metadata().unwrap().permissions();
            permissions.set_readonly(read_only);
            std::fs::set_permissions(&output, permissions).unwrap();
            let ran = kalah(directory.path(), &words(writer));
            let messages = ran.stderr();
            let kept = std::fs::read(&output).is_ok_and(|found| found == bytes);
            assert!(kept, "{writer}: {bytes:.20?}, read-only {read_only}, is lost: {messages}");
            // An archive that is there already needs no writing.
            let is_done = read_only && messages.is_empty() && ran.status.success();
            assert!(is_done || matches!(ran.status.code(), Some(1..=3)), "{writer}: {messages}");
            assert!(is_done || messages.contains(name_of(writer)), "{writer}: {messages}");
            assert!(!messages.contains("delete"), "{writer}: {messages}");
        }
    }
}

/// As root, every file can be read.
#[cfg(unix)]
#[test]
fn what_cannot_be_read_is_not_replaced() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("out");
    std::fs::write(&output, "mover1,").unwrap();
    for mode in [0o000, 0o200, 0o400] {
        std::fs::set_permissions(&output, std::fs::Permissions::from_mode(mode)).unwrap();
        if mode == 0o200 && std::fs::read(&output).is_ok() {
            continue;
        }
        let ran = kalah(directory.path(), &words(WRITERS[0].0));
        assert!(ran.code() == 1 && ran.stderr().contains("is not replaced"), "{}", ran.stderr());
        assert_eq!(output.metadata().unwrap().len(), 7);
    }
}

/// Files that a script made to be filled.
#[test]
fn an_empty_file_and_an_older_one_of_its_kind_are_filled() {
    for (writer, own) in WRITERS.iter().filter(|(writer, _)| writer.ends_with("--output OUT")) {
        let directory = tempfile::tempdir().unwrap();
        let output = directory.path().join("out");
        std::fs::write(&output, "").unwrap();
        // A book is read first.
        if *own != Some(FileContent::Book) {
            done(directory.path(), &words(writer));
        }
        let path = &files().iter().find(|(content, _)| Some(*content) == *own).unwrap().1;
        std::fs::copy(path, &output).unwrap();
        done(directory.path(), &words(writer));
    }
}

/// The name of standard output is not that of a file.
#[test]
fn files_that_are_read_again_do_not_go_to_standard_output() {
    for (writer, own) in WRITERS.iter().filter(|(writer, _)| writer.contains("OUT")) {
        let directory = tempfile::tempdir().unwrap();
        let args: Vec<&str> = words(writer).into_iter().map(|word| if word == "out" { "-" } else { word }).collect();
        let ran = kalah(directory.path(), &args);
        let takes = matches!(own, None | Some(FileContent::Scores | FileContent::Games));
        assert_eq!(ran.status.success(), takes, "{writer}: {}", ran.stderr());
        assert!(takes || ran.stderr().contains("needs a file"), "{writer}: {}", ran.stderr());
        assert!(!directory.path().join("-").exists(), "{writer}");
    }
}

/// A table or archive under the name of another one may be the only copy.
#[test]
fn archives_and_tables_of_other_layers_are_not_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    done(directory, &"archive pack --rules standard --pits 3 --output packed".split(' ').collect::<Vec<_>>());
    let [six, seven] = ["packed/standard-3-06.kalah.archive", "packed/standard-3-07.kalah.archive"];
    std::fs::copy(directory.join(six), directory.join(seven)).unwrap();
    let other = std::fs::read(directory.join(seven)).unwrap();
    let pack = ["archive", "pack", "--rules", "standard", "--pits", "3", "--seeds", "7", "--output", "packed"];
    let ran = kalah(directory, &pack);
    assert!(ran.code() == 1 && ran.stderr().contains("holds another table"), "{}", ran.stderr());
    assert!(std::fs::read(directory.join(seven)).unwrap() == other);

    let unpack = ["archive", "unpack", six, "--tables", "new"];
    done(directory, &unpack);
    let place = directory.join("new/standard-3-06.kalah");
    let table = std::fs::read(&place).unwrap();
    let other = std::fs::read(tables().join("standard-3-07.kalah")).unwrap();
    for (bytes, why) in [(&other[..], "not standard with 3 pits and 6 seeds"), (b"my notes", "it is not a")] {
        std::fs::write(&place, bytes).unwrap();
        let ran = kalah(directory, &unpack);
        assert!(ran.code() == 1 && ran.stderr().contains(why), "{}", ran.stderr());
        assert!(std::fs::read(&place).unwrap() == bytes);
    }
    // A damaged one of the same layer is.
    std::fs::write(&place, &table[..table.len() / 2]).unwrap();
    done(directory, &unpack);
    assert!(std::fs::read(&place).unwrap() == table);
    // A whole table of the same layer needs no writing.
    let mut permissions = place.metadata().unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&place, permissions).unwrap();
    done(directory, &unpack);
    std::fs::write(directory.join("packed/standard-3-08.kalah.archive"), &table[..100]).unwrap();
    let pack = ["archive", "pack", "--rules", "standard", "--pits", "3", "--seeds", "8", "--output", "packed"];
    assert!(!kalah(directory, &pack).status.success());
}

/// These have no first bytes of their own.
#[test]
fn locks_and_unfinished_tables_are_not_replaced() {
    for name in ["build.lock", "standard-3-06.kalah.partial"] {
        let directory = tempfile::tempdir().unwrap();
        let output = directory.path().join(name);
        std::fs::write(&output, b"").unwrap();
        let export = ["export", "--rules", "standard", "--pits", "3", "--seeds", "6", "--output", name];
        let ran = kalah(directory.path(), &export).exits(1);
        assert!(ran.stderr().contains(name) && std::fs::read(&output).unwrap().is_empty(), "{}", ran.stderr());
        // Another file of this name is written.
        std::fs::remove_file(&output).unwrap();
        done(directory.path(), &export);
    }
}
