use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use kalah_core::directories::Directories;
use kalah_core::game::Rules;

use crate::table::TableKey;

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
        for directory in directories.into().paths() {
            let listed = match std::fs::read_dir(directory) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                listed => listed?,
            };
            for entry in listed {
                let name = entry?.file_name().to_string_lossy().into_owned();
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
    TableKey::named(Path::new(name.to_str()?.strip_suffix(".zst")?))
}

/// Seeds of layers, by the index of their rules and by their pits.
type Found = BTreeMap<(usize, usize), Vec<usize>>;

fn add(found: &mut Found, key: TableKey) {
    let order = Rules::ALL.iter().position(|&rules| rules == key.rules).unwrap_or(Rules::ALL.len());
    found.entry((order, key.pits)).or_default().push(key.seeds);
}

fn sorted(found: Found) -> Vec<(Rules, usize, Vec<usize>)> {
    let boards = found.into_iter().map(|((order, pits), mut seeds)| {
        seeds.sort_unstable();
        seeds.dedup();
        (Rules::ALL[order], pits, seeds)
    });
    boards.collect()
}

fn of_board(boards: &[(Rules, usize, Vec<usize>)], rules: Rules, pits: usize) -> &[usize] {
    let board = boards.iter().find(|&&(own, own_pits, _)| (own, own_pits) == (rules, pits));
    board.map_or(&[], |(_, _, seeds)| seeds)
}
