//! Runs a test of this program under a validation layer, and reads the messages of the layer.

use std::fmt;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use super::child::ADAPTER;

/// The layer in Debian's Chromium: a library without the file by which Vulkan finds it.
const CHROMIUMS: &str = "/usr/lib/chromium/libVkLayer_khronos_validation.so";

/// A version of the layer.
pub struct Layer {
    pub name: &'static str,
    /// Path of the library, if Vulkan does not find it by itself.
    library: Option<&'static str>,
}

/// Versions of the layer on this machine. A missing one is printed.
pub fn layers() -> impl Iterator<Item = &'static Layer> {
    static LAYERS: LazyLock<Vec<Layer>> = LazyLock::new(|| {
        let system = Layer { name: "the system's layer", library: None };
        let chromiums = Layer { name: "Chromium's layer", library: Some(CHROMIUMS) };
        let mut found = Vec::new();
        if system.run("none", "validation::child::nothing").is_active() {
            found.push(system);
        }
        if Path::new(CHROMIUMS).is_file() {
            found.push(chromiums);
        }
        found
    });
    let required = std::env::var("KALAH_REQUIRE_VALIDATION").is_ok_and(|value| value == "1");
    assert!(!required || LAYERS.len() == 2, "KALAH_REQUIRE_VALIDATION=1, but a version of the layer is missing");
    if LAYERS.is_empty() {
        let test = std::thread::current().name().unwrap_or("a test").to_owned();
        let message = format!("\n*** SKIPPED: {test}: Vulkan's validation layer is not installed\n");
        let _ = std::io::Write::write_all(&mut std::io::stderr(), message.as_bytes());
    }
    LAYERS.iter()
}

impl Layer {
    /// Returns true if the layer checks shaders. Older versions check none where wgpu runs them, which is with robust
    /// access.
    pub fn checks_shaders(&self) -> bool {
        self.library.is_some()
    }

    /// Names under which the layer lists its checks.
    pub fn checks(&self) -> &'static [&'static str] {
        match self.checks_shaders() {
            true => &["- Core Checks", "- Synchronization", "- GPU-AV"],
            false => &["VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION", "Current Disables: None"],
        }
    }

    /// Runs a test of `child.rs` on an adapter under the layer.
    pub fn run(&self, adapter: &str, test: &str) -> Log {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let log = directory.join("log");
        // The system's layer has other names for the same settings.
        let enabled = if self.checks_shaders() {
            "validate_sync = true\n\
             khronos_validation.gpuav_enable = true\n\
             khronos_validation.gpuav_shared_memory_data_race = true"
        } else {
            "enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT,\
             VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT"
        };
        let log_name = log.display();
        let settings = format!(
            "khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n\
             khronos_validation.report_flags = error,warn,perf,info\n\
             khronos_validation.enable_message_limit = false\n\
             khronos_validation.log_filename = {log_name}\n\
             khronos_validation.{enabled}\n"
        );
        std::fs::write(directory.join("vk_layer_settings.txt"), settings).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", test, "--nocapture"]);
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
        assert!(output.status.success(), "{} under {}: {printed}", test, self.name);
        assert!(printed.contains("1 passed"), "there is no test {test}: {printed}");
        Log(std::fs::read_to_string(log).unwrap_or_default())
    }
}

/// Output of the layer.
pub struct Log(String);

/// A message of a higher level than information.
#[derive(Debug)]
pub struct Message {
    pub id: String,
    /// Full text.
    pub text: String,
}

impl Log {
    /// Returns true if the layer was loaded.
    pub fn is_active(&self) -> bool {
        ["Khronos Validation Layer Active", "Current Validation Enabled"].iter().any(|start| self.0.contains(start))
    }

    /// Returns true if a check is in the list at the beginning of the output.
    pub fn lists(&self, check: &str) -> bool {
        self.0.contains(check)
    }

    /// Messages other than information.
    pub fn messages(&self) -> Vec<Message> {
        let mut messages: Vec<Option<Message>> = Vec::new();
        for line in self.0.lines() {
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
}

impl fmt::Display for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
