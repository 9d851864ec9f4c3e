//! The files of a site that are the same for all tables: the page, and the scripts that answer it in place of a server.

use std::path::Path;

use serde_json::json;
use xxhash_rust::xxh3::xxh3_64;

use super::page::FILES;
use super::site_files::{SiteError, put};

/// The modules that answer in place of a server.
const MODULES: [(&str, &str); 6] = [
    ("blake3.js", include_str!("site/blake3.js")),
    ("game.js", include_str!("site/game.js")),
    ("server.js", include_str!("site/server.js")),
    ("tables.js", include_str!("site/tables.js")),
    ("text.js", include_str!("site/text.js")),
    ("xxh3.js", include_str!("site/xxh3.js")),
];

/// Writes the page, with the modules that answer it before its own.
pub(super) fn write_page(to: &Path) -> Result<(), SiteError> {
    for (name, text) in MODULES {
        put(&to.join("site"), name, text)?;
    }
    let mut names = vec!["./".to_owned()];
    let mut all = Vec::new();
    for file in FILES {
        let name = file.path.trim_start_matches('/');
        all.extend_from_slice(file.text.as_bytes());
        if name.is_empty() {
            let head = "<link rel=\"manifest\" href=\"site/manifest.json\">\n\
                <script type=\"module\" src=\"site/server.js\"></script>\n\
                <script type=\"module\" src=\"site/start.js\"></script>\n";
            // Modules run in their order. There is no server to ask before they do.
            let (before, after) = file.text.split_once("<script").expect("the page has a script");
            let before: String =
                before.lines().filter(|line| !line.contains("href=\"api\"")).map(|line| format!("{line}\n")).collect();
            put(to, "index.html", format!("{before}{head}<script{after}"))?;
            names.push("index.html".to_owned());
        } else {
            put(to, name, file.text)?;
            names.push(name.to_owned());
        }
    }
    names.extend(MODULES.map(|(name, _)| format!("site/{name}")));
    names.extend(["site/site.json", "site/puzzles.json"].map(str::to_owned));
    MODULES.iter().for_each(|(_, text)| all.extend_from_slice(text.as_bytes()));
    let version = format!("{:016x}", xxh3_64(&all));
    let worker =
        include_str!("site/worker.js").replace("VERSION", &version).replace("FILES", &json!(names).to_string());
    // A worker answers for the folder it is in.
    put(to, "worker.js", worker)?;
    put(to, "site/start.js", "navigator.serviceWorker?.register(\"worker.js\").catch(() => {});\n")?;
    let manifest = json!({ "name": "Kalah", "short_name": "Kalah", "start_url": "../", "scope": "../", "display": "standalone",
        "icons": [{ "src": "icon.svg", "sizes": "any", "type": "image/svg+xml" }] });
    put(to, "site/manifest.json", manifest.to_string())?;
    put(to, "site/icon.svg", ICON)
}

/// Two pits and a store.
const ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 64 64\"><rect width=\"64\" height=\"64\" rx=\"12\" \
    fill=\"#7a4a20\"/><circle cx=\"20\" cy=\"20\" r=\"11\" fill=\"#3d230c\"/><circle cx=\"20\" cy=\"46\" r=\"11\" \
    fill=\"#3d230c\"/><rect x=\"38\" y=\"9\" width=\"18\" height=\"48\" rx=\"9\" fill=\"#3d230c\"/><circle cx=\"47\" \
    cy=\"24\" r=\"5\" fill=\"#e8d9b0\"/><circle cx=\"46\" cy=\"40\" r=\"5\" fill=\"#e8d9b0\"/></svg>\n";
