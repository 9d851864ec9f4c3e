//! Runs a test of this program under a validation layer, and reads the messages of the layer.

use std::process::Command;

use super::child::ADAPTER;

/// A version of the layer: its name in messages, and the path of its library, if Vulkan does not find it by itself.
type Version = (&'static str, Option<&'static str>);

/// The versions that a machine may have. The one in Debian's Chromium is a library without the file by which Vulkan
/// finds it.
pub(crate) const VERSIONS: [Version; 2] =
    [("the system's layer", None), ("Chromium's layer", Some("/usr/lib/chromium/libVkLayer_khronos_validation.so"))];

/// Settings that enable all checks, and fewer for versions that take other uses for races. Old versions have other
/// names for them, which newer ones warn of.
const SETTINGS: [&[&str]; 3] = [
    &["validate_sync = true", "gpuav_enable = true", "gpuav_shared_memory_data_race = true"],
    &["validate_sync = true"],
    &["enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT,\
        VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT"],
];

/// Settings of all versions.
const SHARED_SETTINGS: [&str; 3] = [
    "debug_action = VK_DBG_LAYER_ACTION_LOG_MSG",
    "report_flags = error,warn,perf,info",
    "enable_message_limit = false",
];

/// A version of the layer, and settings.
pub(crate) struct Layer {
    pub name: &'static str,
    library: Option<&'static str>,
    settings: &'static [&'static str],
}

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

impl Layer {
    /// Returns this version with the first settings with which it passes a test.
    ///
    /// # Errors
    /// The reason why it does not, with the first settings.
    pub(crate) fn able((name, library): Version, test: impl Fn(&Layer) -> Result<(), String>) -> Result<Layer, String> {
        let mut reasons = Vec::new();
        for settings in SETTINGS {
            let layer = Layer { name, library, settings };
            match test(&layer) {
                Ok(()) => return Ok(layer),
                Err(reason) => reasons.push(reason),
            }
        }
        Err(reasons.swap_remove(0))
    }

    /// Checks that the layer reports the fault of a test of `child.rs` on an adapter, and nothing else: all messages
    /// have `text`. Without a text, it must report nothing.
    ///
    /// # Errors
    /// The reason why it does not: it does not run, or says something else.
    pub(crate) fn finds(&self, adapter: &str, child: &str, text: Option<&str>) -> Result<(), String> {
        let why_not = |reason: &str| format!("{} cannot be used on {adapter}: {child}: {reason}", self.name);
        let messages = self.run(adapter, child).map_err(|reason| why_not(&reason))?;
        let is_expected = |message: &Message| text.is_some_and(|text| message.text.contains(text));
        match messages.iter().find(|message| !is_expected(message)) {
            Some(other) => Err(why_not(&format!("it says {}", other.text))),
            None if messages.is_empty() && text.is_some() => Err(why_not("it is missing, or finds no fault")),
            None => Ok(()),
        }
    }

    /// Runs a test of `child.rs` on an adapter under the layer. Returns the messages that may be about this project.
    ///
    /// # Errors
    /// The output of the test if it fails.
    pub(crate) fn run(&self, adapter: &str, child: &str) -> Result<Vec<Message>, String> {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let log = directory.join("log");
        let file = format!("log_filename = {}", log.display());
        let settings = SHARED_SETTINGS.iter().chain(self.settings).copied().chain([&*file]);
        let settings: String = settings.map(|setting| format!("khronos_validation.{setting}\n")).collect();
        std::fs::write(directory.join("vk_layer_settings.txt"), settings).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", &format!("child::{child}"), "--nocapture"]);
        command.env("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation");
        command.env("VK_LAYER_SETTINGS_PATH", directory).env("XDG_CACHE_HOME", directory).env(ADAPTER, adapter);
        if let Some(library) = self.library {
            let manifest = format!(
                r#"{{"file_format_version": "1.2.0", "layer": {{"name": "VK_LAYER_KHRONOS_validation", "type": "GLOBAL",
                "library_path": "{library}", "api_version": "1.3.239", "implementation_version": "1",
                "description": "Khronos Validation Layer"}}}}"#
            );
            std::fs::write(directory.join("layer.json"), manifest).unwrap();
            command.env("VK_LAYER_PATH", directory);
        }
        let output = command.output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(format!("{}: {printed}", output.status));
        }
        assert!(printed.contains("1 passed"), "there is no test {child}: {printed}");
        let is_ours =
            |message: &Message| !NOT_OURS.iter().any(|(id, text)| message.id == *id && message.text.contains(text));
        let log = std::fs::read(log).unwrap_or_default();
        Ok(messages(&String::from_utf8_lossy(&log)).into_iter().filter(is_ours).collect())
    }
}

/// A message of a higher level than information.
#[derive(Debug)]
pub(crate) struct Message {
    id: String,
    /// Full text.
    text: String,
}

/// Messages in the output of a layer, other than information.
fn messages(log: &str) -> Vec<Message> {
    let mut messages: Vec<Option<Message>> = Vec::new();
    for line in log.lines() {
        let kinds = ["Error", "Warning", "Performance Warning", "Information"];
        let begun = kinds.into_iter().find_map(|kind| {
            let (_, rest) = line.split_once(&format!("Validation {kind}: [ "))?;
            Some((kind, rest.split_once(" ]")?.0.to_owned()))
        });
        match (begun, messages.last_mut()) {
            (Some((kind, id)), _) => {
                messages.push((kind != "Information").then(|| Message { id, text: line.to_owned() }));
            }
            (None, Some(Some(message))) => message.text += &format!("\n{line}"),
            _ => (),
        }
    }
    messages.into_iter().flatten().collect()
}
