"""Samples: sequences, parts, and positions from play."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import kalah
from kalah import Position, Rules, Tables
from kalah.errors import ArgumentError, MissingTableError


SOURCES = get_args(kalah.names.Source)


@pytest.mark.parametrize(
    "how", [{}, {"source": "play"}, {"part": "train"}, {"part": "test", "source": "play"}], ids=str
)
def test_a_seed_gives_a_sequence(tables: Tables, how: dict[str, Any]) -> None:
    rows, scores = tables.sample(6000, 12, 3, **how)
    assert np.array_equal(rows.sum(axis=1), np.full(6000, 12)) and np.array_equal(tables.scores(rows), scores)
    for n in [0, 10, 5999]:
        start = tables.sample(n, 12, 3, threads=1, **how)
        assert np.array_equal(start[0], rows[:n]) and np.array_equal(start[1], scores[:n])
    assert not np.array_equal(tables.sample(6000, 12, 4, **how)[0], rows)


def test_a_generator_of_numpy_draws_the_seed(tables: Tables) -> None:
    one, two = np.random.default_rng(5), np.random.default_rng(5)
    first, second = tables.sample(100, 12, one)[0], tables.sample(100, 12, seed=one)[0]
    assert not np.array_equal(first, second)
    assert np.array_equal(first, tables.sample(100, 12, int(two.integers(0, 2**64, dtype=np.uint64)))[0])
    assert np.array_equal(second, tables.sample(100, 12, seed=two)[0])
    # Without a seed, each call draws another one.
    assert not np.array_equal(tables.sample(100, 12, seed=None)[0], tables.sample(100, 12, seed=None)[0])
    batches = tables.batches(12, 100, seed=None)
    assert np.array_equal(batches.batch(0)[0], batches.batch(0)[0])
    assert not np.array_equal(batches.batch(0)[0], tables.batches(12, 100, seed=None).batch(0)[0])


def test_no_position_is_in_both_parts(tables: Tables) -> None:
    count = kalah.layer_positions(6, 4)
    for layer, test in [(4, 0.5), (4, 0.1), (12, 0.1)]:
        parts: dict[str, set[bytes]] = {}
        for part in get_args(kalah.names.Part):
            both = [tables.sample(20_000, layer, 1, part=part, test=test, source=name)[0] for name in SOURCES]
            parts[part] = {row.tobytes() for row in np.concatenate(both)}
        assert parts["train"] and parts["test"] and not parts["train"] & parts["test"]
        if layer == 4:
            # 20,000 draws find nearly all 1,560 positions. The bound is six standard deviations.
            share, spread = len(parts["test"]) / count, (test * (1 - test) / count) ** 0.5
            assert abs(share - test) < 6 * spread and len(parts["train"] | parts["test"]) > 0.99 * count
    for test in [0, 1, -1, float("nan")]:
        with pytest.raises(ArgumentError, match="test"):
            tables.sample(1, 5, part="test", test=test)
    with pytest.raises(ArgumentError, match="no position in this part"):
        tables.sample(1, 2, part="test", test=1e-9)


def test_ctrl_c_ends_a_sample_from_play_at_once(standard: Tables) -> None:
    pressed: list[float] = []

    def press() -> None:
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, press)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        # Games that hardly ever reach a position of the part.
        standard.sample(4_000_000, 20, source="play", part="test", test=0.001)
    assert time.monotonic() - pressed[0] < 2
    timer.join()


def reachable(start: Position, rules: Rules, seeds: int) -> set[bytes]:
    """Returns the rows of all positions with this many seeds in play that games from `start` reach."""
    seen, todo, found = {start}, [start], set()
    while todo:
        position = todo.pop()
        if position.seeds == seeds and not position.is_over:
            found.add(bytes([*position.mover, *position.other]))
        for move in position.moves():
            after = position.play(move, rules)[0]
            after = Position.from_rows(after.mover, after.other)
            if after not in seen and after.seeds >= seeds:
                seen.add(after)
                todo.append(after)
    return found


@pytest.mark.parametrize("rules", Rules.all(), ids=str)
def test_positions_of_play_are_those_that_games_reach(directory: Path, rules: Rules) -> None:
    tables, start = Tables.open(directory, rules, 3), Position("3x2")
    for layer in [7, 9]:
        rows, scores = tables.sample(30_000, layer, 2, source="play", start=start)
        drawn, reached = {row.tobytes() for row in rows}, reachable(start, rules, layer)
        # Some are rare.
        assert drawn <= reached and len(drawn) > 0.9 * len(reached)
        assert np.array_equal(tables.scores(rows), scores)
    wrong = {"3x1": "start must have", "4x4": "start must have", "0,0,2/0,0,9": "reached no"}
    for other, message in wrong.items():
        with pytest.raises(ArgumentError, match=message):
            tables.sample(1, 10, source="play", start=other)
    with pytest.raises(ArgumentError, match="source"):
        tables.sample(1, 9, start=start)
    with pytest.raises(ArgumentError, match="uniform"):
        tables.sample(1, 9, source="games")  # type: ignore[arg-type]
    with pytest.raises(MissingTableError):
        tables.sample(1, 40, source="play")
