#!/usr/bin/env python3
"""Solves positions with this program and with CMancala, natively and as WebAssembly, and compares values and times.

compare.py CMANCALA PACKAGE KALAH [SEEDS]: the folder that build.sh made, the npm package's folder, the program, and
the seeds of the largest tables (18; 0 for none). All use one thread, 64 MiB for proved bounds, and no book, and begin
each position without bounds. CMancala and the program prove the value; the module also proves best moves and a line of
best play. Times are milliseconds of processor time; those of the program are of the whole process, and elapsed ones
from the open tables to the value. Without tables, the positions of Kalah(6,4) are left out.
"""

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


def timed(command, **options):
    """Runs a command. Returns its output and its milliseconds of processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **options).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return output, 1000 * seconds


def program(kalah, seeds, positions):
    """Returns the milliseconds for the tables. Of each position: value, nodes, milliseconds of search and process."""
    with tempfile.TemporaryDirectory() as tables:
        built = 0
        if seeds > 0:
            common = ["--rules", "standard", "--seeds", str(seeds), "--tables", tables, "--threads", "1"]
            built = timed([kalah, "build", *common], stderr=subprocess.DEVNULL)[1]
        common = ["--rules", "standard", "--tables", tables, "--no-book", "--value-only", "--threads", "1"]
        common += ["--transpositions", f"{2**BYTES}B", "--json"]
        results = []
        for row in positions:
            text = ",".join(row[:6]) + "/" + ",".join(row[6:])
            output, time = timed([kalah, "solve", text, *common], stderr=subprocess.DEVNULL)
            answer = json.loads(output)
            results.append((answer["value"], answer["nodes"], 1000 * answer["seconds"], time))
        return built, results


def driver(command, size, seeds, positions, **options):
    """Returns the output of a program with the interface of driver.c as lists of numbers."""
    text = "\n".join(" ".join(row) for row in positions)
    output, _ = timed([*command, str(size), str(seeds)], input=text, **options)
    lines = [line.removeprefix("tables ") for line in output.splitlines()]
    return [[float(number) for number in line.split()] for line in lines]


def main():
    folder, package, kalah = (os.path.abspath(path) for path in sys.argv[1:4])
    seeds = int(sys.argv[4]) if len(sys.argv) > 4 else 18
    module = ["node", str(HERE / "module.mjs"), package]
    positions = [line.split() for line in timed([*module, "choose"])[0].splitlines()]
    if seeds == 0:
        del positions[2 * SET :]
    built, ours = program(kalah, seeds, positions)
    solved = driver(module, BYTES, seeds, positions)
    with tempfile.TemporaryDirectory() as cwd:
        # The second one reads the table files of the first.
        native = driver([f"{folder}/native"], ENTRIES, seeds, positions, cwd=cwd)
        web = ["node", "--no-experimental-fetch", f"{folder}/module.js"]
        wasm = driver(web, ENTRIES, seeds, positions, cwd=cwd)
    print(f"tables to {seeds}: program {built:.0f}, module {solved[0][3]:.0f}, CMancala {native[0][0]:.0f}")
    print("value | program: process, search; CMancala native; module; CMancala WebAssembly", end=" ")
    print("| nodes: program, module, CMancala")
    sums = {}
    for index, row in enumerate(positions):
        results = [ours[index], native[index + 1], solved[index], wasm[index + 1]]
        if len({result[0] for result in results}) > 1:
            sys.exit(f"{' '.join(row)}: values {[result[0] for result in results]}")
        times = [ours[index][3], *(result[2] for result in results)]
        nodes = [ours[index][1], solved[index][1], native[index + 1][1]]
        total = sums.setdefault(index // SET, [0] * 8)
        for place, number in enumerate(times + nodes):
            total[place] += number
        print(results[0][0], "|", *(f"{time:.1f}" for time in times), "|", *nodes, " ", *row)
    for which, total in sums.items():
        print(f"Kalah(6,{2 + which}):", *(f"{number:.0f}" for number in total))


main()
