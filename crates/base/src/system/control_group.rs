//! Memory limits set by Linux control groups (cgroups), versions 1 and 2.
//!
//! A group is subject to its own limit and to that of every group above it, so all of them count.
//! Processors need no code here: [`std::thread::available_parallelism`] respects the quotas of a
//! group and of those above it.
//!
//! The crate `sysinfo` does the same from version 0.39, with Rust 1.95 and without `memory.high`.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// A control group with a limit of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ControlGroup {
    /// The directory of its files.
    pub path: PathBuf,
    /// Bytes that its processes may take together.
    pub limit: u64,
}

/// The memory that a control group leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GroupMemory {
    pub group: ControlGroup,
    /// Bytes that can still be taken.
    pub available: u64,
}

/// The two versions, whose files have different names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Version {
    /// Files with a limit. Above `memory.high` the kernel slows processes almost to a stop.
    fn limits(self) -> &'static [&'static str] {
        match self {
            Version::One => &["memory.limit_in_bytes"],
            Version::Two => &["memory.max", "memory.high"],
        }
    }

    /// Entries of `memory.stat` for memory, of the group and of those below it, that cannot be
    /// dropped: memory of processes, and files that are only in memory. The rest is mostly page
    /// cache.
    fn taken(self) -> [&'static str; 2] {
        match self {
            Version::One => ["total_rss", "total_shmem"],
            Version::Two => ["anon", "shmem"],
        }
    }
}

/// A place where groups are mounted.
struct Mount {
    version: Version,
    /// The group visible at `point`.
    root: PathBuf,
    point: PathBuf,
}

/// The group that leaves this process the least memory, among its own and all above it; `None` if
/// no group has a limit. Files are read below `root`, which is `/` except in tests.
pub(super) fn tightest(root: &Path) -> Option<GroupMemory> {
    let own = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    // Mount points of other file systems may have names that are not UTF-8.
    let mounts = fs::read(root.join("proc/self/mountinfo")).ok()?;
    let mounts: Vec<Mount> = String::from_utf8_lossy(&mounts).lines().filter_map(mount).collect();
    own.lines()
        .filter_map(own_group)
        .flat_map(|(version, path)| mounts.iter().map(move |mount| (version, path, mount)))
        .filter(|(version, _, mount)| mount.version == *version)
        .filter_map(|(_, path, mount)| tightest_below(root, path, mount))
        .min_by_key(|memory| memory.available)
}

/// Group of a line of `/proc/self/cgroup`, if it can have a memory limit: `4:memory:/a/b`,
/// `0::/a/b`.
fn own_group(line: &str) -> Option<(Version, &Path)> {
    let mut fields = line.splitn(3, ':');
    let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
    let version = match controllers {
        "" => Version::Two,
        _ if controllers.split(',').any(|controller| controller == "memory") => Version::One,
        _ => return None,
    };
    Some((version, Path::new(path)))
}

/// Mount of a line of `/proc/self/mountinfo`, if groups with memory limits are visible there.
fn mount(line: &str) -> Option<Mount> {
    let (place, kind) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(3);
    let (root, point) = (unescaped(place.next()?), unescaped(place.next()?));
    let mut kind = kind.split(' ');
    let version = match kind.next()? {
        "cgroup2" => Version::Two,
        "cgroup" if kind.nth(1)?.split(',').any(|option| option == "memory") => Version::One,
        _ => return None,
    };
    Some(Mount { version, root: root.into(), point: point.into() })
}

