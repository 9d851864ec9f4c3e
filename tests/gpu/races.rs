//! No two threads of a stage race for a word.
//!
//! The check runs on the twins, which use the same words as their shaders. A parser compares the memory uses of each
//! twin with those of its shader, as far as it can see them.
#![cfg(feature = "gpu")]

use std::collections::BTreeSet;
use std::fmt::Debug;

use kalah::build::gpu::stages::Stage;
use kalah::gpu::{Memory, Params, Use, WORKGROUP, Words, Workgroup, bindings};
use naga::valid::{Capabilities, GlobalUse, ValidationFlags, Validator};
use naga::{AddressSpace, TypeInner};

use crate::access_trace::{AccessTrace, Race};
use crate::stage_cases::{self, Run};

/// Uses of memory.
type Uses = BTreeSet<(Memory, Use)>;

/// Runs twins with traces.
struct Traced {
    /// Makes the trace of a dispatch.
    trace: fn(u32) -> AccessTrace,
    /// Argument of `trace`.
    barrier: u32,
    races: Vec<(Stage, Race)>,
    uses: Uses,
    /// True if a barrier was passed.
    barriers: bool,
}

impl Traced {
    fn new(trace: fn(u32) -> AccessTrace, barrier: u32) -> Traced {
        Traced { trace, barrier, races: Vec::new(), uses: Uses::new(), barriers: false }
    }
}

impl Run for Traced {
    fn run<P: Params + Debug>(
        &mut self,
        stage: Stage,
        params: &P,
        workgroups: u32,
        mut buffers: Vec<Vec<u32>>,
    ) -> Vec<Vec<u32>> {
        let trace = (self.trace)(self.barrier);
        for workgroup in 0..workgroups {
            let params = bytemuck::cast_slice(std::slice::from_ref(params));
            (stage.kernel().twin)(workgroup, params, &mut buffers, &trace);
        }
        self.races.extend(trace.race().map(|race| (stage, race)));
        self.uses.extend(trace.uses());
        self.barriers |= trace.barriers();
        buffers
    }

    fn enough(&self) -> usize {
        30_000
    }
}

/// Returns the memory uses of a stage's shader, as naga finds them, and true if it has a barrier.
fn uses_of_shader(stage: Stage) -> (Uses, bool) {
    let source = stage.kernel().source();
    let module = naga::front::wgsl::parse_str(&source).unwrap();
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module).unwrap();
    let (mut uses, mut variables) = (Uses::new(), 0);
    for (handle, variable) in module.global_variables.iter() {
        let memory = match (variable.space, &variable.binding) {
            (AddressSpace::Storage { .. }, Some(binding)) => Memory::Binding(binding.binding),
            (AddressSpace::WorkGroup, _) => {
                variables += 1;
                Memory::Workgroup(variables - 1)
            }
            _ => continue,
        };
        let found = info.get_entry_point(0)[handle];
        // Words of atomic type have no other uses.
        let is_atomic = match module.types[variable.ty].inner {
            TypeInner::Array { base, .. } => matches!(module.types[base].inner, TypeInner::Atomic(_)),
            _ => false,
        };
        let (read, write) = if is_atomic { (Use::Atomic, Use::Atomic) } else { (Use::Read, Use::Write) };
        uses.extend(found.contains(GlobalUse::READ).then_some((memory, read)));
        uses.extend(found.contains(GlobalUse::WRITE).then_some((memory, write)));
    }
    let code: String = source.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code)).collect();
    for other in ["storageBarrier", "textureBarrier", "workgroupUniformLoad"] {
        assert!(!code.contains(other), "add {other} to the trace");
    }
    (uses, code.contains("workgroupBarrier"))
}

fn assert_no_races(stage: Stage, cases: fn(&mut Traced)) {
    let mut traced = Traced::new(|_| AccessTrace::default(), 0);
    cases(&mut traced);
    if let Some((stage, race)) = traced.races.first() {
        panic!("{}: {race}", stage.name());
    }
    assert_eq!((traced.uses, traced.barriers), uses_of_shader(stage), "{}: the uses of its twin", stage.name());
}

