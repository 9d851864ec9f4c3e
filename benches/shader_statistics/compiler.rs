//! Uses a driver as a compiler: from a kernel to the driver's report about its pipeline.

use std::error::Error;
use std::ffi::{CStr, CString, c_char};

use ash::{Device, Entry, Instance, khr, vk};
use kalah::gpu::Kernel;
use naga::back::spv;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// A Vulkan device that reports statistics of pipelines.
pub struct Compiler {
    name: String,
    device: Device,
    executables: khr::pipeline_executable_properties::Device,
    // These are loaded from libraries that must stay loaded.
    _instance: Instance,
    _entry: Entry,
}

/// A driver's report about a pipeline.
pub struct Compiled {
    /// Names and values.
    pub statistics: Vec<(String, String)>,
    /// Names and texts.
    pub representations: Vec<(String, String)>,
}

impl Compiler {
    /// Returns all devices that report statistics.
    ///
    /// # Errors
    /// When there is no Vulkan loader, or it or a driver fails.
    ///
    /// # Safety
    /// The library installed as Vulkan loader must be one.
    pub unsafe fn all() -> Result<Vec<Compiler>, Box<dyn Error>> {
        // SAFETY: guaranteed by the caller.
        let entry = unsafe { Entry::load()? };
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_2);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: the structures are filled in and live until the call returns. The same holds
        // below.
        let instance = unsafe { entry.create_instance(&info, None)? };
        let mut compilers = Vec::new();
        // SAFETY: the instance exists.
        for physical in unsafe { instance.enumerate_physical_devices()? } {
            // SAFETY: the device is one of the instance.
            let extensions = unsafe { instance.enumerate_device_extension_properties(physical)? };
            let wanted = khr::pipeline_executable_properties::NAME;
            if !extensions.iter().any(|found| found.extension_name_as_c_str() == Ok(wanted)) {
                continue;
            }
            let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
            let names = [wanted.as_ptr()];
            let mut reports =
                vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default().pipeline_executable_info(true);
            let features = vk::PhysicalDeviceFeatures::default().robust_buffer_access(true);
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&names)
                .enabled_features(&features)
                .push_next(&mut reports);
            // SAFETY: the extension is one of the device; every device has a queue family 0.
            let (properties, device) = unsafe {
                (instance.get_physical_device_properties(physical), instance.create_device(physical, &info, None)?)
            };
            compilers.push(Compiler {
                name: text(&properties.device_name),
                executables: khr::pipeline_executable_properties::Device::new(&instance, &device),
                device,
                _instance: instance.clone(),
                _entry: entry.clone(),
            });
        }
        Ok(compilers)
    }

    /// The name of the device.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Compiles `source` with the bindings of a kernel, as on a card.
    ///
    /// # Errors
    /// When the shader is invalid or the driver rejects it.
    pub fn compile(&self, kernel: &Kernel, source: &str) -> Result<Compiled, Box<dyn Error>> {
        let code = spir_v(kernel, source)?;
        let kinds = std::iter::once(vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC)
            .chain(kernel.access.iter().map(|_| vk::DescriptorType::STORAGE_BUFFER));
        let bindings: Vec<_> = (0..)
            .zip(kinds)
            .map(|(binding, kind)| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(kind)
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        let name = CString::new(kernel.entry_point)?;
        let device = &self.device;
        // SAFETY: naga wrote valid SPIR-V with these bindings. Nothing is destroyed before the
        // program ends.
        unsafe {
            let module = device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None)?;
            let set = device.create_descriptor_set_layout(
                &vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings),
                None,
            )?;
            let layout =
                device.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default().set_layouts(&[set]), None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(&name);
            let info = vk::ComputePipelineCreateInfo::default()
                .flags(
                    vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR
                        | vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR,
                )
                .stage(stage)
                .layout(layout);
            let pipeline = device
                .create_compute_pipelines(vk::PipelineCache::null(), &[info], None)
                .map_err(|(_, error)| error)?[0];
            Ok(self.reports(pipeline)?)
        }
    }

    /// Reads the driver's report about a pipeline.
    ///
    /// # Safety
    /// The pipeline must belong to the device and be made with the flags for reports.
    unsafe fn reports(&self, pipeline: vk::Pipeline) -> Result<Compiled, vk::Result> {
        let info = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline).executable_index(0);
        // SAFETY: guaranteed by the caller.
        let found = unsafe { self.executables.get_pipeline_executable_statistics(&info)? };
        let statistics = found.iter().map(|statistic| (text(&statistic.name), value(statistic))).collect();
        // SAFETY: guaranteed by the caller; the second call fills the memory that the first one
        // requested.
        let representations = unsafe {
            let mut found = self.executables.get_pipeline_executable_internal_representations(&info)?;
            let mut texts: Vec<Vec<u8>> = found.iter().map(|one| vec![0; one.data_size]).collect();
            for (one, text) in found.iter_mut().zip(&mut texts) {
                one.p_data = text.as_mut_ptr().cast();
            }
            let mut count = found.len() as u32;
            (self.executables.fp().get_pipeline_executable_internal_representations_khr)(
                self.device.handle(),
                &info,
                &mut count,
                found.as_mut_ptr(),
            )
            .result()?;
            let name = |one: &vk::PipelineExecutableInternalRepresentationKHR| text(&one.name);
            let shown = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned();
            found.iter().zip(&texts).map(|(one, bytes)| (name(one), shown(bytes))).collect()
        };
        Ok(Compiled { statistics, representations })
    }
}

/// Returns the SPIR-V that wgpu would make of a shader that runs without run-time checks.
fn spir_v(kernel: &Kernel, source: &str) -> Result<Vec<u32>, Box<dyn Error>> {
    let module = naga::front::wgsl::parse_str(source)?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module)?;
    let unchecked = BoundsCheckPolicy::Unchecked;
    let options = spv::Options {
        lang_version: (1, 5),
        flags: spv::WriterFlags::empty(),
        bounds_check_policies: BoundsCheckPolicies {
            index: unchecked,
            buffer: unchecked,
            image_load: unchecked,
            binding_array: unchecked,
        },
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: false,
        emit_int_div_checks: false,
        ..Default::default()
    };
    let entry =
        spv::PipelineOptions { shader_stage: naga::ShaderStage::Compute, entry_point: kernel.entry_point.to_owned() };
    Ok(spv::write_vec(&module, &info, &options, Some(&entry))?)
}

/// A text of fixed size that ends with a zero.
fn text(characters: &[c_char]) -> String {
    // SAFETY: Vulkan ends texts with a zero.
    unsafe { CStr::from_ptr(characters.as_ptr()) }.to_string_lossy().into_owned()
}

/// The value of a statistic as text.
fn value(statistic: &vk::PipelineExecutableStatisticKHR) -> String {
    use vk::PipelineExecutableStatisticFormatKHR as Format;
    // SAFETY: the format says which member is valid.
    unsafe {
        match statistic.format {
            Format::BOOL32 => (statistic.value.b32 != 0).to_string(),
            Format::INT64 => statistic.value.i64.to_string(),
            Format::UINT64 => statistic.value.u64.to_string(),
            _ => format!("{:.1}", statistic.value.f64),
        }
    }
}
