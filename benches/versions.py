#!/usr/bin/env python3
"""Builds the same tables alternately with several versions of the program, and compares their costs.

    benches/versions.py --tables DIR --seeds N [--rounds 3] PROGRAM PROGRAM...

In each round, each program builds all layers to N seeds in DIR, which is created and deleted again.
Every other round the order is reversed. Before each build, the script waits ten seconds, so that the
system can write its pending data.

Columns: elapsed seconds; processor seconds of the program and of the system; their share of all
processors' time; megabytes read from the disk. Medians of each program follow, then the last layers,
with the speed relative to the first program. All tables must have the digests of the first build.
The exit code is 1 if a build failed or a digest differs.

Unix, Python 3.9 or later.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path


def build(program, options):
    """Costs of a build (see `row`), and its layers with seconds and digests."""
    shutil.rmtree(options.tables, ignore_errors=True)
    options.tables.mkdir(parents=True)
    os.sync()
    time.sleep(options.pause)
    board = ["--rules", options.rules, "--pits", str(options.pits), "--tables", str(options.tables)]
    command = [program, "build", *board, "--seeds", str(options.seeds), "--backend", "cpu", "--quiet", *options.flag]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, stdout=subprocess.DEVNULL)
    seconds, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{program}: exit code {done.returncode}")
    info = subprocess.run([program, "info", "--tables", str(options.tables), "--json"], capture_output=True, check=True)
    layers = {layer["seeds"]: layer for layer in json.loads(info.stdout)["tables"]}
    user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    return (seconds, user, system, (after.ru_inblock - before.ru_inblock) * 512 / 1e6), layers


def row(took):
    """Columns with the costs of a build."""
    seconds, user, system, read = took
    busy = (user + system) / (seconds * (os.cpu_count() or 1))
    return f"{seconds:.1f}", f"{user:.1f}", f"{system:.1f}", f"{busy:.0%}", f"{read:.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, required=True, help="a directory on the disk to measure; it is deleted")
    parser.add_argument("--seeds", type=int, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rules", default="empty-capture")
    parser.add_argument("--pits", type=int, default=6)
    parser.add_argument("--from-layer", type=int, help="the first layer to compare (default: the last five)")
    parser.add_argument("--pause", type=float, default=10, help="seconds before each build")
    parser.add_argument("--flag", action="append", default=[], help="a flag of `kalah build`, as --flag=--memory=6GiB")
    parser.add_argument("programs", nargs="+", metavar="PROGRAM")
    options = parser.parse_args()
    if options.tables.exists():
        sys.exit(f"{options.tables} exists already and would be deleted: name a directory that does not exist")
    columns = "{:<30} {:>9} {:>9} {:>9} {:>7} {:>9}"
    print(columns.format("", "seconds", "user", "system", "busy", "MB read"), flush=True)
    taken, layers, digests = {}, {}, None
    try:
        for number in range(options.rounds):
            for program in options.programs if number % 2 == 0 else reversed(options.programs):
                took, built = build(program, options)
                print(columns.format(program, *row(took)), flush=True)
                taken.setdefault(program, []).append(took)
                layers.setdefault(program, []).append(built)
                found = {seeds: layer["digest"] for seeds, layer in built.items()}
                digests = digests or found
                if found != digests:
                    sys.exit(f"{program}: tables differ from those of {options.programs[0]}")
    finally:
        shutil.rmtree(options.tables, ignore_errors=True)
    print("\nmedians")
    for program in options.programs:
        print(columns.format(program, *row([statistics.median(values) for values in zip(*taken[program])])))
    first = options.from_layer or max(options.seeds - 4, 2)
    print("\nlayers: median seconds, and speed relative to " + options.programs[0])
    for seeds in range(first, options.seeds + 1):
        times = [[built[seeds]["seconds"] for built in layers[program]] for program in options.programs]
        medians = [statistics.median(seconds) for seconds in times]
        print(f"{seeds:>3}", "  ".join(f"{seconds:8.2f} ({medians[0] / seconds:.2f})" for seconds in medians))


if __name__ == "__main__":
    main()
