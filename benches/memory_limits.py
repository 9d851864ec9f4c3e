#!/usr/bin/env python3
"""Builds and verifies tables under memory limits, and compares planned with used memory.

    benches/memory_limits.py --tables DIR [--limits 2GiB,4GiB,8GiB] [--seeds N] [--without-limit]

For each limit, the layers up to that of N seeds are built in DIR/LIMIT and then verified. Both
commands run in a control group (cgroup) with this much memory, page cache included, and no swap. The
system kills a process that takes more. This needs the right to make control groups below that of
this process. Without it, or with --data-limit, the limit is that of `ulimit -d` for a process, which
excludes the page cache. --without-limit only measures.

Without --seeds, N is the largest whose planned memory is within the limit, or within half of it in a
group: the rest is page cache. With too little page cache, a build reads the same bytes from the disk
many times.

Columns, in MiB:
- planned: the planned memory
- own: the maximum of the process's private memory (RssAnon, read every 5 ms)
- group: the maximum of the group's memory, page cache included
- read, written: bytes of the disk; tables are dropped from the page cache before each command

The exit code is 1 if a command failed or took more than planned.

Linux, Python 3.9 or later. The program is target/release/kalah, or $KALAH.
"""

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

MIB = 1 << 20
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
MOST_SEEDS = 48

# Bytes that a process limit counts although they are hardly used: stacks of threads.
STACKS = 16 * MIB
PROGRAM = os.environ.get("KALAH") or str(Path(__file__).resolve().parent.parent / "target/release/kalah")


def size(text):
    """Bytes of a size such as 2GiB."""
    for unit, value in UNITS.items():
        if text.endswith(unit):
            return int(float(text[: -len(unit)]) * value)
    return int(text)


class Group:
    """A cgroup of version 1 or 2 with a memory limit, removed at the end. OSError if it cannot be made."""

    def __init__(self, limit):
        controllers = dict(line.rstrip("\n").split(":", 2)[1:] for line in open("/proc/self/cgroup"))
        first = next((path for names, path in controllers.items() if "memory" in names.split(",")), None)
        self.version = 2 if first is None else 1
        own = controllers.get("", "/") if first is None else first
        unified = [Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified")]
        roots = [Path("/sys/fs/cgroup/memory")] if self.version == 1 else unified
        name = f"kalah-memory-{os.getpid()}"
        errors = []
        for root in roots:
            self.path = root / own.lstrip("/") / name
            try:
                self.path.mkdir()
                self.set_limit(limit)
                return
            except OSError as error:
                errors.append(error)
                self.remove()
        raise errors[-1]

    def set_limit(self, limit):
        if self.version == 2:
            (self.path / "memory.max").write_text(str(limit))
            swap = self.path / "memory.swap.max"
            if swap.exists():
                swap.write_text("0")
        else:
            (self.path / "memory.limit_in_bytes").write_text(str(limit))
            swap = self.path / "memory.memsw.limit_in_bytes"
            if swap.exists():
                swap.write_text(str(limit))
            else:
                (self.path / "memory.swappiness").write_text("0")

    def enter(self):
        """Moves the calling process into the group."""
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def most(self):
        """Maximum bytes of the group's memory; None if this system does not report it."""
        path = self.path / ("memory.peak" if self.version == 2 else "memory.max_usage_in_bytes")
        return int(path.read_text()) if path.exists() else None

    def remove(self):
        for _ in range(100):
            try:
                self.path.rmdir()
                return
            except FileNotFoundError:
                return
            except OSError:
                time.sleep(0.05)


def anonymous(process):
    """Bytes of a process's private memory; 0 if it has ended."""
    try:
        for line in open(f"/proc/{process}/status"):
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    except (FileNotFoundError, ProcessLookupError):
        pass
    return 0


def drop(directory):
    """Drops the files of a directory from the page cache."""
    for path in directory.glob("*.kalah*"):
        file = os.open(path, os.O_RDONLY)
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)


