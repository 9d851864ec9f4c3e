//! The folder of an exported site: the files written, the files kept, and the state after a stop.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use kalah::build::build;
use kalah::game::Rules;
use kalah::progress::Pulse;
use kalah::serve::{SiteError, SiteOptions, SitePlan};
use serde_json::{Value, json};

use crate::sites::{any_module, contents, directory, export, version};
use kalah_tests::program::{self, Ran, Run};

/// Runs `kalah export-site` in `cwd`. Returns the exit code and the output.
fn run(cwd: &Path, arguments: &[&str], tables: Option<&Path>) -> (i32, String) {
    let mut command = program::command();
    command.current_dir(cwd).arg("export-site").args(arguments).env("KALAH_MODULE", any_module());
    if let Some(tables) = tables {
        command.env("KALAH_TABLES", tables);
    }
    let output = command.run();
    (output.code(), output.stderr())
}

/// Tables that take no time to export.
fn few() -> tempfile::TempDir {
    let tables = tempfile::tempdir().unwrap();
    build(tables.path(), Rules::Standard, 2, 6).unwrap();
    tables
}

/// Beginning of the page's element that names the picture of a link preview.
const IMAGE: &str = "<meta property=\"og:image\" content=\"";

#[test]
fn the_page_of_a_site_has_the_icons_of_its_manifest() {
    let work = tempfile::tempdir().unwrap();
    let tables = few();
    assert_eq!(run(work.path(), &["s", "--tables", tables.path().to_str().unwrap()], None).0, 0);
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
    // The picture of a link preview is found from the page.
    let page = std::fs::read_to_string(site.join("index.html")).unwrap();
    let image = page.split_once(IMAGE).unwrap().1.split_once('"').unwrap().0;
    assert!(site.join(image).is_file(), "{image}");
    // It states what it may load, since the host may send no such header.
    let policy = page.split_once("Content-Security-Policy\" content=\"").unwrap().1.split_once('"').unwrap().0;
    assert!(policy.starts_with("default-src 'self'; script-src 'self' 'wasm-unsafe-eval' 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe-inline"), "{policy}");
    // With an address, other programs find it, too.
    let arguments = ["s", "--tables", tables.path().to_str().unwrap(), "--address", "https://kalah.example/play"];
    assert_eq!(run(work.path(), &arguments, None).0, 0);
    let whole = std::fs::read_to_string(site.join("index.html")).unwrap();
    let address = "https://kalah.example/play/";
    let url = format!("<meta property=\"og:url\" content=\"{address}\">\n");
    assert_eq!(whole, page.replace(IMAGE, &format!("{url}{IMAGE}{address}")));
    assert_eq!(run(work.path(), &["s", "--address", "kalah.example"], None).0, 2);
}

#[test]
fn tables_in_the_folder_are_refused_and_stay() {
    let (work, tables) = (tempfile::tempdir().unwrap(), few());
    let (site, own) = (work.path().join("s"), tables.path().to_str().unwrap());
    assert_eq!(run(work.path(), &["s", "--tables", own], None).0, 0);
    // The user's own tables where the site keeps its copies; links to these tables, and to the folder.
    for (name, _) in contents(tables.path()) {
        std::fs::copy(tables.path().join(&name), site.join("tables").join(&name)).unwrap();
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(site.join("tables"), work.path().join("link")).unwrap();
        std::os::unix::fs::symlink(&site, work.path().join("folder")).unwrap();
        std::fs::create_dir(work.path().join("links")).unwrap();
        for (name, _) in contents(tables.path()) {
            std::os::unix::fs::symlink(site.join("tables").join(&name), work.path().join("links").join(&name)).unwrap();
        }
    }
    let before = contents(&site);
    let refused = |cwd: &Path, arguments: &[&str], tables: Option<&Path>| {
        let (code, messages) = run(cwd, arguments, tables);
        assert_eq!(code, 1, "{arguments:?}: {messages}");
        assert!(messages.contains("is inside the folder to be written"), "{messages}");
        assert!(before == contents(&site), "{arguments:?}");
    };
    refused(&site, &["."], None);
    refused(work.path(), &["s", "--tables", "s/tables"], None);
    refused(work.path(), &["s", "--tables", "s/../s"], None);
    refused(work.path(), &["s"], Some(&site.join("tables")));
    #[cfg(unix)]
    for arguments in [["s", "link"], ["s", "links"], ["folder", "s/tables"], ["folder", "link"]] {
        refused(work.path(), &[arguments[0], "--tables", arguments[1]], None);
    }
    // The other direction: the folder links to the tables.
    #[cfg(unix)]
    {
        std::fs::rename(site.join("tables"), work.path().join("t")).unwrap();
        std::os::unix::fs::symlink(work.path().join("t"), site.join("tables")).unwrap();
        refused(work.path(), &["s", "--tables", "t"], None);
    }
}

