use std::sync::mpsc::{Receiver, Sender};

use kalah_core::index::Frame;
use kalah_tables::builder::{ComputeError, FrameOutput};
use kalah_tables::table::PackedFrame;
use wgpu::SubmissionIndex;

use super::packer::PackedOnDevice;
use crate::device::{DeviceBuffer, Gpu, GpuError, Recorder, Window};

/// Buffers for packed frames that are copied back. One is filled while the other is read.
pub(super) const READBACKS: usize = 2;

/// A packed frame that is being copied back.
pub(super) struct Delivery {
    frame: Frame,
    buffer: DeviceBuffer,
    head_bytes: u64,
    patch_bytes: u64,
    submission: Option<SubmissionIndex>,
}

/// Copies a packed frame to a buffer that the CPU can read.
pub(super) fn send(
    recorder: &mut Recorder,
    frame: Frame,
    packed: &PackedOnDevice,
    spare: DeviceBuffer,
) -> Result<Delivery, GpuError> {
    let (head_bytes, patches) = (packed.head.bytes, packed.patch_bytes.next_multiple_of(4));
    let buffer = if spare.bytes() >= head_bytes + patches {
        spare
    } else {
        // It is in the machine's memory, not the device's.
        drop(spare);
        recorder.gpu().host_buffer(head_bytes + patches)?
    };
    recorder.copy(&packed.head, &buffer.window(), head_bytes)?;
    recorder.copy(&packed.patches, &Window { offset: head_bytes, ..buffer.window() }, patches)?;
    recorder.submit()?;
    let submission = recorder.last();
    Ok(Delivery { frame, buffer, head_bytes, patch_bytes: packed.patch_bytes, submission })
}

/// Passes arriving frames to `output` and their buffers to `spare`, until no more come or a frame
/// is not taken.
pub(super) fn collect(
    gpu: &Gpu,
    deliveries: Receiver<Delivery>,
    spare: Sender<DeviceBuffer>,
    output: &dyn FrameOutput,
) -> Result<(), ComputeError> {
    for delivery in deliveries {
        let Delivery { frame, buffer, head_bytes, patch_bytes, submission } = delivery;
        let bytes = head_bytes + patch_bytes.next_multiple_of(4);
        let section = gpu.mapped(&buffer.buffer, bytes, submission, |view| {
            let mut section = output.buffer();
            section.clear();
            section.extend_from_slice(&view[..(head_bytes + patch_bytes) as usize]);
            section
        })?;
        // If the receiver is gone, no more frames are sent.
        let _ = spare.send(buffer);
        let packed = PackedFrame::from_section(frame, section)
            .ok_or_else(|| GpuError::Refused(format!("the patches of {frame:?} came back damaged")))?;
        output.take(packed)?;
    }
    Ok(())
}