def run(arguments, limit, kind, within):
    """Runs the program within a memory limit, and for at most `within` seconds if given. Returns its costs."""
    group = Group(limit) if kind == "group" else None

    def prepare():
        if group:
            group.enter()
        elif kind == "data":
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

    start, most = time.monotonic(), 0
    child = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=prepare)
    told = []
    ended = False
    pipes = (child.stdout, child.stderr)
    readers = [threading.Thread(target=lambda pipe=pipe: told.append(pipe.read())) for pipe in pipes]
    for reader in readers:
        reader.start()
    try:
        while not ended:
            most = max(most, anonymous(child.pid))
            ended, status, usage = os.wait4(child.pid, os.WNOHANG)
            if not ended:
                time.sleep(0.005)
                if within and time.monotonic() - start > within:
                    os.kill(child.pid, signal.SIGKILL)
        of_group = group.most() if group else None
    finally:
        if not ended:
            os.kill(child.pid, signal.SIGKILL)
            os.waitpid(child.pid, 0)
        for reader in readers:
            reader.join()
        if group:
            group.remove()
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        print(f"{' '.join(arguments)}: exit code {code}\n{b''.join(told).decode()[-2000:]}", file=sys.stderr)
    return {
        "code": code,
        "seconds": time.monotonic() - start,
        "anonymous": most,
        "group": of_group,
        # In blocks of 512 bytes, regardless of the disk.
        "read": usage.ru_inblock * 512,
        "written": usage.ru_oublock * 512,
    }


def plan(options, seeds, directory):
    """Planned memory of the missing layers to `seeds` seeds."""
    arguments = ["plan", "build", "--seeds", str(seeds), "--backend", "cpu", "--json", "--tables", str(directory)]
    arguments += ["--rules", options.rules, "--pits", str(options.pits), "--threads", str(options.threads)]
    return json.loads(subprocess.run([PROGRAM, *arguments], check=True, capture_output=True).stdout)["memory"]


def largest(options, limit, directory, kind):
    """Maximum seeds whose planned memory is within the limit, or half of it if that covers page cache."""
    seeds = 2
    while seeds < MOST_SEEDS:
        memory = plan(options, seeds + 1, directory)
        if (2 * memory if kind == "group" else memory + STACKS) > limit:
            break
        seeds += 1
    return seeds


def mebibytes(value):
    return "-" if value is None else f"{value / MIB:.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, required=True, help="a directory on the disk to measure")
    parser.add_argument("--limits", default="2GiB,4GiB,8GiB", help="memory limits, separated by commas")
    parser.add_argument("--seeds", type=int, help="build to this number of seeds under every limit")
    parser.add_argument("--rules", default="empty-capture")
    parser.add_argument("--pits", type=int, default=6)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--same", action="store_true", help="use DIR itself for all limits: existing layers are kept")
    parser.add_argument("--data-limit", action="store_true", help="use a limit like `ulimit -d`, not a control group")
    parser.add_argument("--without-limit", action="store_true", help="only measure")
    parser.add_argument("--within", type=float, help="end a command after this number of seconds, as failed")
    parser.add_argument("--delete", action="store_true", help="delete DIR/LIMIT after each limit")
    options = parser.parse_args()
    kind = "none" if options.without_limit else "data" if options.data_limit else "group"
    if kind == "group":
        try:
            Group(1 << 30).remove()
        except OSError as error:
            print(f"a control group cannot be made ({error}): using limits like `ulimit -d`", file=sys.stderr)
            kind = "data"
    failed = False
    columns = "{:>8} {:>5} {:<6} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>4}"
    head = ("limit", "seeds", "", "planned", "own", "group", "read", "written", "seconds", "code")
    print(columns.format(*head), flush=True)
    for name in options.limits.split(","):
        limit = size(name)
        directory = options.tables if options.same else options.tables / name
        directory.mkdir(parents=True, exist_ok=True)
        seeds = options.seeds or largest(options, limit, directory, kind)
        memory = plan(options, seeds, directory)
        board = ["--rules", options.rules, "--pits", str(options.pits), "--tables", str(directory)]
        board += ["--seeds", str(seeds)]
        threads = ["--threads", str(options.threads), "--json", "--quiet"]
        build = ["build", *board, *threads, "--memory", str(limit), "--backend", "cpu"]
        layers = [word for word in board if word not in ("--seeds", str(seeds))]
        for what, arguments, planned in [("build", build, memory), ("verify", ["verify", *layers, *threads], None)]:
            drop(directory)
            took = run(arguments, limit, kind, options.within)
            failed |= took["code"] != 0 or bool(planned) and took["anonymous"] > planned
            row = [planned, took["anonymous"], took["group"], took["read"], took["written"]]
            row = [*map(mebibytes, row), f"{took['seconds']:.1f}", took["code"]]
            print(columns.format(name, seeds, what, *row), flush=True)
        if options.delete and not options.same:
            shutil.rmtree(directory)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
