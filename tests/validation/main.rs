//! The Khronos validation layer of Vulkan finds no fault in builds of every rule set, nor in stages with random
//! parameters, on every adapter. It checks the calls, their synchronization and, GPU-assisted, the use of workgroup
//! memory by the shaders.
//!
//! The layer works in separate processes: this program again, with a program of `child.rs`. Up to two versions of the
//! layer are used. That of the system (`vulkan-validationlayers` on Debian) checks calls and synchronization. The newer
//! one in Debian's Chromium checks everything.
//!
//! Versions of the layer differ in what they check, and in what they say about wgpu. So each must first report the
//! faults of small programs without any part of this project, and nothing else. A version that does not is skipped with
//! a warning, or makes the tests fail if `KALAH_REQUIRE_VALIDATION=1`.
#![cfg(feature = "gpu")]

#[path = "../gpu/adapter/mod.rs"]
#[allow(dead_code, reason = "tests of the builder use the rest")]
mod adapter;
mod child;
mod layer;
#[path = "../gpu/stage_cases/mod.rs"]
mod stage_cases;

use kalah_tests::optional;
use layer::{Layer, VERSIONS, Version};

/// Parts of the messages about the faults of `child.rs`.
const HAZARD: &str = "SYNC-HAZARD-WRITE-AFTER-WRITE";
const RACE: &str = "A data race was detected";

#[test]
fn nothing_is_found_in_builds_and_stages() {
    adapter::each(|adapter| {
        let name = adapter.name();
        // Calls are the same on every adapter, and a slow one needs minutes for them.
        let versions = if adapter.is_slow() { &VERSIONS[1..] } else { &VERSIONS };
        // Each program keeps one core busy.
        let finds_races = std::thread::scope(|scope| {
            let start = |&version: &Version| scope.spawn(move || finds_nothing_but_races(version, name));
            let started: Vec<_> = versions.iter().map(start).collect();
            started.into_iter().map(|version| version.join().unwrap()).fold(false, |any, finds| any | finds)
        });
        if !finds_races {
            optional::skip("VALIDATION", format_args!("no validation layer finds races of threads on {name}"));
        }
    });
}

/// Fails if a version of the layer finds a fault on an adapter. Returns true if it finds races of small shaders.
fn finds_nothing_but_races(version: Version, name: &str) -> bool {
    let able = Layer::able(version, |layer| {
        layer.finds(name, "copies without a barrier", Some(HAZARD))?;
        // Older versions check no shaders where wgpu runs them, which is with robust access.
        layer.finds(name, "no race", None)
    });
    let layer = match able {
        Ok(layer) => layer,
        Err(reason) => {
            optional::skip("VALIDATION", reason);
            return false;
        }
    };
    for program in ["builds of every rule set", "stages with barriers"] {
        let found = layer.run(name, program).unwrap_or_else(|output| panic!("{program} on {name}: {output}"));
        assert!(found.is_empty(), "{} on {name}: {program}: {found:#?}", layer.name);
    }
    let finds_races = layer.finds(name, "a race", Some(RACE)).is_ok();
    if finds_races {
        let found = layer.finds(name, "a scan without its first barrier", Some(RACE));
        found.unwrap_or_else(|reason| optional::skip("VALIDATION", reason));
    }
    finds_races
}
