//! Files of a site that do not depend on the tables: the page, and the scripts that replace a server.
//!
//! They are in a directory whose name comes from their contents, so that a browser never mixes files of two versions,
//! however long it keeps them.

use std::collections::BTreeMap;

use serde_json::json;

use super::page::FILES;
use super::site_folder::DIRECTORY;

/// Modules that replace a server.
const MODULES: [(&str, &str); 7] = [
    ("blake3.js", include_str!("../web/site/blake3.js")),
    ("game.js", include_str!("../web/site/game.js")),
    ("server.js", include_str!("../web/site/server.js")),
    ("start.js", include_str!("../web/site/start.js")),
    ("tables.js", include_str!("../web/site/tables.js")),
    ("text.js", include_str!("../web/site/text.js")),
    ("xxh3.js", include_str!("../web/site/xxh3.js")),
];

/// Worker, which a browser runs beside the page.
const WORKER: &str = include_str!("../web/site/worker.js");

/// Files of a site besides its tables.
pub(super) struct Site {
    /// All files except the page, by their paths in the folder.
    pub files: BTreeMap<String, String>,
    /// Page, which refers to them.
    pub page: String,
}

impl Site {
    /// Returns the site with `files`, the part that depends on the tables, whose paths in the folder are `tables`.
    pub fn new(files: Vec<(String, String)>, tables: &[String]) -> Site {
        let mut all: BTreeMap<String, String> = files.into_iter().collect();
        all.extend(MODULES.map(|(name, text)| (name.to_owned(), text.to_owned())));
        let (mut page, mut names) = ("", Vec::new());
        for file in FILES {
            let name = file.path.trim_start_matches('/');
            if name.is_empty() {
                page = file.text;
            } else {
                names.push(name);
                all.insert(name.to_owned(), file.text.to_owned());
            }
        }
        let manifest = json!({ "name": "Kalah", "short_name": "Kalah", "start_url": "../../", "scope": "../../",
            "display": "standalone", "icons": [{ "src": "icon.svg", "sizes": "any", "type": "image/svg+xml" }] });
        all.insert("manifest.json".to_owned(), manifest.to_string());
        all.insert("icon.svg".to_owned(), ICON.to_owned());
        let version = version(&all, page);
        let page = page_of(page, &version, &names);
        let mut files: BTreeMap<String, String> =
            all.into_iter().map(|(name, text)| (format!("{DIRECTORY}/{version}/{name}"), text)).collect();
        // A worker answers for its own folder.
        files.insert(format!("worker-{version}.js"), worker(&version, &page, &files, tables));
        Site { files, page }
    }
}

/// Returns the version of a site, a digest of its contents.
fn version(files: &BTreeMap<String, String>, page: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    let others = [("", page), ("worker.js", WORKER)];
    for (name, text) in files.iter().map(|(name, text)| (&**name, &**text)).chain(others) {
        for part in [name, text] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// Returns the page with the modules before its own script; `names` are the files that it refers to.
fn page_of(page: &str, version: &str, names: &[&str]) -> String {
    let head = ["server.js", "start.js"]
        .map(|name| format!("<script type=\"module\" src=\"{DIRECTORY}/{version}/{name}\"></script>\n"))
        .concat();
    let manifest = format!("<link rel=\"manifest\" href=\"{DIRECTORY}/{version}/manifest.json\">\n");
    // Modules run in order. There is no server to ask before they run.
    let (before, after) = page.split_once("<script").expect("the page has a script");
    let before: String =
        before.lines().filter(|line| !line.contains("href=\"api\"")).map(|line| format!("{line}\n")).collect();
    let page = format!("{before}{manifest}{head}<script{after}");
    names
        .iter()
        .fold(page, |page, name| page.replace(&format!("=\"{name}\""), &format!("=\"{DIRECTORY}/{version}/{name}\"")))
}

/// Returns the worker of a version, with the digests of the files that it keeps.
fn worker(version: &str, page: &str, files: &BTreeMap<String, String>, tables: &[String]) -> String {
    let digest = |text: &str| blake3::hash(text.as_bytes()).to_hex().to_string();
    let mut listed = vec![json!(["", "text/html", digest(page)])];
    listed.extend(files.iter().map(|(path, text)| json!([path, kind(path), digest(text)])));
    let (_, blake3) = MODULES.iter().find(|(name, _)| *name == "blake3.js").expect("it is one of them");
    let constants = [("VERSION", json!(version)), ("FILES", json!(listed)), ("TABLES", json!(tables))];
    let constants = constants.map(|(name, value)| format!("const {name} = {value};\n")).concat();
    // Not all browsers let workers import modules.
    format!("{constants}{}{WORKER}", blake3.replace("export function", "function"))
}

/// Returns the media type of a file.
fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        Some("svg") => "image/svg+xml",
        _ => "application/json",
    }
}

/// Two pits and a store.
const ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 64 64\"><rect width=\"64\" \
                    height=\"64\" rx=\"12\" \
    fill=\"#7a4a20\"/><circle cx=\"20\" cy=\"20\" r=\"11\" fill=\"#3d230c\"/><circle cx=\"20\" cy=\"46\" r=\"11\" \
    fill=\"#3d230c\"/><rect x=\"38\" y=\"9\" width=\"18\" height=\"48\" rx=\"9\" fill=\"#3d230c\"/><circle cx=\"47\" \
    cy=\"24\" r=\"5\" fill=\"#e8d9b0\"/><circle cx=\"46\" cy=\"40\" r=\"5\" fill=\"#e8d9b0\"/></svg>\n";