/// Defines a test for each of these stages.
macro_rules! stages {
    ($($stage:ident)*) => {
        $(
            #[test]
            fn $stage() {
                let stage = Stage::ALL.into_iter().find(|stage| stage.name() == stringify!($stage));
                assert_no_races(stage.unwrap(), stage_cases::$stage);
            }
        )*

        #[test]
        fn every_stage_is_checked() {
            let mut checked = vec![$(stringify!($stage)),*];
            let mut all = Stage::ALL.map(Stage::name);
            checked.sort_unstable();
            all.sort_unstable();
            assert_eq!(checked, all);
        }
    };
}

stages! {
    forward_pass forward_again forward_capture forward_relay transpose quiet_large quiet_small profile mean encode scan
    patch
}

/// Races found when one thing that prevents them is taken away.
fn races_with(trace: fn(u32) -> AccessTrace, barrier: u32, cases: fn(&mut Traced)) -> Vec<(Stage, Race)> {
    let mut traced = Traced::new(trace, barrier);
    cases(&mut traced);
    traced.races
}

#[test]
fn without_any_one_of_its_barriers_a_stage_races() {
    for barrier in 0..2 * WORKGROUP.ilog2() {
        let races = races_with(AccessTrace::without_barrier, barrier, stage_cases::scan);
        let (stage, race) = races.first().unwrap_or_else(|| panic!("scan without barrier {barrier}"));
        assert_eq!((*stage, race.memory), (Stage::Scan, Memory::Workgroup(0)));
    }
    assert!(
        races_with(AccessTrace::without_barrier, 2 * WORKGROUP.ilog2(), stage_cases::scan).is_empty(),
        "all were tried"
    );
    let races = races_with(AccessTrace::without_barrier, 0, stage_cases::transpose);
    assert_eq!((races[0].0, races[0].1.memory), (Stage::Transpose, Memory::Workgroup(0)));
    assert!(races_with(AccessTrace::without_barrier, 1, stage_cases::transpose).is_empty());
    for barrier in 0..3 {
        let races = races_with(AccessTrace::without_barrier, barrier, stage_cases::encode);
        let (stage, race) = races.first().unwrap_or_else(|| panic!("encode without barrier {barrier}"));
        assert_eq!((*stage, matches!(race.memory, Memory::Workgroup(_))), (Stage::Encode, true));
    }
    assert!(races_with(AccessTrace::without_barrier, 3, stage_cases::encode).is_empty(), "all were tried");
    // A shader has the same number of barriers as its twin.
    for (stage, barriers) in [(Stage::Scan, 2), (Stage::Transpose, 1), (Stage::Encode, 3)] {
        let source = stage.kernel().source();
        assert_eq!(source.matches("workgroupBarrier();").count(), barriers, "{}", stage.name());
    }
}

#[test]
fn without_atomic_operations_a_stage_races() {
    for (cases, memory) in [
        (stage_cases::profile as fn(&mut Traced), Memory::Binding(2)),
        (stage_cases::patch as fn(&mut Traced), Memory::Binding(7)),
    ] {
        let races = races_with(|_| AccessTrace::with_plain_atomics(), 0, cases);
        assert_eq!(races.first().expect("they share words").1.memory, memory);
    }
}

/// Traces a kernel of two workgroups and one buffer.
fn traced(kernel: impl Fn(&Workgroup, Words)) -> Option<Race> {
    let (trace, mut buffers) = (AccessTrace::default(), [vec![0; 4 * WORKGROUP as usize]]);
    for workgroup in 0..2 {
        let group = Workgroup::new(workgroup, &trace);
        let [words] = bindings(&mut buffers, &trace);
        kernel(&group, words);
    }
    trace.race()
}

/// A kernel that uses the memory of its workgroup: each thread writes its word, then reads another thread's word.
fn exchange(group: &Workgroup, barrier: bool, other: fn(u32) -> u32) {
    let mut memory = [0; WORKGROUP as usize];
    let mut memory = group.memory(&mut memory);
    for local in group.locals() {
        memory.set(local, local);
    }
    if barrier {
        group.barrier();
    }
    for local in group.locals() {
        assert_eq!(memory.get(other(local)), other(local));
    }
}

