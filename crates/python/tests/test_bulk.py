"""Arrays of positions: every result equals that of a single position."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kalah
from kalah import Position, Rules, Tables
from kalah.errors import MissingTableError, PositionError


def positions_of(rows: np.ndarray) -> list[Position]:
    half = rows.shape[1] // 2
    return [Position.from_rows(row[:half], row[half:]) for row in rows.tolist()]


@pytest.mark.parametrize("rules", Rules.all(), ids=str)
def test_arrays_have_the_results_of_single_positions(directory: Path, rules: Rules) -> None:
    tables = Tables.open(directory, rules, 3)
    rows = np.concatenate([tables.sample(300, seeds, seed=seeds)[0] for seeds in [2, 5, 11, 12]])
    # Finished games too.
    rows = np.concatenate([rows, np.array([[0, 0, 0, 1, 2, 3], [0, 40, 8, 0, 0, 0], [0] * 6], np.uint8)])
    scores, moves, best = tables.scores(rows), tables.scores_of_moves(rows), tables.best_moves(rows)
    assert [array.dtype.name for array in (scores, moves, best)] == ["int8", "int8", "bool"]
    assert (scores.shape, moves.shape, best.shape) == ((len(rows),), (len(rows), 3), (len(rows), 3))
    for index, position in enumerate(positions_of(rows)):
        probe = tables.probe(position)
        assert scores[index] == probe.score
        assert {pit + 1: score for pit, score in enumerate(moves[index].tolist()) if score >= 0} == probe.moves
        assert [int(pit) + 1 for pit in np.flatnonzero(best[index])] == probe.best


def test_many_positions_on_any_number_of_threads(tables: Tables) -> None:
    rows, scores = tables.sample(50_000, 14, seed=7)
    for threads in [1, 2, 5]:
        assert np.array_equal(tables.scores(rows, threads=threads), scores)
        again = tables.sample(50_000, 14, seed=7, threads=threads)
        assert np.array_equal(again[0], rows) and np.array_equal(again[1], scores)
    assert not np.array_equal(tables.sample(50_000, 14, seed=8)[0], rows)
    assert np.array_equal(tables.scores_of_moves(rows).max(axis=1), scores)
    # Any number, in any order of memory.
    for count in [0, 1, 63, 64, 65, 4095, 4096, 4097, 8191]:
        assert np.array_equal(tables.scores(rows[:count]), scores[:count])
        assert tables.best_moves(rows[:count]).shape == (count, 6)
    assert np.array_equal(tables.scores(np.asfortranarray(rows)), scores)
    assert np.array_equal(tables.scores(rows[::-3]), scores[::-3])
    assert np.array_equal(tables.scores(rows, threads=0), scores)


def test_layers_hold_every_position(directory: Path) -> None:
    for rules, pits, seeds in [("standard", 3, 12), ("s-kalaha", 3, 7), ("empty-capture", 6, 8), ("standard", 6, 2)]:
        tables = Tables.open(directory, Rules(rules), pits)
        count = kalah.layer_positions(pits, seeds)
        ranks = np.arange(count)
        rows, layer = tables.unrank(seeds, ranks), tables.layer(seeds)
        assert rows.shape == (count, 2 * pits) and layer.shape == (count,) and layer.dtype == np.int8
        assert np.array_equal(rows.sum(axis=1), np.full(count, seeds))
        assert len(np.unique(rows, axis=0)) == count
        assert np.array_equal(tables.rank(seeds, rows), ranks)
        assert np.array_equal(tables.scores(rows), layer)
    with pytest.raises(MissingTableError):
        tables.layer(40)


def test_rows_beyond_the_opened_layers_are_no_panic(tables: Tables) -> None:
    few = Tables.open(tables.directory, max_seeds=5)
    rows = [[9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 1, 1, 14, 14, 14, 0, 0, 0]]
    reads: list[Callable[..., object]] = [few.scores, few.best_moves, few.scores_of_moves]
    for row in rows:
        for read in reads:
            with pytest.raises(MissingTableError):
                read(row)
        with pytest.raises(PositionError):
            few.rank(5, [row])


def test_a_sample_is_uniform(tables: Tables) -> None:
    """The 360 positions of a layer are drawn about equally often."""
    count = kalah.layer_positions(6, 3)
    drawn = np.bincount(tables.rank(3, tables.sample(100 * count, 3, seed=1)[0]), minlength=count)
    # Chi squared has the mean `count - 1`; the bound is six standard deviations.
    assert ((drawn - 100) ** 2 / 100).sum() < count - 1 + 6 * (2 * (count - 1)) ** 0.5


def test_samples_of_neighbouring_seeds_are_independent(tables: Tables) -> None:
    count, n = kalah.layer_positions(6, 12), 20_000
    ranks = [tables.rank(12, tables.sample(n, 12, seed)[0]) for seed in [*range(6), 2**40, 2**40 + 1, 2**64 - 1]]
    cells = 10
    for one, next in zip(ranks, ranks[1:]):
        # Six standard deviations.
        assert abs(np.corrcoef(one, next)[0, 1]) < 6 / n**0.5
        pairs = np.bincount(one * cells // count * cells + next * cells // count, minlength=cells**2)
        expected = n / cells**2
        assert ((pairs - expected) ** 2 / expected).sum() < cells**2 - 1 + 6 * (2 * (cells**2 - 1)) ** 0.5


def test_samples_come_from_a_directory_of_tables(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = tables.sample(100, 9, 5)
    monkeypatch.setenv("KALAH_TABLES", str(tables.directory))
    directories: list[os.PathLike[str] | str | None] = [tables.directory, str(tables.directory), None]
    for directory in directories:
        rows, scores = Tables.open(directory).sample(100, 9, 5)
        assert np.array_equal(rows, expected[0]) and np.array_equal(scores, expected[1])


def test_what_is_no_array_of_positions_is_refused(tables: Tables) -> None:
    good = tables.sample(5000, 14)[0]
    for wrong, error in [
        (good.astype(np.float64), TypeError),
        (good[:, :11], ValueError),
        (good[0, :11].tolist(), ValueError),
        ("6x4", TypeError),
        (None, TypeError),
    ]:
        reads: list[Callable[..., object]] = [tables.scores, tables.best_moves, tables.scores_of_moves]
        for read in reads:
            with pytest.raises(error, match=r"uint8 and shape \(n, 12\)"):
                read(wrong)
    for row, error in [(3, MissingTableError), (4500, PositionError)]:
        bad = good.copy()
        bad[row] = 3 if error is MissingTableError else 255
        with pytest.raises(error, match="kalah.build" if error is MissingTableError else "3060 seeds"):
            tables.scores(bad)
        with pytest.raises(PositionError, match=f"row {row} "):
            tables.rank(14, bad)
    for ranks in [[-1], [0, kalah.layer_positions(6, 14)]]:
        with pytest.raises(ValueError, match="rank"):
            tables.unrank(14, np.array(ranks))
    with pytest.raises(TypeError):
        tables.unrank(14, np.array([0.5]))


def test_positions_become_arrays(tables: Tables) -> None:
    rows = kalah.to_array(["6x1", "6x2"])
    assert rows.dtype == np.uint8 and np.array_equal(rows, [[1] * 12, [2] * 12])
    assert np.array_equal(kalah.to_array(Position("1,2/3,4")), [[1, 2, 3, 4]])
    back = tables.sample(20, 14)[0]
    assert np.array_equal(kalah.to_array(positions_of(back)), back)
    with pytest.raises(PositionError):
        kalah.to_array(["6x1", "5x1"])
    with pytest.raises(PositionError):
        kalah.to_array("1,256/3,4")


def in_child(tables: Tables, rows: np.ndarray, results: multiprocessing.Queue) -> None:  # type: ignore[type-arg]
    results.put(tables.scores(rows))


@pytest.mark.parametrize("start", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_child_processes_can_use_the_tables(tables: Tables, start: str) -> None:
    """After a fork the threads of the parent are gone. A child that waits for them would hang."""
    rows, scores = tables.sample(20_000, 14)
    context: Any = multiprocessing.get_context(start)
    results = context.Queue()
    child = context.Process(target=in_child, args=(tables, rows, results))
    child.start()
    assert np.array_equal(results.get(timeout=60), scores)
    child.join(60)
    assert child.exitcode == 0
