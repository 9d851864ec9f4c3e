//! The Khronos validation layer of Vulkan finds no fault in builds of every rule set, on every adapter. It checks the
//! calls, their synchronization and, GPU-assisted, the use of workgroup memory by the shaders.
//!
//! The layer works in separate processes: this program again, with `--ignored` and one test of `child.rs`. Up to two
//! versions of the layer are used. That of the system (`vulkan-validationlayers` on Debian) checks calls and
//! synchronization. The newer one in Debian's Chromium checks everything.
//!
//! Without any version, the tests are skipped with a warning, or fail if `KALAH_REQUIRE_VALIDATION=1`.
#![cfg(feature = "gpu")]

mod child;
mod layer;

use crate::adapter;
use layer::{Layer, Message, layers};

/// Messages about the layer itself, and about faults in wgpu: the identifier and a part of the text.
const NOT_OURS: [(&str, &str); 4] = [
    // naga writes array strides and offsets of members where they are not allowed:
    // https://github.com/gfx-rs/wgpu/issues/7696
    ("VUID-StandaloneSpirv-None-10684", "explicit layout from the ArrayStride decoration"),
    ("VUID-StandaloneSpirv-None-10684", "explicit layout from the Offset decoration"),
    // The layer adapts its settings to the driver, and warns that GPU-assisted validation is slow.
    ("WARNING-Setting-Limit-Adjusted", "Warning that validation is adjusting settings"),
    ("VALIDATION-SETTINGS", "Both GPU Assisted Validation and Normal Core Check Validation are enabled"),
];

/// Returns the messages of the layer about a child, except those that are not about this project.
fn messages(layer: &Layer, adapter: &str, child: &str) -> Vec<Message> {
    let log = layer.run(adapter, child);
    assert!(log.is_active(), "{}: the layer was not loaded on {adapter}:\n{log}", layer.name);
    for check in layer.checks() {
        assert!(log.lists(check), "{}: {check} is off on {adapter}:\n{log}", layer.name);
    }
    let is_ours =
        |message: &Message| !NOT_OURS.iter().any(|(id, text)| message.id == *id && message.text.contains(text));
    log.messages().into_iter().filter(is_ours).collect()
}

#[test]
fn nothing_is_found_in_builds_of_every_rule_set() {
    for layer in layers() {
        adapter::each(|adapter| {
            let found = messages(layer, adapter.name(), "validation::child::builds_of_every_rule_set");
            assert!(found.is_empty(), "{} on {}: {found:#?}", layer.name, adapter.name());
        });
    }
}

#[test]
fn a_missing_barrier_is_found() {
    for layer in layers() {
        adapter::each(|adapter| {
            let found = messages(layer, adapter.name(), "validation::child::copies_without_a_barrier");
            let is_hazard = |message: &Message| message.id.contains("SYNC-HAZARD-WRITE-AFTER-WRITE");
            assert!(
                !found.is_empty() && found.iter().all(is_hazard),
                "{} on {}: {found:#?}",
                layer.name,
                adapter.name()
            );
        });
    }
}

#[test]
fn shaders_with_barriers_need_each_of_them() {
    for layer in layers().filter(|layer| layer.checks_shaders()) {
        adapter::each(|adapter| {
            let found = messages(layer, adapter.name(), "validation::child::stages_with_barriers");
            assert!(found.is_empty(), "{} on {}: {found:#?}", layer.name, adapter.name());
            for child in [
                "scan_without_its_first_barrier",
                "scan_without_its_second_barrier",
                "transpose_without_its_barrier",
                "encode_without_its_second_barrier",
            ] {
                let found = messages(layer, adapter.name(), &format!("validation::child::{child}"));
                let is_race = |message: &Message| message.text.contains("A data race was detected");
                let all = !found.is_empty() && found.iter().all(is_race);
                assert!(all, "{child}: {} on {}: {found:#?}", layer.name, adapter.name());
            }
        });
    }
}
