//! Tests that run under the layer. They are ignored, so that only `layer.rs` runs them, each in its own process.

use std::fmt::Debug;
use std::sync::Arc;

use kalah::build::gpu::stages::{Encode, GROUP_POSITIONS, GROUP_WORDS, SCAN_BLOCK, Scan, Stage, TILE, Transpose};
use kalah::build::{Backend, Builder, measure};
use kalah::game::Rules;
use kalah::gpu::{Adapter, Gpu, GpuOptions, Params, WORKGROUP};
use kalah::progress::Pulse;
use kalah::table::{TableKey, Tables};
use kalah::verify::check_against;
use wgpu::hal;
use wgpu::util::DeviceExt;

use crate::stage_cases::{self, Run};

/// Environment variable with the name of the adapter.
pub(crate) const ADAPTER: &str = "KALAH_VALIDATED_ADAPTER";

fn name() -> String {
    std::env::var(ADAPTER).expect("layer.rs sets it")
}

fn adapter() -> Adapter {
    Adapter::candidates(Some(&name())).unwrap().swap_remove(0)
}

#[test]
#[ignore = "runs under the layer"]
fn builds_of_every_rule_set() {
    let adapter = adapter();
    let device = Arc::new(Gpu::open(&adapter, GpuOptions::default()).unwrap());
    let (backend, pulse) = (Backend::Gpu(device), Pulse::default());
    for (number, rules) in (0..).zip(Rules::ALL) {
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
        if number == 0 {
            measure(&backend, &tables, 6, directory, &pulse).unwrap();
        }
    }
}

/// Opens a device without any part of this project.
fn plain_device() -> (wgpu::Device, wgpu::Queue) {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::VULKAN;
    let adapters = pollster::block_on(wgpu::Instance::new(descriptor).enumerate_adapters(wgpu::Backends::VULKAN));
    let adapter = adapters.into_iter().find(|adapter| adapter.get_info().name == name()).unwrap();
    pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor::default())).unwrap()
}

#[test]
#[ignore = "runs under the layer"]
fn copies_without_a_barrier() {
    let (device, queue) = plain_device();
    let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let buffers = [(); 2].map(|()| {
        let buffer = wgpu::BufferDescriptor { label: None, size: 64, usage, mapped_at_creation: false };
        device.create_buffer(&buffer)
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    // This makes wgpu take both buffers for initialized.
    encoder.copy_buffer_to_buffer(&buffers[0], 0, &buffers[1], 0, 64);
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let mut encoder = device.create_command_encoder(&Default::default());
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
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
}

/// Runs stages on a device.
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

#[test]
#[ignore = "runs under the layer"]
fn stages_with_barriers() {
    let adapter = adapter();
    let mut device = OnDevice(Gpu::open(&adapter, GpuOptions::default()).unwrap());
    stage_cases::scan(&mut device);
    stage_cases::transpose(&mut device);
    stage_cases::encode(&mut device);
}

/// A shader whose threads read words of others without a barrier.
const RACE: &str = "
    struct Params { added: u32, unused: array<vec4<u32>, 2> }
    @group(0) @binding(0) var<uniform> params: Params;
    @group(0) @binding(1) var<storage, read_write> words: array<u32>;
    var<workgroup> cells: array<u32, 64>;

    @compute @workgroup_size(64)
    fn race(@builtin(local_invocation_index) thread: u32) {
        cells[thread] = words[thread];
        words[thread] = cells[63u - thread] + params.added;
    }";

/// A shader without a race: threads use words of others only after a barrier.
const NO_RACE: &str = "
    struct Params { added: u32, unused: array<vec4<u32>, 2> }
    @group(0) @binding(0) var<uniform> params: Params;
    @group(0) @binding(1) var<storage, read_write> words: array<u32>;
    var<workgroup> cells: array<u32, 64>;

    @compute @workgroup_size(64)
    fn no_race(@builtin(local_invocation_index) thread: u32) {
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

#[test]
#[ignore = "runs under the layer"]
fn no_race() {
    run_shader(NO_RACE.to_owned(), "no_race", &[0; 12], &[vec![1; 64]]);
}

#[test]
#[ignore = "runs under the layer"]
fn a_race() {
    run_shader(RACE.to_owned(), "race", &[0; 12], &[vec![1; 64]]);
}

/// Runs the shader of a stage in two workgroups, without one of its barriers.
fn without_barrier<P: Params>(stage: Stage, barrier: usize, params: P, contents: &[Vec<u32>]) {
    assert_eq!(contents.len(), stage.kernel().access.len());
    const BARRIER: &str = "workgroupBarrier();";
    let source = stage.kernel().source();
    let (at, _) = source.match_indices(BARRIER).nth(barrier).expect("the stage has this barrier");
    let source = format!("{}{}", &source[..at], &source[at + BARRIER.len()..]);
    let params: Vec<u32> = bytemuck::pod_collect_to_vec(std::slice::from_ref(&params));
    run_shader(source, stage.kernel().entry_point, &params, contents);
}

/// Runs a shader in two workgroups, without any part of this project.
fn run_shader(source: String, entry_point: &str, params: &[u32], contents: &[Vec<u32>]) {
    let (device, queue) = plain_device();
    let descriptor = wgpu::ShaderModuleDescriptor { label: None, source: wgpu::ShaderSource::Wgsl(source.into()) };
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &device.create_shader_module(descriptor),
        entry_point: Some(entry_point),
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
    let entries: Vec<wgpu::BindGroupEntry> = (0..)
        .zip(&buffers)
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
        .collect();
    let layout = pipeline.get_bind_group_layout(0);
    let group =
        device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries });
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(2, 1, 1);
    drop(pass);
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
}

fn scan_without(barrier: usize) {
    let words = vec![1; 2 * SCAN_BLOCK as usize];
    let params = Scan { numbers: SCAN_BLOCK + 777, first_block: 0 };
    without_barrier(Stage::Scan, barrier, params, &[words.clone(), words]);
}

#[test]
#[ignore = "runs under the layer"]
fn scan_without_its_first_barrier() {
    scan_without(0);
}

#[test]
#[ignore = "runs under the layer"]
fn scan_without_its_second_barrier() {
    scan_without(1);
}

#[test]
#[ignore = "runs under the layer"]
fn transpose_without_its_barrier() {
    let (rows, columns) = (TILE + 5, TILE - 1);
    let (from_words, to_words) = (columns.div_ceil(4), rows.div_ceil(4));
    let params = Transpose { rows, columns, tiles: 1, from_words, to_words, ..Transpose::default() };
    let words = vec![1; 2 * (TILE * TILE) as usize];
    without_barrier(Stage::Transpose, 0, params, &[words.clone(), words]);
}

/// Of the three barriers, only the second separates uses that are not all atomic. The layer reports no other races; the
/// check of the twins does.
#[test]
#[ignore = "runs under the layer"]
fn encode_without_its_second_barrier() {
    // Frames of 128 rows make runs of 32 words. All groups of both workgroups have exceptions.
    let (rows, threads) = (128, 2 * WORKGROUP);
    let positions = threads * GROUP_POSITIONS;
    let words = rows / 4;
    let params = Encode { threads, rows, words, positions, ..Encode::default() };
    let scores = vec![0x2800_0028; (positions / 4) as usize];
    let (profile, groups) = (vec![0; words as usize], vec![0; (threads * GROUP_WORDS) as usize]);
    without_barrier(Stage::Encode, 1, params, &[scores, profile, groups, vec![0; threads as usize]]);
}
