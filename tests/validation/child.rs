//! What runs under the layer. These tests are ignored, so that only `layer.rs` runs them, each in a process of its own.

use std::sync::Arc;

use kalah::build::{Backend, Builder, measure};
use kalah::game::Rules;
use kalah::gpu::{Adapter, Gpu, GpuOptions};
use kalah::progress::Pulse;
use kalah::table::{TableKey, Tables};
use kalah::verify::check_against;
use wgpu::hal;

/// The variable with the name of the adapter.
pub const ADAPTER: &str = "KALAH_VALIDATED_ADAPTER";

fn name() -> String {
    std::env::var(ADAPTER).expect("layer.rs sets it")
}

#[test]
#[ignore = "runs under the layer"]
fn nothing() {
    assert!(Adapter::choose(Some(&name())).is_err());
}

#[test]
#[ignore = "runs under the layer"]
fn builds_of_every_rule_set() {
    let adapter = Adapter::choose(Some(&name())).unwrap();
    let device = Arc::new(Gpu::open(&adapter, GpuOptions::default()).unwrap());
    let (backend, pulse) = (Backend::Gpu(device), Pulse::default());
    for (number, rules) in (0..).zip(Rules::ALL) {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        // The second build has its lower layers in files, and the small layer of two pits has exceptions.
        for (pits, seeds) in [(2, 10), (4, 5), (4, 6)] {
            let key = TableKey { rules, pits, seeds };
            Builder::new(directory, key).backend(backend.clone()).run(&pulse, &|_| {}).unwrap();
        }
        let tables = Tables::open(directory, rules, 4, 6).unwrap();
        check_against(&backend, &tables, 6, &pulse).unwrap();
        // With the device's clock; measuring memory takes long.
        if number == 0 {
            measure(&backend, &tables, 6, directory, &pulse).unwrap().unwrap();
        }
    }
}

/// A device without anything of this project.
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
    // So that wgpu takes both for initialised.
    encoder.copy_buffer_to_buffer(&buffers[0], 0, &buffers[1], 0, 64);
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let mut encoder = device.create_command_encoder(&Default::default());
    // SAFETY: the buffers exist until all is done. Two copies write the same bytes, the same ones.
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

/// Runs a shader in which threads write words of the memory of their workgroup, and then read others'.
fn exchange(barrier: &str) {
    let (device, queue) = plain_device();
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> words: array<u32>;
        var<workgroup> shared_words: array<u32, 64>;
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) local: u32) {{
            shared_words[local] = local;
            {barrier}
            words[local] = shared_words[local ^ 1u];
        }}"
    );
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
    let (size, usage) = (256, wgpu::BufferUsages::STORAGE);
    let words = device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: words.as_entire_binding() }],
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(1, 1, 1);
    drop(pass);
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
}

#[test]
#[ignore = "runs under the layer"]
fn a_shader_races() {
    exchange("");
}

#[test]
#[ignore = "runs under the layer"]
fn a_shader_with_a_barrier_does_not_race() {
    exchange("workgroupBarrier();");
}