#[test]
fn files_of_others_stay() {
    let (work, tables) = (tempfile::tempdir().unwrap(), few());
    let (site, own) = (work.path().join("s"), tables.path().to_str().unwrap());
    assert_eq!(run(work.path(), &["s", "--tables", own], None).0, 0);
    let (before, scripts) = (contents(&site), version(&site));
    std::fs::create_dir(site.join("book")).unwrap();
    let letters = [site.clone(), site.join("tables"), site.join("site"), site.join("book"), scripts.clone()]
        .map(|directory| directory.join("letter.txt"));
    letters.iter().for_each(|letter| std::fs::write(letter, "mine").unwrap());
    assert_eq!(run(work.path(), &["s", "--tables", own, "--no-book", "--size", "300"], None).0, 0);
    for letter in &letters {
        assert_eq!(std::fs::read_to_string(letter).unwrap(), "mine", "{}", letter.display());
        std::fs::remove_file(letter).unwrap();
    }
    // All other files are those of the new site.
    let after = contents(&site);
    assert_ne!(version(&site), scripts);
    let common: Vec<&PathBuf> = before.keys().filter(|path| after.contains_key(*path)).collect();
    let expected = ["index.html", "site/files.json"].map(PathBuf::from);
    assert_eq!(common, expected.iter().collect::<Vec<_>>());
    assert_eq!(std::fs::read_dir(site.join("tables")).unwrap().count(), 0);

    // Files in the way of a first export, which was stopped.
    let other = work.path().join("other");
    let options = SiteOptions::new(any_module(), tables.path().to_owned());
    drop(SitePlan::new(&options).unwrap().copy_tables(&other, &Pulse::default()).unwrap());
    std::fs::write(other.join("index.html"), "mine").unwrap();
    let (code, messages) = run(work.path(), &["other", "--tables", own], None);
    assert!(code == 1 && messages.contains("index.html was not written by this command; move it"), "{messages}");
    assert_eq!(std::fs::read_to_string(other.join("index.html")).unwrap(), "mine");
    // A list that names files outside of the folder is ignored.
    let list = other.join("site/files.json");
    std::fs::write(&list, std::fs::read_to_string(&list).unwrap().replace("\"files\":[", "\"files\":[\"../x\","))
        .unwrap();
    assert_eq!(run(work.path(), &["other", "--tables", own], None).0, 1);
}

