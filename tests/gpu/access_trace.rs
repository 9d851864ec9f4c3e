//! Checks twins for data races: which thread reads and writes which word, and whether a barrier lies between.
//!
//! Two accesses to one word race if different threads make them, at least one writes, they are not both atomic, and no
//! barrier orders them. A barrier orders only accesses of one workgroup to its own memory, like `workgroupBarrier()` in
//! WGSL. Nothing orders the workgroups of a dispatch.

use std::cell::RefCell;
use std::collections::BTreeSet;

use kalah::gpu::{Memory, Tracer, Use};

/// A race, or a read of memory that has no defined contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Race {
    /// Memory of the word.
    pub memory: Memory,
    /// Number of the word there.
    pub word: u32,
    /// The use by another thread; `None` if no thread has written this word of the workgroup's memory.
    pub earlier: Option<Use>,
    /// The use by this thread.
    pub later: Use,
    /// The thread, by the numbers of its workgroup and within it.
    pub thread: (u32, u32),
}

/// The uses of one dispatch.
#[derive(Debug)]
pub(crate) struct AccessTrace {
    /// The barrier that is ignored, by its number in each workgroup: for tests of the check itself.
    ignored_barrier: Option<u32>,
    /// True if atomic operations count as a read and a write: for tests of the check itself.
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

/// The users of a word so far, as far as later uses depend on them: the last one, or several.
#[derive(Clone, Copy, Debug)]
struct User {
    /// The workgroup; `None` for several.
    workgroup: Option<u32>,
    /// The barriers that it had passed.
    phase: u32,
    /// The thread; `None` for several after the same barriers.
    local: Option<u32>,
}

/// The users of one word so far: for reads, writes, and atomic operations.
type WordUses = [Option<User>; 3];

impl User {
    /// Returns true if no barrier orders uses of a word by these, and they are not of one thread.
    fn races_with(self, later: User) -> bool {
        self.workgroup != later.workgroup || (self.phase == later.phase && self.local != later.local)
    }

    /// These and a later one.
    fn and(self, later: User) -> User {
        let workgroup = later.workgroup.filter(|_| self.workgroup == later.workgroup);
        User { workgroup, local: later.local.filter(|_| !self.races_with(later)), ..later }
    }
}

impl AccessTrace {
    pub(crate) fn new(ignored_barrier: Option<u32>, plain_atomics: bool) -> AccessTrace {
        AccessTrace { ignored_barrier, plain_atomics, state: RefCell::default() }
    }

    /// Returns the first race, the uses of each memory, and true if a barrier was passed.
    pub(crate) fn found(self) -> (Option<Race>, BTreeSet<(Memory, Use)>, bool) {
        let State { race, uses, barriers, .. } = self.state.into_inner();
        (race, uses, barriers)
    }

    /// Records a use, under the name `counted`, and the race that it makes.
    fn note(&self, memory: Memory, word: u32, how: Use, counted: Use) {
        let state = &mut *self.state.borrow_mut();
        state.uses.insert((memory, counted));
        let (memories, number, phase) = match memory {
            Memory::Binding(binding) => (&mut state.buffers, binding as usize - 1, 0),
            Memory::Workgroup(variable) => (&mut state.shared, variable as usize, state.phase),
        };
        memories.resize_with(memories.len().max(number + 1), Vec::new);
        let words = &mut memories[number];
        words.resize(words.len().max(word as usize + 1), WordUses::default());
        let (workgroup, local) = (Some(state.workgroup), Some(state.local));
        let (users, user) = (&mut words[word as usize], User { workgroup, phase, local });
        let conflicting: &[Use] = match how {
            Use::Read => &[Use::Write, Use::Atomic],
            Use::Write => &[Use::Read, Use::Write, Use::Atomic],
            Use::Atomic => &[Use::Read, Use::Write],
        };
        let undefined = matches!(memory, Memory::Workgroup(_))
            && how != Use::Write
            && [Use::Write, Use::Atomic].iter().all(|&use_| users[use_ as usize].is_none());
        let is_race = |&use_: &Use| users[use_ as usize].is_some_and(|earlier| earlier.races_with(user));
        let other = conflicting.iter().copied().find(is_race);
        if undefined || other.is_some() {
            let (earlier, thread) = (if undefined { None } else { other }, (state.workgroup, state.local));
            state.race.get_or_insert(Race { memory, word, earlier, later: how, thread });
        }
        users[how as usize] = Some(users[how as usize].map_or(user, |earlier| earlier.and(user)));
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
        self.note(memory, word, how, how);
    }

    fn atomic_access(&self, memory: Memory, word: u32, how: Use) {
        self.note(memory, word, how, Use::Atomic);
    }
}
