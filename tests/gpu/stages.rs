//! On every adapter, every stage gives the words of its twin on the CPU. Each shader runs twice: with checks of every
//! index, and without them, as on a hardware GPU.

use std::fmt::Debug;

use kalah::build::gpu::stages::Stage;
use kalah::gpu::{Access, NoTrace, Params};

use crate::adapter::{self, TestAdapter};
use crate::stage_cases::{self, Run, run_twin};

/// Compares an adapter with the twins.
struct OnDevice(&'static TestAdapter);

impl Run for OnDevice {
    fn run<P: Params + Debug>(
        &mut self,
        stage: Stage,
        params: &P,
        workgroups: u32,
        buffers: Vec<Vec<u32>>,
    ) -> Vec<Vec<u32>> {
        let (kernel, name) = (stage.kernel(), stage.name());
        let mut right = buffers.clone();
        run_twin(stage, params, workgroups, &mut right, &NoTrace);
        for device in [self.0.shared(), self.0.unchecked()] {
            let mut on_device = buffers.clone();
            device.run_kernel(kernel, params, workgroups, &mut on_device).unwrap();
            let what = || format!("{name} {params:?} on {}, checked: {}", self.0.name(), device.is_checked());
            for (binding, (found, right)) in (1..).zip(on_device.iter().zip(&right)) {
                let at = found.iter().zip(right).position(|(found, right)| found != right);
                assert_eq!(at.map(|at| (at, found[at], right[at])), None, "{}: binding {binding}", what());
                assert_eq!(found.len(), right.len(), "{}: binding {binding}", what());
            }
        }
        for ((before, after), access) in buffers.iter().zip(&right).zip(kernel.access) {
            assert!(*access == Access::Write || before == after, "{name} writes a buffer that it only reads");
        }
        right
    }

    fn enough(&self) -> usize {
        if self.0.is_slow() { 30_000 } else { 300_000 }
    }
}

#[test]
fn every_stage_gives_the_words_of_its_twin() {
    adapter::each(|adapter| {
        std::thread::scope(|scope| {
            for &stage in Stage::ALL {
                scope.spawn(move || stage_cases::run(stage, &mut OnDevice(adapter)));
            }
        });
    });
}
