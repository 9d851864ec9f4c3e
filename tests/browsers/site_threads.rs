//! Threads of the engine in a page that is isolated, by its host or by its service worker.

use std::path::Path;

use kalah::game::{Position, Rules};
use kalah::solve::{Solver, SolverOptions};
use serde_json::{Value, json};

use crate::site::{positions, tables};
use crate::site_offline::{come_back, visit};
use crate::sites::{Conduct, Host, ask, export, in_browsers, need_engine, open, version};
use kalah_tests::browser::Browser;
use kalah_tests::serving::encoded;

in_browsers! {
    a_search_starts_threads,
    an_isolated_page_searches_on_several_threads,
    a_plain_host_isolates_from_the_second_visit_on,
    an_engine_without_its_threads_has_one,
    an_engine_that_lost_a_thread_starts_again,
}

/// Number of compared values, and maximum seeds in play.
const VALUES: usize = 60;
const MOST: u32 = 24;

/// Returns if the page is isolated, and the threads of its engine once that is ready.
fn state(browser: &Browser) -> Value {
    need_engine(browser);
    browser.run(
        "return (async () => {
           for (;;) {
             const { threads } = document.documentElement.dataset;
             if (threads) return [crossOriginIsolated, Number(threads)];
             await new Promise((done) => setTimeout(done, 20));
           } })()",
    )
}

/// Returns the number of threads that an isolated page should have.
fn expected(browser: &Browser) -> Value {
    browser.run("return Math.min(navigator.hardwareConcurrency, 8)")
}

/// Compares values that need a search with those of the library.
fn compare_values(browser: &Browser, count: usize) {
    let rules = Rules::Standard;
    let mut wanted = positions(rules, "6x4", &mut fastrand::Rng::with_seed(5), 20 * VALUES);
    wanted.retain(|position| (19..=MOST).contains(&position.seeds()) && !position.is_over());
    wanted.truncate(count);
    assert_eq!(wanted.len(), count);
    let largest = wanted.iter().max_by_key(|position| position.seeds()).unwrap();
    let options = SolverOptions::new(rules, largest).tables(Some(tables(rules))).transpositions(1 << 24);
    let solver = Solver::new(options).unwrap();
    let path = |position: &Position| format!("api/position?rules={rules}&board={}", encoded(&position.to_string()));
    let answers = ask(browser, &wanted.iter().map(path).collect::<Vec<String>>());
    for (position, (_, answer)) in wanted.iter().zip(answers) {
        let (_, value) = solver.value(position, 0).unwrap();
        assert_eq!((&answer["known"], &answer["value"]), (&json!("exact"), &json!(value)), "{position} {answer}");
    }
}

fn an_isolated_page_searches_on_several_threads(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    export(folder.path(), &["--size", "0"]);
    let host = Host::isolating(folder.path().to_owned());
    open(browser, &host.address);
    assert_eq!(state(browser), json!([true, expected(browser)]));
    compare_values(browser, VALUES);
    // Searches that are given up leave their threads to the next ones.
    browser.run(
        "return (async () => {
           for (let number = 0; number < 10; number += 1) {
             const giveUp = new AbortController();
             const path = 'api/search?board=6x6&rules=single-move&time=60';
             fetch(path, { signal: giveUp.signal }).then((answer) => answer.text()).catch(() => {});
             await new Promise((done) => setTimeout(done, 30 * number));
             giveUp.abort();
             await (await fetch('api/position?board=6x6&rules=single-move&time=0.2')).json();
           }
           return 1; })()",
    );
    compare_values(browser, 5);
    // A visit loads one engine.
    browser.wait("navigator.serviceWorker.controller");
    let requests = host.requests();
    let loads = |name| requests.iter().filter(|path| path.ends_with(name)).count();
    let (used, other) = match expected(browser) == json!(1) {
        true => ("kalah_wasm.bin", "kalah_threads.bin"),
        false => ("kalah_threads.bin", "kalah_wasm.bin"),
    };
    assert!(loads(used) > 0 && loads(other) == 0);
}

