//! Shaders are valid and fit their stages, as far as this can be checked without an adapter.
#![cfg(feature = "gpu")]

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::Path;

use kalah::build::gpu::stages::{Encode, Forward, Mean, Profile, Quiet, Scan, Stage, Transpose};
use kalah::gpu::{Access, Params, WORKGROUP};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, Module, ScalarKind, ShaderStage, StorageAccess, TypeInner};

fn parsed(stage: Stage) -> (Module, ModuleInfo) {
    let source = stage.kernel().source();
    let module = naga::front::wgsl::parse_str(&source)
        .unwrap_or_else(|error| panic!("{}: {}", stage.name(), error.emit_to_string(&source)));
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .unwrap_or_else(|error| panic!("{}: {}", stage.name(), error.emit_to_string(&source)));
    (module, info)
}

/// Members of the parameters in Rust with their offsets in bytes. To find them, each word is set to its own offset.
fn members<P: Params + Debug>() -> Vec<(String, u32)> {
    let places: Vec<u32> = (0..size_of::<P>() as u32).step_by(4).collect();
    let debug = format!("{:?}", bytemuck::pod_read_unaligned::<P>(bytemuck::cast_slice(&places)));
    let fields = debug.split_once('{').unwrap().1.trim_end_matches('}');
    let field = |field: &str| {
        let (name, place) = field.split_once(':').unwrap();
        (name.trim().to_owned(), place.trim().parse().unwrap())
    };
    fields.split(',').map(field).collect()
}

fn members_of(stage: Stage) -> Vec<(String, u32)> {
    match stage {
        Stage::ForwardPass | Stage::ForwardAgain | Stage::ForwardCapture | Stage::ForwardRelay => members::<Forward>(),
        Stage::Transpose => members::<Transpose>(),
        Stage::QuietLarge | Stage::QuietSmall => members::<Quiet>(),
        Stage::Profile => members::<Profile>(),
        Stage::Mean => members::<Mean>(),
        Stage::Encode | Stage::Patch => members::<Encode>(),
        Stage::Scan => members::<Scan>(),
    }
}

#[test]
fn shaders_are_valid_and_have_one_entry_point_each() {
    for stage in Stage::ALL {
        let (module, _) = parsed(stage);
        let [entry] = &module.entry_points[..] else { panic!("entry points of {}", stage.name()) };
        assert_eq!((entry.name.as_str(), entry.stage), (stage.kernel().entry_point, ShaderStage::Compute));
        assert_eq!(entry.workgroup_size, [WORKGROUP, 1, 1], "{}", stage.name());
    }
}

#[test]
fn bindings_are_those_that_the_stage_declares() {
    for stage in Stage::ALL {
        let (module, info) = parsed(stage);
        let mut bindings = BTreeMap::new();
        for (handle, variable) in module.global_variables.iter() {
            let Some(binding) = variable.binding else { continue };
            assert_eq!(binding.group, 0, "{}", stage.name());
            let access = match variable.space {
                AddressSpace::Uniform => None,
                AddressSpace::Storage { access } if access.contains(StorageAccess::STORE) => Some(Access::Write),
                AddressSpace::Storage { .. } => Some(Access::Read),
                other => panic!("{}: a binding in {other:?}", stage.name()),
            };
            if access.is_some() {
                assert!(matches!(module.types[variable.ty].inner, TypeInner::Array { stride: 4 | 16, .. }));
            }
            let used = !info.get_entry_point(0)[handle].is_empty();
            assert!(used, "{} does not use {:?}", stage.name(), variable.name);
            assert!(bindings.insert(binding.binding, access).is_none(), "{}: twice the same binding", stage.name());
        }
        let declared: BTreeMap<u32, Option<Access>> =
            (0..).zip([None].into_iter().chain(stage.kernel().access.iter().copied().map(Some))).collect();
        assert_eq!(bindings, declared, "{}", stage.name());
    }
}

#[test]
fn parameters_lie_in_the_shader_as_in_rust() {
    for stage in Stage::ALL {
        let (module, _) = parsed(stage);
        let uniform = module.global_variables.iter().find(|(_, variable)| variable.space == AddressSpace::Uniform);
        let ty = &module.types[uniform.unwrap().1.ty];
        assert_eq!(ty.name.as_deref(), Some("Params"));
        let TypeInner::Struct { members, span } = &ty.inner else { panic!("parameters of {}", stage.name()) };
        let found: Vec<(String, u32)> = members
            .iter()
            .map(|member| {
                let TypeInner::Scalar(scalar) = module.types[member.ty].inner else { panic!("{:?}", member.name) };
                assert_eq!((scalar.kind, scalar.width), (ScalarKind::Uint, 4));
                (member.name.clone().unwrap(), member.offset)
            })
            .collect();
        assert_eq!(found, members_of(stage), "{}", stage.name());
        assert_eq!(*span as usize, 4 * found.len(), "{}", stage.name());
        assert!(*span <= 256, "{}: the parameters take more than the distance between two dispatches", stage.name());
    }
}

/// Reads all files with shaders.
fn shader_files() -> Vec<(String, String)> {
    let shaders = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let mut files = Vec::new();
    for directory in [shaders.clone(), shaders.join("shared")] {
        for entry in std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap()) {
            if entry.file_type().unwrap().is_file() {
                let name = entry.file_name().into_string().unwrap();
                files.push((name, std::fs::read_to_string(entry.path()).unwrap()));
            }
        }
    }
    assert!(files.len() > Stage::ALL.len());
    files
}

#[test]
fn every_shader_file_is_part_of_a_stage() {
    let sources = Stage::ALL.map(|stage| stage.kernel().source());
    for (name, text) in shader_files() {
        assert!(sources.iter().any(|source| source.contains(&text)), "no stage uses {name}");
    }
    for stage in Stage::ALL {
        let own = format!("{}.wgsl", stage.name());
        assert!(
            shader_files().iter().any(|(name, text)| *name == own && stage.kernel().source().ends_with(text)),
            "{own}"
        );
    }
}

#[test]
fn every_constant_is_used_by_a_shader() {
    let source = Stage::Transpose.kernel().source();
    let constants: Vec<&str> = source
        .lines()
        .take_while(|line| !line.starts_with("struct"))
        .map(|line| line.strip_prefix("const ").unwrap().split_once(':').unwrap().0)
        .collect();
    assert!(constants.contains(&"WORKGROUP"));
    let code: String = shader_files()
        .iter()
        .flat_map(|(_, text)| {
            text.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code).to_owned() + "\n")
        })
        .collect();
    let words: std::collections::BTreeSet<&str> =
        code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    for constant in constants {
        assert!(words.contains(constant), "no shader uses {constant}");
    }
}