#[test]
fn what_cannot_be_exported_leaves_the_site_as_it_was() {
    let (work, tables) = (tempfile::tempdir().unwrap(), few());
    let (site, own) = (work.path().join("s"), tables.path().to_str().unwrap());
    assert_eq!(run(work.path(), &["s", "--tables", own], None).0, 0);
    let before = contents(&site);
    let refused = |arguments: &[&str], tables: Option<&Path>, words: &str| {
        let (code, messages) = run(work.path(), arguments, tables);
        assert!(code != 0 && messages.contains(words), "{arguments:?}: {code} {messages}");
        assert!(before == contents(&site), "{arguments:?}");
    };
    refused(&["s", "--tables", own, "--module", "typo"], None, "typo: ");
    refused(&["s", "--tables", own, "--module", "s/index.html"], None, "is not a WebAssembly module");
    std::fs::copy(any_module(), work.path().join("alone.wasm")).unwrap();
    refused(&["s", "--tables", own, "--module", "alone.wasm"], None, "put it beside the engine");
    refused(&["s", "--tables", "typo"], None, "there is no directory typo");
    refused(&["s"], Some(Path::new("typo")), "there is no directory typo");
    refused(&["s", "--tables", "s/index.html"], None, "there is no directory s/index.html");
    // With a gap or damage, the layers above would be missing.
    let layer = |seeds: usize| tables.path().join(format!("standard-2-{seeds:02}.kalah"));
    std::fs::rename(layer(4), tables.path().join("away")).unwrap();
    refused(&["s", "--tables", own], None, "layer 4 is missing");
    std::fs::rename(tables.path().join("away"), layer(4)).unwrap();
    for at in [40, 128 + 72 * 3 + 3] {
        let sound = std::fs::read(layer(4)).unwrap();
        let mut damaged = sound.clone();
        damaged[at] ^= 1;
        std::fs::write(layer(4), damaged).unwrap();
        refused(&["s", "--tables", own], None, "damaged");
        std::fs::write(layer(4), sound).unwrap();
    }
}

#[test]
fn the_first_moments_of_an_export_are_no_obstacle() {
    let (work, tables) = (tempfile::tempdir().unwrap(), few());
    let own = tables.path().to_str().unwrap();
    for (number, names) in
        [&[][..], &["site.lock"], &["site.lock", "site/"], &["site.lock", "site/files.json.kalah-0123456789ab.tmp"]]
            .iter()
            .enumerate()
    {
        let site = work.path().join(number.to_string());
        std::fs::create_dir(&site).unwrap();
        for name in *names {
            match name.strip_suffix('/') {
                Some(directory) => std::fs::create_dir(site.join(directory)).unwrap(),
                None => {
                    std::fs::create_dir_all(site.join(name).parent().unwrap()).unwrap();
                    std::fs::write(site.join(name), "").unwrap();
                }
            }
        }
        let (code, messages) = run(work.path(), &[&number.to_string(), "--tables", own], None);
        assert_eq!(code, 0, "{names:?}: {messages}");
        assert!(contents(&site).keys().all(|path| !path.to_string_lossy().ends_with(".tmp")));
    }
    // A lock of somebody else is one.
    let site = work.path().join("locked");
    std::fs::create_dir(&site).unwrap();
    std::fs::write(site.join("site.lock"), "mine").unwrap();
    let (code, messages) = run(work.path(), &["locked", "--tables", own], None);
    assert!(code == 1 && messages.contains("site.lock: it is not a lock of kalah"), "{messages}");
    assert_eq!(std::fs::read_to_string(site.join("site.lock")).unwrap(), "mine");
    let site = work.path().join("mine");
    std::fs::create_dir_all(site.join("site")).unwrap();
    std::fs::write(site.join("site/letter.txt"), "mine").unwrap();
    let (code, messages) = run(work.path(), &["mine", "--tables", own], None);
    assert!(code == 1 && messages.contains("choose another folder"), "{messages}");
}

#[test]
fn one_export_at_a_time() {
    let (work, tables) = (tempfile::tempdir().unwrap(), few());
    let options = SiteOptions::new(any_module(), tables.path().to_owned());
    let plan = SitePlan::new(&options).unwrap();
    let folder = plan.copy_tables(&work.path().join("s"), &Pulse::default()).unwrap();
    let (code, messages) = run(work.path(), &["s", "--tables", tables.path().to_str().unwrap()], None);
    assert!(code == 1 && messages.contains("in use by process"), "{messages}");
    drop(folder);
    assert_eq!(run(work.path(), &["s", "--tables", tables.path().to_str().unwrap()], None).0, 0);
}

