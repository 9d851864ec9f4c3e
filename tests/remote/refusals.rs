//! Clear errors, with the exit codes that scripts rely on.

use std::process::Stdio;
use std::time::{Duration, Instant};

use kalah::game::Rules;
use kalah::remote::Address;
use kalah::table::{ProbeError, TableError, Tables};

use crate::server::{Fault, SEEDS, Server, TABLES, copied, kalah, run, shown};

const POSITION: &str = "1,2,1,0,1,2/0,3,0,1,1,1";

/// Runs `kalah probe` with the tables at `address`. Returns exit code and messages.
fn probe(address: &str) -> (i32, String) {
    let cache = tempfile::tempdir().unwrap();
    let (code, _, message) = run(&["probe", POSITION, "--tables", address, "--cache", shown(cache.path())]);
    (code, message)
}

#[test]
fn refusals_and_absence_are_reported() {
    for (status, text) in [(401, "status 401"), (403, "access is refused")] {
        let server = Server::of(TABLES.path());
        server.next(vec![Fault::Status(status); 300]);
        let (code, message) = probe(&server.address);
        assert!(code == 1 && message.contains(text), "{message}");
    }
    let server = Server::of(TABLES.path());
    let (code, message) = probe(&server.address.replace("/tables", "/other"));
    assert_eq!(code, 1);
    assert!(message.contains("there are no tables at"), "{message}");
}

#[test]
fn a_server_without_ranges_is_reported() {
    let server = Server::of(TABLES.path());
    server.ignore_ranges();
    let (code, message) = probe(&server.address);
    assert_eq!(code, 1);
    assert!(message.contains("ignores range requests"), "{message}");
}

#[test]
fn no_server_and_no_encryption_are_reported() {
    let server = Server::of(TABLES.path());
    let (code, message) = probe(&server.address.replace("http:", "https:"));
    assert_eq!(code, 1);
    assert!(message.contains("cannot be trusted") || message.contains("no answer"), "{message}");
    let address = server.address.clone();
    drop(server);
    let (code, message) = probe(&address);
    assert_eq!(code, 1, "{message}");
    for address in ["ftp://127.0.0.1/tables", "https://"] {
        let (code, message) = probe(address);
        assert!(code != 0 && message.contains("is not an address of tables"), "{code} {message}");
    }
}

#[test]
fn proxies_of_the_environment_are_used() {
    let proxy = Server::of(TABLES.path());
    let cache = tempfile::tempdir().unwrap();
    let arguments = ["probe", POSITION, "--tables", "http://kalah.invalid/tables", "--cache", shown(cache.path())];
    let output = kalah(&arguments).env("HTTP_PROXY", proxy.address.replace("/tables", "")).output().unwrap();
    // The proxy reaches no such host.
    assert_eq!(output.status.code(), Some(1));
    assert!(!proxy.requests().is_empty());
}

#[test]
fn nothing_is_built_at_an_address() {
    let server = Server::of(TABLES.path());
    for arguments in [
        &["build", "--seeds", "14"][..],
        &["bounds", "--seeds", "9"],
        &["archive", "pack"],
        &["solve", "2,2,1,1,1,2/1,3,1,1,1,1", "--build"],
    ] {
        let mut arguments = arguments.to_vec();
        arguments.extend(["--tables", &*server.address]);
        let (code, _, message) = run(&arguments);
        assert_eq!(code, 2, "{arguments:?}: {message}");
        assert!(message.contains("at an address"), "{message}");
    }
    assert_eq!(server.requests(), []);
}

