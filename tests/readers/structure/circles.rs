//! Finds circles among the files and folders of each folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::sources::Sources;

/// Uses between siblings, with the files that make them.
type Siblings = BTreeMap<(PathBuf, PathBuf), BTreeSet<String>>;

/// Describes each circle, with the files that make it.
pub(super) fn circles(sources: &Sources) -> Vec<String> {
    let mut folders: BTreeMap<usize, Siblings> = BTreeMap::new();
    for (user, used) in sources.uses() {
        let (above_user, above_used) = (line(sources, user), line(sources, used));
        // Below their last common module, the two are siblings. Modules of different crates have no common one.
        let common = above_user.iter().zip(&above_used).take_while(|(a, b)| a == b).count();
        if common == 0 || common == above_user.len() || common == above_used.len() {
            continue;
        }
        let modules = sources.modules();
        let (from, to) = (&modules[above_user[common]].place, &modules[above_used[common]].place);
        if from != to {
            let files = format!("{} uses {}", modules[user].file.display(), modules[used].file.display());
            let siblings = folders.entry(above_user[common - 1]).or_default();
            siblings.entry((from.clone(), to.clone())).or_default().insert(files);
        }
    }
    folders.values().flat_map(in_folder).collect()
}

/// Modules from the root of the crate down to this one.
fn line(sources: &Sources, module: usize) -> Vec<usize> {
    let mut line: Vec<usize> =
        std::iter::successors(Some(module), |&module| sources.modules()[module].parent).collect();
    line.reverse();
    line
}

/// Circles among siblings, each as its uses.
fn in_folder(siblings: &Siblings) -> Vec<String> {
    let reached = |from: &PathBuf| {
        let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(place) = open.pop() {
            for (_, next) in siblings.keys().filter(|(from, _)| from == place) {
                if reached.insert(next) {
                    open.push(next);
                }
            }
        }
        reached
    };
    let reach: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> =
        siblings.keys().map(|(from, _)| (from, reached(from))).collect();
    // Siblings that reach each other are in one circle.
    let mut groups = BTreeSet::new();
    for (place, all) in &reach {
        if all.contains(place) {
            let group: BTreeSet<&PathBuf> =
                all.iter().copied().filter(|other| reach.get(other).is_some_and(|back| back.contains(place))).collect();
            groups.insert(group);
        }
    }
    let describe = |group: BTreeSet<&PathBuf>| {
        let uses = siblings.iter().filter(|((from, to), _)| group.contains(from) && group.contains(to));
        let lines: Vec<&str> = uses.flat_map(|(_, files)| files).map(String::as_str).collect();
        format!("circle of {} places:\n  {}", group.len(), lines.join("\n  "))
    };
    groups.into_iter().map(describe).collect()
}
