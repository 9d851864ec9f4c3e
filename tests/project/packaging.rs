//! Workflows of the hosted CI only call scripts of the repository, so that every step can be tried anywhere. Packages
//! take their facts about the project from Cargo.toml.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs::{Permissions, set_permissions, write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, UNIX_EPOCH};

use kalah_tests::optional::{self, has_python};
use kalah_tests::program::{Ran, Run};

use crate::{read, root};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Names and texts of the workflows.
fn workflows() -> Vec<(String, String)> {
    let files = root().join(".github/workflows").read_dir().unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names.map(|name| (name.clone(), read(&format!(".github/workflows/{name}")))).collect()
}

/// Values of a key, which is the last one of its line or alone in it.
fn values<'t>(yaml: &'t str, key: &str) -> Vec<&'t str> {
    let lines = yaml.lines().map(|line| line.trim_start().trim_start_matches("- "));
    lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix(':')).map(str::trim).collect()
}

/// Names and texts of the jobs of a workflow.
fn jobs(yaml: &str) -> Vec<(String, String)> {
    let mut jobs: Vec<(String, String)> = Vec::new();
    for line in yaml.split_once("\njobs:\n").expect("jobs").1.lines() {
        let inner = line.strip_prefix("  ").filter(|inner| !inner.starts_with([' ', '#']));
        match (inner.and_then(|inner| inner.strip_suffix(':')), jobs.last_mut()) {
            (Some(name), _) => jobs.push((name.to_owned(), "\n".to_owned())),
            (None, Some((_, text))) => text.extend([line, "\n"]),
            _ => {}
        }
    }
    jobs
}

#[test]
fn workflows_call_scripts_of_the_repository_and_nothing_else() {
    let is_script = |command: &str| {
        let script = root().join(command.split(' ').next().unwrap()).metadata();
        let is_program = script.is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0);
        is_program && !command.contains(['|', ';', '&', '`', '>', '<', '('])
    };
    let mut called = Vec::new();
    for (name, yaml) in workflows() {
        // A job may have that name.
        for command in values(&yaml, "run").into_iter().filter(|command| !command.is_empty()) {
            assert!(is_script(command), "{name}: {command}");
            called.push(command.split(' ').next().unwrap().to_owned());
        }
    }
    for expected in [".ci/run", ".ci/oldest-rust", ".ci/advisories", "packaging/release", "packaging/check"] {
        assert!(called.iter().any(|script| script == expected), "{expected}: {called:?}");
    }
    for wrong in ["|", "cargo build", "packaging/release | tee log", "packaging/none", "README.md", "sudo .ci/run"] {
        assert!(!is_script(wrong), "{wrong}");
    }
}

