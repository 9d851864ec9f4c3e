//! Shaders are valid and fit their stages, as far as this can be checked without an adapter.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use kalah::build::gpu::stages::Stage;
use kalah::gpu::{Access, WORKGROUP};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, Module, ShaderStage, StorageAccess, TypeInner};

pub(crate) fn parsed(stage: Stage) -> (Module, ModuleInfo) {
    let source = stage.kernel().source();
    let module = naga::front::wgsl::parse_str(&source)
        .unwrap_or_else(|error| panic!("{}: {}", stage.name(), error.emit_to_string(&source)));
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .unwrap_or_else(|error| panic!("{}: {}", stage.name(), error.emit_to_string(&source)));
    (module, info)
}

#[test]
fn shaders_are_valid_and_have_the_entry_point_and_bindings_that_their_stage_declares() {
    for &stage in Stage::ALL {
        let ((module, info), name) = (parsed(stage), stage.name());
        let [entry] = &module.entry_points[..] else { panic!("entry points of {name}") };
        assert_eq!((entry.name.as_str(), entry.stage), (stage.kernel().entry_point, ShaderStage::Compute));
        assert_eq!(entry.workgroup_size, [WORKGROUP, 1, 1], "{name}");
        let mut bindings = BTreeMap::new();
        for (handle, variable) in module.global_variables.iter() {
            let Some(binding) = variable.binding else { continue };
            assert_eq!(binding.group, 0, "{name}");
            let access = match (variable.space, &module.types[variable.ty].inner) {
                (AddressSpace::Uniform, TypeInner::Struct { span, .. }) => {
                    assert!(*span <= 256, "{name}: more than the distance between the parameters of two dispatches");
                    None
                }
                (AddressSpace::Storage { access }, TypeInner::Array { stride: 4 | 16, .. }) => {
                    Some(if access.contains(StorageAccess::STORE) { Access::Write } else { Access::Read })
                }
                other => panic!("{name}: a binding in {other:?}"),
            };
            assert!(!info.get_entry_point(0)[handle].is_empty(), "{name} does not use {:?}", variable.name);
            assert!(bindings.insert(binding.binding, access).is_none(), "{name}: twice the same binding");
        }
        let declared = [None].into_iter().chain(stage.kernel().access.iter().copied().map(Some));
        assert_eq!(bindings, (0..).zip(declared).collect(), "{name}");
    }
}

/// Names and texts of all files with shaders.
fn shader_files() -> Vec<(String, String)> {
    let folders = ["shaders", "shaders/shared"].map(|folder| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
    let paths = folders.into_iter().flat_map(|folder| folder.read_dir().unwrap()).map(|entry| entry.unwrap().path());
    let file =
        |path: &Path| (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(path).unwrap());
    let files: Vec<_> = paths.filter(|path| path.is_file()).map(|path| file(&path)).collect();
    assert!(files.len() > Stage::ALL.len());
    files
}

#[test]
fn every_shader_file_is_part_of_a_stage() {
    let files = shader_files();
    let sources: Vec<String> = Stage::ALL.iter().map(|stage| stage.kernel().source()).collect();
    for (name, text) in &files {
        assert!(sources.iter().any(|source| source.contains(text)), "no stage uses {name}");
    }
    for (stage, source) in Stage::ALL.iter().zip(sources) {
        let own = format!("{}.wgsl", stage.name());
        assert!(files.iter().any(|(name, text)| *name == own && source.ends_with(text)), "{own}");
    }
}

#[test]
fn every_constant_is_used_by_a_shader() {
    let source = Stage::Transpose.kernel().source();
    let lines = source.lines().take_while(|line| !line.starts_with("struct"));
    let constants: Vec<&str> =
        lines.map(|line| line.strip_prefix("const ").unwrap().split_once(':').unwrap().0).collect();
    assert!(constants.contains(&"WORKGROUP"));
    let files = shader_files();
    let code = files.iter().flat_map(|(_, text)| text.lines()).map(|line| line.split("//").next().unwrap());
    let words: BTreeSet<&str> =
        code.flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')).collect();
    let unused: Vec<_> = constants.iter().filter(|constant| !words.contains(**constant)).collect();
    assert!(unused.is_empty(), "no shader uses {unused:?}");
}
