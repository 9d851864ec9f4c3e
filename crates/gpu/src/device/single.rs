use super::error::GpuError;
use super::gpu::Gpu;
use super::kernel::Kernel;
use super::recorder::{MAX_WORKGROUPS, Recorder, RecorderBuffers};
use super::twin::Params;

impl Gpu {
    /// Runs one kernel in `workgroups` workgroups on these buffers, in the order of its bindings,
    /// and stores the results in them. For tests of single kernels.
    ///
    /// # Errors
    /// When the device does not have enough memory for the buffers, or fails.
    ///
    /// # Panics
    /// When the number of buffers is wrong, a buffer has less than four words, or there are more
    /// workgroups than a dispatch can have.
    pub fn run_kernel<P: Params>(
        &self,
        kernel: &'static Kernel,
        params: &P,
        workgroups: u32,
        buffers: &mut [Vec<u32>],
    ) -> Result<(), GpuError> {
        assert_eq!(buffers.len(), kernel.access.len(), "buffers of {}", kernel.name);
        assert!(workgroups <= MAX_WORKGROUPS, "{workgroups} workgroups");
        assert!(buffers.iter().all(|words| words.len() >= 4), "the smallest buffer has four words");
        let upload = buffers.iter().map(|words| 4 * words.len() as u64).sum();
        let mut recorder = Recorder::new(self, RecorderBuffers::new(self, upload)?);
        let on_device = buffers
            .iter()
            .map(|words| recorder.storage_of("a kernel's buffer", words))
            .collect::<Result<Vec<_>, _>>()?;
        let windows: Vec<_> = on_device.iter().map(|buffer| buffer.window()).collect();
        let bound = recorder.bind(kernel, &windows);
        recorder.dispatch(&bound, params, workgroups)?;
        recorder.finish()?;
        for (words, window) in buffers.iter_mut().zip(&windows) {
            *words = bytemuck::pod_collect_to_vec(&self.read(window)?);
        }
        Ok(())
    }
}
