//! Checks twins for data races: which thread reads and writes which word, and whether a barrier lies between.
//!
//! Two accesses to one word race if different threads make them, at least one writes, they are not both atomic, and no
//! barrier orders them. A barrier orders only accesses of one workgroup to its own memory, like `workgroupBarrier()` in
//! WGSL. Nothing orders the workgroups of a dispatch.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;

use kalah::gpu::{Memory, Tracer, Use};

/// A race, or a read of memory that has no defined contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Race {
    /// Memory of the word.
    pub memory: Memory,
    /// Number of the word there.
    pub word: u32,
    /// The use by another thread; `None` if no thread has written this word of the workgroup's
    /// memory.
    pub earlier: Option<Use>,
    /// The use by this thread.
    pub later: Use,
    /// The thread, by the numbers of its workgroup and within it.
    pub thread: (u32, u32),
}

impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = |how| match how {
            Use::Read => "read",
            Use::Write => "write",
            Use::Atomic => "change atomically",
        };
        let (workgroup, local) = self.thread;
        write!(f, "thread {local} of workgroup {workgroup} ({}) uses word {} of ", verb(self.later), self.word)?;
        match self.memory {
            Memory::Binding(binding) => write!(f, "binding {binding}")?,
            Memory::Workgroup(variable) => write!(f, "variable {variable} of the workgroup's memory")?,
        }
        match self.earlier {
            Some(earlier) => write!(f, ", which another thread uses ({}) with no barrier between", verb(earlier)),
            None => write!(f, ", which no thread has written"),
        }
    }
}

/// The uses of one dispatch.
#[derive(Debug, Default)]
pub(crate) struct AccessTrace {
    /// The barrier that is ignored, by its number in each workgroup.
    ignored_barrier: Option<u32>,
    /// True if atomic operations count as a read and a write.
    plain_atomics: bool,
    state: RefCell<State>,
}

#[derive(Debug, Default)]
struct State {
    workgroup: u32,
    local: u32,
    /// Barriers that the workgroup has passed.
    passed: u32,
    /// The number of those that were not ignored.
    phase: u32,
    /// The uses of each word of each buffer, and of the memory of the workgroup.
    buffers: Vec<Vec<WordUses>>,
    shared: Vec<Vec<WordUses>>,
    race: Option<Race>,
    uses: BTreeSet<(Memory, Use)>,
    barriers: bool,
}

/// The uses of one word so far: reads, writes, atomic ones.
type WordUses = [Users; 3];

/// Users of one word in one way.
#[derive(Clone, Copy, Debug, Default)]
struct Users {
    any: bool,
    /// True if threads of several workgroups used it.
    several_workgroups: bool,
    /// The last such workgroup, the number of its barriers at that time, and the first thread that
    /// used it after these.
    workgroup: u32,
    phase: u32,
    local: u32,
    /// True if several threads used it after these barriers.
    several_threads: bool,
}

impl Users {
    /// Returns true if a use of the word by this thread is unordered with one of these.
    fn unordered(&self, workgroup: u32, phase: u32, local: u32) -> bool {
        let same_workgroup = !self.several_workgroups && self.workgroup == workgroup;
        let same_thread = !self.several_threads && self.local == local;
        self.any && !(same_workgroup && (self.phase != phase || same_thread))
    }

    fn add(&mut self, workgroup: u32, phase: u32, local: u32) {
        let before = *self;
        *self = Users { any: true, workgroup, phase, local, ..*self };
        self.several_workgroups |= before.any && before.workgroup != workgroup;
        let same_phase = before.any && before.workgroup == workgroup && before.phase == phase;
        self.several_threads = same_phase && (before.several_threads || before.local != local);
        if same_phase {
            self.local = before.local;
        }
    }
}

impl AccessTrace {
    /// Ignores one barrier of each workgroup, by its number from 0 on: for tests of the check
    /// itself.
    pub(crate) fn without_barrier(number: u32) -> AccessTrace {
        AccessTrace { ignored_barrier: Some(number), ..AccessTrace::default() }
    }

    /// Counts atomic operations as a read and a write: for tests of the check itself.
    pub(crate) fn with_plain_atomics() -> AccessTrace {
        AccessTrace { plain_atomics: true, ..AccessTrace::default() }
    }

    /// Returns the first race, if there is one.
    pub(crate) fn race(&self) -> Option<Race> {
        self.state.borrow().race
    }

    /// Returns the uses of each memory.
    pub(crate) fn uses(&self) -> BTreeSet<(Memory, Use)> {
        self.state.borrow().uses.clone()
    }

    /// Returns true if a barrier was passed.
    pub(crate) fn barriers(&self) -> bool {
        self.state.borrow().barriers
    }
}

impl Tracer for AccessTrace {
    fn begin(&self, workgroup: u32) {
        let mut state = self.state.borrow_mut();
        (state.workgroup, state.passed, state.phase) = (workgroup, 0, 0);
        // Each workgroup has its own memory, with undefined contents.
        state.shared.clear();
    }

    fn thread(&self, local: u32) {
        self.state.borrow_mut().local = local;
    }

    fn barrier(&self) {
        let state = &mut *self.state.borrow_mut();
        state.barriers = true;
        state.phase += u32::from(self.ignored_barrier != Some(state.passed));
        state.passed += 1;
    }

    fn access(&self, memory: Memory, word: u32, how: Use) {
        if how == Use::Atomic && self.plain_atomics {
            self.access(memory, word, Use::Read);
            return self.access(memory, word, Use::Write);
        }
        self.note(memory, word, how);
        self.state.borrow_mut().uses.insert((memory, how));
    }

    fn atomic_access(&self, memory: Memory, word: u32, how: Use) {
        self.note(memory, word, how);
        self.state.borrow_mut().uses.insert((memory, Use::Atomic));
    }
}

impl AccessTrace {
    /// Records a use and the race that it makes.
    fn note(&self, memory: Memory, word: u32, how: Use) {
        let state = &mut *self.state.borrow_mut();
        let (workgroup, local) = (state.workgroup, state.local);
        let (memories, number, phase) = match memory {
            Memory::Binding(binding) => (&mut state.buffers, binding as usize - 1, 0),
            Memory::Workgroup(variable) => (&mut state.shared, variable as usize, state.phase),
        };
        memories.resize_with(memories.len().max(number + 1), Vec::new);
        let words = &mut memories[number];
        words.resize(words.len().max(word as usize + 1), WordUses::default());
        let users = &mut words[word as usize];
        let conflicting: &[Use] = match how {
            Use::Read => &[Use::Write, Use::Atomic],
            Use::Write => &[Use::Read, Use::Write, Use::Atomic],
            Use::Atomic => &[Use::Read, Use::Write],
        };
        let undefined = matches!(memory, Memory::Workgroup(_))
            && how != Use::Write
            && !(users[Use::Write as usize].any || users[Use::Atomic as usize].any);
        let other = conflicting.iter().copied().find(|&use_| users[use_ as usize].unordered(workgroup, phase, local));
        if undefined || other.is_some() {
            let earlier = if undefined { None } else { other };
            state.race.get_or_insert(Race { memory, word, earlier, later: how, thread: (workgroup, local) });
        }
        users[how as usize].add(workgroup, phase, local);
    }
}
