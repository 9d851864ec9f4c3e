//! Exported sites, and a plain static host for them.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use kalah::build::build;
use kalah::game::Rules;
use serde_json::{Value, json};

use kalah_tests::browser::{Browser, Program};
use kalah_tests::optional;
use kalah_tests::program::{self, Ran, Run};

/// Makes tests of functions that get a browser: one in Chromium, one in Firefox.
macro_rules! in_browsers {
    ($($name:ident),* $(,)?) => {
        $(mod $name {
            use kalah_tests::browser::Program;

            #[test]
            fn chromium() {
                if let Some(browser) = crate::sites::browser(Program::Chromium, false) {
                    super::$name(&browser);
                }
            }

            #[test]
            fn firefox() {
                if let Some(browser) = crate::sites::browser(Program::Firefox, false) {
                    super::$name(&browser);
                }
            }
        })*
    };
}
pub(crate) use in_browsers;

/// Some tables of several boards and rule sets, built once.
pub(crate) fn directory() -> &'static Path {
    static TABLES: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
        let directory = tempfile::tempdir().unwrap();
        for rules in Rules::ALL {
            build(directory.path(), rules, 3, 10).unwrap();
        }
        build(directory.path(), Rules::Standard, 6, 14).unwrap();
        directory
    });
    TABLES.path()
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
    static SUBSTITUTES: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
        let directory = tempfile::tempdir().unwrap();
        for name in ["kalah_wasm.wasm", "kalah_first.wasm"] {
            std::fs::write(directory.path().join(name), b"\0asm\x01\0\0\0").unwrap();
        }
        directory
    });
    module().unwrap_or_else(|| SUBSTITUTES.path().join("kalah_wasm.wasm"))
}

/// Exports a site. Returns the exit code and the report.
pub(crate) fn export(to: &Path, flags: &[&str]) -> (i32, Value) {
    let mut command = program::command();
    let command = command.env("KALAH_TABLES", directory()).env("KALAH_MODULE", any_module());
    let command = command.arg("export-site").arg(to).arg("--json");
    let output = command.args(flags).run();
    // The amount of work is printed before the work begins.
    assert!(output.stderr().contains("to copy") || !output.status.success());
    (output.code(), serde_json::from_slice(&output.stdout).unwrap_or(Value::Null))
}

