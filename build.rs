//! Finds the commit that the program is built from, for `kalah --version` and the build log. In a
//! git checkout git reports it; in a package, a file from cargo does. Elsewhere the commit is
//! unknown, which is no error.

use std::path::Path;
use std::process::Command;

fn main() {
    // Changes to these files recompile the program anyway, so watching them costs nothing. A commit
    // that leaves them alone does not change the build, and the previous commit still names it.
    for path in ["src", "crates", "../core/src", "shaders", "web", "Cargo.toml", "Cargo.lock", ".cargo_vcs_info.json"] {
        if Path::new(path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
    if let Some(commit) = of_package().or_else(of_checkout) {
        println!("cargo::rustc-env=KALAH_COMMIT={commit}");
    }
}

/// Reads the commit of a package: `"sha1": "..."`.
fn of_package() -> Option<String> {
    let info = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let after = info.split_once("\"sha1\"")?.1;
    let commit = after.split('"').nth(1)?;
    let changed = if info.contains("\"dirty\": true") { ", changed" } else { "" };
    is_commit(commit).then(|| format!("{}{changed}", &commit[..12]))
}

/// Asks git for the commit, if this directory or its workspace is the root of the checkout. A
/// directory inside another project's checkout does not count.
fn of_checkout() -> Option<String> {
    let root = git(&["rev-parse", "--show-toplevel"])?;
    let here = std::env::var_os("CARGO_MANIFEST_DIR")?;
    let (root, here) = (Path::new(&root).canonicalize().ok()?, Path::new(&here).canonicalize().ok()?);
    if here != root && here.parent() != Some(&root.join("crates")) {
        return None;
    }
    let commit = git(&["rev-parse", "HEAD"]).filter(|commit| is_commit(commit))?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|changes| !changes.is_empty());
    Some(format!("{}{}", &commit[..12], if changed { ", changed" } else { "" }))
}

fn is_commit(text: &str) -> bool {
    text.len() >= 12 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Output of git; `None` if git fails or is missing.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
