//! The Khronos validation layer of Vulkan finds nothing in builds of every rule set, on every adapter: neither in the
//! calls, nor in their synchronisation, nor (GPU-assisted) in how shaders use the memory of a workgroup.
//!
//! The layer works in processes of its own: this program again, with `--ignored` and one test of `child.rs`. Two
//! versions of the layer are used if they are there: that of the system (`vulkan-validationlayers` on Debian), which
//! checks calls and synchronisation, and the newer one that comes with Debian's Chromium, which checks everything.
//! Without any the tests are skipped with a warning; with `KALAH_REQUIRE_VALIDATION=1` they fail.
#![cfg(feature = "gpu")]

mod child;
mod layer;

use crate::adapter;
use layer::{Layer, Message, layers};

/// What the layer says of itself, and what is wrong in wgpu: the identifier and a part of the text.
const NOT_OURS: [(&str, &str); 4] = [
    // naga writes array strides and offsets of members where it may not: https://github.com/gfx-rs/wgpu/issues/7696
    ("VUID-StandaloneSpirv-None-10684", "explicit layout from the ArrayStride decoration"),
    ("VUID-StandaloneSpirv-None-10684", "explicit layout from the Offset decoration"),
    // The layer adapts its settings to the driver, and calls GPU-assisted validation slow.
    ("WARNING-Setting-Limit-Adjusted", "Warning that validation is adjusting settings"),
    ("VALIDATION-SETTINGS", "Both GPU Assisted Validation and Normal Core Check Validation are enabled"),
];

/// The messages of the layer about a child, except those that are not about this project.
fn messages(layer: &Layer, adapter: &str, child: &str) -> Vec<Message> {
    let log = layer.run(adapter, child);
    assert!(log.is_active(), "{}: the layer says nothing of itself on {adapter}:\n{log}", layer.name);
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
