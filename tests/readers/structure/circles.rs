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
    // All pairs of siblings of which the first reaches the second.
    let mut reach: BTreeSet<(&PathBuf, &PathBuf)> = siblings.keys().map(|(from, to)| (from, to)).collect();
    let mut before = 0;
    while before < reach.len() {
        before = reach.len();
        let further =
            |&(from, by): &(_, _)| siblings.keys().filter(move |(next, _)| next == by).map(move |(_, to)| (from, to));
        let more: Vec<_> = reach.iter().flat_map(further).collect();
        reach.extend(more);
    }
    // Siblings that reach each other are in one circle.
    let reach = &reach;
    let circle = |place| {
        let both_ways = reach.iter().filter(move |&&(from, to)| from == place && reach.contains(&(to, from)));
        both_ways.map(|&(_, to)| to).collect::<BTreeSet<&PathBuf>>()
    };
    let groups: BTreeSet<_> = reach.iter().filter(|(from, to)| from == to).map(|&(place, _)| circle(place)).collect();
    let describe = |group: BTreeSet<&PathBuf>| {
        let uses = siblings.iter().filter(|((from, to), _)| group.contains(from) && group.contains(to));
        let lines: Vec<&str> = uses.flat_map(|(_, files)| files).map(String::as_str).collect();
        format!("circle of {} places:\n  {}", group.len(), lines.join("\n  "))
    };
    groups.into_iter().map(describe).collect()
}
