//! Output files of commands that exist already. No command replaces the work of another one or of someone else.
#![cfg(feature = "cli")]

use crate::writers::{CONTINUED, OUTPUTS, files, filled, place, tables};
use kalah_tests::program::Ran;

#[test]
fn an_output_replaces_a_file_with_content_only_by_force() {
    for writer in OUTPUTS {
        let place = place();
        // Files that a script made to be filled.
        place.write("out", "");
        place.run(&filled(writer, "out")).success();
        let whole = place.read("out");
        assert!(!whole.is_empty(), "{writer}");
        place.write("out", "my notes\n");
        let ran = place.run(&filled(writer, "out"));
        ran.fails(1, "kalah: cannot write out: it exists; give --force to replace it");
        assert_eq!(place.read("out"), b"my notes\n", "{writer}");
        place.run(&filled(&format!("{writer} --force"), "out")).success();
        assert!(place.read("out") != b"my notes\n", "{writer}");
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
            let place = place();
            place.write("out", bytes);
            let ran = place.run(&filled(writer, "out"));
            let messages = ran.stderr();
            assert_eq!(ran.status.success(), own, "{writer} over {kind}: {messages}");
            if !own {
                assert!(place.read("out") == *bytes, "{writer}: {kind} is lost: {messages}");
                assert!(messages.contains("out") && !messages.contains("delete"), "{writer} over {kind}: {messages}");
                assert!(ran.stdout.is_empty(), "{writer} over {kind}: {messages}");
            }
        }
    }
}

/// A table or archive under the name of another one may be the only copy.
#[test]
fn archives_and_tables_of_other_layers_are_not_replaced() {
    let place = place();
    let pack = "archive pack --rules standard --pits 3 --output packed";
    place.run(pack).success();
    let [six, seven] = ["packed/standard-3-06.kalah.archive", "packed/standard-3-07.kalah.archive"];
    let other = place.read(six);
    place.write(seven, &other);
    place.run(&format!("{pack} --seeds 7")).exits(1).prints("holds standard with 3 pits and 6 seeds");
    assert!(place.read(seven) == other);

    let unpack = &format!("archive unpack {six} --tables new");
    place.run(unpack).success();
    let path = "new/standard-3-06.kalah";
    let table = place.read(path);
    let other = std::fs::read(tables().join("standard-3-07.kalah")).unwrap();
    for (bytes, why) in [(&other[..], "not standard with 3 pits and 6 seeds"), (b"my notes", "it is not a")] {
        place.write(path, bytes);
        place.run(unpack).exits(1).prints(why);
        assert!(place.read(path) == bytes);
    }
    // A damaged one of the same layer is.
    place.write(path, &table[..table.len() / 2]);
    place.run(unpack).success();
    assert!(place.read(path) == table);
    // A whole table of the same layer needs no writing.
    let mut permissions = place.at(path).metadata().unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(place.at(path), permissions).unwrap();
    place.run(unpack).success();
    place.write("packed/standard-3-08.kalah.archive", &table[..100]);
    assert!(!place.run(&format!("{pack} --seeds 8")).status.success());
}