/// A tag can be moved to other contents, a commit cannot. The version stands beside it, for readers.
#[test]
fn workflows_name_the_commits_of_actions() {
    let is_pinned = |place: &str| {
        let Some((commit, _)) = place.split_once(" # v") else { return false };
        commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let texts: Vec<_> = workflows().into_iter().map(|(_, yaml)| yaml).collect();
    let mut actions: BTreeMap<&str, &str> = BTreeMap::new();
    for action in texts.iter().flat_map(|yaml| values(yaml, "uses")) {
        let (name, place) = action.split_once('@').expect(action);
        assert!(is_pinned(place), "{action}");
        assert_eq!(*actions.entry(name).or_insert(place), place, "two versions of {name}");
    }
    assert!(actions.len() > 3, "{actions:?}");
    assert!(!is_pinned("v4") && !is_pinned(&"a1".repeat(20)) && !is_pinned("v4 # v4"));
}

/// Steps that run code of dependencies have no rights to publish, and steps that publish run none.
#[test]
fn jobs_have_the_rights_that_they_need() {
    for (name, yaml) in workflows() {
        assert!(yaml.contains("\npermissions: {}\n") || yaml.contains("\npermissions:\n  contents: read\n"), "{name}");
        for (job, text) in jobs(&yaml) {
            assert!(text.contains("\n    timeout-minutes: "), "{name}: {job} has no limit");
            if !text.contains(": write\n") {
                continue;
            }
            assert_eq!(name, "release.yml", "{job} may write");
            assert!(text.contains("\n    environment: ") && text.contains("\n    needs: "), "{job}");
            for command in values(&text, "run") {
                let may = command.starts_with("packaging/publish ") || command == "packaging/release sums";
                assert!(may, "{job} may publish, so it cannot run {command}");
            }
        }
    }
    let jobs = jobs(&read(".github/workflows/release.yml"));
    let (publishing, before): (Vec<_>, Vec<_>) = jobs.iter().partition(|(_, text)| text.contains("id-token: write"));
    let names = |jobs: &[&(String, String)]| jobs.iter().map(|job| &*job.0).collect::<Vec<_>>().join(", ");
    assert_eq!(names(&publishing), "publish, crates, python, npm");
    // The first of them runs for tags only, and after all others; the rest run after it.
    let first = &publishing[0].1;
    assert!(first.contains("if: startsWith(github.ref, 'refs/tags/')"));
    assert!(first.contains(&format!("needs: [{}]", names(&before))), "{first}");
    assert!(publishing[1..].iter().all(|(_, text)| text.contains("needs: publish\n")));
}

/// The workflow builds programs for all systems that `packaging/program` has, and no others. It builds wheels for the
/// same systems, and for the C library of most distributions.
#[test]
fn the_release_has_programs_and_wheels_for_every_system() {
    let jobs: BTreeMap<_, _> = jobs(&read(".github/workflows/release.yml")).into_iter().collect();
    let target = |line: &str| Some(line.split_once("{ target: ")?.1.split(',').next()?.to_owned());
    let built = |job: &str| jobs[job].lines().filter_map(target).collect::<Vec<_>>();
    let script = read("packaging/program");
    let cases = script.lines().filter(|line| line.contains(") features=") || line.ends_with("-musl)"));
    let mut known: Vec<_> =
        cases.flat_map(|line| line.split(')').next().unwrap().split(" | ")).map(str::to_owned).collect();
    assert_eq!(built("programs"), known);
    assert!(known.len() > 4);
    let gnu: Vec<_> =
        known.iter().filter_map(|target| Some(format!("{}-gnu", target.strip_suffix("-musl")?))).collect();
    known.splice(0..0, gnu);
    assert_eq!(built("wheels"), known);
    let wheels = &jobs["wheels"];
    assert!(wheels.contains("KALAH_FREE_THREADED: python3.14t\n") && wheels.contains("            3.14t\n"));
    let script = read("packaging/wheels");
    assert!(script.contains("manylinux_2_28") && script.contains("musllinux_1_2"));
}

/// Every part of a release has its check, and the scripts of CI name no other parts.
#[test]
fn every_part_of_a_release_is_checked() {
    let (release, check) = (read("packaging/release"), read("packaging/check"));
    let ci = read(".ci/run") + &read(".ci/long");
    let list = release.lines().find_map(|line| line.split_once("|| parts=(")?.1.strip_suffix(')'));
    let parts: Vec<&str> = list.expect("the parts that are built without arguments").split(' ').collect();
    assert!(parts.len() > 4, "{parts:?}");
    let steps = |script: &str| -> Vec<&str> {
        let commands = ci.lines().filter(|line| !line.starts_with('#'));
        let calls = commands.flat_map(|line| line.split(script).skip(1));
        calls.flat_map(|call| call.split(['&', '"']).next().unwrap().split_whitespace()).collect()
    };
    let (built, checked) = (steps("packaging/release "), steps("packaging/check "));
    assert!(built.len() > 2 && checked.len() > 2, "{built:?}, {checked:?}");
    for part in built {
        assert!(parts.contains(&part), "CI builds {part}");
    }
    for part in parts.into_iter().chain(checked) {
        assert!(check.contains(&format!("\n{part}() {{")), "packaging/check does not check {part}");
    }
}

/// Runs a script of `packaging`, in a copy of the repository or in itself. Returns `None`, with a warning, if there is
/// no Python.
fn run(root: &Path, line: &str) -> Option<Output> {
    let (script, arguments) = line.split_once(' ').unwrap();
    has_python(optional::PYTHON)
        .then(|| Command::new(root.join("packaging").join(script)).args(arguments.split(' ')).run())
}

#[test]
fn packages_have_their_version_and_origin_from_cargo_toml() {
    let Some(version) = run(root(), "metadata version") else { return };
    assert_eq!(version.printed().trim_end(), VERSION);
    assert_eq!(values(&read("CITATION.cff"), "version"), [VERSION], "CITATION.cff");
    // All crates have them from the workspace.
    let crates = root().join("crates").read_dir().unwrap();
    let names: Vec<_> = crates.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        let manifest = read(&format!("crates/{name}/Cargo.toml"));
        for key in ["version", "license", "authors", "repository", "homepage", "rust-version"] {
            assert!(manifest.contains(&format!("\n{key}.workspace = true\n")), "{name} has its own {key}");
        }
    }
    // No other file has these values.
    let control = read("packaging/debian/control");
    for field in ["Maintainer: @MAINTAINER@", "Homepage: @HOMEPAGE@", "Version: @VERSION@"] {
        assert!(control.lines().any(|line| line == field), "{field}");
    }
}

