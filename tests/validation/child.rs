//! What runs under the layer. These tests are ignored, so that only `layer.rs` runs them, each in a process of its own.

use std::sync::Arc;

use kalah::build::{Backend, Builder, measure};
use kalah::game::Rules;
use kalah::gpu::{Adapter, Gpu, GpuOptions};
use kalah::progress::Pulse;
use kalah::table::{TableKey, Tables};
use kalah::verify::check_against;
use wgpu::hal;
use wgpu::util::DeviceExt;

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
    for rules in Rules::ALL {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        // The second build has its lower layers in files, and the small layer of two pits has exceptions.
        for (pits, seeds) in [(2, 12), (4, 6), (4, 8)] {
            let key = TableKey { rules, pits, seeds };
            Builder::new(directory, key).backend(backend.clone()).run(&pulse, &|_| {}).unwrap();
        }
        let tables = Tables::open(directory, rules, 4, 8).unwrap();
        check_against(&backend, &tables, 8, &pulse).unwrap();
        // With the device's clock.
        measure(&backend, &tables, 8, directory, &pulse).unwrap().unwrap();
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

#[test]
#[ignore = "runs under the layer"]
fn a_shader_writes_beyond_its_buffer() {
    let (device, queue) = plain_device();
    let source = "@group(0) @binding(0) var<storage, read_write> words: array<u32>;
        @compute @workgroup_size(1) fn main() { words[words[0]] = 1u; }";
    let descriptor = wgpu::ShaderModuleDescriptor { label: None, source: wgpu::ShaderSource::Wgsl(source.into()) };
    // SAFETY: the driver's robust access, which wgpu always asks for, ignores the word beyond the buffer.
    let module = unsafe { device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked()) };
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    });
    let words = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
        label: None,
        // The place where it writes: a hundred words, of which it has four.
        contents: bytemuck::cast_slice(&[100u32, 0, 0, 0]),
        usage: wgpu::BufferUsages::STORAGE,
    });
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
