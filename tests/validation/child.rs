//! Programs that run under the layer, in this program again.

use std::fmt::Debug;
use std::sync::Arc;

use kalah::build::gpu::stages::{SCAN_BLOCK, Scan, Stage};
use kalah::build::{Backend, Builder, measure};
use kalah::game::Rules;
use kalah::gpu::{Adapter, Gpu, GpuOptions, Params};
use kalah::progress::Pulse;
use kalah::table::{TableKey, Tables};
use kalah::verify::check_against;
use wgpu::hal;
use wgpu::util::DeviceExt;

use crate::stage_cases::{self, Run};

/// Environment variables with the names of the program and of the adapter.
pub(crate) const PROGRAM: &str = "KALAH_VALIDATED_PROGRAM";
pub(crate) const ADAPTER: &str = "KALAH_VALIDATED_ADAPTER";

/// Names of the programs.
pub(crate) const PROGRAMS: [(&str, fn()); 6] = [
    ("builds of every rule set", builds_of_every_rule_set),
    ("stages with barriers", stages_with_barriers),
    ("copies without a barrier", copies_without_a_barrier),
    ("no race", || run_shader(NO_RACE, &[0; 12], &[&[1; 64]])),
    ("a race", || run_shader(&without_first_barrier(NO_RACE), &[0; 12], &[&[1; 64]])),
    ("a scan without its first barrier", scan_without_its_first_barrier),
];

/// It is ignored, so that only `layer.rs` runs it.
#[test]
#[ignore = "runs under the layer"]
fn program() {
    let wanted = std::env::var(PROGRAM).expect("layer.rs sets it");
    PROGRAMS.iter().find(|(name, _)| *name == wanted).expect("a program").1();
}

fn adapter_name() -> String {
    std::env::var(ADAPTER).expect("layer.rs sets it")
}

fn gpu() -> Gpu {
    let adapter = Adapter::candidates(Some(&adapter_name())).unwrap().swap_remove(0);
    Gpu::open(&adapter, GpuOptions::default()).unwrap()
}

fn builds_of_every_rule_set() {
    let (backend, pulse) = (Backend::Gpu(Arc::new(gpu())), Pulse::default());
    for rules in Rules::ALL {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        // The second build reads its lower layers from files. The small layer of two pits has exceptions.
        for (pits, seeds) in [(2, 10), (4, 5), (4, 6)] {
            let key = TableKey { rules, pits, seeds };
            Builder::new(directory, key).backend(backend.clone()).run(&pulse, &|_| {}).unwrap();
        }
        let tables = Tables::open(directory, rules, 4, 6).unwrap();
        check_against(&backend, &tables, 6, &pulse).unwrap();
        // The measurement uses the device's clock. It takes long to measure memory.
        if rules == Rules::ALL[0] {
            measure(&backend, &tables, 6, directory, &pulse).unwrap();
        }
    }
}

/// Runs stages on a device. Their words are compared elsewhere.
struct OnDevice(Gpu);

impl Run for OnDevice {
    fn run<P: Params + Debug>(
        &mut self,
        stage: Stage,
        params: &P,
        workgroups: u32,
        mut buffers: Vec<Vec<u32>>,
    ) -> Vec<Vec<u32>> {
        self.0.run_kernel(stage.kernel(), params, workgroups, &mut buffers).unwrap();
        buffers
    }

    fn enough(&self) -> usize {
        0
    }
}

fn stages_with_barriers() {
    let mut device = OnDevice(gpu());
    for stage in [Stage::Scan, Stage::Transpose, Stage::Encode] {
        stage_cases::run(stage, &mut device);
    }
}

fn without_first_barrier(source: &str) -> String {
    let changed = source.replacen("workgroupBarrier();", "", 1);
    assert_ne!(changed, source);
    changed
}

fn scan_without_its_first_barrier() {
    let (params, words) = (Scan { numbers: SCAN_BLOCK + 777, first_block: 0 }, [1; 2 * SCAN_BLOCK as usize]);
    let params: Vec<u32> = bytemuck::pod_collect_to_vec(std::slice::from_ref(&params));
    run_shader(&without_first_barrier(&Stage::Scan.kernel().source()), &params, &[&words, &words]);
}