/// The first steps of a release (docs/contributing/releases.md), with made-up addresses, author and date.
#[test]
fn three_facts_and_a_date_are_all_that_a_release_lacks() {
    let copy = tempfile::tempdir().unwrap();
    let copy = copy.path();
    for name in [".ci", "Cargo.lock", "benches", "build.rs", "crates", "examples", "packaging", "src", "tests"] {
        std::os::unix::fs::symlink(root().join(name), copy.join(name)).unwrap();
    }
    let own = |line: &&str| !["repository = ", "homepage = ", "authors = "].iter().any(|key| line.starts_with(key));
    let manifest = read("Cargo.toml").lines().filter(own).collect::<Vec<_>>().join("\n");
    let facts = |repository: &str, homepage: &str, authors: &[&str]| {
        let facts = format!("repository = {repository:?}\nhomepage = {homepage:?}\nauthors = {authors:?}\n");
        let text = manifest.replacen("[workspace.package]\n", &format!("[workspace.package]\n{facts}"), 1);
        write(copy.join("Cargo.toml"), text).unwrap();
    };
    facts("", "", &[]);
    for (field, key) in [("repository", "repository = "), ("homepage", "homepage = "), ("maintainer", "authors = ")] {
        let Some(output) = run(copy, &format!("metadata {field}")) else { return };
        output.fails(1, key).prints("Cargo.toml");
    }
    let (repository, homepage) = ("https://example.org:8443/games/kalah", "https://example.org/kalah");
    let author = "A. Name <name@example.org>";
    facts(repository, homepage, &[author, "B. Name <b@example.org>"]);
    let changes = |date: &str| {
        let text = format!("# Changelog\n\n## [{VERSION}]{date}\n\n- A.\n\n## [0.0.1]\n\n- B.\n");
        write(copy.join("CHANGELOG.md"), text).unwrap();
    };
    changes(" - 2026-01-02");
    let check = format!("publish check v{VERSION}");
    for (line, expected) in [
        ("metadata repository", repository),
        ("metadata homepage", homepage),
        ("metadata maintainer", author),
        (&*check, &*format!("{repository}\n{homepage}\n{author}")),
        (&*format!("notes {VERSION}"), "\n- A."),
    ] {
        assert_eq!(run(copy, line).unwrap().printed().trim_end(), expected, "{line}");
    }
    assert!(run(root(), &format!("notes {VERSION}")).unwrap().stdout.len() > 1000, "of CHANGELOG.md");
    // Stand-ins for the clients of GitHub and npm print what they are called with.
    let (clients, package) = (copy.join("clients"), format!("kalah-{VERSION}.tgz"));
    for directory in [&clients, &copy.join("dist")] {
        std::fs::create_dir(directory).unwrap();
    }
    for client in ["gh", "npx"].map(|name| clients.join(name)) {
        write(&client, "#!/bin/sh\necho \"$0 $*\"\n").unwrap();
        set_permissions(&client, Permissions::from_mode(0o755)).unwrap();
    }
    write(copy.join("dist").join(&package), "").unwrap();
    let path = format!("{}:{}", clients.display(), std::env::var("PATH").unwrap());
    let called = |script: &str, arguments: &[&str]| {
        let mut command = Command::new(copy.join("packaging").join(script));
        command.args(arguments).env("PATH", &path).env("SOURCE_DATE_EPOCH", "1").run().success()
    };
    called("release", &["sums"]);
    let tag = &*format!("v{VERSION}");
    let release = called("publish", &["release", tag]);
    let release = release.prints(&format!("gh release create {tag} --verify-tag --notes-file"));
    release.prints(&format!("dist/{package}")).prints("dist/SHA256SUMS");
    // npm takes `dist/FILE` for a repository of GitHub.
    called("publish", &["npm", tag]).prints(&format!(" publish ./dist/{package} "));
    changes("");
    run(copy, &check).unwrap().exits(1).prints("CHANGELOG.md");
    run(copy, "publish check v0.0.0").unwrap().fails(1, "is not that of version");
    run(copy, "publish --check v0.0.0").unwrap().exits(2);
}

