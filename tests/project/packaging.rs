//! Workflows of the hosted CI only call scripts of the repository, so that every step can be tried anywhere. Packages
//! take their facts about the project from Cargo.toml.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kalah_tests::optional::{self, has_python};

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
        let mut scripts = commands.iter().map(|command| command.split(' ').next().unwrap());
        assert!(scripts.any(|script| script == expected), "{expected}: {commands:?}");
    }
    for wrong in
        ["|", "cargo build", "packaging/release | tee log", "packaging/none", "README.md", "sudo packaging/release"]
    {
        assert!(fault(wrong).is_some(), "{wrong}");
    }
}

/// A tag can be moved to other contents, a commit cannot. The version stands beside it, for readers.
#[test]
fn workflows_name_the_commits_of_actions() {
    let mut commits = std::collections::BTreeMap::new();
    for workflow in workflows() {
        let yaml = std::fs::read_to_string(&workflow).unwrap();
        for action in values(&yaml, "uses") {
            let (name, commit, version) = pinned(action).unwrap_or_else(|| panic!("{action}"));
            let known = commits.entry(name.to_owned()).or_insert_with(|| (commit.to_owned(), version.to_owned()));
            assert_eq!((known.0.as_str(), known.1.as_str()), (commit, version), "two versions of {name}");
        }
    }
    assert!(commits.len() > 3, "only these actions were found: {commits:?}");
    assert_eq!(pinned("actions/checkout@v4"), None);
    assert_eq!(pinned(&format!("actions/checkout@{}", "a1".repeat(20))), None);
}

/// Name, commit and version of an action: `NAME@COMMIT # vVERSION`.
fn pinned(action: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = action.split_once('@')?;
    let (commit, version) = rest.split_once(" # v")?;
    let is_commit = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit.then_some((name, commit, version))
}

/// Jobs of a workflow: names and texts.
fn jobs(yaml: &str) -> Vec<(&str, &str)> {
    let text = yaml.split_once("\njobs:\n").expect("jobs").1;
    let is_name = |line: &&str| line.starts_with("  ") && !line[2..].starts_with([' ', '#']) && line.ends_with(":\n");
    let starts: Vec<&str> = text.split_inclusive('\n').filter(is_name).collect();
    let at: Vec<usize> = starts.iter().map(|name| name.as_ptr() as usize - text.as_ptr() as usize).collect();
    let ends = at.iter().skip(1).copied().chain([text.len()]);
    starts
        .iter()
        .zip(at.iter().zip(ends))
        .map(|(name, (&at, end))| (name.trim().trim_end_matches(':'), &text[at..end]))
        .collect()
}

/// Steps that run code of dependencies have no rights to publish, and steps that publish run none.
#[test]
fn jobs_have_the_rights_that_they_need() {
    for workflow in workflows() {
        let yaml = std::fs::read_to_string(&workflow).unwrap();
        let name = workflow.file_name().unwrap().to_str().unwrap();
        assert!(yaml.contains("\npermissions: {}\n") || yaml.contains("\npermissions:\n  contents: read\n"), "{name}");
        for (job, text) in jobs(&yaml) {
            assert!(text.contains("\n    timeout-minutes: "), "{name}: {job} has no limit");
            if !text.contains(": write\n") {
                continue;
            }
            assert_eq!(name, "release.yml", "{job} may write");
            assert!(text.contains("\n    environment: ") && text.contains("\n    needs: "), "{job}");
            for command in values(text, "run") {
                let may = command.starts_with("packaging/publish ") || command == "packaging/release sums";
                assert!(may, "{job} may publish, so it cannot run {command}");
            }
        }
    }
    let release = read(".github/workflows/release.yml");
    let publishing: Vec<_> = jobs(&release).into_iter().filter(|(_, text)| text.contains("id-token: write")).collect();
    let names: Vec<_> = publishing.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["publish", "crates", "python", "npm"]);
    // The first of them runs for tags only, and after all others; the rest run after it.
    let before: Vec<_> = jobs(&release).iter().map(|(name, _)| *name).take_while(|&name| name != "publish").collect();
    assert!(publishing[0].1.contains("if: startsWith(github.ref, 'refs/tags/')"));
    assert!(publishing[0].1.contains(&format!("needs: [{}]", before.join(", "))), "{before:?}");
    assert!(publishing[1..].iter().all(|(_, text)| text.contains("needs: publish\n")));
}

