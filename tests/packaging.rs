//! The workflows of the hosted CI only call scripts of the repository, so that what they do can be tried anywhere; and what packages
//! say about the project comes from Cargo.toml.
#![cfg(unix)]

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

fn workflows() -> Vec<PathBuf> {
    root().join(".github/workflows").read_dir().unwrap().map(|file| file.unwrap().path()).collect()
}

/// The values of a key, which is the last one of its line, or alone in it.
fn values<'t>(yaml: &'t str, key: &str) -> Vec<&'t str> {
    let lines = yaml.lines().map(|line| line.trim_start().trim_start_matches("- "));
    lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix(':')).map(str::trim).collect()
}

/// What is wrong with a step of a workflow that runs `command`, if anything.
fn fault(command: &str) -> Option<&'static str> {
    if command.contains(['|', ';', '&', '`', '>', '<', '(']) || command.starts_with("sudo") {
        return Some("is more than a call of a script");
    }
    let script = root().join(command.split(' ').next()?);
    match script.metadata() {
        Ok(file) if file.is_file() && file.permissions().mode() & 0o111 != 0 => None,
        _ => Some("calls no script of the repository"),
    }
}

#[test]
fn workflows_call_scripts_of_the_repository_and_nothing_else() {
    let mut commands = Vec::new();
    for workflow in workflows() {
        let yaml = std::fs::read_to_string(&workflow).unwrap();
        for command in values(&yaml, "run") {
            // A job may have that name.
            if command.is_empty() {
                continue;
            }
            assert_eq!(fault(command), None, "{}: {command}", workflow.display());
            commands.push(command.to_owned());
        }
    }
    for expected in [".ci/run", ".ci/oldest-rust", ".ci/advisories", "packaging/release", "packaging/check"] {
        assert!(commands.iter().any(|command| command == expected), "{expected}: {commands:?}");
    }
    for wrong in
        ["|", "cargo build", "packaging/release | tee log", "packaging/none", "README.md", "sudo packaging/release"]
    {
        assert!(fault(wrong).is_some(), "{wrong}");
    }
}

/// A tag can be moved to something else, a commit cannot.
#[test]
fn workflows_name_the_commits_of_actions() {
    let mut actions = 0;
    for workflow in workflows() {
        let yaml = std::fs::read_to_string(&workflow).unwrap();
        for action in values(&yaml, "uses") {
            let commit = action.split(['@', ' ']).nth(1).unwrap();
            assert!(commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()), "{action}");
            actions += 1;
        }
    }
    assert!(actions > 3, "only {actions} actions were found");
}

/// Every part of a release has its check, and `.ci/run` names no other parts.
#[test]
fn every_part_of_a_release_is_checked() {
    let release = read("packaging/release");
    let list = release.lines().find_map(|line| line.split_once("|| parts=(")?.1.strip_suffix(')'));
    let parts: Vec<&str> = list.expect("the parts that are built without arguments").split(' ').collect();
    assert!(parts.len() > 4, "{parts:?}");
    let (check, ci) = (read("packaging/check"), read(".ci/run"));
    for part in &parts {
        assert!(check.contains(&format!("\n{part}() {{")), "packaging/check does not check {part}");
    }
    let steps = |script: &str| {
        let line = ci.lines().find_map(|line| line.strip_prefix(script)).unwrap_or_else(|| panic!("{script}"));
        line.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    for part in steps("packaging/release") {
        assert!(parts.contains(&part.as_str()), ".ci/run builds {part}");
    }
    for part in steps("packaging/check") {
        assert!(parts.contains(&part.as_str()) || part == "compile", ".ci/run checks {part}");
    }
}

/// Runs a script of `packaging`; `None`, with a warning, where there is no Python.
fn run(arguments: &[&str]) -> Option<Output> {
    if std::env::var_os("KALAH_SKIP_PYTHON").is_some() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: {arguments:?} is not tested, KALAH_SKIP_PYTHON is set");
        return None;
    }
    let script = root().join("packaging").join(arguments[0]);
    Some(Command::new(script).args(&arguments[1..]).output().unwrap())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}

#[test]
fn packages_have_their_version_and_origin_from_cargo_toml() {
    let Some(version) = run(&["metadata", "version"]) else { return };
    assert_eq!(text(&version.stdout), env!("CARGO_PKG_VERSION"), "{}", text(&version.stderr));
    for (field, value, key) in [
        ("repository", env!("CARGO_PKG_REPOSITORY"), "repository = "),
        ("maintainer", env!("CARGO_PKG_AUTHORS"), "authors = "),
    ] {
        let output = run(&["metadata", field]).unwrap();
        if value.is_empty() {
            assert!(!output.status.success() && output.stdout.is_empty());
            let error = text(&output.stderr);
            assert!(error.contains(key) && error.contains("Cargo.toml"), "{error}");
        } else {
            assert_eq!(text(&output.stdout), value.split(':').next().unwrap_or(value));
        }
    }
    // Nothing else has them.
    let control = read("packaging/debian/control");
    for field in ["Maintainer: @MAINTAINER@", "Homepage: @HOMEPAGE@", "Version: @VERSION@"] {
        assert!(control.lines().any(|line| line == field), "{field}");
    }
}

#[test]
fn a_release_is_published_under_the_tag_of_its_version_only() {
    let Some(wrong) = run(&["publish", "--check", "v0.0.0"]) else { return };
    assert_eq!(wrong.status.code(), Some(1));
    assert!(text(&wrong.stderr).contains("is not that of version"), "{}", text(&wrong.stderr));
    let own = run(&["publish", "--check", concat!("v", env!("CARGO_PKG_VERSION"))]).unwrap();
    let can_be = !env!("CARGO_PKG_REPOSITORY").is_empty() && env!("CARGO_PKG_AUTHORS").contains('@');
    assert_eq!(own.status.success(), can_be, "{}", text(&own.stderr));
}