fn a_search_starts_threads(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    // No layer is large enough for threads of the builder.
    export(folder.path(), &["--size", "0", "--seeds", "4"]);
    let change = |name: &str, from: &str, to: &str| {
        let path = version(folder.path()).join(name);
        let script = std::fs::read_to_string(&path).unwrap();
        assert!(script.contains(from));
        std::fs::write(path, script.replace(from, to)).unwrap();
    };
    let started = "      return number;";
    change("slots.js", started, &format!("      new BroadcastChannel('started').postMessage(number);\n{started}"));
    // The page counts the threads that were started.
    let counts = "new BroadcastChannel('started').onmessage = () => {
           const { dataset } = document.documentElement;
           dataset.started = Number(dataset.started ?? 0) + 1;
         };
         let lost = 0;";
    change("local.js", "let lost = 0;", counts);
    open(browser, &Host::isolating(folder.path().to_owned()).address);
    let threads = expected(browser).as_u64().unwrap();
    assert_eq!(state(browser), json!([true, threads]));
    ask(browser, &["api/position?board=6x4&rules=single-move&time=1".to_owned()]);
    let started = browser.run("return Number(document.documentElement.dataset.started ?? 0)").as_u64().unwrap();
    assert!(if threads == 1 { started == 0 } else { started >= threads - 1 }, "{started}");
}

fn a_plain_host_isolates_from_the_second_visit_on(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    export(folder.path(), &["--size", "0"]);
    let host = Host::new(folder.path().to_owned());
    visit(browser, &host);
    assert_eq!(state(browser), json!([false, 1]));
    let kept = "return (async () => {
        for (;;) {
          for (const name of await caches.keys())
            for (const { url } of await (await caches.open(name)).keys())
              if (url.endsWith('/kalah_threads.bin')) return 1;
          await new Promise((done) => setTimeout(done, 20));
        } })()";
    if expected(browser) != json!(1) {
        browser.run(kept);
    }
    for conduct in [Conduct::Sends, Conduct::Down] {
        host.conducts(conduct);
        come_back(browser, &host, "");
        assert_eq!(state(browser), json!([true, expected(browser)]), "{conduct:?}");
        compare_values(browser, 5);
    }
    assert!(host.requests().iter().filter(|path| path.ends_with("kalah_threads.bin")).count() <= 1);
}

fn an_engine_without_its_threads_has_one(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    export(folder.path(), &["--size", "0"]);
    std::fs::write(version(folder.path()).join("kalah_threads.bin"), b"\0asm").unwrap();
    open(browser, &Host::isolating(folder.path().to_owned()).address);
    assert_eq!(state(browser), json!([true, 1]));
    compare_values(browser, 5);
}

/// Makes the workers of a site lose each thread that they are given, or not.
fn lose_threads(site: &Path, are_lost: bool) {
    let path = version(site).join("slots.js");
    let script = include_str!("../../web/site/slots.js");
    let call = "    run(Atomics";
    assert!(script.contains(call));
    let lost = script.replace(call, "    throw new Error('lost');\n    run(Atomics");
    std::fs::write(path, if are_lost { &lost } else { script }).unwrap();
}

fn an_engine_that_lost_a_thread_starts_again(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    export(folder.path(), &["--size", "0"]);
    lose_threads(folder.path(), true);
    let host = Host::isolating(folder.path().to_owned());
    open(browser, &host.address);
    if expected(browser) == json!(1) {
        return;
    }
    // Its builder waits for that thread.
    let answer = "return fetch('api/position?rules=standard&board=2,4,0,5,1,3/0,6,2,1,4,2&time=5')
        .then(() => 'answered', (error) => error.message)";
    assert_eq!(browser.run(answer), json!("lost"));
    lose_threads(folder.path(), false);
    // The page may have started another one before.
    browser.run(
        "return (async () => {
           while (!(await fetch('api/position?rules=standard&board=6x1').catch(() => 0)))
             await new Promise((done) => setTimeout(done, 20));
           return 1; })()",
    );
    compare_values(browser, 5);
    assert_eq!(state(browser), json!([true, expected(browser)]));
}
