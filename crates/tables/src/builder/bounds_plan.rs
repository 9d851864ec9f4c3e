use std::path::Path;

use kalah_base::progress::Pulse;
use kalah_core::table::{BoundTable, Table, TableError};

use super::error::BuildError;
use super::event::BuildEvent;
use crate::table::{BoundMaker, check_in_parallel};

/// The bound tables to make beside the exact ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoundsPlan<'a> {
    pub maker: BoundMaker<'a>,
    /// Seeds of the lowest layer with a bound table.
    pub first: usize,
}

impl BoundsPlan<'_> {
    /// Returns true if the layer of `table` should have a bound table.
    pub(super) fn has(&self, table: &Table) -> bool {
        table.key().seeds >= self.first
    }

    /// Returns true if the layer of `table` needs no bound table, or its bound table exists. Blocks
    /// are not checked.
    pub(super) fn are_there(&self, directory: &Path, table: &Table) -> bool {
        !self.has(table) || BoundsPlan::open(directory, table).is_ok_and(|found| found.is_some())
    }

    /// Opens the bound table that the layer of `table` should have, if it exists, and compares it
    /// with its checksums.
    pub(super) fn find(&self, directory: &Path, table: &Table) -> Result<Option<BoundTable>, TableError> {
        let found = if self.has(table) { BoundsPlan::open(directory, table)? } else { None };
        if let Some(found) = &found {
            check_in_parallel(found.blocks())?;
        }
        Ok(found)
    }

    /// Opens the bound table made from `table`, if it exists, with any cuts and network.
    fn open(directory: &Path, table: &Table) -> Result<Option<BoundTable>, TableError> {
        let found = BoundTable::open_key(directory, table.key())?;
        Ok(found.filter(|found| found.header().source == table.header().digest))
    }

    /// Makes the missing bound table of a layer, if the layer should have one.
    pub(super) fn make(
        &self,
        table: &Table,
        directory: &Path,
        pulse: &Pulse,
        on_event: &(dyn Fn(BuildEvent) + Sync),
    ) -> Result<(), BuildError> {
        if !self.has(table) {
            return Ok(());
        }
        match self.find(directory, table) {
            Ok(Some(found)) => {
                if !self.maker.made(&found, Some(table)) {
                    on_event(BuildEvent::BoundsKept(table.key()));
                }
                return Ok(());
            }
            Err(error) if error.is_newer() => return Err(error.into()),
            Err(error) if error.is_damage() => on_event(BuildEvent::BoundsDamaged(&error)),
            Ok(None) | Err(_) => {}
        }
        on_event(BuildEvent::Bounds(table.key()));
        let written = self.maker.write(table, directory, pulse);
        written.map(drop).map_err(BuildError::stopped_at(table.key()))
    }
}
