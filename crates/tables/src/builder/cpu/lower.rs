//! The layers below the layer being computed.

use std::path::Path;

use kalah_core::index::Frame;

use crate::builder::archived_frames::ArchivedFrames;
use crate::table::{Damage, DamagedGroup, FrameScores, Table, TableError, TablePart, Tables, frame_in_parallel};

/// The lower layers: tables, and decompressed frames of archives.
#[derive(Clone, Copy)]
pub(super) struct Lower<'a> {
    pub tables: &'a Tables,
    pub archived: Option<&'a ArchivedFrames>,
}

#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    Table(&'a Table),
    Archive(&'a Path),
}

/// A lower frame with its source.
pub(super) type Child<'a> = (Source<'a>, FrameScores<'a>);

impl Source<'_> {
    /// Converts a damaged group into an error that names the file.
    pub fn damaged_group(self, group: DamagedGroup) -> TableError {
        match self {
            Source::Table(table) => table.damaged_group(group),
            // The frame was packed in memory, so this is not expected.
            Source::Archive(path) => {
                TableError::damaged_archive(path, Damage::Part { part: TablePart::Group, offset: 0 })
            }
        }
    }
}

impl<'a> Lower<'a> {
    /// The scores of a frame.
    ///
    /// # Errors
    /// When its layer is missing or damaged.
    pub fn child(self, frame: Frame) -> Result<Child<'a>, TableError> {
        if let Some((path, scores)) = self.archived.and_then(|archived| archived.frame(frame)) {
            return Ok((Source::Archive(path), scores));
        }
        let table = self.tables.require(frame.mover + frame.other)?;
        Ok((Source::Table(table), frame_in_parallel(table, frame.mover)?))
    }
}
