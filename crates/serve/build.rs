//! Joins the scripts of the page, and those of a static site.

use std::collections::BTreeMap;
use std::path::Path;

mod join;

fn main() {
    println!("cargo::rerun-if-changed=web/page");
    println!("cargo::rerun-if-changed=web/site");
    println!("cargo::rerun-if-changed=build.rs");
    let output = std::env::var_os("OUT_DIR").expect("cargo sets it");
    for (folder, main, name) in
        [("web/page", "app", "page.js"), ("web/site", "engine", "engine.js"), ("web/site", "local", "local.js")]
    {
        let joined = join::join(&scripts(Path::new(folder)), main);
        std::fs::write(Path::new(&output).join(name), joined).expect("a file in cargo's directory");
    }
}

/// Reads the scripts in a directory, by their names without `.js`.
fn scripts(directory: &Path) -> BTreeMap<String, String> {
    let files = std::fs::read_dir(directory).expect("the scripts of the page").map(|file| file.expect("a file").path());
    let scripts = files.filter(|file| file.extension().is_some_and(|ending| ending == "js"));
    let name = |file: &Path| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    scripts.map(|file| (name(&file), std::fs::read_to_string(&file).expect("text"))).collect()
}
