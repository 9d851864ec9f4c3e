//! The folder of an exported site.

use std::io::Read;
use std::path::Path;
use std::sync::atomic::Ordering;

use kalah::book::Books;
use kalah::build::build;
use kalah::game::Rules;
use kalah::progress::Pulse;
use kalah::serve::{SiteOptions, SitePlan};
use kalah::table::TableError;
use serde_json::{Value, json};

use crate::sites::{any_module, contents, directory, export, version};
use kalah_tests::files::flip;
use kalah_tests::program::{self, Ran, Run};

/// Runs `kalah export-site` with the words of a line in `folder`. Returns the exit code and the messages.
fn run(folder: &Path, line: &str) -> (i32, String) {
    let mut command = program::command();
    command.current_dir(folder).arg("export-site").args(line.split(' ')).env("KALAH_MODULE", any_module());
    let output = command.run();
    (output.code(), output.stderr())
}

/// Tables that take no time to export.
fn few() -> tempfile::TempDir {
    let tables = tempfile::tempdir().unwrap();
    build(tables.path(), Rules::Standard, 2, 6).unwrap();
    tables
}

#[test]
fn the_page_of_a_site_has_the_icons_of_its_manifest() {
    let (work, tables) = (tempfile::tempdir().unwrap(), few());
    assert_eq!(run(work.path(), &format!("s --tables {}", tables.path().display())).0, 0);
    let site = work.path().join("s");
    let folder = version(&site);
    let manifest: Value = serde_json::from_slice(&std::fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    let icons = manifest["icons"].as_array().unwrap();
    for size in ["any", "192x192", "512x512"] {
        assert!(icons.iter().any(|icon| icon["sizes"] == size && icon["purpose"].is_null()), "{size}");
    }
    for icon in icons {
        let name = icon["src"].as_str().unwrap();
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let start: &[u8] = if name.ends_with(".png") { b"\x89PNG" } else { b"<svg" };
        assert!(bytes.starts_with(start), "{name}");
    }
    let page = std::fs::read_to_string(site.join("index.html")).unwrap();
    // It states what it may load, since the host may send no such header.
    let policy = page.split_once("Content-Security-Policy\" content=\"").unwrap().1.split_once('"').unwrap().0;
    assert!(policy.starts_with("default-src 'self'; script-src 'self' 'wasm-unsafe-eval' 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe-inline"), "{policy}");
    // Its scripts, style sheets and body are packed, but for the text that browsers without scripts show.
    let mut packed = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(folder.join("page.bin")).unwrap())
        .read_to_string(&mut packed)
        .unwrap();
    let [style, body, _script, ..] = packed.split('\0').collect::<Vec<_>>()[..] else { panic!("{packed}") };
    assert!(style.contains(".pit") && body.contains("id=\"board\"") && !body.contains("<noscript>"));
    let without_scripts = page.split_once("<noscript>").unwrap().1.split_once("</noscript>").unwrap().0;
    assert!(
        without_scripts.contains("JavaScript")
            && !page.contains("id=\"board\"")
            && page.matches("<script").count() == 1
    );
}

