//! The Khronos validation layer of Vulkan finds no fault in builds of every rule set, on every adapter. It checks the
//! calls, their synchronization and, GPU-assisted, the use of workgroup memory by the shaders.
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

use kalah_tests::optional;
use layer::{Layer, VERSIONS};

/// Parts of the messages about the faults of `child.rs`.
const HAZARD: &str = "SYNC-HAZARD-WRITE-AFTER-WRITE";
const RACE: &str = "A data race was detected";

#[test]
fn nothing_is_found_in_builds_of_every_rule_set() {
    adapter::each(|adapter| {
        let (name, mut tells_races) = (adapter.name(), false);
        for version in VERSIONS {
            let able = Layer::able(version, |layer| {
                layer.finds(name, "copies without a barrier", Some(HAZARD))?;
                // Older versions check no shaders where wgpu runs them, which is with robust access.
                layer.finds(name, "no race", None)
            });
            let layer = match able {
                Ok(layer) => layer,
                Err(reason) => {
                    optional::skip("VALIDATION", reason);
                    continue;
                }
            };
            let found = layer.run(name, "builds of every rule set").unwrap_or_else(|output| panic!("{name}: {output}"));
            assert!(found.is_empty(), "{} on {name}: {found:#?}", layer.name);
            tells_races |= layer.finds(name, "a race", Some(RACE)).is_ok();
        }
        if !tells_races {
            optional::skip("VALIDATION", format_args!("no validation layer tells races from other uses on {name}"));
        }
    });
}