/// Crates are published after those that they use.
#[test]
fn crates_are_in_the_order_of_their_dependencies() {
    let Some(output) = run(root(), "metadata crates") else { return };
    let (listed, mut manifests) = (output.printed(), String::new());
    let names: Vec<_> = listed.lines().collect();
    assert_eq!((names[0], names[names.len() - 1], names.len()), ("kalah-core", "kalah", 14));
    for name in names {
        let folder = name.strip_prefix("kalah-").map_or(String::new(), |name| format!("crates/{name}/"));
        let manifest = read(&format!("{folder}Cargo.toml"));
        manifests += manifest.split_once("\n[dependencies]").unwrap().1.split("\n[").next().unwrap();
        assert!(!manifests.contains(&format!("\n{name}.workspace")), "it or an earlier one uses {name}");
    }
}

/// The same files give the same archive, whatever their times, and whoever has made them.
#[test]
fn archives_depend_on_the_contents_of_files_only() {
    // The second folder is made in another order, with another time and mode.
    let made = [(["kalah", "man/b"], 1, 0o755), (["man/b", "kalah"], 2, 0o700)].map(|(names, time, mode)| {
        let folder = tempfile::tempdir().unwrap();
        let files = folder.path().join("kalah-0");
        std::fs::create_dir_all(files.join("man")).unwrap();
        names.iter().for_each(|name| write(files.join(name), name).unwrap());
        set_permissions(files.join("kalah"), Permissions::from_mode(mode)).unwrap();
        let time = UNIX_EPOCH + Duration::from_secs(time);
        std::fs::File::open(files.join("kalah")).unwrap().set_modified(time).unwrap();
        ["kalah.tar.gz", "kalah.zip"].map(|name| {
            let archive = folder.path().join(name);
            run(root(), &format!("archive {} {} 1700000000", files.display(), archive.display()))?.success();
            let bytes = std::fs::read(archive).unwrap();
            assert!(bytes.len() > 50, "{name}");
            Some(bytes)
        })
    });
    assert!(made[0] == made[1]);
}
