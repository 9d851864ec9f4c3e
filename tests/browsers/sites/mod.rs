//! Exported sites, and a plain static host for them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use kalah::game::Rules;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tempfile::TempDir;

use kalah_tests::browser::{Browser, Program};
use kalah_tests::host::Host;
use kalah_tests::optional;
use kalah_tests::program::{Ran, Run, with_tables};
use kalah_tests::serving::encoded;
use kalah_tests::tables::built;

/// Makes tests of functions that get a browser, in Chromium. Those about what browsers do differently, their caches,
/// workers and requests, also run in Firefox.
macro_rules! in_browsers {
    (both: $($both:ident),* $(,)?; chromium: $($one:ident),* $(,)?) => {
        $(mod $both {
            #[test]
            fn chromium() {
                crate::sites::browser(kalah_tests::browser::Program::Chromium, false).iter().for_each(super::$both);
            }

            #[test]
            fn firefox() {
                crate::sites::browser(kalah_tests::browser::Program::Firefox, false).iter().for_each(super::$both);
            }
        })*
        $(mod $one {
            #[test]
            fn chromium() {
                crate::sites::browser(kalah_tests::browser::Program::Chromium, false).iter().for_each(super::$one);
            }
        })*
    };
}
pub(crate) use in_browsers;

/// Some tables of several boards and rule sets, built once.
pub(crate) fn directory() -> &'static Path {
    built(&[&Rules::ALL.map(|rules| (rules, 3, 10))[..], &[(Rules::Standard, 6, 14)]].concat())
}

/// The engine, `kalah_wasm.wasm`: KALAH_MODULE, or the one in cargo's target directory. Returns `None`, with a warning,
/// if it is missing and KALAH_REQUIRE_WASM is not set.
pub(crate) fn module() -> Option<PathBuf> {
    let compiled = || {
        let test = std::env::current_exe().unwrap();
        let target = test.ancestors().nth(3).unwrap();
        target.join("wasm32-unknown-unknown/wasm/kalah_wasm.wasm")
    };
    let path = std::env::var_os("KALAH_MODULE").map_or_else(compiled, PathBuf::from);
    if path.exists() {
        return Some(path);
    }
    optional::skip("WASM", format_args!("there is no {}; packaging/wasm makes it", path.display()));
    None
}

/// A browser, and the engine for sites; `None`, with a warning, if one of them is missing.
pub(crate) fn browser(program: Program, private: bool) -> Option<Browser> {
    module()?;
    Browser::of(program, private)
}

/// The engine, or else a file that looks like one. The first module is beside it.
pub(crate) fn any_module() -> PathBuf {
    static SUBSTITUTES: LazyLock<TempDir> = LazyLock::new(|| {
        let directory = tempfile::tempdir().unwrap();
        for name in ["kalah_wasm.wasm", "kalah_first.wasm"] {
            std::fs::write(directory.path().join(name), b"\0asm\x01\0\0\0").unwrap();
        }
        directory
    });
    module().unwrap_or_else(|| SUBSTITUTES.path().join("kalah_wasm.wasm"))
}

/// Exports a site. Returns the exit code and the report.
pub(crate) fn export(to: &Path, flags: &str) -> (i32, Value) {
    let mut command = with_tables(directory(), "export-site --json");
    let output = command.env("KALAH_MODULE", any_module()).arg(to).args(flags.split_whitespace()).run();
    // The amount of work is printed before the work begins.
    assert!(output.stderr().contains("to copy") || !output.status.success());
    (output.code(), serde_json::from_slice(&output.stdout).unwrap_or(Value::Null))
}

/// An exported site, and its host.
pub(crate) struct Site {
    pub host: Host,
    folder: TempDir,
}

impl Site {
    /// A copy of the site that these flags export.
    pub(crate) fn new(flags: &str) -> Site {
        static EXPORTED: Mutex<BTreeMap<String, BTreeMap<PathBuf, Vec<u8>>>> = Mutex::new(BTreeMap::new());
        let folder = tempfile::tempdir().unwrap();
        let mut exported = EXPORTED.lock();
        let files = exported.entry(flags.to_owned()).or_insert_with(|| {
            let first = tempfile::tempdir().unwrap();
            assert_eq!(export(first.path(), flags).0, 0);
            let relative = |path: PathBuf| path.strip_prefix(first.path()).unwrap().to_owned();
            contents(first.path()).into_iter().map(|(path, bytes)| (relative(path), bytes)).collect()
        });
        for (name, bytes) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        Site { host: Host::new(folder.path(), ""), folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The table with the layer of a position of 6 pits.
    pub(crate) fn table(&self, seeds: u32) -> PathBuf {
        let beginning = format!("standard-6-{seeds:02}-");
        let mut files = std::fs::read_dir(self.path().join("tables")).unwrap().map(|entry| entry.unwrap().path());
        files.find(|path| path.file_name().unwrap().to_str().unwrap().starts_with(&beginning)).unwrap()
    }

    /// Sum of the bytes of files that were requested.
    pub(crate) fn bytes<'n>(&self, names: impl IntoIterator<Item = &'n String>) -> usize {
        names.into_iter().map(|name| std::fs::read(self.path().join(name)).unwrap_or_default().len()).sum()
    }
}

/// Contents of all files in a folder, by path.
pub(crate) fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = paths.map(|path| {
        if path.is_dir() { contents(&path) } else { BTreeMap::from([(path.clone(), std::fs::read(path).unwrap())]) }
    });
    files.flatten().collect()
}

/// Directory of the version that the page of a site refers to.
pub(crate) fn version(site: &Path) -> PathBuf {
    let page = std::fs::read_to_string(site.join("index.html")).unwrap();
    let (_, after) = page.split_once("href=\"site/").unwrap();
    site.join("site").join(after.split('/').next().unwrap())
}

/// Sends requests from the page. Returns status and JSON of each.
pub(crate) fn ask_all(browser: &Browser, paths: &[String]) -> Vec<(u64, Value)> {
    let answers = browser.run(&format!(
        "return Promise.all({}.map(async (path) => {{ const answer = await fetch(path); \
            return [answer.status, await answer.json()]; }}))",
        json!(paths)
    ));
    serde_json::from_value(answers).unwrap()
}

/// Sends a request from the page. Returns status and JSON.
pub(crate) fn ask(browser: &Browser, path: &str) -> (u64, Value) {
    ask_all(browser, &[path.to_owned()]).remove(0)
}

/// Request for a position.
pub(crate) fn question(rules: Rules, position: impl ToString) -> String {
    format!("api/position?rules={rules}&board={}", encoded(&position.to_string()))
}

/// Opens the page of a host, and waits until it shows a position.
pub(crate) fn open(browser: &Browser, host: &Host) {
    open_at(browser, host, "");
}

/// Opens the page of a host at this address, and waits until it shows a position.
pub(crate) fn open_at(browser: &Browser, host: &Host, address: &str) {
    browser.go(&format!("{}/{address}#board=3x1&rules=standard", host.address));
    browser.wait("globalThis.plainFetch && $('.pit.legal')");
}
