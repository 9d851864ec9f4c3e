use super::recorder::{MAX_WORKGROUPS, Recorder};
use super::stages::{Params, Stage};
use super::{Gpu, GpuError};

impl Gpu {
    /// Runs one stage in `workgroups` workgroups on these buffers, in the order of its bindings, and leaves there what it
    /// makes of them: on the device, or as its twin if [`super::GpuOptions::twins`] has it. For tests of single stages.
    ///
    /// # Errors
    /// When the device has no room for the buffers, or fails.
    ///
    /// # Panics
    /// When the stage has not as many buffers, one of them has less than four words, or there are more workgroups than a
    /// dispatch takes.
    pub fn run_stage<P: Params>(
        &self,
        stage: Stage,
        params: &P,
        workgroups: u32,
        buffers: &mut [Vec<u32>],
    ) -> Result<(), GpuError> {
        assert_eq!(buffers.len(), stage.access().len(), "buffers of {}", stage.name());
        assert!(workgroups <= MAX_WORKGROUPS, "{workgroups} workgroups");
        assert!(buffers.iter().all(|words| words.len() >= 4), "the smallest buffer has four words");
        let on_device =
            buffers.iter().map(|words| self.storage_of("a stage's buffer", words)).collect::<Result<Vec<_>, _>>()?;
        let mut recorder = Recorder::new(self)?;
        let windows: Vec<_> = on_device.iter().map(|buffer| buffer.window()).collect();
        let bound = recorder.bind(stage, &windows);
        recorder.dispatch(&bound, params, workgroups)?;
        recorder.finish()?;
        for (words, window) in buffers.iter_mut().zip(&windows) {
            *words = bytemuck::pod_collect_to_vec(&self.read(window)?);
        }
        Ok(())
    }
}
