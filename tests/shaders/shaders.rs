//! Shaders can be expressed in the languages of Metal and DirectX 12, although the tests here compile them for Vulkan.

use kalah::build::gpu::stages::Stage;
use naga::back::{hlsl, msl};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, Module};

fn parsed(stage: Stage) -> (Module, ModuleInfo) {
    let (source, name) = (stage.kernel().source(), stage.name());
    let module = naga::front::wgsl::parse_str(&source);
    let module = module.unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(&source)));
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module);
    let info = info.unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(&source)));
    (module, info)
}

/// Translates a shader to the language of Metal.
fn metal(module: &Module, info: &ModuleInfo) -> Result<String, String> {
    let options = msl::Options { lang_version: (2, 0), ..msl::Options::default() };
    let written = msl::write_string(module, info, &options, &msl::PipelineOptions::default());
    let (text, translation) = written.map_err(|error| error.to_string())?;
    translation.entry_point_names.into_iter().collect::<Result<Vec<String>, _>>().map_err(|error| error.to_string())?;
    Ok(text)
}

/// Translates a shader to the language of DirectX, for the compiler that every Windows has.
fn directx(module: &Module, info: &ModuleInfo) -> Result<String, String> {
    let options = hlsl::Options { shader_model: hlsl::ShaderModel::V5_1, ..hlsl::Options::default() };
    let (mut text, pipeline) = (String::new(), hlsl::PipelineOptions::default());
    let reflection = hlsl::Writer::new(&mut text, &options, &pipeline).write(module, info, None);
    let names = reflection.map_err(|error| error.to_string())?.entry_point_names;
    names.into_iter().collect::<Result<Vec<String>, _>>().map_err(|error| error.to_string())?;
    Ok(text)
}

/// Bytes of workgroup memory that both Metal and DirectX 12 guarantee.
const WORKGROUP_MEMORY: u32 = 32 << 10;

#[test]
fn shaders_can_be_written_for_metal_and_directx_and_fit_their_memory() {
    for &stage in Stage::ALL {
        let (module, info) = parsed(stage);
        let languages =
            [("Metal", metal(&module, &info), "kernel void"), ("DirectX", directx(&module, &info), "[numthreads(")];
        for (language, written, entry) in languages {
            let text = written.unwrap_or_else(|error| panic!("{} for {language}: {error}", stage.name()));
            assert_eq!(text.matches(entry).count(), 1, "entry points of {} for {language}", stage.name());
        }
        let shared = module.global_variables.iter().filter(|(_, variable)| variable.space == AddressSpace::WorkGroup);
        let bytes: u32 = shared.map(|(_, variable)| module.types[variable.ty].inner.size(module.to_ctx())).sum();
        assert!(bytes <= WORKGROUP_MEMORY, "{}: {bytes} bytes of workgroup memory", stage.name());
    }
}