#[test]
fn a_bucket_has_an_address() {
    let (server, cache) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    let arguments = ["probe", POSITION, "--tables", "s3://tables", "--cache", shown(cache.path())];
    let endpoint = server.address.replace("/tables", "");
    let output = kalah(&arguments).env("AWS_ENDPOINT_URL", endpoint).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The server of these tests looks for the path as it is in the request.
#[test]
fn a_bucket_may_have_spaces_in_its_path() {
    let (directory, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::rename(copied().keep(), directory.path().join("my%20tables")).unwrap();
    let server = Server::of(directory.path());
    let arguments = |path| ["probe", POSITION, "--tables", path, "--cache", shown(cache.path())];
    let endpoint = server.address.replace("/tables", "");
    let output = kalah(&arguments("s3://tables/my tables")).env("AWS_ENDPOINT_URL", &endpoint).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = kalah(&arguments("s3://tables/no tables")).env("AWS_ENDPOINT_URL", &endpoint).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("there are no tables at s3://tables/no tables"), "{message}");
}

#[test]
fn a_lookup_can_be_interrupted_and_repeated() {
    let (server, cache) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    let remote = server.open(cache.path());
    let tables = Tables::open(remote.directory(), Rules::EmptyCapture, 6, SEEDS).unwrap();
    let position = POSITION.parse().unwrap();
    for fault in [Fault::Silent, Fault::Status(503)] {
        server.always(Some(fault));
        server.requests();
        std::thread::scope(|scope| {
            let lookup = scope.spawn(|| tables.score(&position));
            let start = Instant::now();
            while server.requests().is_empty() {
                assert!(start.elapsed() < Duration::from_secs(60), "nothing is requested");
                std::thread::sleep(Duration::from_millis(10));
            }
            let interrupted = Instant::now();
            remote.interrupt();
            let score = lookup.join().unwrap();
            assert!(matches!(score, Err(ProbeError::Table(TableError::Stopped(_)))), "{score:?}");
            assert!(interrupted.elapsed() < Duration::from_secs(10), "{:?}", interrupted.elapsed());
        });
    }
    server.always(None);
    let here = Tables::open(TABLES.path(), Rules::EmptyCapture, 6, SEEDS).unwrap();
    assert_eq!(tables.score(&position).unwrap(), here.score(&position).unwrap());
}

/// A command that a signal can stop does not wait for a server that is silent.
#[cfg(unix)]
#[test]
fn a_signal_ends_the_wait_for_a_server() {
    let cache = tempfile::tempdir().unwrap();
    let place = ["--cache", shown(cache.path())];
    for command in ["solve", "verify", "fetch"] {
        let server = Server::of(TABLES.path());
        let arguments = match command {
            "fetch" => {
                server.wait(Duration::from_secs(60));
                vec!["fetch", &*server.address, "--seeds", "9", "--output", shown(cache.path())]
            }
            "solve" => [&["solve", POSITION, "--no-book", "--tables", &*server.address][..], &place].concat(),
            _ => [&[command, "--tables", &*server.address][..], &place].concat(),
        };
        server.always(Some(Fault::Silent));
        let mut child = kalah(&arguments).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        let start = Instant::now();
        while server.headers("range").iter().flatten().all(|range| command != "fetch" && range.starts_with("bytes=0-"))
        {
            assert!(start.elapsed() < Duration::from_secs(60), "{command} asks for nothing");
            std::thread::sleep(Duration::from_millis(10));
        }
        let signalled = Instant::now();
        let id = child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(143), "{command}");
        assert!(signalled.elapsed() < Duration::from_secs(10), "{command}: {:?}", signalled.elapsed());
    }
}

/// Runs `kalah probe` with a bucket at `server`, with temporary keys. Returns exit code and messages.
fn probe_bucket(server: &Server) -> (i32, String) {
    let cache = tempfile::tempdir().unwrap();
    let mut command = kalah(&["probe", POSITION, "--tables", "s3://tables", "--cache", shown(cache.path())]);
    command.env("AWS_ENDPOINT_URL", server.address.replace("/tables", "")).env("AWS_REGION", "eu-central-1");
    for (key, value) in [("ACCESS_KEY_ID", "key"), ("SECRET_ACCESS_KEY", "hidden"), ("SESSION_TOKEN", "token")] {
        command.env(format!("AWS_{key}"), value);
    }
    let output = command.output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn temporary_keys_of_a_bucket_are_sent_with_their_token() {
    let server = Server::of(TABLES.path());
    let (code, message) = probe_bucket(&server);
    assert_eq!(code, 0, "{message}");
    for target in server.targets() {
        for part in ["?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=key%2F", "%2Feu-central-1%2Fs3%2F"] {
            assert!(target.contains(part), "{target}");
        }
        assert!(target.contains("&X-Amz-Security-Token=token&") && target.contains("&X-Amz-Signature="), "{target}");
    }
}

/// A bucket sends clients of another region elsewhere. Signatures are for one server.
#[test]
fn redirects_are_followed_without_keys() {
    let (server, other) = (Server::of(TABLES.path()), Server::of(TABLES.path()));
    server.redirect(&other.address, 60);
    let (code, message) = probe_bucket(&server);
    assert_eq!(code, 0, "{message}");
    let targets = other.targets();
    assert!(!targets.is_empty() && targets.iter().all(|target| !target.contains("X-Amz")), "{targets:?}");
}

#[test]
fn addresses_are_shown_without_secrets_and_paths_are_none() {
    for text in ["https://user:secret@host/tables?token=secret", "https://host/tables/?secret"] {
        assert_eq!(Address::parse(text).unwrap().to_string(), "https://host/tables");
    }
    for text in ["tables", "/tables", "C:/tables", "a/b://c", "://", "c://x"] {
        assert!(!Address::is_address(text), "{text}");
    }
    assert!(Address::is_address("s3://bucket/tables"));
    for text in ["ftp://example.org/tables", "https://", "https:///tables", "https://a b/c"] {
        assert!(Address::parse(text).is_err(), "{text}");
    }
}
