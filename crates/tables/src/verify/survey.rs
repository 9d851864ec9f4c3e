use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use kalah_base::file::found;
use kalah_core::directories::Directories;
use kalah_core::game::Rules;
use kalah_core::table::TableKey;

/// The contents of one or more directories of tables, by the names of the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Rule sets and boards (pits a side) with tables, each with the seeds of its layers,
    /// ascending.
    pub boards: Vec<(Rules, usize, Vec<usize>)>,
    /// The same for bound tables.
    pub bounds: Vec<(Rules, usize, Vec<usize>)>,
    /// The same for archives with the names given by [`crate::table::archive::archive_path`].
    pub archives: Vec<(Rules, usize, Vec<usize>)>,
    /// Names of all other files, sorted: unfinished tables, logs, unrelated files.
    pub others: Vec<String>,
}

impl Survey {
    /// Lists `directories`. One that does not exist counts as empty.
    ///
    /// # Errors
    /// When one cannot be listed.
    pub fn read(directories: impl Into<Directories>) -> io::Result<Survey> {
        let [mut boards, mut bounds, mut archives] = [const { Found::new() }; 3];
        let mut others = Vec::new();
        for place in directories.into().places() {
            for name in found(place.names())?.into_iter().flatten() {
                let path = Path::new(&name);
                if let Some(key) = TableKey::named(path) {
                    add(&mut boards, key);
                } else if let Some(key) = TableKey::named_bounds(path) {
                    add(&mut bounds, key);
                } else if let Some(key) = archived(path) {
                    add(&mut archives, key);
                } else {
                    others.push(name);
                }
            }
        }
        others.sort_unstable();
        others.dedup();
        Ok(Survey { boards: sorted(boards), bounds: sorted(bounds), archives: sorted(archives), others })
    }

    /// Rule sets and boards with tables, bound tables or archives.
    pub fn known_boards(&self) -> Vec<(Rules, usize)> {
        let key = |&(rules, pits, _): &(Rules, usize, Vec<usize>)| (rules, pits);
        let mut boards: Vec<(Rules, usize)> = self.boards.iter().map(key).collect();
        for board in self.bounds.iter().chain(&self.archives).map(key) {
            if !boards.contains(&board) {
                boards.push(board);
            }
        }
        boards
    }

    /// Seeds of the existing layers of a board, ascending.
    pub fn layers(&self, rules: Rules, pits: usize) -> &[usize] {
        of_board(&self.boards, rules, pits)
    }

    /// Seeds of the layers of a board with bound tables, ascending.
    pub fn bound_layers(&self, rules: Rules, pits: usize) -> &[usize] {
        of_board(&self.bounds, rules, pits)
    }

    /// Seeds of the layers of a board with archives, ascending.
    pub fn archived_layers(&self, rules: Rules, pits: usize) -> &[usize] {
        of_board(&self.archives, rules, pits)
    }
}

/// The table whose archive has this name.
fn archived(name: &Path) -> Option<TableKey> {
    TableKey::named(Path::new(name.to_str()?.strip_suffix(".archive")?))
}

/// Seeds of layers, by their rules and pits.
type Found = BTreeMap<(Rules, usize), BTreeSet<usize>>;

fn add(found: &mut Found, key: TableKey) {
    found.entry((key.rules, key.pits)).or_default().insert(key.seeds);
}

fn sorted(found: Found) -> Vec<(Rules, usize, Vec<usize>)> {
    found.into_iter().map(|((rules, pits), seeds)| (rules, pits, seeds.into_iter().collect())).collect()
}

fn of_board(boards: &[(Rules, usize, Vec<usize>)], rules: Rules, pits: usize) -> &[usize] {
    let board = boards.iter().find(|&&(own, own_pits, _)| (own, own_pits) == (rules, pits));
    board.map_or(&[], |(_, _, seeds)| seeds)
}
