#!/usr/bin/env python3
"""Solves positions with this program and with CMancala, natively and as WebAssembly, and compares values and times.

compare.py CMANCALA PACKAGE KALAH [SEEDS [START]]: the folder that build.sh made, the npm package's folder, the program,
the seeds of the largest tables (18; 0: no tables), and the start of the random numbers that choose the positions (1).
The last lines are the table of docs/measurements.md.

All use one thread and 64 MiB for proved bounds, and begin each position without bounds; only the module has a book.
The four solve each position one after the other, so that a busy machine slows all of them down. All prove the value,
and no best moves. Times are milliseconds of processor
time: of guess and tests, and of the program also of the whole process, which makes tables in memory if no others are
there. Without tables, the positions of Kalah(6,4) are left out.
"""

import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
BYTES = 26  # powers of two: bytes of the program, and entries of 8 bytes of CMancala
ENTRIES = 23
SET = 20  # positions of each start
SHORT = 100  # milliseconds; shorter processes run REPEATS times, and the fastest counts
REPEATS = 3
LEAST = 0.1  # milliseconds; shorter searches cannot be distinguished from the start of a process


def timed(command):
    """Runs a command. Returns its output and its milliseconds of processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return output, 1000 * seconds


class Program:
    """This program: a process for each position."""

    def __init__(self, kalah, seeds, tables):
        options = ["--rules", "standard", "--tables", tables, "--threads", "1"]
        self.command = [kalah, "solve", *options, "--no-book", "--value-only", "--transpositions", f"{2**BYTES}B"]
        self.searching = [] if seeds > 0 else ["--no-tables"]
        self.built = timed([kalah, "build", *options, "--seeds", str(seeds)])[1] if seeds > 0 else 0
        # A position in the largest table, so that all are opened.
        still = f"0,0,0,0,0,{seeds // 2}/0,0,0,0,0,{seeds - seeds // 2}" if seeds > 0 else "0,0,0,0,0,1/0,0,0,0,0,1"
        self.start = min(timed([*self.command, *self.searching, still])[1] for _ in range(10))

    def solved(self, text, flags):
        """Returns value, nodes, and the milliseconds of the search and of the process."""
        answers = []
        while not answers or (len(answers) < REPEATS and answers[-1][3] < SHORT):
            output, process = timed([*self.command, *flags, "--json", text])
            answer = json.loads(output)
            # On a busy machine more time passes than the one thread works.
            search = min(1000 * answer["seconds"], max(process - self.start, LEAST))
            answers.append((answer["value"], answer["nodes"], search, process))
        return [min(numbers) for numbers in zip(*answers, strict=True)]

    def solve(self, row):
        """Returns value, nodes, and the milliseconds of the search and of the process."""
        text = ",".join(row[:6]) + "/" + ",".join(row[6:])
        value, nodes, search, process = self.solved(text, self.searching)
        if self.searching:
            made = self.solved(text, [])
            value, process = (value if made[0] == value else None), made[3]
        return value, nodes, search, process


class Driver:
    """A program with the interface of driver.c."""

    def __init__(self, command, size, seeds, stack, **options):
        command = [*command, str(size), str(seeds)]
        options |= {"text": True, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = stack.enter_context(subprocess.Popen(command, **options))

    def read(self):
        """Returns the numbers of its next line."""
        return [float(number) for number in self.process.stdout.readline().removeprefix("tables ").split()]

    def solve(self, row):
        """Returns value, nodes, and the milliseconds of the search."""
        print(*row, file=self.process.stdin, flush=True)
        value, nodes, *times = self.read()
        return int(value), int(nodes), *times


def main():
    folder, package, kalah = (os.path.abspath(path) for path in sys.argv[1:4])
    seeds = int(sys.argv[4]) if len(sys.argv) > 4 else 18
    start = sys.argv[5] if len(sys.argv) > 5 else "1"
    module = ["node", str(HERE / "module.mjs"), package]
    positions = [line.split() for line in timed([*module, "choose", start])[0].splitlines()]
    if seeds == 0:
        del positions[2 * SET :]
    with contextlib.ExitStack() as stack:
        tables, cwd = (stack.enter_context(tempfile.TemporaryDirectory()) for _ in range(2))
        program = Program(kalah, seeds, tables)
        native = Driver([f"{folder}/native"], ENTRIES, seeds, stack, cwd=cwd)
        generated = native.read()[0]
        # It reads the table files of the first.
        wasm = Driver(["node", "--no-experimental-fetch", f"{folder}/module.js"], ENTRIES, seeds, stack, cwd=cwd)
        wasm.read()
        solvers = [program, native, Driver(module, BYTES, seeds, stack), wasm]
        compare(positions, solvers, seeds)
        print(f"processor time for tables to {seeds}: program {program.built:.0f}, CMancala {generated:.0f}")


def compare(positions, solvers, seeds):
    """Prints each position with its value, times and nodes, and the sums of each start."""
    print("value | program, CMancala, module, CMancala as WebAssembly; process | nodes: program, CMancala, module")
    sums = {}
    for index, row in enumerate(positions):
        results = [solver.solve(row) for solver in solvers]
        values = [result[0] for result in results]
        if len(set(values)) > 1:
            sys.exit(f"{' '.join(row)}: values {values}")
        times, nodes = [result[2] for result in results] + [results[0][3]], [result[1] for result in results[:3]]
        print(values[0], "|", *(f"{time:.1f}" for time in times), "|", *nodes, "|", *row, flush=True)
        sums.setdefault(index // SET, []).append(times + nodes)
    print("tables            program   M nodes   CMancala   M nodes   ratio   module   CMancala   ratio   process")
    for which, rows in sums.items():
        total = [sum(numbers) for numbers in zip(*rows, strict=True)]
        ours, native, module, wasm, process = (time / 1000 for time in total[:5])
        nodes = [number / 1e6 for number in total[5:7]]
        print(
            f"(6,{2 + which}), {f'to {seeds}' if seeds else 'none':<6}   {ours:10.4f}{nodes[0]:10.3f}{native:11.3f}"
            f"{nodes[1]:10.3f}{native / ours:8.1f}{module:9.3f}{wasm:11.3f}{wasm / module:8.1f}{process:10.3f}"
        )


main()