#[test]
fn what_cannot_be_exported_writes_no_page() {
    let (work, tables) = (tempfile::tempdir().unwrap(), few());
    let own = tables.path().display();
    std::fs::write(work.path().join("page.html"), "<!doctype html>").unwrap();
    std::fs::copy(any_module(), work.path().join("alone.wasm")).unwrap();
    let refused = |line: &str, words: &str| {
        let (code, messages) = run(work.path(), line);
        assert!(code != 0 && messages.contains(words), "{line}: {code} {messages}");
        assert!(!work.path().join("s/index.html").exists(), "{line}");
    };
    for (line, words) in [
        (&format!("s --tables {own} --module typo"), "typo: "),
        (&format!("s --tables {own} --module page.html"), "is not a WebAssembly module"),
        (&format!("s --tables {own} --module alone.wasm"), "kalah_first.wasm"),
        (&"s --tables typo".to_owned(), "there is no directory typo"),
        (&"s --tables page.html".to_owned(), "there is no directory page.html"),
        (&format!("page.html --tables {own}"), "page.html"),
    ] {
        refused(line, words);
    }
    // With a gap or damage, the layers above would be missing.
    let layer = tables.path().join("standard-2-04.kalah");
    let sound = std::fs::read(&layer).unwrap();
    std::fs::remove_file(&layer).unwrap();
    refused(&format!("s --tables {own}"), "layer 4 is missing");
    for at in [40, 128 + 72 * 3 + 3] {
        std::fs::write(&layer, &sound).unwrap();
        flip(&layer, at, 1);
        refused(&format!("s --tables {own}"), "damaged");
    }
}

#[test]
fn a_folder_with_files_is_left_alone() {
    let (work, tables) = (tempfile::tempdir().unwrap(), few());
    let own = tables.path().to_str().unwrap();
    std::fs::create_dir(work.path().join("mine")).unwrap();
    std::fs::write(work.path().join("mine/letter.txt"), "mine").unwrap();
    assert_eq!(run(work.path(), &format!("s --tables {own}")).0, 0);
    for folder in ["mine", "s", own] {
        let before = contents(&work.path().join(folder));
        let (code, messages) = run(work.path(), &format!("{folder} --tables {own}"));
        assert!(code == 1 && messages.contains("is not empty; choose a new folder, or empty this one"), "{messages}");
        assert!(before == contents(&work.path().join(folder)), "{folder}");
    }
}

#[test]
fn an_export_that_is_stopped_has_no_page() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site");
    let (module, tables) = (any_module(), directory().to_owned());
    let options = SiteOptions { module, tables, size: 100 << 20, books: Books::none(), seeds: 18 };
    let plan = SitePlan::new(&options).unwrap();
    assert!(plan.bytes() > 0);
    let pulse = Pulse::default();
    plan.write(&site, &pulse).unwrap();
    assert_eq!(pulse.positions.load(Ordering::Relaxed), plan.bytes());
    pulse.cancel.cancel();
    let other = folder.path().join("other");
    assert!(matches!(plan.write(&other, &pulse), Err(TableError::Stopped(_))));
    assert!(site.join("index.html").exists() && !other.join("index.html").exists());
}

#[test]
fn a_limit_leaves_out_the_largest_tables() {
    let folder = tempfile::tempdir().unwrap();
    let (code, all) = export(&folder.path().join("all"), "");
    assert_eq!((code, &all["tables"], &all["left_out"]), (0, &json!(Rules::ALL.len() * 9 + 13), &json!(0)));
    assert!(all["module_bytes"].as_u64() > Some(0) && all["book_positions"].as_u64() > Some(0));
    let site = folder.path().join("few");
    let (code, few) = export(&site, "--size 100KiB --no-book");
    assert_eq!((code, &few["book_positions"]), (0, &json!(0)));
    assert!(few["tables"].as_u64() < all["tables"].as_u64() && few["left_out"].as_u64() > Some(0));
    assert!(few["table_bytes"].as_u64() <= Some(100 << 10));
    let tables = std::fs::read_dir(site.join("tables")).unwrap().count() as u64;
    assert_eq!(few["tables"], json!(tables));
    // Each layer has all layers below it.
    let listed: Value = serde_json::from_slice(&std::fs::read(version(&site).join("site.json")).unwrap()).unwrap();
    let listed = listed["tables"].as_array().unwrap();
    for table in listed {
        let same = |other: &&Value| other["rules"] == table["rules"] && other["pits"] == table["pits"];
        let below = listed.iter().filter(same).filter(|other| other["seeds"].as_u64() < table["seeds"].as_u64());
        assert_eq!(json!(below.count() + 2), table["seeds"]);
    }
}