#[test]
fn a_killed_export_leaves_the_old_site_or_the_new_one() {
    let (work, tables) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    build(tables.path(), Rules::Standard, 3, 8).unwrap();
    build(tables.path(), Rules::EmptyCapture, 2, 20).unwrap();
    let kinds: [&[&str]; 2] = [&[], &["--no-book", "--size", "60KiB"]];
    let command = |site: &Path, kind: usize| {
        let mut command = program::command();
        command.arg("export-site").arg(site).arg("--tables").arg(tables.path()).args(kinds[kind]);
        command.env("KALAH_MODULE", any_module());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    // The expected sites, and the longest time of an export.
    let mut time = Duration::ZERO;
    let whole = [0, 1].map(|kind| {
        let (site, begin) = (work.path().join(kind.to_string()), Instant::now());
        assert!(command(&site, kind).status().unwrap().success());
        time = time.max(begin.elapsed());
        let mut files = contents(&site);
        files.remove(Path::new("site/files.json")).unwrap();
        files
    });
    assert_ne!(whole[0].get(Path::new("index.html")), whole[1].get(Path::new("index.html")));
    let site = work.path().join("s");
    assert!(command(&site, 0).status().unwrap().success());
    let (mut last, mut random) = (0, fastrand::Rng::with_seed(5));
    for _ in 0..30 {
        let mut export = command(&site, 1 - last).spawn().unwrap();
        std::thread::sleep(time.mul_f64(random.f64()));
        let _ = export.kill();
        export.wait().unwrap();
        let found = contents(&site);
        let page = found.get(Path::new("index.html")).expect("a page");
        last = whole.iter().position(|files| &files[Path::new("index.html")] == page).expect("one of the two pages");
        for (path, bytes) in &whole[last] {
            assert!(found.get(path) == Some(bytes), "{}", path.display());
        }
    }
    // Files of the killed exports are gone.
    assert!(command(&site, 1).status().unwrap().success());
    let mut files = contents(&site);
    files.remove(Path::new("site/files.json")).unwrap();
    assert!(files == whole[1], "{:?}", files.keys());
}

#[test]
fn an_export_that_is_stopped_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site");
    let options = SiteOptions::new(any_module(), directory().to_owned());
    let plan = SitePlan::new(&options).unwrap();
    assert!(plan.bytes() > 0);
    let pulse = Pulse::default();
    let begun = plan.copy_tables(&site, &pulse).unwrap();
    assert_eq!(pulse.positions.load(Ordering::Relaxed), plan.bytes());
    pulse.cancel.cancel();
    assert!(matches!(plan.write_rest(begun, &pulse), Err(SiteError::Stopped(_))));
    assert!(matches!(plan.copy_tables(&site, &pulse), Err(SiteError::Stopped(_))));
    let (code, report) = export(&site, &[]);
    assert_eq!((code, &report["table_bytes"]), (0, &json!(plan.bytes())));
    let page = std::fs::read(site.join("index.html")).unwrap();
    assert!(plan.copy_tables(&site, &pulse).is_err());
    assert_eq!(std::fs::read(site.join("index.html")).unwrap(), page);
}

#[test]
fn a_folder_is_replaced_and_others_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site");
    let (code, all) = export(&site, &[]);
    assert_eq!(code, 0);
    let (code, few) = export(&site, &["--size", "100KiB", "--no-book"]);
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
    std::fs::create_dir(folder.path().join("mine")).unwrap();
    std::fs::write(folder.path().join("mine/letter.txt"), "mine").unwrap();
    let refused =
        program::command().arg("export-site").arg(folder.path().join("mine")).env("KALAH_MODULE", any_module()).run();
    let messages = refused.stderr();
    assert!(refused.code() == 1 && messages.contains("; choose another folder, or empty this one"), "{messages}");
    assert_eq!(std::fs::read_dir(folder.path().join("mine")).unwrap().count(), 1);
}
