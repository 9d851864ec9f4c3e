//! Workflows of the hosted CI only call scripts of the repository, so that every step can be tried anywhere. Packages
//! take their facts about the project from Cargo.toml.
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

/// Values of a key, which is the last one of its line or alone in it.
fn values<'t>(yaml: &'t str, key: &str) -> Vec<&'t str> {
    let lines = yaml.lines().map(|line| line.trim_start().trim_start_matches("- "));
    lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix(':')).map(str::trim).collect()
}

/// Returns the fault of a workflow step that runs `command`, or `None`.
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

/// A tag can be moved to other contents, a commit cannot.
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

/// Runs a script of `packaging`. Returns `None`, with a warning, if there is no Python.
fn run(arguments: &[&str]) -> Option<Output> {
    run_in(root(), arguments)
}

/// Does the same in a copy of the repository.
fn run_in(directory: &Path, arguments: &[&str]) -> Option<Output> {
    if std::env::var_os("KALAH_SKIP_PYTHON").is_some() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: {arguments:?} is not tested, KALAH_SKIP_PYTHON is set");
        return None;
    }
    let script = directory.join("packaging").join(arguments[0]);
    Some(Command::new(script).args(&arguments[1..]).output().unwrap())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}

#[test]
fn packages_have_their_version_and_origin_from_cargo_toml() {
    let Some(version) = run(&["metadata", "version"]) else { return };
    assert_eq!(text(&version.stdout), env!("CARGO_PKG_VERSION"), "{}", text(&version.stderr));
    let cited = read("CITATION.cff");
    assert_eq!(values(&cited, "version"), [env!("CARGO_PKG_VERSION")], "CITATION.cff");
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
            // Colons separate the authors; an address has one itself.
            let first = if field == "maintainer" { value.split(':').next().unwrap_or(value) } else { value };
            assert_eq!(text(&output.stdout), first);
        }
    }
    // No other file has these values.
    let control = read("packaging/debian/control");
    for field in ["Maintainer: @MAINTAINER@", "Homepage: @HOMEPAGE@", "Version: @VERSION@"] {
        assert!(control.lines().any(|line| line == field), "{field}");
    }
}

/// The first step of a release (docs/packages.md), with a made-up address and author.
#[test]
fn a_repository_and_an_author_are_all_that_a_release_lacks() {
    let copy = tempfile::tempdir().unwrap();
    for name in [".ci", "Cargo.lock", "benches", "build.rs", "crates", "examples", "packaging", "src", "tests"] {
        std::os::unix::fs::symlink(root().join(name), copy.path().join(name)).unwrap();
    }
    let own = |line: &&str| !line.starts_with("repository = ") && !line.starts_with("authors = ");
    let manifest = read("Cargo.toml");
    let manifest = manifest.lines().filter(own).collect::<Vec<_>>().join("\n");
    let (repository, author) = ("https://example.org:8443/games/kalah", "A. Name <name@example.org>");
    let added =
        format!("[package]\nrepository = {repository:?}\nauthors = [{author:?}, \"B. Name <b@example.org>\"]\n");
    std::fs::write(copy.path().join("Cargo.toml"), manifest.replacen("[package]\n", &added, 1)).unwrap();
    for (arguments, expected) in [
        (&["metadata", "repository"][..], repository.to_owned()),
        (&["metadata", "maintainer"], author.to_owned()),
        (&["publish", "--check", concat!("v", env!("CARGO_PKG_VERSION"))], format!("{repository}\n{author}")),
    ] {
        let Some(output) = run_in(copy.path(), arguments) else { return };
        assert_eq!(text(&output.stdout), expected, "{arguments:?}: {}", text(&output.stderr));
        assert!(output.status.success(), "{arguments:?}");
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

/// Files of the repository that a text names.
#[cfg(feature = "cli")]
fn named(text: &str) -> std::collections::BTreeSet<&str> {
    let words =
        text.split(|c: char| !(c.is_ascii_alphanumeric() || "/.-".contains(c))).map(|word| word.trim_end_matches('.'));
    let is_named = |word: &&str| {
        let Some((directory, name)) = word.split_once('/') else { return false };
        ["docs", "cluster", "tables"].contains(&directory)
            && !name.contains('/')
            && [".md", ".sh", ".jsonl"].iter().any(|ending| name.ends_with(ending))
    };
    words.filter(is_named).collect()
}

#[cfg(feature = "cli")]
#[test]
fn packages_have_the_files_that_help_names() {
    let directory = tempfile::tempdir().unwrap();
    let (pages, documents) = (directory.path().join("man"), directory.path().join("documents"));
    assert!(Command::new(env!("CARGO_BIN_EXE_kalah")).arg("man").arg(&pages).output().unwrap().status.success());
    // This script needs no Python.
    let copied = Command::new(root().join("packaging/documents")).arg(&documents).output().unwrap();
    assert!(copied.status.success(), "{}", text(&copied.stderr));
    let mut names = 0;
    for page in pages.read_dir().unwrap() {
        let page = std::fs::read_to_string(page.unwrap().path()).unwrap().replace("\\-", "-");
        for name in named(&page) {
            assert!(documents.join(name).is_file(), "{name} is not in the packages");
            names += 1;
        }
    }
    assert!(names > 5, "only {names} files are named");
    assert_eq!(
        named("see docs/a-b.md, tables/x.book and cluster/c.sh.").into_iter().collect::<Vec<_>>(),
        ["cluster/c.sh", "docs/a-b.md"]
    );
    let release = read("packaging/release");
    assert_eq!(
        release.matches("\n    packaging/documents ").count(),
        2,
        "of the static program and the Debian package"
    );
}
