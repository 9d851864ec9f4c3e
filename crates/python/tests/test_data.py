"""Batches for training."""

from __future__ import annotations

import itertools
import pickle
import sys
import types
from collections.abc import Iterable
from typing import Any, get_args

import numpy as np
import pytest

import kalah
from kalah import Tables
from kalah.data import Batches
from kalah.errors import ArgumentError, MissingTableError


PINNED = [
    [1, 0, 1, 0, 4, 0, 0, 1, 0, 0, 1, 1],
    [0, 3, 0, 0, 1, 0, 0, 0, 1, 1, 1, 2],
    [0, 0, 1, 2, 1, 2, 2, 1, 0, 0, 1, 0],
]
"""Positions of a batch."""


class IterableDataset(Iterable[Any]):
    """A class like torch's."""


def first(batches: Batches, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    return list(itertools.islice(batches, count))


def same(one: list[tuple[np.ndarray, np.ndarray]], other: list[tuple[np.ndarray, np.ndarray]]) -> bool:
    pairs = zip(itertools.chain(*one), itertools.chain(*other), strict=True)
    return all(np.array_equal(left, right) for left, right in pairs)


def test_batches_have_positions_of_all_layers_with_their_scores(tables: Tables) -> None:
    for positions, scores in first(tables.batches([6, 9, 12], 900, seed=4), 3):
        assert positions.shape == (900, 12) and positions.dtype == np.uint8
        assert scores.shape == (900,) and np.array_equal(tables.scores(positions), scores)
        seeds = positions.sum(axis=1, dtype=int)
        layers, counts = np.unique(seeds, return_counts=True)
        # Each layer has a third, by six standard deviations, and the order is random.
        assert layers.tolist() == [6, 9, 12] and (abs(counts - 300) < 6 * 200**0.5).all()
        assert (np.diff(seeds) < 0).sum() > 200
    positions, moves = first(tables.batches(9, 50, labels="moves"), 1)[0]
    assert np.array_equal(moves, tables.scores_of_moves(positions))


def test_the_same_arguments_give_the_same_batches_from_any_number_on(tables: Tables) -> None:
    batches = tables.batches([9, 10], 64, seed=7)
    expected = first(batches, 5)
    assert same(first(batches, 5), expected)
    assert same(first(tables.batches([9, 10], 64, seed=7, start=3, threads=1), 2), expected[3:])
    assert same(first(pickle.loads(pickle.dumps(batches)), 5), expected)
    assert not same(first(tables.batches([9, 10], 64, seed=8), 5), expected)
    rng = np.random.default_rng(1)
    assert not same(first(tables.batches(9, 64, seed=rng), 1), first(tables.batches(9, 64, seed=rng), 1))


def test_every_seed_worker_and_number_has_a_batch_of_its_own(tables: Tables) -> None:
    drawn = []
    for seed in [0, 1, 7, 1 << 32, 7 << 32 | 1, 1 << 32 | 7, (1 << 64) - 1]:
        batches = tables.batches(9, 64, seed=seed)
        for worker, number in itertools.product([0, 1, 7, 1 << 32], repeat=2):
            drawn.append(batches.batch(number, worker)[0].tobytes())
    assert len(set(drawn)) == len(drawn)
    with pytest.raises(ArgumentError, match="number must be"):
        tables.batches(9).batch(1 << 64)


def test_batches_stay_the_same_in_later_versions(tables: Tables) -> None:
    positions, scores = first(tables.batches([9, 10], 3, seed=7), 1)[0]
    assert positions.tolist() == PINNED and scores.tolist() == tables.scores(PINNED).tolist()



def test_workers_have_batches_of_their_own(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    batches = tables.batches(12, 500, seed=1)
    workers = [first(tables.batches(12, 500, seed=1, worker=(index, 3)), 2) for index in range(3)]
    assert same(workers[0], first(batches, 2))
    drawn = [batch[0].tobytes() for worker in workers for batch in worker]
    assert len(set(drawn)) == 6
    # A module like torch in a worker of a DataLoader.
    info: Any = types.SimpleNamespace(id=1, num_workers=3)
    data = types.SimpleNamespace(IterableDataset=IterableDataset, get_worker_info=lambda: info)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(utils=types.SimpleNamespace(data=data)))
    assert same(first(batches, 2), workers[1])
    in_torch = tables.batches(12, 500, seed=1)
    assert isinstance(in_torch, data.IterableDataset) and isinstance(in_torch, Batches)
    assert same(first(pickle.loads(pickle.dumps(in_torch)), 2), workers[1])
    # Three workers in each of two processes.
    other = tables.batches(12, 500, seed=1, worker=(1, 2), start=5)
    assert same([in_torch.batch(5, 4)], first(other, 1))
    info = None
    assert same(first(in_torch, 2), workers[0])


def test_parts_and_sources_are_those_of_samples(tables: Tables) -> None:
    train, test = (
        {row.tobytes() for positions, _ in first(batches, 3) for row in positions}
        for part in get_args(kalah.names.Part)
        for batches in [tables.batches([4, 9], 300, part=part, test=0.3, source="play")]
    )
    assert not train & test
    assert not same(first(tables.batches(12, 100, source="play"), 1), first(tables.batches(12, 100), 1))


def test_wrong_arguments_are_errors_at_once(tables: Tables) -> None:
    wrong: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"seeds": []}, ArgumentError, "seeds"),
        ({"seeds": [5, 5]}, ArgumentError, "twice"),
        ({"seeds": [1]}, ArgumentError, "2 to 48"),
        ({"seeds": 40}, MissingTableError, "kalah.build"),
        ({"size": 0}, ArgumentError, "size"),
        ({"worker": (3, 3)}, ArgumentError, "worker must be 0 to 2"),
        ({"worker": 3}, TypeError, "pair"),
        ({"labels": "values"}, ArgumentError, "labels"),
        ({"part": "valid"}, ArgumentError, "part"),
        ({"source": "games"}, ArgumentError, "source"),
        ({"test": 2.0}, ArgumentError, "test"),
        ({"seed": -1}, ArgumentError, "seed"),
        ({"sizes": 5}, TypeError, "sizes"),
    ]
    for arguments, error, message in wrong:
        with pytest.raises(error, match=message):
            tables.batches(**{"seeds": 9, **arguments})
    assert isinstance(tables.batches(seeds=9), Batches)