/// Contents of all files in a folder, by path.
pub(crate) fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(path.strip_prefix(folder).unwrap().to_owned(), std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// Directory of the version that the page of a site refers to.
pub(crate) fn version(site: &Path) -> PathBuf {
    let page = std::fs::read_to_string(site.join("index.html")).unwrap();
    let (_, after) = page.split_once("href=\"site/").unwrap();
    site.join("site").join(after.split('/').next().unwrap())
}

/// Behaviour of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conduct {
    /// Sends the files.
    Sends,
    /// Closes connections without an answer.
    Down,
    /// Answers everything with this status.
    Fails(u16),
    /// Answers everything with its own page, like a network that wants a visitor to log in first.
    Portal,
    /// Sends the files, but those with this text in their paths only once it behaves otherwise.
    Withholds(&'static str),
}

/// A plain static host that lives until the process ends.
#[derive(Clone)]
pub(crate) struct Host {
    pub address: String,
    conduct: Arc<Mutex<Conduct>>,
    folder: PathBuf,
    /// Support of range requests.
    ranges: bool,
    /// Permission for browsers to use files for ten minutes without another request.
    lasting: bool,
    /// Paths of all requests.
    requests: Arc<Mutex<Vec<String>>>,
}

impl Host {
    pub(crate) fn new(folder: PathBuf) -> Host {
        Host::with(folder, true, false)
    }

    /// A host that sends only whole files.
    pub(crate) fn without_ranges(folder: PathBuf) -> Host {
        Host::with(folder, false, false)
    }

    /// A host whose files browsers may use for ten minutes.
    pub(crate) fn lasting(folder: PathBuf) -> Host {
        Host::with(folder, true, true)
    }

    fn with(folder: PathBuf, ranges: bool, lasting: bool) -> Host {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (conduct, requests) = (Arc::new(Mutex::new(Conduct::Sends)), Arc::default());
        let host = Host { address, conduct, folder, ranges, lasting, requests };
        let answering = host.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let host = answering.clone();
                std::thread::spawn(move || host.answer(stream));
            }
        });
        host
    }

    pub(crate) fn conducts(&self, conduct: Conduct) {
        *self.conduct.lock().unwrap() = conduct;
    }

    /// Returns the paths of all requests so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Answers one request.
    fn answer(&self, mut stream: TcpStream) -> Option<()> {
        let mut lines = BufReader::new(stream.try_clone().ok()?).lines().map_while(Result::ok);
        let path = lines.next()?.split(' ').nth(1)?.split(['?', '#']).next()?.trim_start_matches('/').to_owned();
        let headers: Vec<String> = lines.take_while(|line| !line.is_empty()).map(|line| line.to_lowercase()).collect();
        let path = if path.is_empty() { "index.html" } else { &path };
        self.requests.lock().unwrap().push(path.to_owned());
        let withheld = |conduct| matches!(conduct, Conduct::Withholds(name) if path.contains(name));
        while withheld(*self.conduct.lock().unwrap()) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let conduct = *self.conduct.lock().unwrap();
        let (mut status, mut more) = ("200 OK".to_owned(), String::new());
        let mut bytes = std::fs::read(self.folder.join(path)).unwrap_or_else(|_| {
            status = "404 Not Found".to_owned();
            Vec::new()
        });
        let asked = headers.iter().find_map(|line| line.strip_prefix("range: bytes="));
        if self.ranges
            && status == "200 OK"
            && let Some(asked) = asked
        {
            let (first, last) = asked.split_once('-')?;
            let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
            more = format!("Content-Range: bytes {first}-{last}/{}\r\n", bytes.len());
            bytes = bytes.get(first..=last)?.to_vec();
            status = "206 Partial Content".to_owned();
        }
        let mut kind = match path.rsplit('.').next()? {
            "html" => "text/html",
            "js" => "text/javascript",
            "css" => "text/css",
            "json" => "application/json",
            "svg" => "image/svg+xml",
            // Some hosts have no type for it.
            "wasm" if self.lasting => "application/wasm",
            _ => "application/octet-stream",
        };
        if self.lasting {
            more += "Cache-Control: max-age=600\r\n";
        }
        match conduct {
            Conduct::Sends | Conduct::Withholds(_) => {}
            Conduct::Down => return None,
            Conduct::Fails(code) => {
                (status, kind, bytes) = (format!("{code} No"), "text/html", b"<p>no".to_vec());
                more.clear();
            }
            Conduct::Portal => {
                (status, kind) = ("200 OK".to_owned(), "text/html");
                bytes = b"<!doctype html><title>Portal</title><p>Log in".to_vec();
                more.clear();
            }
        }
        let length = bytes.len();
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{more}Connection: close\r\n\r\n"
        )
        .ok()?;
        stream.write_all(&bytes).ok()
    }
}

/// Sends requests from the page. Returns status and JSON of each.
pub(crate) fn ask(browser: &Browser, paths: &[String]) -> Vec<(u64, Value)> {
    let script = format!(
        "return Promise.all({}.map(async (path) => {{ const answer = await fetch(path); \
            return [answer.status, await answer.json()]; }}))",
        json!(paths)
    );
    let answers = browser.run(&script);
    answers.as_array().unwrap().iter().map(|one| (one[0].as_u64().unwrap(), one[1].clone())).collect()
}

/// Asks for a position, so that the page loads its engine now.
pub(crate) fn need_engine(browser: &Browser) {
    let path = "api/position?rules=standard&board=0,0,1,0,2,1/1,0,0,3,0,0";
    browser.run(&format!("return fetch('{path}').then((answer) => answer.text()).catch(() => '')"));
}

/// Opens the page of a host, and waits until it shows a position.
pub(crate) fn open(browser: &Browser, address: &str) {
    browser.go(&format!("{address}/#board=3x1&rules=standard"));
    browser.wait("globalThis.plainFetch && document.querySelector('.pit.legal')");
}
