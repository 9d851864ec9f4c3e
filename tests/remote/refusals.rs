//! Clear errors, with the exit codes that scripts rely on.

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use kalah::remote::Address;
use kalah::table::{ProbeError, TableError};

use crate::setup::{ABOVE, LARGE, Remote, here, kalah, tables};
use kalah_tests::files::copied;
use kalah_tests::host::{Fault, Host, Request};
use kalah_tests::program::{Ran, Run, within_a_minute};

/// Command that looks up a position in the tables at an address, with a cache of its own.
fn probe(address: &str) -> Output {
    let cache = tempfile::tempdir().unwrap();
    kalah(&format!("probe {LARGE} --tables {address} --cache")).arg(cache.path()).run()
}

#[test]
fn refusals_and_absence_are_reported() {
    for (status, text) in [(401, "status 401"), (403, "access is refused")] {
        let host = Host::new(here(), "/tables");
        host.next([Fault::Status(status); 300]);
        probe(&host.address).fails(1, text);
    }
    let host = Host::new(here(), "/tables");
    probe(&host.address.replace("/tables", "/other")).fails(1, "there are no tables at");
    let ran = probe(&host.address.replace("http:", "https:")).exits(1);
    assert!(["cannot be trusted", "no answer"].iter().any(|text| ran.stderr().contains(text)), "{}", ran.all());
    host.conduct().whole = true;
    probe(&host.address).fails(1, "ignores range requests");
    // Nobody listens at this port.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    probe(&format!("http://{closed}/tables")).exits(1);
    for address in ["ftp://127.0.0.1/tables", "https://"] {
        probe(address).fails(1, "is not an address of tables");
    }
}

#[test]
fn proxies_of_the_environment_are_used() {
    let (proxy, cache) = (Host::new(here(), ""), tempfile::tempdir().unwrap());
    let mut command = kalah(&format!("probe {LARGE} --tables http://kalah.invalid/tables --cache"));
    // The proxy reaches no such host.
    command.arg(cache.path()).env("HTTP_PROXY", &proxy.address).run().exits(1);
    assert_ne!(proxy.names(), [""; 0]);
}

#[test]
fn nothing_is_built_at_an_address() {
    let host = Host::new(here(), "/tables");
    for line in ["build --seeds 14", "bounds --seeds 9", "archive pack", &format!("solve {ABOVE} --build")] {
        kalah(&format!("{line} --tables {}", host.address)).run().fails(2, "at an address");
    }
    assert_eq!(host.requests(), []);
}

/// Command that looks up a position in the tables of a bucket, whose files the host has below the bucket's name.
fn probe_bucket(remote: &Remote, bucket: &str) -> Command {
    let mut command = kalah(&format!("probe {LARGE} --cache"));
    command.arg(remote.cache.path()).args(["--tables", bucket]);
    command.env("AWS_ENDPOINT_URL", remote.host.address.replace("/tables", ""));
    command
}

#[test]
fn a_bucket_has_an_address_which_may_have_spaces() {
    probe_bucket(&Remote::new(), "s3://tables").run().success();
    // The host looks for the path as it is in the request.
    let directory = tempfile::tempdir().unwrap();
    std::fs::rename(copied(here()).keep(), directory.path().join("my%20tables")).unwrap();
    let remote = Remote::of(directory.path());
    probe_bucket(&remote, "s3://tables/my tables").run().success();
    let ran = probe_bucket(&remote, "s3://tables/no tables").run();
    ran.prints("there are no tables at s3://tables/no tables");
}

/// Command that looks up a position in a bucket with temporary keys.
fn probe_with_keys(remote: &Remote) -> Command {
    let mut command = probe_bucket(remote, "s3://tables");
    let keys = [("ACCESS_KEY_ID", "key"), ("SECRET_ACCESS_KEY", "hidden"), ("SESSION_TOKEN", "token")];
    command.envs(keys.map(|(key, value)| (format!("AWS_{key}"), value))).env("AWS_REGION", "eu-central-1");
    command
}

#[test]
fn temporary_keys_of_a_bucket_are_sent_with_their_token() {
    let remote = Remote::new();
    probe_with_keys(&remote).run().success();
    for request in remote.host.requests() {
        for part in [
            "?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=key%2F",
            "%2Feu-central-1%2Fs3%2F",
            "&X-Amz-Security-Token=token&",
            "&X-Amz-Signature=",
        ] {
            assert!(request.target.contains(part), "{request:?}");
        }
    }
}

/// A bucket sends clients of another region elsewhere. Signatures are for one server.
#[test]
fn redirects_are_followed_without_keys() {
    let (remote, other) = (Remote::new(), Host::new(here(), "/tables"));
    remote.host.conduct().other.clone_from(&other.address);
    remote.host.next([Fault::Redirect; 60]);
    probe_with_keys(&remote).run().success();
    let requests = other.requests();
    assert!(!requests.is_empty() && requests.iter().all(|one| !one.target.contains("X-Amz")), "{requests:?}");
}

#[test]
fn a_lookup_can_be_interrupted_and_repeated() {
    let remote = Remote::new();
    let opened = remote.open();
    let (there, position) = (tables(opened.directory()), LARGE.parse().unwrap());
    for fault in [Fault::Silent, Fault::Status(503)] {
        remote.host.conduct().later = Some(fault);
        remote.host.requests();
        std::thread::scope(|scope| {
            let lookup = scope.spawn(|| there.score(&position));
            within_a_minute("nothing was requested", || remote.host.requests().pop());
            let interrupted = Instant::now();
            opened.interrupt();
            let score = lookup.join().unwrap();
            assert!(matches!(score, Err(ProbeError::Table(TableError::Stopped(_)))), "{score:?}");
            assert!(interrupted.elapsed() < Duration::from_secs(10), "{:?}", interrupted.elapsed());
        });
    }
    remote.host.conduct().later = None;
    assert_eq!(there.score(&position).unwrap(), tables(here()).score(&position).unwrap());
}

/// A command that a signal can stop does not wait for a server that is silent.
#[cfg(unix)]
#[test]
fn a_signal_ends_the_wait_for_a_server() {
    use kalah_tests::signals::{Signal, heard, send};

    for line in [&format!("solve {LARGE} --no-book"), "verify", "fetch"] {
        let remote = Remote::new();
        let mut command = if line == "fetch" {
            remote.host.conduct().latency = Duration::from_secs(60);
            let mut fetch = kalah(&format!("fetch {} --seeds 9 --output", remote.host.address));
            fetch.arg(remote.cache.path());
            fetch
        } else {
            remote.kalah(line)
        };
        remote.host.conduct().later = Some(Fault::Silent);
        let mut child = heard(command.stderr(Stdio::null()).stdout(Stdio::null())).spawn().unwrap();
        // Those for headers are answered.
        let is_awaited = |one: &Request| one.range.is_some_and(|(start, _)| line == "fetch" || start > 0);
        within_a_minute("nothing was requested", || remote.host.requests().into_iter().find(is_awaited));
        let signalled = Instant::now();
        send(&child, Signal::TERM);
        assert_eq!(child.wait().unwrap().code(), Some(143), "{line}");
        assert!(signalled.elapsed() < Duration::from_secs(10), "{line}: {:?}", signalled.elapsed());
    }
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