/// The workflow builds programs for all systems that `packaging/program` has, and no others; and wheels.
#[test]
fn the_release_has_programs_and_wheels_for_every_system() {
    let release = read(".github/workflows/release.yml");
    let (_, programs) = jobs(&release).into_iter().find(|(name, _)| *name == "programs").unwrap();
    let built = targets(programs);
    let script = read("packaging/program");
    let cases = script.lines().filter(|line| line.contains(") features=") || line.ends_with("-musl)"));
    let known: Vec<_> = cases.flat_map(|line| line.split(')').next().unwrap().split(" | ")).collect();
    assert_eq!(built, known);
    assert!(known.len() > 4);
    // Wheels for the same systems, and for the C library of most distributions.
    let (_, wheels) = jobs(&release).into_iter().find(|(name, _)| *name == "wheels").unwrap();
    let of = |target: &&str| target.ends_with("-musl").then(|| target.replace("-musl", "-gnu"));
    let mut expected: Vec<String> = known.iter().filter_map(of).collect();
    expected.extend(known.iter().map(|&target| target.to_owned()));
    assert_eq!(targets(wheels), expected);
    assert!(wheels.contains("KALAH_FREE_THREADED: python3.14t\n") && wheels.contains("            3.14t\n"));
    let script = read("packaging/wheels");
    assert!(script.contains("manylinux_2_28") && script.contains("musllinux_1_2"));
}

/// Targets in the matrix of a job.
fn targets(job: &str) -> Vec<&str> {
    job.lines().filter_map(|line| line.split_once("{ target: ")?.1.split(',').next()).collect()
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
        line.trim_end_matches('"').split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    let kept = steps("    \"packaging/release");
    assert!(kept.len() > 2, "{kept:?}");
    for part in steps("packaging/release").iter().chain(&kept) {
        assert!(parts.contains(&part.as_str()), ".ci/run builds {part}");
    }
    for part in steps("packaging/check") {
        assert!(check.contains(&format!("\n{part}() {{")), ".ci/run checks {part}");
    }
}

/// Runs a script of `packaging`. Returns `None`, with a warning, if there is no Python.
fn run(arguments: &[&str]) -> Option<Output> {
    run_in(root(), arguments)
}

