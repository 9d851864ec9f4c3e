//! Output files of commands that exist already. No command replaces the work of another one or of someone else.
#![cfg(feature = "cli")]

use crate::writers::{CONTINUED, OUTPUTS, done, files, filled, kalah, tables};
use kalah_tests::program::Ran;

#[test]
fn an_output_replaces_a_file_with_content_only_by_force() {
    for writer in OUTPUTS {
        let directory = tempfile::tempdir().unwrap();
        let output = directory.path().join("out");
        // Files that a script made to be filled.
        std::fs::write(&output, "").unwrap();
        done(directory.path(), &filled(writer, "out"));
        let whole = std::fs::read(&output).unwrap();
        assert!(!whole.is_empty(), "{writer}");
        std::fs::write(&output, "my notes\n").unwrap();
        let ran = kalah(directory.path(), &filled(writer, "out"));
        ran.fails(1, "kalah: cannot write out: it exists; give --force to replace it");
        assert_eq!(std::fs::read(&output).unwrap(), b"my notes\n", "{writer}");
        done(directory.path(), &filled(&format!("{writer} --force"), "out"));
        assert!(std::fs::read(&output).unwrap() != b"my notes\n", "{writer}");
    }
}

/// Only a file of the same kind is continued.
#[test]
fn files_of_others_are_not_continued() {
    let notes = ("notes", b"my notes\n".to_vec());
    let others: Vec<(&str, Vec<u8>)> =
        files().iter().map(|(kind, path)| (*kind, std::fs::read(path).unwrap())).chain([notes]).collect();
    for writer in CONTINUED {
        for (kind, bytes) in &others {
            let own = match *kind {
                "BOOK" => writer.starts_with("book"),
                "CERTIFICATE" => writer.starts_with("prove"),
                _ => false,
            };
            let directory = tempfile::tempdir().unwrap();
            let output = directory.path().join("out");
            std::fs::write(&output, bytes).unwrap();
            let ran = kalah(directory.path(), &filled(writer, "out"));
            let messages = ran.stderr();
            assert_eq!(ran.status.success(), own, "{writer} over {kind}: {messages}");
            if !own {
                assert!(std::fs::read(&output).unwrap() == *bytes, "{writer}: {kind} is lost: {messages}");
                assert!(messages.contains("out") && !messages.contains("delete"), "{writer} over {kind}: {messages}");
                assert!(ran.stdout.is_empty(), "{writer} over {kind}: {messages}");
            }
        }
    }
}

/// A table or archive under the name of another one may be the only copy.
#[test]
fn archives_and_tables_of_other_layers_are_not_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let pack = "archive pack --rules standard --pits 3 --output packed";
    done(directory, pack);
    let [six, seven] = ["packed/standard-3-06.kalah.archive", "packed/standard-3-07.kalah.archive"];
    std::fs::copy(directory.join(six), directory.join(seven)).unwrap();
    let other = std::fs::read(directory.join(seven)).unwrap();
    kalah(directory, &format!("{pack} --seeds 7")).exits(1).prints("holds another table");
    assert!(std::fs::read(directory.join(seven)).unwrap() == other);

    let unpack = &format!("archive unpack {six} --tables new");
    done(directory, unpack);
    let place = directory.join("new/standard-3-06.kalah");
    let table = std::fs::read(&place).unwrap();
    let other = std::fs::read(tables().join("standard-3-07.kalah")).unwrap();
    for (bytes, why) in [(&other[..], "not standard with 3 pits and 6 seeds"), (b"my notes", "it is not a")] {
        std::fs::write(&place, bytes).unwrap();
        kalah(directory, unpack).exits(1).prints(why);
        assert!(std::fs::read(&place).unwrap() == bytes);
    }
    // A damaged one of the same layer is.
    std::fs::write(&place, &table[..table.len() / 2]).unwrap();
    done(directory, unpack);
    assert!(std::fs::read(&place).unwrap() == table);
    // A whole table of the same layer needs no writing.
    let mut permissions = place.metadata().unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&place, permissions).unwrap();
    done(directory, unpack);
    std::fs::write(directory.join("packed/standard-3-08.kalah.archive"), &table[..100]).unwrap();
    assert!(!kalah(directory, &format!("{pack} --seeds 8")).status.success());
}