/// Opens a device without any part of this project.
fn plain_device() -> (wgpu::Device, wgpu::Queue) {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::VULKAN;
    let adapters = pollster::block_on(wgpu::Instance::new(descriptor).enumerate_adapters(wgpu::Backends::VULKAN));
    let adapter = adapters.into_iter().find(|adapter| adapter.get_info().name == adapter_name()).unwrap();
    pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor::default())).unwrap()
}

fn submit((device, queue): &(wgpu::Device, wgpu::Queue), encoder: wgpu::CommandEncoder) {
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
}

fn copies_without_a_barrier() {
    let opened = plain_device();
    let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let descriptor = wgpu::BufferDescriptor { label: None, size: 64, usage, mapped_at_creation: false };
    let buffers = [(); 2].map(|()| opened.0.create_buffer(&descriptor));
    let mut encoder = opened.0.create_command_encoder(&Default::default());
    // This makes wgpu take both buffers for initialized.
    encoder.copy_buffer_to_buffer(&buffers[0], 0, &buffers[1], 0, 64);
    submit(&opened, encoder);
    let mut encoder = opened.0.create_command_encoder(&Default::default());
    // SAFETY: the buffers exist until all commands are done. Both copies write the same values to the same bytes.
    unsafe {
        let [from, to] = buffers.each_ref().map(|buffer| buffer.as_hal::<hal::api::Vulkan>().unwrap());
        encoder.as_hal_mut::<hal::api::Vulkan, _, _>(|encoder| {
            let encoder = encoder.unwrap();
            for _ in 0..2 {
                let size = wgpu::BufferSize::new(64).unwrap();
                let copy = hal::BufferCopy { src_offset: 0, dst_offset: 0, size };
                hal::CommandEncoder::copy_buffer_to_buffer(encoder, &from, &to, [copy].into_iter());
            }
        });
    }
    submit(&opened, encoder);
}

/// A shader whose threads use words of others only after a barrier. Without the first one, it has a race.
const NO_RACE: &str = "
    struct Params { added: u32, unused: array<vec4<u32>, 2> }
    @group(0) @binding(0) var<uniform> params: Params;
    @group(0) @binding(1) var<storage, read_write> words: array<u32>;
    var<workgroup> cells: array<u32, 64>;

    @compute @workgroup_size(64)
    fn main(@builtin(local_invocation_index) thread: u32) {
        cells[thread] = words[thread];
        workgroupBarrier();
        for (var distance = 1u; distance < 64u; distance *= 2u) {
            let other = cells[(thread + distance) % 64u];
            workgroupBarrier();
            cells[thread] = cells[thread] + other;
            workgroupBarrier();
        }
        words[thread] = cells[63u - thread] + params.added;
    }";

/// Runs a shader in two workgroups, on a device without any part of this project.
fn run_shader(source: &str, params: &[u32], contents: &[&[u32]]) {
    let opened = plain_device();
    let device = &opened.0;
    let descriptor = wgpu::ShaderModuleDescriptor { label: None, source: wgpu::ShaderSource::Wgsl(source.into()) };
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &device.create_shader_module(descriptor),
        entry_point: None,
        compilation_options: wgpu::PipelineCompilationOptions {
            zero_initialize_workgroup_memory: false,
            ..Default::default()
        },
        cache: None,
    });
    let buffer = |contents: &[u32], usage| {
        let contents = bytemuck::cast_slice(contents);
        device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage })
    };
    let mut buffers = vec![buffer(params, wgpu::BufferUsages::UNIFORM)];
    buffers.extend(contents.iter().map(|words| buffer(words, wgpu::BufferUsages::STORAGE)));
    let resources = buffers.iter().map(wgpu::Buffer::as_entire_binding);
    let entries: Vec<_> =
        (0..).zip(resources).map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource }).collect();
    let layout = &pipeline.get_bind_group_layout(0);
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries });
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(2, 1, 1);
    drop(pass);
    submit(&opened, encoder);
}
