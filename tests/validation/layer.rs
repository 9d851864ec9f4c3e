//! Runs a program of `child.rs` under a validation layer, and reads the messages of the layer.

use std::process::Command;

use super::child::{ADAPTER, PROGRAM, PROGRAMS};

/// A version of the layer: its name in messages, and the path of its library, if Vulkan does not find it by itself.
pub(crate) type Version = (&'static str, Option<&'static str>);

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
        let layers = SETTINGS.map(|settings| Layer { name, library, settings });
        let mut tested = layers.into_iter().map(|layer| test(&layer).map(|()| layer));
        let first = tested.next().expect("some settings");
        first.or_else(|reason| tested.find_map(Result::ok).ok_or(reason))
    }

    /// Checks that the layer reports the fault of a program on an adapter, and nothing else: all messages have `text`.
    /// Without a text, it must report nothing.
    ///
    /// # Errors
    /// The reason why it does not: it does not run, or says something else.
    pub(crate) fn finds(&self, adapter: &str, program: &str, text: Option<&str>) -> Result<(), String> {
        let why_not = |reason: &str| format!("{} cannot be used on {adapter}: {program}: {reason}", self.name);
        let messages = self.run(adapter, program).map_err(|reason| why_not(&reason))?;
        let is_expected = |message: &&String| text.is_some_and(|text| message.contains(text));
        match messages.iter().find(|message| !is_expected(message)) {
            Some(other) => Err(why_not(&format!("it says {other}"))),
            None if messages.is_empty() && text.is_some() => Err(why_not("it is missing, or finds no fault")),
            None => Ok(()),
        }
    }

    /// Runs a program on an adapter under the layer. Returns the messages that may be about this project.
    ///
    /// # Errors
    /// The output of the program if it fails.
    pub(crate) fn run(&self, adapter: &str, program: &str) -> Result<Vec<String>, String> {
        assert!(PROGRAMS.iter().any(|(name, _)| *name == program), "there is no program '{program}'");
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let log = directory.join("log");
        let file = format!("log_filename = {}", log.display());
        let settings = SHARED_SETTINGS.iter().chain(self.settings).copied().chain([&*file]);
        let settings: String = settings.map(|setting| format!("khronos_validation.{setting}\n")).collect();
        std::fs::write(directory.join("vk_layer_settings.txt"), settings).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", "child::program", "--nocapture"]).env(PROGRAM, program);
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
        assert!(printed.contains("1 passed"), "{printed}");
        Ok(messages(&String::from_utf8_lossy(&std::fs::read(log).unwrap_or_default())))
    }
}

/// Kind of a message, if a line begins one.
fn kind(line: &str) -> Option<&str> {
    let (kind, _) = line.split_once("Validation ")?.1.split_once(": [ ")?;
    ["Error", "Warning", "Performance Warning", "Information"].contains(&kind).then_some(kind)
}

/// Messages in the output of a layer that may be about this project, other than information.
fn messages(log: &str) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    for line in log.lines() {
        match messages.last_mut().filter(|_| kind(line).is_none()) {
            Some(message) => message.extend(["\n", line]),
            None => messages.push(line.to_owned()),
        }
    }
    messages.retain(|message| {
        let is = |(id, text): &(&str, &str)| message.contains(&format!("[ {id} ]")) && message.contains(text);
        kind(message).is_some_and(|kind| kind != "Information") && !NOT_OURS.iter().any(is)
    });
    messages
}
