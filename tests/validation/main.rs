//! The Khronos validation layer of Vulkan finds no fault in builds of every rule set, on every adapter. It checks the
//! calls, their synchronization and, GPU-assisted, the use of workgroup memory by the shaders.
//!
//! The layer works in separate processes: this program again, with `--ignored` and one test of `child.rs`. Up to two
//! versions of the layer are used. That of the system (`vulkan-validationlayers` on Debian) checks calls and
//! synchronization. The newer one in Debian's Chromium checks everything.
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
#[allow(dead_code, unused_imports, reason = "tests of the builder use the rest")]
mod stage_cases;

use kalah_tests::optional;
use layer::{Layer, VERSIONS};

/// Parts of the messages about the faults of `child.rs`.
const HAZARD: &str = "SYNC-HAZARD-WRITE-AFTER-WRITE";
const RACE: &str = "A data race was detected";

/// Fails if the layer reports anything about a test of `child.rs`.
#[track_caller]
fn assert_silent(layer: &Layer, adapter: &str, child: &str) {
    let found = layer.run(adapter, child).unwrap_or_else(|output| panic!("{child} on {adapter}: {output}"));
    assert!(found.is_empty(), "{} on {adapter}: {found:#?}", layer.name);
}

#[test]
fn nothing_is_found_in_builds_of_every_rule_set() {
    adapter::each(|adapter| {
        let name = adapter.name();
        for version in VERSIONS {
            let able = Layer::able(version, |layer| {
                layer.finds(name, "copies_without_a_barrier", Some(HAZARD))?;
                // Older versions check no shaders where wgpu runs them, which is with robust access.
                layer.finds(name, "no_race", None)
            });
            match able {
                Ok(layer) => assert_silent(&layer, name, "builds_of_every_rule_set"),
                Err(reason) => optional::skip("VALIDATION", reason),
            }
        }
    });
}

#[test]
fn shaders_with_barriers_need_each_of_them() {
    adapter::each(|adapter| {
        let name = adapter.name();
        let tell_races = |layer: &Layer| {
            layer.finds(name, "a_race", Some(RACE))?;
            layer.finds(name, "no_race", None)
        };
        let Some(layer) = VERSIONS.into_iter().find_map(|version| Layer::able(version, tell_races).ok()) else {
            return optional::skip(
                "VALIDATION",
                format_args!("no validation layer tells races from other uses on {name}"),
            );
        };
        assert_silent(&layer, name, "stages_with_barriers");
        for child in [
            "scan_without_its_first_barrier",
            "scan_without_its_second_barrier",
            "transpose_without_its_barrier",
            "encode_without_its_second_barrier",
        ] {
            if let Err(reason) = layer.finds(name, child, Some(RACE)) {
                optional::skip("VALIDATION", reason);
            }
        }
    });
}