/// Decodes a path of `mountinfo`, in which spaces and some other characters are octal: `\040`.
fn unescaped(text: &str) -> String {
    const ESCAPES: [(&str, &str); 4] = [(r"\040", " "), (r"\011", "\t"), (r"\012", "\n"), (r"\134", r"\")];
    ESCAPES.iter().fold(text.to_owned(), |text, (escape, character)| text.replace(escape, character))
}

/// The tightest of the groups from that of `path` up to the one visible at `mount`.
fn tightest_below(root: &Path, path: &Path, mount: &Mount) -> Option<GroupMemory> {
    // A group outside the namespace of this process has a path that begins with `..`, which leads
    // nowhere here.
    let outside = |path: &Path| path.components().any(|component| component == Component::ParentDir);
    let below = match path.strip_prefix(&mount.root) {
        Ok(below) if !outside(below) => below,
        // The mount shows a group above the namespace. Only its position above this process is
        // certain.
        Err(_) if outside(&mount.root) && !outside(path) => Path::new(""),
        _ => return None,
    };
    let point = root.join(mount.point.strip_prefix("/").ok()?);
    let own = point.join(below);
    let groups: Vec<&Path> = own.ancestors().take_while(|group| group.starts_with(&point)).collect();
    // In old kernels the limits of version 1 groups apply to those below only if this file has 1.
    let heeded = |group: &&Path| {
        mount.version == Version::Two || read(&group.join("memory.use_hierarchy")).is_none_or(|text| text.trim() != "0")
    };
    let above = groups.iter().copied().skip(1).take_while(heeded);
    groups
        .iter()
        .copied()
        .take(1)
        .chain(above)
        .filter_map(|group| memory(group, mount.version))
        .min_by_key(|memory| memory.available)
}

/// Memory that a group leaves, if it has a limit.
fn memory(group: &Path, version: Version) -> Option<GroupMemory> {
    // `max` is not a number and means that there is no limit.
    let limit = |name: &&str| read(&group.join(name))?.trim().parse::<u64>().ok();
    let limit = version.limits().iter().filter_map(limit).min()?;
    let stat = read(&group.join("memory.stat")).unwrap_or_default();
    let entries = stat.lines().filter_map(|line| line.split_once(' '));
    let taken: u64 = entries
        .filter(|(name, _)| version.taken().contains(name))
        .filter_map(|(_, bytes)| bytes.trim().parse::<u64>().ok())
        .sum();
    let group = ControlGroup { path: group.to_owned(), limit };
    Some(GroupMemory { group, available: limit.saturating_sub(taken) })
}

fn read(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// Creates a root directory with these files.
    fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    /// The group found below a root with these files, as a relative path, with its limit and the
    /// available memory.
    fn found(files: &[(&str, &str)]) -> Option<(String, u64, u64)> {
        let root = root(files);
        let memory = tightest(root.path())?;
        let path = memory.group.path.strip_prefix(root.path()).unwrap().to_str().unwrap().to_owned();
        Some((path, memory.group.limit / MIB, memory.available / MIB))
    }

    const TWO: (&str, &str) =
        ("proc/self/mountinfo", "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
    const ONE: (&str, &str) = (
        "proc/self/mountinfo",
        "23 1 8:1 / / rw - ext4 /dev/root rw\n\
         32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
         35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
         41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
    );

    #[test]
    fn the_least_of_all_levels_of_version_2_counts() {
        let own = ("proc/self/cgroup", "0::/user.slice/run.scope\n");
        let scope = |name| format!("sys/fs/cgroup/user.slice/run.scope/{name}");
        let (max, high) = (scope("memory.max"), scope("memory.high"));
        let slice = "sys/fs/cgroup/user.slice/memory.max";
        assert_eq!(found(&[TWO, own]), None);
        assert_eq!(found(&[TWO, own, (&max, "max\n"), (slice, "max\n"), (&high, "max\n")]), None);
        let of_scope = |limit| Some(("sys/fs/cgroup/user.slice/run.scope".to_owned(), limit, limit));
        assert_eq!(found(&[TWO, own, (&max, "536870912\n"), (slice, "max\n")]), of_scope(512));
        assert_eq!(found(&[TWO, own, (&max, "536870912\n"), (&high, "268435456\n")]), of_scope(256));
        let of_slice = Some(("sys/fs/cgroup/user.slice".to_owned(), 100, 100));
        assert_eq!(found(&[TWO, own, (&max, "536870912\n"), (slice, "104857600\n")]), of_slice);
        assert_eq!(found(&[TWO, own, (&max, "max\n"), (slice, "104857600\n")]), of_slice);
        // The group of a container, whose namespace begins there.
        let container = ("proc/self/cgroup", "0::/\n");
        let of_root = Some(("sys/fs/cgroup".to_owned(), 64, 64));
        assert_eq!(found(&[TWO, container, ("sys/fs/cgroup/memory.max", "67108864\n")]), of_root);
    }

    #[test]
    fn what_processes_hold_is_not_available_and_page_cache_is() {
        let own = ("proc/self/cgroup", "0::/a/b\n");
        let (a, b) = ("sys/fs/cgroup/a", "sys/fs/cgroup/a/b");
        let stat = "anon 209715200\nfile 314572800\nkernel 1048576\nshmem 104857600\nfile_mapped 5\n";
        let (max_a, stat_a, max_b) = (format!("{a}/memory.max"), format!("{a}/memory.stat"), format!("{b}/memory.max"));
        let files = [TWO, own, (&*max_a, "629145600\n"), (&*stat_a, stat), (&*max_b, "419430400\n")];
        // 600 MiB less 300 MiB are less than 400 MiB.
        assert_eq!(found(&files), Some((a.to_owned(), 600, 300)));
        // More is taken than allowed, after a limit was lowered.
        let files = [TWO, own, (&*max_a, "104857600\n"), (&*stat_a, stat)];
        assert_eq!(found(&files), Some((a.to_owned(), 100, 0)));
        let version_1 = [
            ONE,
            ("proc/self/cgroup", "4:memory:/a\n"),
            ("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "629145600\n"),
            (
                "sys/fs/cgroup/memory/a/memory.stat",
                "rss 1\ntotal_cache 400000000\ntotal_rss 104857600\ntotal_shmem 1048576\n",
            ),
        ];
        assert_eq!(found(&version_1), Some(("sys/fs/cgroup/memory/a".to_owned(), 600, 499)));
    }

    #[test]
    fn version_1_beside_an_empty_version_2() {
        let own = ("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/jobs/17\n1:cpu:/x\n0::/\n");
        let top = ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        let jobs = ("sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "104857600\n");
        let job = ("sys/fs/cgroup/memory/jobs/17/memory.limit_in_bytes", "209715200\n");
        let of_jobs = Some(("sys/fs/cgroup/memory/jobs".to_owned(), 100, 100));
        assert_eq!(found(&[ONE, own, top, jobs, job]), of_jobs);
        // Old kernels: a group that does not limit those below it.
        let free = ("sys/fs/cgroup/memory/jobs/memory.use_hierarchy", "0\n");
        let of_job = Some(("sys/fs/cgroup/memory/jobs/17".to_owned(), 200, 200));
        assert_eq!(found(&[ONE, own, top, jobs, job, free]), of_job);
        // The value that means no limit.
        let (path, limit, _) = found(&[ONE, own, top]).unwrap();
        assert_eq!((&*path, limit), ("sys/fs/cgroup/memory", 9_223_372_036_854_771_712 / MIB));
    }

    #[test]
    fn mounts_of_a_part_of_the_groups() {
        let own = ("proc/self/cgroup", "0::/docker/me/inner\n");
        let part = ("proc/self/mountinfo", "9 1 0:2 /docker/me /my\\040groups rw - cgroup2 cgroup2 rw\n");
        let (outer, inner) = ("my groups/memory.max", "my groups/inner/memory.max");
        assert_eq!(found(&[part, own, (inner, "1048576\n")]), Some(("my groups/inner".to_owned(), 1, 1)));
        assert_eq!(found(&[part, own, (outer, "1048576\n")]), Some(("my groups".to_owned(), 1, 1)));
        // Another group than that of this process.
        let other = ("proc/self/mountinfo", "9 1 0:2 /docker/other /my\\040groups rw - cgroup2 cgroup2 rw\n");
        assert_eq!(found(&[other, own, (outer, "1048576\n")]), None);
        // Namespaces: the mount shows a group above; this process is in a group outside.
        let above = ("proc/self/mountinfo", "9 1 0:2 /../.. /my\\040groups rw - cgroup2 cgroup2 rw\n");
        let top = ("proc/self/cgroup", "0::/\n");
        assert_eq!(found(&[above, top, (outer, "1048576\n")]), Some(("my groups".to_owned(), 1, 1)));
        let outside = ("proc/self/cgroup", "0::/../sibling\n");
        assert_eq!(found(&[TWO, outside, ("sys/fs/cgroup/memory.max", "1048576\n")]), None);
    }

    #[test]
    fn files_that_are_missing_or_make_no_sense_set_no_limit() {
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[TWO]), None);
        let own = ("proc/self/cgroup", "no line\n\n0::/a\n0:\n::::\n");
        let mounts = ("proc/self/mountinfo", "1 - \n - \n1 2 3 / /sys/fs/cgroup - cgroup2\nx\n");
        let limit = ("sys/fs/cgroup/a/memory.max", "-1\n");
        assert_eq!(found(&[mounts, own, limit]), None);
        let limit = ("sys/fs/cgroup/a/memory.max", "1048576");
        assert_eq!(found(&[mounts, own, limit]), Some(("sys/fs/cgroup/a".to_owned(), 1, 1)));
    }
}
