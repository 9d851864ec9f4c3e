//! Finds the commit that the program is built from, for `kalah --version` and the log of builds: of a git checkout by asking git, of a package by the
//! file that cargo puts into it. Elsewhere there is none, and nothing fails.

use std::path::Path;
use std::process::Command;

fn main() {
    // When these change the program is compiled anyway, so this costs no build: a commit that leaves them as they are does
    // not change what was built, and the commit before it still names it.
    for path in ["src", "crates", "../core/src", "shaders", "Cargo.toml", "Cargo.lock", ".cargo_vcs_info.json"] {
        if Path::new(path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
    if let Some(commit) = of_package().or_else(of_checkout) {
        println!("cargo::rustc-env=KALAH_COMMIT={commit}");
    }
}

/// Of a package: `"sha1": "..."`.
fn of_package() -> Option<String> {
    let info = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let after = info.split_once("\"sha1\"")?.1;
    let commit = after.split('"').nth(1)?;
    let changed = if info.contains("\"dirty\": true") { ", changed" } else { "" };
    is_commit(commit).then(|| format!("{}{changed}", &commit[..12]))
}

/// Of a checkout whose root is this directory, or the one of the workspace: a directory below another project's checkout is none.
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

/// What git prints; `None` where it fails or there is no git.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
