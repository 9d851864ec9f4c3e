use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::table::{Damage, TableError, Tables};

/// Bytes of tables that are compared with their checksums before a search begins: some hundredths of a second. More are
/// compared while it runs.
const AT_ONCE: u64 = 64 << 20;

/// Blocks that a thread compares before it takes more.
const PART_BLOCKS: u64 = 64;

/// The tables that a search reads, and whether they were compared with their checksums.
///
/// A search looks scores up without a thought for checksums: that would cost it its speed. So what it finds is believed, by
/// it or anybody, only once the tables are known to be sound. Damage that was found once stays found, even if the file is
/// mended under us: what was derived from it is still there.
pub(super) struct Audit<'a> {
    tables: Option<&'a Tables>,
    /// The largest layer that is looked up; 0 for none.
    reach: usize,
    sound: AtomicBool,
    damaged: AtomicBool,
    damage: Mutex<Option<(PathBuf, Damage)>>,
}

impl<'a> Audit<'a> {
    /// An audit of the layers of `tables` up to `reach`, and at once of all if that is soon done.
    ///
    /// # Errors
    /// When a table is found damaged.
    pub fn new(tables: Option<&'a Tables>, reach: usize) -> Result<Audit<'a>, TableError> {
        let audit = Audit {
            tables,
            reach,
            sound: AtomicBool::new(false),
            damaged: AtomicBool::new(false),
            damage: Mutex::new(None),
        };
        if audit.layers().map(|layer| layer.unchecked_bytes()).sum::<u64>() <= AT_ONCE {
            audit.layers().try_for_each(|layer| layer.check())?;
        }
        audit.look();
        Ok(audit)
    }

    fn layers(&self) -> impl Iterator<Item = &'a crate::table::Table> {
        let count = self.reach.saturating_sub(1);
        self.tables.into_iter().flat_map(move |tables| tables.layers().iter().take(count)).map(|layer| &**layer)
    }

    /// Whether all that the search may read was compared with its checksums.
    #[inline]
    pub fn is_sound(&self) -> bool {
        self.sound.load(Ordering::Relaxed)
    }

    /// Whether damage was found.
    pub fn is_damaged(&self) -> bool {
        self.damaged.load(Ordering::Relaxed)
    }

    /// An error if damage was found.
    ///
    /// # Errors
    /// The damage.
    pub fn verdict(&self) -> Result<(), TableError> {
        let damage = self.damage.lock().unwrap_or_else(PoisonError::into_inner);
        match &*damage {
            Some((path, damage)) => Err(TableError::damaged(path, damage.clone())),
            None => Ok(()),
        }
    }

    /// Notes that a table is damaged: looking scores up gives no other error.
    pub fn fail(&self, error: TableError) {
        if let TableError::Damaged { path, damage, .. } = error {
            self.damage.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((path, damage));
            self.damaged.store(true, Ordering::Relaxed);
        }
    }

    /// Finds out whether all was compared. Threads that compared the rest together may each have missed what another did
    /// last: so it is asked again when they have ended.
    pub fn look(&self) {
        if !self.is_damaged() && self.layers().all(|layer| layer.is_checked()) {
            self.sound.store(true, Ordering::Relaxed);
        }
    }

    /// What is left to compare, for several threads.
    pub fn pass(&self) -> Pass<'_, 'a> {
        let mut parts = Vec::new();
        // The largest layers are read most.
        for layer in self.layers().filter(|layer| !layer.is_checked()).collect::<Vec<_>>().into_iter().rev() {
            for frame in layer.key().frames() {
                let blocks = layer.header().entries[frame.mover - 1].blocks();
                let starts = (0..blocks).step_by(PART_BLOCKS as usize);
                parts.extend(starts.map(|start| Part {
                    table: layer,
                    mover: frame.mover,
                    blocks: start..blocks.min(start + PART_BLOCKS),
                }));
            }
        }
        Pass { audit: self, parts, next: AtomicUsize::new(0) }
    }

    /// Compares all that is left, on this thread.
    ///
    /// # Errors
    /// When damage is found, or was before.
    pub fn finish(&self) -> Result<(), TableError> {
        if !self.is_sound() && !self.is_damaged() {
            self.pass().work(&|| true);
        }
        self.verdict()
    }
}

/// Some blocks of a frame.
struct Part<'a> {
    table: &'a crate::table::Table,
    mover: usize,
    blocks: Range<u64>,
}

/// A run through all blocks that are left to compare.
pub(super) struct Pass<'s, 'a> {
    audit: &'s Audit<'a>,
    parts: Vec<Part<'a>>,
    next: AtomicUsize,
}

impl Pass<'_, '_> {
    /// Compares one part after the other that no other thread has taken, until none is left, damage is found, or `go_on`
    /// says no: it is asked before every block.
    pub fn work(&self, go_on: &dyn Fn() -> bool) {
        let go_on = || !self.audit.is_damaged() && go_on();
        while let Some(part) = self.parts.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            match part.table.check_some(part.mover, part.blocks.clone(), &go_on) {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => return self.audit.fail(error),
            }
        }
        self.audit.look();
    }
}
