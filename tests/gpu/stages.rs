//! On every adapter, every stage gives the words of its twin on the CPU. Each shader runs twice: with checks of every
//! index, and without them, as on a hardware GPU.
#![cfg(feature = "gpu")]

use std::fmt::Debug;

use kalah::build::gpu::stages::Stage;
use kalah::gpu::{Access, NoTrace, Params};

use crate::adapter::{self, TestAdapter};
use crate::stage_cases::{self, Run};

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
        let kernel = stage.kernel();
        let mut right = buffers.clone();
        for workgroup in 0..workgroups {
            (kernel.twin)(workgroup, bytemuck::cast_slice(std::slice::from_ref(params)), &mut right, &NoTrace);
        }
        for device in [self.0.shared(), self.0.unchecked()] {
            let mut on_device = buffers.clone();
            device.run_kernel(kernel, params, workgroups, &mut on_device).unwrap();
            for (number, (found, right)) in on_device.iter().zip(&right).enumerate() {
                if let Some(at) = (0..right.len().max(found.len())).find(|&at| found.get(at) != right.get(at)) {
                    let (name, binding, adapter, checked) =
                        (stage.name(), number + 1, self.0.name(), device.is_checked());
                    let (found, right) = (found.get(at), right.get(at));
                    panic!(
                        "{name} {params:?} on {adapter}, checked: {checked}: word {at} of binding {binding} is \
                         {found:x?}, its twin makes {right:x?}"
                    );
                }
            }
        }
        for ((before, after), access) in buffers.iter().zip(&right).zip(kernel.access) {
            assert!(*access == Access::Write || before == after, "{} writes a buffer that it only reads", stage.name());
        }
        right
    }

    fn enough(&self) -> usize {
        if self.0.is_slow() { 30_000 } else { 300_000 }
    }
}

/// Defines a test for each of these stages.
macro_rules! stages {
    ($($stage:ident)*) => {
        $(
            #[test]
            fn $stage() {
                adapter::each(|adapter| stage_cases::$stage(&mut OnDevice(adapter)));
            }
        )*

        #[test]
        fn every_stage_is_compared() {
            let mut compared = vec![$(stringify!($stage)),*];
            let mut all = Stage::ALL.map(Stage::name);
            compared.sort_unstable();
            all.sort_unstable();
            assert_eq!(compared, all);
        }
    };
}

stages! {
    forward_pass forward_again forward_capture forward_relay transpose quiet_large quiet_small profile mean encode scan
    patch
}
