//! Joins the scripts of the page.

use std::collections::BTreeMap;
use std::path::Path;

mod join;

fn main() {
    println!("cargo::rerun-if-changed=web/page");
    println!("cargo::rerun-if-changed=build.rs");
    let page = Path::new(&std::env::var_os("OUT_DIR").expect("cargo sets it")).join("page.js");
    std::fs::write(page, join::join(&scripts(Path::new("web/page")), "app")).expect("a file in cargo's directory");
}

/// Reads the scripts in a directory, by their names without `.js`.
fn scripts(directory: &Path) -> BTreeMap<String, String> {
    let files = std::fs::read_dir(directory).expect("the scripts of the page").map(|file| file.expect("a file").path());
    let scripts = files.filter(|file| file.extension().is_some_and(|ending| ending == "js"));
    let name = |file: &Path| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    scripts.map(|file| (name(&file), std::fs::read_to_string(&file).expect("text"))).collect()
}