/// Does the same in a copy of the repository.
fn run_in(directory: &Path, arguments: &[&str]) -> Option<Output> {
    if !has_python(optional::PYTHON) {
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
        ("homepage", env!("CARGO_PKG_HOMEPAGE"), "homepage = "),
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
    for name in [".ci", "Cargo.lock", "benches", "build.rs", "crates", "examples", "packaging", "src", "tests"] {
        std::os::unix::fs::symlink(root().join(name), copy.path().join(name)).unwrap();
    }
    let own = |line: &&str| !["repository = ", "homepage = ", "authors = "].iter().any(|key| line.starts_with(key));
    let manifest = read("Cargo.toml");
    let manifest = manifest.lines().filter(own).collect::<Vec<_>>().join("\n");
    let (repository, author) = ("https://example.org:8443/games/kalah", "A. Name <name@example.org>");
    let homepage = "https://example.org/kalah";
    let added = format!(
        "[workspace.package]\nrepository = {repository:?}\nhomepage = {homepage:?}\n\
         authors = [{author:?}, \"B. Name <b@example.org>\"]\n"
    );
    std::fs::write(copy.path().join("Cargo.toml"), manifest.replacen("[workspace.package]\n", &added, 1)).unwrap();
    let changes = |date: &str| {
        let text = format!("# Changelog\n\n## [{}]{date}\n\n- A.\n\n## [0.0.1]\n\n- B.\n", env!("CARGO_PKG_VERSION"));
        std::fs::write(copy.path().join("CHANGELOG.md"), text).unwrap();
    };
    changes(" - 2026-01-02");
    let tag = concat!("v", env!("CARGO_PKG_VERSION"));
    for (arguments, expected) in [
        (&["metadata", "repository"][..], repository.to_owned()),
        (&["metadata", "homepage"], homepage.to_owned()),
        (&["metadata", "maintainer"], author.to_owned()),
        (&["publish", "check", tag], format!("{repository}\n{homepage}\n{author}")),
        (&["notes", env!("CARGO_PKG_VERSION")], "\n- A.".to_owned()),
    ] {
        let Some(output) = run_in(copy.path(), arguments) else { return };
        assert_eq!(text(&output.stdout), expected, "{arguments:?}: {}", text(&output.stderr));
        assert!(output.status.success(), "{arguments:?}");
    }
    assert!(run(&["notes", env!("CARGO_PKG_VERSION")]).unwrap().stdout.len() > 1000, "of CHANGELOG.md");
    // Stand-ins for the clients of GitHub and npm print what they are called with.
    let (clients, dist) = (copy.path().join("clients"), copy.path().join("dist"));
    for directory in [&clients, &dist] {
        std::fs::create_dir(directory).unwrap();
    }
    for client in ["gh", "npx"] {
        std::fs::write(clients.join(client), "#!/bin/sh\necho \"$0 $*\"\n").unwrap();
        std::fs::set_permissions(clients.join(client), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let package = format!("kalah-{}.tgz", env!("CARGO_PKG_VERSION"));
    std::fs::write(dist.join(&package), "").unwrap();
    let path = format!("{}:{}", clients.display(), std::env::var("PATH").unwrap());
    let called = |arguments: &[&str]| {
        let mut script = Command::new(copy.path().join("packaging").join(arguments[0]));
        script.args(&arguments[1..]).env("PATH", &path).env("SOURCE_DATE_EPOCH", "1");
        let output = script.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout).lines().last().unwrap_or_default().to_owned()
    };
    called(&["release", "sums"]);
    let release = called(&["publish", "release", tag]);
    assert!(release.contains(&format!("gh release create {tag} --verify-tag --notes-file")), "{release}");
    assert!(release.contains(&format!("dist/{package}")) && release.contains("dist/SHA256SUMS"), "{release}");
    // npm takes `dist/FILE` for a repository of GitHub.
    let npm = called(&["publish", "npm", tag]);
    assert!(npm.contains(&format!(" publish ./dist/{package} ")), "{npm}");
    changes("");
    let undated = run_in(copy.path(), &["publish", "check", tag]).unwrap();
    assert!(!undated.status.success() && text(&undated.stderr).contains("CHANGELOG.md"));
}

#[test]
fn a_release_is_published_under_the_tag_of_its_version_only() {
    let Some(wrong) = run(&["publish", "check", "v0.0.0"]) else { return };
    assert_eq!(wrong.status.code(), Some(1));
    assert!(text(&wrong.stderr).contains("is not that of version"), "{}", text(&wrong.stderr));
    let own = run(&["publish", "check", concat!("v", env!("CARGO_PKG_VERSION"))]).unwrap();
    let is_dated = read("CHANGELOG.md").contains(concat!("\n## [", env!("CARGO_PKG_VERSION"), "] - 20"));
    let is_filled_in = !env!("CARGO_PKG_REPOSITORY").is_empty()
        && !env!("CARGO_PKG_HOMEPAGE").is_empty()
        && env!("CARGO_PKG_AUTHORS").contains('@');
    assert_eq!(own.status.success(), is_dated && is_filled_in, "{}", text(&own.stderr));
    assert_eq!(run(&["publish", "--check", "v0.0.0"]).unwrap().status.code(), Some(2));
}

/// Crates are published after those that they use.
#[test]
fn crates_are_in_the_order_of_their_dependencies() {
    let Some(output) = run(&["metadata", "crates"]) else { return };
    let listed = text(&output.stdout);
    let names: Vec<_> = listed.lines().collect();
    assert_eq!((names[0], names[names.len() - 1], names.len()), ("kalah-core", "kalah", 14));
    for (at, name) in names.iter().enumerate() {
        let path =
            name.strip_prefix("kalah-").map_or("Cargo.toml".to_owned(), |name| format!("crates/{name}/Cargo.toml"));
        let manifest = read(&path);
        let used = manifest.split_once("\n[dependencies]\n").unwrap().1.split("\n[").next().unwrap();
        for later in &names[at..] {
            assert!(!used.contains(&format!("\n{later}.workspace")), "{name} uses {later}");
        }
    }
}

/// The same files give the same archive, whatever their times, and whoever has made them.
#[test]
fn archives_depend_on_the_contents_of_files_only() {
    let folder = tempfile::tempdir().unwrap();
    let archive = |copy: &str, file: &str| {
        let files = folder.path().join(copy).join("kalah-0");
        std::fs::create_dir_all(files.join("man")).unwrap();
        // In another order, with another mode.
        let names = if copy == "a" { ["kalah", "man/b"] } else { ["man/b", "kalah"] };
        for name in names {
            std::fs::write(files.join(name), name).unwrap();
        }
        let mode = if copy == "a" { 0o755 } else { 0o700 };
        std::fs::set_permissions(files.join("kalah"), std::fs::Permissions::from_mode(mode)).unwrap();
        let path = folder.path().join(copy).join(file);
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(if copy == "a" { 1 } else { 2 });
        std::fs::File::open(files.join("kalah")).unwrap().set_modified(time).unwrap();
        let arguments = ["archive", files.to_str().unwrap(), path.to_str().unwrap(), "1700000000"];
        Some((run(&arguments)?.status.success(), std::fs::read(path).unwrap()))
    };
    for file in ["kalah.tar.gz", "kalah.zip"] {
        let Some(first) = archive("a", file) else { return };
        assert!(first.0 && first.1.len() > 50);
        assert!(first == archive("b", file).unwrap(), "{file}");
    }
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
    if optional::tracked(root()).is_none() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let (pages, documents) = (directory.path().join("man"), directory.path().join("documents"));
    assert!(Command::new(env!("CARGO_BIN_EXE_kalah")).arg("man").arg(&pages).output().unwrap().status.success());
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
    for script in ["packaging/program", "packaging/release"] {
        let calls = read(script).lines().filter(|line| line.trim_start().starts_with("packaging/documents ")).count();
        assert_eq!(calls, 1, "{script}");
    }
}
