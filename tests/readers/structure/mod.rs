//! Dependencies run one way: the files and folders of a folder use each other without circles.
//!
//! This test reads the sources of all crates and resolves the names in each file, also through `pub use`. Then it looks
//! for circles among the siblings of every folder. A file that names an item depends on the file that defines it, not
//! on one that only re-exports it.

mod circles;
mod sources;
mod unit_tests;

use std::path::Path;

use circles::circles;
use sources::Sources;

use super::ROOT;

/// Crates with layers: the name by which others use each, and its root.
const CRATES: [(&str, &str); 16] = [
    ("kalah_core", "crates/core/src/lib.rs"),
    ("kalah_base", "crates/base/src/lib.rs"),
    ("kalah_tables", "crates/tables/src/lib.rs"),
    ("kalah_export", "crates/export/src/lib.rs"),
    ("kalah_gpu", "crates/gpu/src/lib.rs"),
    ("kalah_remote", "crates/remote/src/lib.rs"),
    ("kalah_solve", "crates/solve/src/lib.rs"),
    ("kalah_train", "crates/train/src/lib.rs"),
    ("kalah_proof", "crates/proof/src/lib.rs"),
    ("kalah_analyse", "crates/analyse/src/lib.rs"),
    ("kalah_play", "crates/play/src/lib.rs"),
    ("kalah_api", "crates/api/src/lib.rs"),
    ("kalah_wasm", "crates/wasm/src/lib.rs"),
    ("kalah_serve", "crates/serve/src/lib.rs"),
    ("kalah", "src/lib.rs"),
    ("kalah_program", "src/main.rs"),
];

#[test]
fn siblings_use_each_other_without_circles() {
    let sources = Sources::read(Path::new(ROOT), &CRATES);
    assert!(sources.uses().len() > 1000, "only {} uses were found", sources.uses().len());
    let circles = circles(&sources);
    assert!(circles.is_empty(), "{} circles:\n{}", circles.len(), circles.join("\n"));
}

/// Writes the sources of a small crate and returns its circles.
fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    circles(&Sources::read(directory.path(), &[("planted", "lib.rs")]))
}

#[test]
fn planted_circles_are_found_and_nothing_else() {
    // Through what a folder re-exports.
    let found = circles_of(&[
        ("lib.rs", "mod folder;"),
        ("folder/mod.rs", "mod one;\nmod two;\npub use one::One;\npub use two::*;"),
        ("folder/one.rs", "use super::Two;\npub struct One(Two);"),
        ("folder/two.rs", "pub struct Two;\nfn f(_: crate::folder::One) {}"),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("one.rs") && found[0].contains("two.rs"), "{found:?}");
    // Uses in one direction are no circle.
    let found = circles_of(&[
        ("lib.rs", "mod folder;\nmod top;\npub use folder::One;"),
        ("top.rs", "use crate::One;\nfn f(_: One) {}"),
        ("folder/mod.rs", "mod one;\nmod two;\npub use one::One;\npub use two::Two;"),
        ("folder/one.rs", "use super::Two;\npub struct One(Two);"),
        ("folder/two.rs", "pub struct Two;\n#[cfg(test)]\nmod tests { use super::super::One; }"),
    ]);
    assert!(found.is_empty(), "{found:?}");
}

/// Private modules that the documentation of a module lists in a table. A table of files is a plain comment.
fn listed_private_modules(text: &str) -> Vec<&str> {
    let documentation: String = text.lines().filter(|line| line.starts_with("//! |")).collect();
    let modules = text.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
    modules.filter(|name| documentation.contains(&format!("`{name}`"))).collect()
}

#[test]
fn documentation_lists_no_private_modules() {
    let sources = Sources::read(Path::new(ROOT), &CRATES[..7]);
    for module in sources.modules() {
        let file = Path::new(ROOT).join(&module.file);
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(listed_private_modules(&text), [""; 0], "{}", module.file.display());
    }
    let text =
        "//! | [`one`](One) | a |\n//! | [`two`] | b |\n// | `three` | c |\nmod one;\npub mod two;\nmod three;\n";
    assert_eq!(listed_private_modules(text), ["one"]);
}