#[test]
fn racing_kernels_are_found() {
    use Use::{Atomic, Read, Write};
    let race = |memory, word, earlier, later, thread| Some(Race { memory, word, earlier, later, thread });
    let buffer = Memory::Binding(1);

    // All threads write one word; then two neighbours write one word.
    let found = traced(|group, mut words| group.locals().for_each(|_| words.set(5, 1)));
    assert_eq!(found, race(buffer, 5, Some(Write), Write, (0, 1)));
    let found = traced(|group, mut words| group.threads(512).for_each(|thread| words.set(thread / 2, 1)));
    assert_eq!(found, race(buffer, 0, Some(Write), Write, (0, 1)));
    // A thread reads the word that its neighbour writes afterwards or has written.
    let found =
        traced(|group, mut words| group.threads(512).for_each(|thread| words.set(thread + 1, words.get(thread))));
    assert_eq!(found, race(buffer, 1, Some(Write), Read, (0, 1)));
    let found =
        traced(|group, mut words| group.threads(512).for_each(|thread| words.set(thread, words.get(thread + 1))));
    assert_eq!(found, race(buffer, 1, Some(Read), Write, (0, 1)));
    // An atomic operation and a plain one.
    let found = traced(|group, mut words| {
        group.threads(512).for_each(|thread| if thread == 9 { words.set(0, 1) } else { words.atomic_max(0, 1) });
    });
    assert_eq!(found, race(buffer, 0, Some(Atomic), Write, (0, 9)));
    // A sum that is read while other threads add to it, or cleared after they did.
    let found = traced(|group, mut words| {
        group.threads(512).for_each(|thread| match thread {
            9 => assert_eq!(words.atomic_load(0), 9),
            _ => assert!(words.atomic_add(0, 1) < 511),
        });
    });
    assert_eq!(found, race(buffer, 0, Some(Atomic), Read, (0, 9)));
    let found = traced(|group, mut words| {
        group
            .threads(512)
            .for_each(|thread| if thread == 9 { words.atomic_store(0, 0) } else { words.atomic_max(0, 1) });
    });
    assert_eq!(found, race(buffer, 0, Some(Atomic), Write, (0, 9)));
    // A race between workgroups only: thread 0 of each.
    let first_only = |group: &Workgroup, words: &mut Words| {
        group.locals().filter(|&local| local == 0).for_each(|_| words.set(7, 1));
    };
    assert_eq!(traced(|group, mut words| first_only(group, &mut words)), race(buffer, 7, Some(Write), Write, (1, 0)));
    // No barrier orders workgroups.
    let found = traced(|group, mut words| {
        group.barrier();
        first_only(group, &mut words);
    });
    assert_eq!(found, race(buffer, 7, Some(Write), Write, (1, 0)));
    // A barrier does not order accesses to buffers.
    let found = traced(|group, mut words| {
        let first = 2 * group.number() * WORKGROUP;
        group.locals().for_each(|local| words.set(first + local, 1));
        group.barrier();
        group.locals().for_each(|local| words.set(first + (local ^ 1), 2));
    });
    assert_eq!(found, race(buffer, 1, Some(Write), Write, (0, 0)));

    let memory = Memory::Workgroup(0);
    let found = traced(|group, _| exchange(group, false, |local| local ^ 1));
    assert_eq!(found, race(memory, 1, Some(Write), Read, (0, 0)));
    // Memory that one workgroup wrote is not visible to another.
    let found = traced(|group, _| {
        let mut words = [0; 1];
        let mut words = group.memory(&mut words);
        group.locals().filter(|&local| local == 3).for_each(|_| match group.number() {
            0 => words.set(0, 1),
            _ => assert_eq!(words.get(0), 0),
        });
    });
    assert_eq!(found, race(memory, 0, None, Read, (1, 3)));
    assert!(found.unwrap().to_string().contains("thread 3 of workgroup 1"));
}

#[test]
fn kernels_that_do_not_race_are_not_found() {
    assert_eq!(traced(|group, _| exchange(group, true, |local| local ^ 1)), None);
    assert_eq!(traced(|group, _| exchange(group, false, |local| local)), None);
    assert_eq!(traced(|group, mut words| group.locals().for_each(|_| words.atomic_or(3, 1))), None);
    // Each thread writes its own word, and all read one other.
    let found = traced(|group, mut words| {
        group.threads(300).for_each(|thread| {
            let sum = words.get(thread) + words.get(900);
            words.set(thread, sum);
            words.set(thread, words.get(thread) + 1);
        });
    });
    assert_eq!(found, None);
}
