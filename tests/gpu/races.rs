//! No two threads of a stage race for a word.
//!
//! The check runs on the twins, which use the same words as their shaders. A parser compares the memory uses of each
//! twin with those of its shader, as far as it can see them.

use std::collections::BTreeSet;
use std::fmt::Debug;

use kalah::build::gpu::stages::Stage;
use kalah::gpu::{Memory, Params, Use, WORKGROUP, Words, Workgroup, bindings};
use naga::valid::GlobalUse;
use naga::{AddressSpace, TypeInner};

use crate::access_trace::{AccessTrace, Race};
use crate::shaders::parsed;
use crate::stage_cases::{self, Run, run_twin};

/// Uses of memory.
type Uses = BTreeSet<(Memory, Use)>;

/// Runs twins with traces that `trace` makes, one for each dispatch.
struct Traced<T> {
    trace: T,
    races: Vec<Race>,
    uses: Uses,
    /// True if a barrier was passed.
    barriers: bool,
}

impl<T: Fn() -> AccessTrace> Run for Traced<T> {
    fn run<P: Params + Debug>(
        &mut self,
        stage: Stage,
        params: &P,
        workgroups: u32,
        mut buffers: Vec<Vec<u32>>,
    ) -> Vec<Vec<u32>> {
        let trace = (self.trace)();
        run_twin(stage, params, workgroups, &mut buffers, &trace);
        let (race, uses, barriers) = trace.found();
        self.races.extend(race);
        self.uses.extend(uses);
        self.barriers |= barriers;
        buffers
    }

    fn enough(&self) -> usize {
        30_000
    }
}

fn traced<T: Fn() -> AccessTrace>(stage: Stage, trace: T) -> Traced<T> {
    let mut traced = Traced { trace, races: Vec::new(), uses: Uses::new(), barriers: false };
    stage_cases::run(stage, &mut traced);
    traced
}

/// Returns the memory uses of a stage's shader, as naga finds them, and true if it has a barrier.
fn uses_of_shader(stage: Stage) -> (Uses, bool) {
    let (source, (module, info)) = (stage.kernel().source(), parsed(stage));
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

#[test]
fn no_stage_races_and_each_uses_memory_as_its_shader_does() {
    std::thread::scope(|scope| {
        for &stage in Stage::ALL {
            scope.spawn(move || {
                let Traced { races, uses, barriers, .. } = traced(stage, || AccessTrace::new(None, false));
                assert_eq!(races.first(), None, "{}", stage.name());
                assert_eq!((uses, barriers), uses_of_shader(stage), "{}: the uses of its twin", stage.name());
            });
        }
    });
}

#[test]
fn without_any_one_of_its_barriers_a_stage_races() {
    // Scan passes a barrier of its shader in each step of a loop.
    for (stage, passed, written) in
        [(Stage::Scan, 2 * WORKGROUP.ilog2(), 2), (Stage::Transpose, 1, 1), (Stage::Encode, 3, 3)]
    {
        for barrier in 0..=passed {
            let races = traced(stage, || AccessTrace::new(Some(barrier), false)).races;
            let is_shared = races.first().map(|race| matches!(race.memory, Memory::Workgroup(_)));
            assert_eq!(is_shared, (barrier < passed).then_some(true), "{} without barrier {barrier}", stage.name());
        }
        // A shader has the same number of barriers as its twin.
        assert_eq!(stage.kernel().source().matches("workgroupBarrier();").count(), written, "{}", stage.name());
    }
}

#[test]
fn without_atomic_operations_a_stage_races() {
    for (stage, binding) in [(Stage::Profile, 2), (Stage::Patch, 7)] {
        let races = traced(stage, || AccessTrace::new(None, true)).races;
        assert_eq!(races.first().expect("they share words").memory, Memory::Binding(binding));
    }
}

/// Runs a kernel with two workgroups and one buffer, and compares the race that is found.
#[track_caller]
fn assert_found(expected: Race, kernel: impl Fn(&Workgroup, Words)) {
    let (trace, mut buffers) = (AccessTrace::new(None, false), [vec![0; 4 * WORKGROUP as usize]]);
    for workgroup in 0..2 {
        let group = Workgroup::new(workgroup, &trace);
        let [words] = bindings(&mut buffers, &trace);
        kernel(&group, words);
    }
    assert_eq!(trace.found().0, Some(expected));
}

#[test]
fn races_of_kernels_are_found() {
    use Use::{Atomic, Read, Write};
    let race =
        |word, earlier, later, thread| Race { memory: Memory::Binding(1), word, earlier: Some(earlier), later, thread };
    // Two neighbours write one word.
    assert_found(race(0, Write, Write, (0, 1)), |group, mut words| {
        group.threads(512).for_each(|thread| words.set(thread / 2, 1));
    });
    // A thread reads the word that its neighbour has written or writes afterwards.
    assert_found(race(1, Write, Read, (0, 1)), |group, mut words| {
        group.threads(512).for_each(|thread| words.set(thread + 1, words.get(thread)));
    });
    assert_found(race(1, Read, Write, (0, 1)), |group, mut words| {
        group.threads(512).for_each(|thread| words.set(thread, words.get(thread + 1)));
    });
    // A sum that is read while other threads add to it, or cleared after they did.
    assert_found(race(0, Atomic, Read, (0, 9)), |group, mut words| {
        group.threads(512).for_each(|thread| match thread {
            9 => assert_eq!(words.atomic_load(0), 9),
            _ => assert!(words.atomic_add(0, 1) < 511),
        });
    });
    assert_found(race(0, Atomic, Write, (0, 9)), |group, mut words| {
        let change = |thread| if thread == 9 { words.atomic_store(0, 0) } else { words.atomic_max(0, 1) };
        group.threads(512).for_each(change);
    });
    // A race between workgroups only, which no barrier orders: thread 0 of each.
    assert_found(race(7, Write, Write, (1, 0)), |group, mut words| {
        group.barrier();
        group.locals().filter(|&local| local == 0).for_each(|_| words.set(7, 1));
    });
    // A barrier does not order accesses to buffers.
    assert_found(race(1, Write, Write, (0, 0)), |group, mut words| {
        let first = 2 * group.number() * WORKGROUP;
        group.locals().for_each(|local| words.set(first + local, 1));
        group.barrier();
        group.locals().for_each(|local| words.set(first + (local ^ 1), 2));
    });
    // Memory that one workgroup wrote is not visible to another.
    let undefined = Race { memory: Memory::Workgroup(0), word: 0, earlier: None, later: Read, thread: (1, 3) };
    assert_found(undefined, |group, _| {
        let mut words = [0; 1];
        let mut words = group.memory(&mut words);
        group.locals().filter(|&local| local == 3).for_each(|_| match group.number() {
            0 => words.set(0, 1),
            _ => assert_eq!(words.get(0), 0),
        });
    });
}
