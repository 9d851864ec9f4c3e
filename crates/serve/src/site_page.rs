//! Files of a site that do not depend on the tables: the page, and the scripts that replace a server.
//!
//! They are in a directory whose name comes from their contents, so that a browser never mixes files of two versions,
//! however long it keeps them.

use std::collections::BTreeMap;
use std::io::Write;

use base64::prelude::{BASE64_STANDARD, Engine};
use flate2::Compression;
use flate2::write::GzEncoder;
use kalah_base::printable::hex;
use lzma_rust2::{LzmaOptions, LzmaWriter};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::routes::{FILES, File};

/// Directory of all files except the page, its worker and the tables.
const DIRECTORY: &str = "site";

/// Scripts that replace a server, which `build.rs` joins with what they import: that of the page, and the worker.
const LOCAL: &str = include_str!(concat!(env!("OUT_DIR"), "/local.js"));
const WORKER: &str = include_str!(concat!(env!("OUT_DIR"), "/engine.js"));

/// Content that `local.js` shows and runs: the style sheets, the body, the scripts, and answers that need no engine.
/// It is packed, since many hosts compress nothing.
const PACKED: &str = "page.bin";

/// The page, with places for the folder of its files, and for the digest of the script that its policy allows. Hosts of
/// static files may not send a policy as a header.
const PAGE: &str = include_str!("../web/site/index.html");

/// Description for systems that install the page.
const MANIFEST: &[u8] = include_bytes!("../web/site/manifest.json");

/// Service worker, which a browser runs beside the page.
const OFFLINE: &str = include_str!("../web/site/offline.js");

/// Files of a site besides its tables.
pub(super) struct Site {
    /// All files except the page, by their paths in the folder.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Page, which refers to them.
    pub page: String,
}

impl Site {
    /// Returns the site with `files`, which are packed, and a `description` of the tables, whose paths in the folder
    /// are `tables`. `answers` need no engine.
    pub(crate) fn new(files: Vec<(String, Vec<u8>)>, description: &Value, answers: &Value, tables: &[String]) -> Site {
        let mut all: BTreeMap<String, Vec<u8>> = files.into_iter().map(packed).collect();
        all.insert("local.js".to_owned(), LOCAL.into());
        all.insert("manifest.json".to_owned(), MANIFEST.into());
        all.insert("site.json".to_owned(), description.to_string().into());
        let (mut body, mut script, mut style) = ("", "", String::new());
        for File { path, kind, bytes } in FILES {
            let text = || std::str::from_utf8(bytes).expect("the page is text");
            match path.trim_start_matches('/') {
                "" => body = text(),
                "page.js" => script = text(),
                _ if kind.starts_with("text/css") => style.push_str(text()),
                name => drop(all.insert(name.to_owned(), bytes.into())),
            }
        }
        let (_, body) = body.split_once("</noscript>\n").expect("a text for browsers without scripts");
        let (body, _) = body.split_once("</body>").expect("the end of the body");
        let shown = [&style, body, script, WORKER, &answers.to_string()];
        all.insert(PACKED.to_owned(), compressed(shown.join("\0").as_bytes()));
        let version = version(&all);
        let digest = BASE64_STANDARD.encode(Sha256::digest(script));
        let page = PAGE.replace("{folder}", &format!("{DIRECTORY}/{version}")).replace("{digest}", &digest);
        let mut files: BTreeMap<String, Vec<u8>> =
            all.into_iter().map(|(name, bytes)| (format!("{DIRECTORY}/{version}/{name}"), bytes)).collect();
        // A service worker answers for its own folder.
        files.insert(format!("offline-{version}.js"), offline(&version, &page, &files, tables).into());
        Site { files, page }
    }
}

/// Packs a file for which a visitor waits: many hosts send WebAssembly as it is. `unpack.js` unpacks it. Hosts have a
/// media type for files of this name, and send them unchanged.
fn packed((name, bytes): (String, Vec<u8>)) -> (String, Vec<u8>) {
    let options = LzmaOptions { lc: 4, lp: 0, pb: 0, dict_size: 1 << 22, nice_len: 273, ..LzmaOptions::with_preset(9) };
    let writer = LzmaWriter::new_use_header(Vec::new(), &options, Some(bytes.len() as u64));
    let packed = writer.and_then(|mut writer| writer.write_all(&bytes).and_then(|()| writer.finish()));
    (format!("{name}.bin"), packed.expect("memory can be written"))
}

/// Returns bytes compressed by gzip, which browsers unpack.
fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(bytes).and_then(|()| gzip.finish()).expect("memory can be written")
}

/// Returns the version of a site, a digest of its contents.
fn version(files: &BTreeMap<String, Vec<u8>>) -> String {
    let mut hasher = blake3::Hasher::new();
    let others = [("", PAGE.as_bytes()), ("offline.js", OFFLINE.as_bytes())];
    for (name, bytes) in files.iter().map(|(name, bytes)| (&**name, &**bytes)).chain(others) {
        for part in [name.as_bytes(), bytes] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// Returns the service worker of a version, with the digests of the files that it keeps: all but images for systems.
fn offline(version: &str, page: &str, files: &BTreeMap<String, Vec<u8>>, tables: &[String]) -> String {
    let digest = |bytes: &[u8]| hex(&Sha256::digest(bytes));
    let mut listed = vec![json!(["", "text/html", digest(page.as_bytes())])];
    let kept = files.iter().filter(|(path, _)| !path.ends_with(".png"));
    listed.extend(kept.map(|(path, bytes)| json!([path, kind(path), digest(bytes)])));
    let constants = [("VERSION", json!(version)), ("FILES", json!(listed)), ("TABLES", json!(tables))];
    constants.map(|(name, value)| format!("const {name} = {value};\n")).concat() + OFFLINE
}

/// Returns the media type of a file.
fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        Some("svg") => "image/svg+xml",
        Some("json") => "application/json",
        // Hosts have different types for these.
        _ => "",
    }
}
