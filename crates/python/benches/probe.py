"""Speed of looking up arrays of positions, unpacking layers, and probing single positions.

python crates/python/benches/probe.py TABLES SEEDS [RULES]

The tables in the directory TABLES must reach SEEDS seeds in play. All figures are the best of five runs. On all
cores they are elapsed time; on one thread they are processor time, which other work on the machine affects less.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

import kalah

COUNT = 4_000_000


def best(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Returns the seconds of the fastest of five runs."""

    def seconds() -> float:
        start = clock()
        work()
        return clock() - start

    return min(seconds() for _ in range(5))


def main() -> None:
    directory, layer, rules = sys.argv[1], int(sys.argv[2]), kalah.Rules((sys.argv[3:] + ["empty-capture"])[0])
    tables = kalah.Tables.open(directory, rules)
    positions, scores = tables.sample(COUNT, layer, seed=1)
    print(f"{tables}, layer {layer}: {kalah.layer_positions(tables.pits, layer):,} positions, {COUNT:,} probes")
    assert np.array_equal(tables.scores(positions), scores)
    few = positions[:1000]
    many_of_few = np.tile(few, (COUNT // 1000, 1))
    singles = [kalah.Position.from_rows(row[:6], row[6:]) for row in positions[:20_000].tolist()]
    for threads, clock in ((None, time.perf_counter), (1, time.process_time)):
        rate = {
            "random probes": COUNT / best(lambda: tables.scores(positions, threads=threads), clock),
            "probes of a thousand positions": COUNT / best(lambda: tables.scores(many_of_few, threads=threads), clock),
            "best moves": COUNT / best(lambda: tables.best_moves(positions, threads=threads), clock),
            "samples": COUNT / best(lambda: tables.sample(COUNT, layer, threads=threads), clock),
            "positions unpacked": len(tables.layer(layer)) / best(lambda: tables.layer(layer, threads=threads), clock),
        }
        print("all cores" if threads is None else "one thread")
        for name, value in rate.items():
            print(f"  {name:32} {value / 1e6:8.2f} million/s")
    unpacked = tables.layer(layer)
    copied = len(unpacked) / best(unpacked.copy, time.process_time)
    print(f"  {'positions copied by numpy':32} {copied / 1e6:8.2f} million/s")
    print("a few at a time")
    for size in (1, 256):
        parts = [positions[first : first + size] for first in range(0, 400 * 256, size)]
        reads: dict[str, Callable[..., object]] = {"scores": tables.scores, "best_moves": tables.best_moves}
        for name, read in reads.items():
            seconds = best(lambda: [read(part) for part in parts], time.process_time)
            print(f"  {f'{name}, arrays of {size}':32} {400 * 256 / seconds:12,.0f} /s")
    print("one at a time")
    for name, probe in {"score": tables.score, "move_scores": tables.move_scores, "probe": tables.probe}.items():
        print(f"  {name:32} {len(singles) / best(lambda: list(map(probe, singles)), time.process_time):12,.0f} /s")


if __name__ == "__main__":
    main()
