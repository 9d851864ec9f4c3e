//! Memory limits set by Linux control groups (cgroups), versions 1 and 2, at their usual mount points.
//!
//! A group is subject to its own limit and to that of every group above it, so all of them count.
//! Processors need no code here: [`std::thread::available_parallelism`] respects the quotas of a
//! group and of those above it.
//!
//! The crate `sysinfo` does the same from version 0.39, with Rust 1.95 and without `memory.high`.

use std::fs;
use std::path::{Path, PathBuf};

/// A control group with a limit of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ControlGroup {
    /// The directory of its files.
    pub path: PathBuf,
    /// Bytes that its processes may take together.
    pub limit: u64,
}

/// The files of a version.
struct Version {
    mount: &'static str,
    /// Files with a limit. Above `memory.high` the kernel slows processes almost to a stop.
    limits: &'static [&'static str],
    /// Entries of `memory.stat` for memory, of the group and of those below it, that cannot be
    /// dropped: memory of processes, and files that are only in memory. The rest is mostly page
    /// cache.
    taken: [&'static str; 2],
}

const ONE: Version =
    Version { mount: "sys/fs/cgroup/memory", limits: &["memory.limit_in_bytes"], taken: ["total_rss", "total_shmem"] };
const TWO: Version =
    Version { mount: "sys/fs/cgroup", limits: &["memory.max", "memory.high"], taken: ["anon", "shmem"] };

/// The group that leaves this process the least memory, among its own and all above it, with the bytes that can still
/// be taken; `None` if no group has a limit. Files are read below `root`, which is `/` except in tests.
pub(super) fn tightest(root: &Path) -> Option<(ControlGroup, u64)> {
    let own = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    // A line is `4:memory:/a/b` in version 1, and `0::/a/b` in version 2.
    let groups = own.lines().flat_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        let version = match controllers {
            "" => Some(TWO),
            _ => controllers.split(',').any(|controller| controller == "memory").then_some(ONE),
        };
        version.into_iter().flat_map(move |version| {
            let mount = root.join(version.mount);
            let own = mount.join(path.trim_start_matches('/'));
            // Parts of the path that a container does not see have no files.
            let groups = own.ancestors().take_while(|group| group.starts_with(&mount));
            groups.filter_map(|group| memory(group, &version)).collect::<Vec<_>>()
        })
    });
    groups.min_by_key(|&(_, available)| available)
}

/// A group with the memory that it leaves, if it has a limit.
fn memory(group: &Path, version: &Version) -> Option<(ControlGroup, u64)> {
    let read = |name: &str| fs::read_to_string(group.join(name)).unwrap_or_default();
    // `max` is not a number and means that there is no limit.
    let limit = version.limits.iter().filter_map(|name| read(name).trim().parse::<u64>().ok()).min()?;
    let stat = read("memory.stat");
    let entries = stat.lines().filter_map(|line| line.split_once(' '));
    let taken = entries.filter(|(name, _)| version.taken.contains(name));
    let taken: u64 = taken.filter_map(|(_, bytes)| bytes.trim().parse::<u64>().ok()).sum();
    Some((ControlGroup { path: group.to_owned(), limit }, limit.saturating_sub(taken)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The group found below a root with these files, as a relative path, with its limit and the available memory.
    fn found(files: &[(&str, &str)]) -> Option<(String, u64, u64)> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let (group, available) = tightest(root.path())?;
        Some((group.path.strip_prefix(root.path()).unwrap().to_str().unwrap().to_owned(), group.limit, available))
    }

    #[test]
    fn the_least_of_all_levels_counts_and_page_cache_is_available() {
        let own = ("proc/self/cgroup", "0::/a/b\n");
        let (max_a, stat_a) = ("sys/fs/cgroup/a/memory.max", "sys/fs/cgroup/a/memory.stat");
        let (max_b, high_b) = ("sys/fs/cgroup/a/b/memory.max", "sys/fs/cgroup/a/b/memory.high");
        let stat = "anon 200\nfile 300\nkernel 1\nshmem 100\nfile_mapped 5\n";
        let a = |limit, rest| Some(("sys/fs/cgroup/a".to_owned(), limit, rest));
        let b = |limit| Some(("sys/fs/cgroup/a/b".to_owned(), limit, limit));
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[own, (max_a, "max\n"), (max_b, "max\n")]), None);
        assert_eq!(found(&[own, (max_a, "max\n"), (max_b, "512\n")]), b(512));
        assert_eq!(found(&[own, (max_b, "512\n"), (high_b, "256\n")]), b(256));
        assert_eq!(found(&[own, (max_a, "100\n"), (max_b, "512\n")]), a(100, 100));
        assert_eq!(found(&[own, (max_a, "600\n"), (stat_a, stat), (max_b, "400\n")]), a(600, 300));
        assert_eq!(found(&[own, (max_a, "100\n"), (stat_a, stat)]), a(100, 0));
        // The group of a container, whose own path is not visible.
        let top = ("sys/fs/cgroup/memory.max", "64\n");
        assert_eq!(found(&[("proc/self/cgroup", "0::/docker/me\n"), top]), Some(("sys/fs/cgroup".to_owned(), 64, 64)));
    }

    #[test]
    fn version_1_beside_an_empty_version_2() {
        let own = ("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/jobs/17\n1:cpu:/x\n0::/\n");
        let jobs = ("sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "100\n");
        let job = ("sys/fs/cgroup/memory/jobs/17/memory.limit_in_bytes", "200\n");
        let stat = ("sys/fs/cgroup/memory/jobs/memory.stat", "rss 1\ntotal_cache 400\ntotal_rss 10\ntotal_shmem 1\n");
        assert_eq!(found(&[own, jobs, job, stat]), Some(("sys/fs/cgroup/memory/jobs".to_owned(), 100, 89)));
    }
}
