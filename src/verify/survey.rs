use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

use crate::game::Rules;
use crate::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};
use crate::table::TableKey;

/// The contents of a directory of tables, by the names of its files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The rule sets and boards (pits a side) for which there are tables, each with the seeds of its layers, ascending.
    pub boards: Vec<(Rules, usize, Vec<usize>)>,
    /// The names of all other files, sorted: archives, unfinished tables, logs, unrelated files.
    pub others: Vec<String>,
}

impl Survey {
    /// Lists `directory`; a directory that does not exist counts as empty.
    ///
    /// # Errors
    /// When it cannot be listed.
    pub fn read(directory: &Path) -> io::Result<Survey> {
        let all = Rules::ALL.into_iter().enumerate().flat_map(|(order, rules)| {
            let keys = (1..=MAX_TABLE_PITS)
                .flat_map(move |pits| (2..=MAX_TABLE_SEEDS).map(move |seeds| TableKey { rules, pits, seeds }));
            keys.map(move |key| (key.file_name(), (order, key)))
        });
        let keys: HashMap<String, (usize, TableKey)> = all.collect();
        let listed = match std::fs::read_dir(directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Survey::default()),
            listed => listed?,
        };
        let mut boards: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        let mut others = Vec::new();
        for entry in listed {
            let name = entry?.file_name().to_string_lossy().into_owned();
            match keys.get(&name) {
                Some(&(order, key)) => boards.entry((order, key.pits)).or_default().push(key.seeds),
                None => others.push(name),
            }
        }
        others.sort_unstable();
        let boards = boards.into_iter().map(|((order, pits), mut seeds)| {
            seeds.sort_unstable();
            (Rules::ALL[order], pits, seeds)
        });
        Ok(Survey { boards: boards.collect(), others })
    }

    /// The seeds of the existing layers of a board, ascending.
    pub fn layers(&self, rules: Rules, pits: usize) -> &[usize] {
        let board = self.boards.iter().find(|&&(own, own_pits, _)| (own, own_pits) == (rules, pits));
        board.map_or(&[], |(_, _, seeds)| seeds)
    }
}
