//! Compiles every stage's shader with a real driver and prints registers, spills, code size,
//! instructions and estimated cycles.
//!
//! ```sh
//! RADV_FORCE_FAMILY=navi21 VK_DRIVER_FILES=/usr/share/vulkan/icd.d/radeon_icd.x86_64.json \
//!     cargo bench --bench shader_statistics
//! ```
//!
//! This command uses the "null hardware" of Mesa's RADV, which compiles for a card that the machine
//! does not have. Other families are `navi31`, `vega10`, `gfx90a` and more. wgpu cannot create a
//! device on it. So the pipelines are made here, from the SPIR-V that wgpu would give the driver:
//! without run-time checks, as on a card. A driver must have the extension
//! `VK_KHR_pipeline_executable_properties`.
//!
//! - `KALAH_STATISTICS_DIR`: a directory for the shaders and the compiler's representations, files
//!   for each stage. For RADV: NIR, its own intermediate form, and the disassembly.
//! - `KALAH_STATISTICS_SOURCES`: a directory with such shaders to compile instead, for instance
//!   edited ones.
//!
//! The last column counts instructions by loop depth, from outside all loops on, in the form
//! `vector (memory) + scalar`:
//! - vector: instructions that run for each thread
//! - memory: those that read or write buffers or workgroup memory
//! - scalar: instructions that run once for all threads of a wave
//!
//! Shaders are the same for all rule sets. docs/gpu.md lists the stages that each rule set uses.

mod assembly;
mod compiler;

use std::path::PathBuf;

use assembly::Instructions;
use compiler::{Compiled, Compiler};
use kalah::build::gpu::stages::Stage;

/// A column of the table: its head, and the drivers' names for the figure (RADV; Intel; others).
const COLUMNS: [(&str, &[&str]); 8] = [
    ("VGPRs", &["VGPRs", "Registers"]),
    ("SGPRs", &["SGPRs"]),
    ("spilled", &["Spilled VGPRs", "Spill Count"]),
    ("scratch", &["Scratch size", "Scratch Memory Size"]),
    ("waves", &["Subgroups per SIMD", "Max dispatch width"]),
    ("code bytes", &["Code size", "Code Size"]),
    ("instructions", &["Instructions", "Instruction Count"]),
    ("cycles", &["Inverse Throughput", "Cycle Count"]),
];

fn main() {
    let directory = std::env::var_os("KALAH_STATISTICS_DIR").map(PathBuf::from);
    let sources = std::env::var_os("KALAH_STATISTICS_SOURCES").map(PathBuf::from);
    // SAFETY: the installed loader is a Vulkan loader.
    let compilers = unsafe { Compiler::all() }.unwrap_or_else(|error| panic!("no Vulkan: {error}"));
    if compilers.is_empty() {
        eprintln!("No driver here has VK_KHR_pipeline_executable_properties; see the head of this file.");
        std::process::exit(1);
    }
    for compiler in compilers {
        println!("\n{}", compiler.name());
        let heads: Vec<&str> = COLUMNS.iter().map(|column| column.0).collect();
        println!("| stage | {} | by loop depth, without exceptions |", heads.join(" | "));
        println!("|---|{}---|", "---:|".repeat(heads.len()));
        for stage in Stage::ALL {
            let name = format!("{}.wgsl", stage.name());
            let other = sources.as_ref().map(|sources| sources.join(&name)).filter(|path| path.exists());
            let source = match &other {
                Some(path) => {
                    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
                }
                None => stage.kernel().source(),
            };
            let compile = |source: &str| {
                let compiled = compiler.compile(stage.kernel(), source);
                compiled.unwrap_or_else(|error| panic!("{}: {error}", stage.name()))
            };
            let compiled = compile(&source);
            // Few groups have exceptions. Without them, the remaining code is what nearly all
            // threads run.
            let marked = "const PATCHED: u32 = 128u;";
            assert!(source.contains(marked), "the constant of {}", stage.name());
            let plain = compile(&source.replace(marked, "const PATCHED: u32 = 0u;"));
            println!("{}", line(stage, &compiled, &plain));
            if let Some(directory) = &directory {
                std::fs::create_dir_all(directory).expect("the directory can be made");
                std::fs::write(directory.join(&name), &source).expect("the directory can be written");
                for (name, text) in &plain.representations {
                    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
                    let path = directory.join(format!("{}.{name}.txt", stage.name()));
                    std::fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                }
            }
        }
    }
}

/// A row of the table: the figures of the stage, and the instructions of the stage without exceptions.
fn line(stage: Stage, compiled: &Compiled, plain: &Compiled) -> String {
    let figures = COLUMNS.map(|(_, names)| {
        let found = names.iter().find_map(|name| compiled.statistics.iter().find(|(other, _)| other == name));
        found.map_or("-".to_owned(), |(_, value)| value.clone())
    });
    let assembly = plain.representations.iter().find(|(name, _)| name == "Assembly");
    let depths = assembly.map_or("-".to_owned(), |(_, text)| Instructions::of(text).to_string());
    format!("| `{}` | {} | {depths} |", stage.name(), figures.join(" | "))
}
