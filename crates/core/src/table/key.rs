use std::fmt;
use std::path::{Path, PathBuf};

use crate::directory::Directory;
use crate::game::Rules;
use crate::header::Kind;
use crate::index::{Frame, MAX_TABLE_PITS, MAX_TABLE_SEEDS};
use crate::text::count;

/// Extension of the files of a kind that hold a layer.
fn extension(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Table => Some(".kalah"),
        Kind::BoundTable => Some(".bounds"),
        Kind::Archive => Some(".kalah.archive"),
        _ => None,
    }
}

/// The identity of a table: rule set, pits and seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TableKey {
    /// The rule set.
    pub rules: Rules,
    /// Pits a side, 1 to [`MAX_TABLE_PITS`].
    pub pits: usize,
    /// Seeds in play, 2 to [`MAX_TABLE_SEEDS`].
    pub seeds: usize,
}

impl TableKey {
    /// The pairs of frames of the layer in file order: by the smaller of the two numbers of seeds.
    pub fn pairs(self) -> impl Iterator<Item = PairKey> {
        (1..=self.seeds / 2).map(move |small| PairKey { layer: self, small })
    }

    /// The frames in file order: pair by pair, since a pair is computed together.
    pub fn frames(self) -> impl Iterator<Item = Frame> {
        self.pairs().flat_map(PairKey::frames)
    }

    /// The table that a file should hold according to its name; `None` if it is not named like a table.
    pub fn named(path: &Path) -> Option<TableKey> {
        TableKey::of_file(Kind::Table, path)
    }

    /// The layer that a file of this kind, a table, bound table or archive, should hold according to its name.
    pub fn of_file(kind: Kind, path: &Path) -> Option<TableKey> {
        let stem = path.file_name()?.to_str()?.strip_suffix(extension(kind)?)?;
        let (rest, seeds) = stem.rsplit_once('-')?;
        let (rules, pits) = rest.rsplit_once('-')?;
        let key = TableKey { rules: rules.parse().ok()?, pits: pits.parse().ok()?, seeds: seeds.parse().ok()? };
        // A table has exactly one file name: no other spelling of the rules, no extra zeros.
        (key.is_possible() && key.file_stem() == stem).then_some(key)
    }

    /// Returns true if pits and seeds are within the limits of tables.
    pub(crate) fn is_possible(self) -> bool {
        (1..=MAX_TABLE_PITS).contains(&self.pits) && (2..=MAX_TABLE_SEEDS).contains(&self.seeds)
    }

    /// Stem of all file names of the table, such as `empty-capture-6-24`.
    pub fn file_stem(self) -> String {
        format!("{}-{}-{:02}", self.rules, self.pits, self.seeds)
    }

    /// Name of the file of this kind with the layer, a table, bound table or archive: `empty-capture-6-35.bounds`.
    pub fn name_of(self, kind: Kind) -> String {
        self.file_stem() + extension(kind).expect("the kind of a layer")
    }

    /// Name of the table's file, such as `empty-capture-6-24.kalah`.
    pub fn file_name(self) -> String {
        self.name_of(Kind::Table)
    }

    /// Path of the layer's bound table in `directory`.
    pub fn bounds_path(self, directory: &Path) -> PathBuf {
        directory.join(self.name_of(Kind::BoundTable))
    }

    /// Path of the table's file in `directory`.
    pub fn path(self, directory: &Path) -> PathBuf {
        directory.join(self.file_name())
    }

    /// Returns true if `directory` has a file with the table's name.
    pub fn is_in(self, directory: &Directory) -> bool {
        directory.has(&self.file_name())
    }
}

impl fmt::Display for TableKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with {} and {} seeds", self.rules, count(self.pits, "pit"), self.seeds)
    }
}

/// A pair of mirrored frames of a layer, K|L and L|K, which are computed together. One frame if K = L.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PairKey {
    /// The layer.
    pub layer: TableKey,
    /// Seeds in the row with fewer seeds: 1 to half of the layer's seeds.
    pub small: usize,
}

impl PairKey {
    /// Seeds in the row with more seeds.
    pub fn large(self) -> usize {
        self.layer.seeds - self.small
    }

    /// The frames in file order: the one with fewer seeds in the mover's row first.
    pub fn frames(self) -> impl Iterator<Item = Frame> + Clone {
        let frame = Frame { pits: self.layer.pits, mover: self.small, other: self.large() };
        [frame, frame.mirrored()].into_iter().take(if frame.mover == frame.other { 1 } else { 2 })
    }

    /// Number of positions in the frames.
    pub fn positions(self) -> u64 {
        self.frames().map(Frame::positions).sum()
    }

    /// Path of the pair's piece in `directory`, such as `empty-capture-6-20.03.piece`.
    pub fn piece_path(self, directory: &Path) -> PathBuf {
        directory.join(format!("{}.{:02}.piece", self.layer.file_stem(), self.small))
    }
}

impl fmt::Display for PairKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the frames {}|{} of {}", self.small, self.large(), self.layer)
    }
}
